package openapi

import (
	"cmp"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// entry is a member of a mapping.
type entry[T any] struct {
	Key   string
	Value T
}

// ordered is a mapping in the order in which it is written.
type ordered[T any] []entry[T]

// UnmarshalYAML implements yaml.Unmarshaler.
func (o *ordered[T]) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: a mapping is expected", n.Line)
	}
	for i := 0; i < len(n.Content); i += 2 {
		e := entry[T]{Key: n.Content[i].Value}
		if err := n.Content[i+1].Decode(&e.Value); err != nil {
			return err
		}
		*o = append(*o, e)
	}
	return nil
}

func (o ordered[T]) get(key string) (value T, ok bool) {
	for _, e := range o {
		if e.Key == key {
			return e.Value, true
		}
	}
	return value, false
}

// document is what a page shows of a document.
type document struct {
	Info struct {
		Title, Version, Description string
	}
	AsyncAPI string `yaml:"asyncapi"` // the version, "" of an OpenAPI document
	Servers  servers
	Tags     []struct{ Name, Description string }
	Paths    ordered[ordered[operation]]

	Components struct {
		Parameters ordered[parameter]
		Responses  ordered[response]
		Schemas    ordered[schema]
	}
}

// server is where an interface is.
type server struct{ URL, Description string }

// servers are a list in OpenAPI and a mapping in AsyncAPI, which is left empty here.
type servers []server

// UnmarshalYAML implements yaml.Unmarshaler.
func (s *servers) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Decode((*[]server)(s))
}

type operation struct {
	OperationID string `yaml:"operationId"`
	Tags        []string
	Summary     string
	Description string
	Deprecated  bool
	Stability   string   `yaml:"x-stability"`
	Aliases     []string `yaml:"x-aliases"`
	Parameters  []parameter
	RequestBody struct{ Content ordered[media] } `yaml:"requestBody"`
	Responses   ordered[response]
}

// OtherName is the name in the spelling that the document is not written in.
type OtherName struct {
	Network string `yaml:"x-network-name"`
	Neutral string `yaml:"x-neutral-name"`
}

// Other is the name, "" when there is none.
func (o OtherName) Other() string { return cmp.Or(o.Network, o.Neutral) }

type parameter struct {
	Ref         string `yaml:"$ref"`
	Name        string
	OtherName   `yaml:",inline"`
	In          string
	Required    bool
	Description string
	Schema      schema
	Example     yaml.Node
}

type response struct {
	Ref         string `yaml:"$ref"`
	Description string
	Content     ordered[media]
}

type media struct {
	Schema     schema
	LineSchema string `yaml:"x-line-schema"`
	Example    yaml.Node
}

type schema struct {
	Ref                  string `yaml:"$ref"`
	Type, Format         string
	Description          string
	OtherName            `yaml:",inline"`
	Pattern              string
	Enum                 []string
	Default              yaml.Node
	Minimum, Maximum     *int64
	MinItems             *int64 `yaml:"minItems"`
	MaxItems             *int64 `yaml:"maxItems"`
	MinLength            *int64 `yaml:"minLength"`
	MaxLength            *int64 `yaml:"maxLength"`
	MaxProperties        *int64 `yaml:"maxProperties"`
	Items                *schema
	Required             []string
	Properties           ordered[schema]
	AdditionalProperties *schema  `yaml:"additionalProperties"`
	OneOf                []schema `yaml:"oneOf"`
}

// parse reads a document and puts shared parameters and responses in their places, and
// also schemas that are short. References to other schemas stay.
func parse(text []byte) (*document, error) {
	var d document
	if err := yaml.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("reading a document as YAML: %w", err)
	}
	if d.AsyncAPI != "" {
		return parseAsync(text, &d)
	}
	for i := range d.Components.Parameters {
		d.inline(&d.Components.Parameters[i].Value.Schema)
	}
	for i := range d.Components.Schemas {
		d.inline(&d.Components.Schemas[i].Value)
	}
	for _, path := range d.Paths {
		for i := range path.Value {
			if err := d.resolve(&path.Value[i].Value); err != nil {
				return nil, fmt.Errorf("%s: %w", path.Key, err)
			}
		}
	}
	return &d, nil
}

func (d *document) resolve(op *operation) error {
	for i, p := range op.Parameters {
		if p.Ref == "" {
			continue
		}
		shared, ok := d.Components.Parameters.get(refName(p.Ref))
		if !ok {
			return fmt.Errorf("there is no %s", p.Ref)
		}
		op.Parameters[i] = shared
	}
	for i := range op.Parameters {
		d.inline(&op.Parameters[i].Schema)
	}
	for i := range op.RequestBody.Content {
		body := &op.RequestBody.Content[i].Value.Schema
		if shared, ok := d.Components.Schemas.get(refName(body.Ref)); ok {
			*body = shared // a reader of the operation wants to see it there
		}
		d.inline(body)
	}
	for i, r := range op.Responses {
		if r.Value.Ref == "" {
			continue
		}
		shared, ok := d.Components.Responses.get(refName(r.Value.Ref))
		if !ok {
			return fmt.Errorf("there is no %s", r.Value.Ref)
		}
		op.Responses[i].Value = shared
	}
	for i := range op.Responses {
		for j := range op.Responses[i].Value.Content {
			d.inline(&op.Responses[i].Value.Content[j].Value.Schema)
		}
	}
	return nil
}

// inline puts schemas without members in the place of references to them, which may have
// a description and another name of their own.
func (d *document) inline(s *schema) {
	if shared, ok := d.Components.Schemas.get(refName(s.Ref)); ok && shared.isShort() {
		shared.OtherName, shared.Description = s.OtherName, cmp.Or(s.Description, shared.Description)
		*s = shared
	}
	for i := range s.Properties {
		d.inline(&s.Properties[i].Value)
	}
	for i := range s.OneOf {
		d.inline(&s.OneOf[i])
	}
	for _, inner := range []*schema{s.Items, s.AdditionalProperties} {
		if inner != nil {
			d.inline(inner)
		}
	}
}

func (s *schema) isShort() bool {
	return len(s.Properties) == 0 && len(s.OneOf) == 0 && s.AdditionalProperties == nil && s.Ref == ""
}

// refName is the last part of a reference.
func refName(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }
