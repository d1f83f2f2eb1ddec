package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"

	"gopkg.in/yaml.v3"
)

// JSON gives a YAML document as JSON, with the members in the same order.
func JSON(document []byte) ([]byte, error) {
	root, err := read(document)
	if err != nil {
		return nil, err
	}
	text, err := appendNode(nil, root)
	if err != nil {
		return nil, fmt.Errorf("writing a document as JSON: %w", err)
	}
	return text, nil
}

func read(document []byte) (*yaml.Node, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil {
		return nil, fmt.Errorf("reading a document as YAML: %w", err)
	}
	return &root, nil
}

func appendNode(dst []byte, n *yaml.Node) ([]byte, error) {
	switch n.Kind {
	case yaml.DocumentNode:
		return appendNode(dst, n.Content[0])
	case yaml.AliasNode:
		return appendNode(dst, n.Alias)
	case yaml.MappingNode:
		return appendMapping(dst, n)
	case yaml.SequenceNode:
		return appendSequence(dst, n)
	}
	var value any
	if err := n.Decode(&value); err != nil {
		return dst, err
	}
	return appendScalar(dst, value)
}

func appendMapping(dst []byte, n *yaml.Node) (_ []byte, err error) {
	dst = append(dst, '{')
	for i := 0; i < len(n.Content); i += 2 {
		if i > 0 {
			dst = append(dst, ',')
		}
		// Keys are text in JSON, whatever they look like: '200' or 200.
		if dst, err = appendScalar(dst, n.Content[i].Value); err != nil {
			return dst, err
		}
		if dst, err = appendNode(append(dst, ':'), n.Content[i+1]); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func appendSequence(dst []byte, n *yaml.Node) (_ []byte, err error) {
	dst = append(dst, '[')
	for i, element := range n.Content {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendNode(dst, element); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func appendScalar(dst []byte, value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return dst, err
	}
	return append(dst, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...), nil
}
