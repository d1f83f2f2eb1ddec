package openapi

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

const (
	networkName = "x-network-name"
	neutralName = "x-neutral-name"
)

// NetworkSpelling gives a document, which is written in the neutral spelling, in the
// network's own: paths change places with their alias, parameters and members with their
// x-network-name, which becomes x-neutral-name. Prose stays as it is.
func NetworkSpelling(document []byte) ([]byte, error) {
	root, err := read(document)
	if err != nil {
		return nil, err
	}
	r := respeller{names: map[string]string{}}
	r.walk(root)
	if root.Kind == yaml.DocumentNode {
		r.paths(member(root.Content[0], "paths"))
	}
	r.examples(root)
	text, err := yaml.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("writing a document as YAML: %w", err)
	}
	return text, nil
}

// respeller changes a document. names are the members that it has renamed, from neutral to
// network.
type respeller struct{ names map[string]string }

// walk renames parameters and the properties of schemas.
func (r respeller) walk(n *yaml.Node) {
	for _, child := range n.Content {
		r.walk(child)
	}
	if n.Kind != yaml.MappingNode {
		return
	}
	if name := member(n, "name"); name != nil && member(n, "in") != nil {
		swap(n, name)
	}
	properties := member(n, "properties")
	if properties == nil || properties.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i < len(properties.Content); i += 2 {
		key := properties.Content[i]
		neutral := key.Value
		if !swap(properties.Content[i+1], key) {
			continue
		}
		r.names[neutral] = key.Value
		if required := member(n, "required"); required != nil {
			rename(required.Content, neutral, key.Value)
		}
	}
}

// swap exchanges the name of a parameter or member with the other one that is given for
// it; it reports false if there is none.
func swap(described, name *yaml.Node) bool {
	if described.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i < len(described.Content); i += 2 {
		if key, other := described.Content[i], described.Content[i+1]; key.Value == networkName {
			key.Value = neutralName
			name.Value, other.Value = other.Value, name.Value
			return true
		}
	}
	return false
}

func rename(list []*yaml.Node, from, to string) {
	if i := slices.IndexFunc(list, func(n *yaml.Node) bool { return n.Value == from }); i >= 0 {
		list[i].Value = to
	}
}

// paths exchanges paths with their first alias.
func (r respeller) paths(paths *yaml.Node) {
	if paths == nil {
		return
	}
	for i := 0; i < len(paths.Content); i += 2 {
		path, item := paths.Content[i], paths.Content[i+1]
		for j := 1; j < len(item.Content); j += 2 {
			if aliases := member(item.Content[j], "x-aliases"); aliases != nil && len(aliases.Content) > 0 {
				path.Value, aliases.Content[0].Value = aliases.Content[0].Value, path.Value
			}
		}
	}
}

// examples renames the members of examples.
func (r respeller) examples(n *yaml.Node) {
	if example := member(n, "example"); example != nil && example.Kind == yaml.MappingNode {
		for i := 0; i < len(example.Content); i += 2 {
			if name, ok := r.names[example.Content[i].Value]; ok {
				example.Content[i].Value = name
			}
		}
	}
	for _, child := range n.Content {
		r.examples(child)
	}
}

// member returns the value of a member of a mapping, nil when there is none.
func member(n *yaml.Node, name string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}
