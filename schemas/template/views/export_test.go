package views

// Interfaces are the interfaces of which there are rules, by template.
func Interfaces(templateName string) (entities []string) {
	for entity := range rules[templateName] {
		entities = append(entities, entity)
	}
	return entities
}
