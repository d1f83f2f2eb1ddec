// Package openapitest is for tests of what an OpenAPI document describes. It checks requests and
// answers against the document, compares its operations with routes, and derives requests from it
// that must be refused.
package openapitest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/openapi"
)

// Document is an OpenAPI document that was checked. It is safe for concurrent use.
type Document struct {
	// Operations are in the order of path and method.
	Operations []*Operation

	doc      *openapi3.T
	prefixes []string
	// answers have no members but those of the document; requests may have others, which
	// are ignored.
	answers, requests *schemas
	// network are answers in the network's spelling: those at paths that only the network has.
	network *schemas

	mu        sync.Mutex
	succeeded map[string]bool // operations that have
}

// Operation is one operation of a Document.
type Operation struct {
	Method, Path string
	// Aliases are further paths, those of x-aliases.
	Aliases []string
	*openapi3.Operation

	// pointer is the place in the document, such as "/paths/~1v2~1updates/post".
	pointer string
}

// Load reads a document and checks that it is a valid one, its examples included.
// prefixes are the places below which its paths are served.
func Load(yaml []byte, prefixes []string) (*Document, error) {
	text, err := openapi.JSON(yaml)
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("loading the document: %w", err)
	}
	if err := doc.Validate(context.Background(), openapi3.EnableExamplesValidation(), openapi3.EnableMultiError()); err != nil {
		return nil, fmt.Errorf("the document is not valid: %w", err)
	}
	d := &Document{doc: doc, prefixes: prefixes, succeeded: map[string]bool{}}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			d.Operations = append(d.Operations, newOperation(method, path, op))
		}
	}
	slices.SortFunc(d.Operations, func(a, b *Operation) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Method, b.Method))
	})
	if d.answers, err = newSchemas(text, true); err != nil {
		return nil, err
	}
	if d.requests, err = newSchemas(text, false); err != nil {
		return nil, err
	}
	return d, d.loadNetwork(yaml)
}

// loadNetwork reads the document in the network's spelling.
func (d *Document) loadNetwork(yaml []byte) error {
	spelled, err := openapi.NetworkSpelling(yaml)
	if err != nil {
		return err
	}
	text, err := openapi.JSON(spelled)
	if err != nil {
		return err
	}
	d.network, err = newSchemas(text, true)
	return err
}

// spelledAt returns the document and the operation by which answers at a path are checked: its answers
// are in the network's spelling if only the network has the path.
func (d *Document) spelledAt(m match) (*Document, *Operation) {
	if query.Neutral.NamingOf(m.path) != query.Network || m.path == m.op.Path {
		return d, m.op
	}
	op := *m.op
	op.pointer = pointer("paths", m.path, strings.ToLower(op.Method))
	return &Document{doc: d.doc, answers: d.network}, &op
}

// NeverSucceeded lists the operations of which Check has seen no valid answer with a status
// below 300, without websockets, whose answers are frames, and those of except.
func (d *Document) NeverSucceeded(except ...string) (list []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, op := range d.Operations {
		if name := op.String(); !d.succeeded[name] && !op.IsSocket() && !slices.Contains(except, name) {
			list = append(list, name)
		}
	}
	return list
}

// CheckText checks a JSON text, such as a frame of a websocket, against a schema of the document.
func (d *Document) CheckText(schema string, text []byte) error {
	if err := d.answers.validate(pointer("components", "schemas", schema), text); err != nil {
		return fmt.Errorf("against schema %s: %w\nin %s", schema, err, excerpt(text))
	}
	return nil
}

func newOperation(method, path string, op *openapi3.Operation) *Operation {
	o := &Operation{Method: method, Path: path, Operation: op}
	o.pointer = pointer("paths", path, strings.ToLower(method))
	aliases, _ := op.Extensions["x-aliases"].([]any)
	for _, alias := range aliases {
		o.Aliases = append(o.Aliases, fmt.Sprint(alias))
	}
	return o
}

// String gives method and path.
func (o *Operation) String() string { return o.Method + " " + o.Path }

// IsSocket reports whether the operation is the beginning of a websocket.
func (o *Operation) IsSocket() bool { return o.Responses.Value("101") != nil }

// paths are the path and the aliases.
func (o *Operation) paths() []string { return append([]string{o.Path}, o.Aliases...) }

// SameAnswer reports whether two bodies are the same but for the spelling of the members of an object.
func SameAnswer(a, b string) bool {
	var objects [2]map[string]json.RawMessage
	for i, body := range []string{a, b} {
		var members map[string]json.RawMessage
		if json.Unmarshal([]byte(body), &members) != nil {
			return a == b
		}
		objects[i] = map[string]json.RawMessage{}
		for name, value := range members {
			objects[i][query.Neutral.Respell(name)] = value
		}
	}
	return maps.EqualFunc(objects[0], objects[1], func(x, y json.RawMessage) bool { return bytes.Equal(x, y) })
}

// pointer makes a JSON pointer of the names of members.
func pointer(names ...string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var b strings.Builder
	for _, name := range names {
		b.WriteByte('/')
		b.WriteString(escape.Replace(name))
	}
	return b.String()
}

// match is where a request belongs: to an operation with the values of the path's
// parameters, or to a path without this method, or nowhere.
type match struct {
	op     *Operation
	path   string // of the operation or an alias
	values map[string]string
	known  bool
}

// find says where a request belongs. path is escaped as it was sent.
func (d *Document) find(method, path string) match {
	if method == "HEAD" {
		method = "GET"
	}
	var best match
	fewest := len(path) + 1
	for _, prefix := range d.prefixes {
		rest, ok := strings.CutPrefix(path, prefix)
		if !ok {
			continue
		}
		for _, op := range d.Operations {
			for _, template := range op.paths() {
				values, ok := matchPath(template, rest)
				if !ok {
					continue
				}
				best.known = true
				// A path without parameters goes before one with them.
				if op.Method == method && len(values) < fewest {
					best.op, best.path, best.values, fewest = op, template, values, len(values)
				}
			}
		}
	}
	return best
}

// matchPath compares segment by segment. The last parameter of a path may hold slashes
// if it is an object key.
func matchPath(template, path string) (map[string]string, bool) {
	values := map[string]string{}
	for {
		want, moreWanted, deeper := strings.Cut(template, "/")
		got, moreGot, rest := strings.Cut(path, "/")
		name, isParam := strings.CutPrefix(want, "{")
		name = strings.TrimSuffix(name, "}")
		switch {
		case name == "object_key" && !deeper:
			values[name] = path
			return values, path != ""
		case isParam && got != "":
			values[name] = got
		case want != got:
			return nil, false
		}
		if deeper != rest {
			return nil, false
		}
		if !deeper {
			return values, true
		}
		template, path = moreWanted, moreGot
	}
}
