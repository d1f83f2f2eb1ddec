package views

import (
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Computes reports whether there is a rule for the view of an interface, Module:Entity, of contracts of
// a template, in any spelling.
func Computes(packageName, templateID, entity string) bool {
	return Of(values.Network(schemas.TemplateName(packageName, templateID)), values.Network(entity)) != nil
}

// Given are the interfaces of the token standard, "#package-name:Module:Entity", whose views of some
// contracts only a node can give, as there is no rule for them: those by which apps ask for allocations,
// and those that a template of a catalogue implements without a rule.
func Given(catalog *values.Catalog) []string {
	entries := catalog.Entries()
	given := []string{"#" + template.AllocationRequest, "#" + template.AllocationRequestV2}
	for _, t := range entries {
		for _, entity := range t.Implements {
			if !strings.HasPrefix(entity, template.TokenModules) || Of(t.PackageName+":"+t.Entity, entity) != nil {
				continue
			}
			if name := packageOf(entries, entity); name != "" && !slices.Contains(given, "#"+name+":"+entity) {
				given = append(given, "#"+name+":"+entity)
			}
		}
	}
	slices.Sort(given)
	return given
}

// packageOf is the package of an interface, "" if none has it.
func packageOf(entries []values.Entry, entity string) string {
	i := slices.IndexFunc(entries, func(e values.Entry) bool { return e.Interface && e.Entity == entity })
	if i < 0 {
		return ""
	}
	return entries[i].PackageName
}
