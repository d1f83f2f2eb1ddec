package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas compiles the schemas of a document, each once.
type schemas struct {
	mu       sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

const documentURL = "memory:///document.json"

// newSchemas takes a document in JSON. A closed schema takes no members but those it names.
func newSchemas(document []byte, closed bool) (*schemas, error) {
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("reading the document as JSON: %w", err)
	}
	if closed {
		closeObjects(root)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	for name, bits := range map[string]int{"int32": 32, "int64": 64} {
		c.RegisterFormat(&jsonschema.Format{Name: name, Validate: integerOf(bits)})
	}
	if err := c.AddResource(documentURL, root); err != nil {
		return nil, fmt.Errorf("adding the document to the schema compiler: %w", err)
	}
	return &schemas{compiler: c, compiled: map[string]*jsonschema.Schema{}}, nil
}

// closeObjects closes every schema that has properties and does not say itself what
// other members are.
func closeObjects(node any) {
	switch n := node.(type) {
	case map[string]any:
		for _, child := range n {
			closeObjects(child)
		}
		_, properties := n["properties"].(map[string]any)
		if _, decided := n["additionalProperties"]; properties && !decided {
			n["additionalProperties"] = false
		}
	case []any:
		for _, child := range n {
			closeObjects(child)
		}
	}
}

func integerOf(bits int) func(any) error {
	return func(v any) error {
		n, ok := v.(json.Number)
		if !ok {
			return nil // of another type, which keyword type sees to
		}
		_, err := strconv.ParseInt(n.String(), 10, bits)
		return err
	}
}

// at returns the schema at a JSON pointer of the document.
func (s *schemas) at(pointer string) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if schema, ok := s.compiled[pointer]; ok {
		return schema, nil
	}
	schema, err := s.compiler.Compile(documentURL + "#" + pointer)
	if err != nil {
		return nil, fmt.Errorf("compiling the schema at %s: %w", pointer, err)
	}
	s.compiled[pointer] = schema
	return schema, nil
}

// validate checks a JSON text against the schema at a pointer.
func (s *schemas) validate(pointer string, text []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	return s.validateValue(pointer, value)
}

func (s *schemas) validateValue(pointer string, value any) error {
	schema, err := s.at(pointer)
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// matches reports whether a text matches the pattern of a schema.
func matches(s *openapi3.Schema) func(string) bool {
	pattern := regexp.MustCompile(s.Pattern)
	return pattern.MatchString
}
