package openapitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Request is a request of an operation.
type Request struct {
	// Name says what is special about it.
	Name   string
	Method string
	// Target is path and query string.
	Target string
	// Body is sent if the operation has one.
	Body string
	// Member is the parameter or member that is wrong, in the neutral spelling, or "body".
	Member string
}

// draft is a request that is being made: parameters by name, which may be given more
// than once, and the body as JSON, nil without one.
type draft struct {
	path   map[string]string
	query  url.Values
	body   map[string]any
	hasRaw bool
	raw    string
}

// example gives the request of an operation's examples.
func example(op *Operation) (*draft, error) {
	d := &draft{path: map[string]string{}, query: url.Values{}}
	for _, ref := range op.Parameters {
		p := ref.Value
		switch {
		case p.Example == nil && p.Required:
			return nil, fmt.Errorf("%s: parameter %s is required and has no example", op, p.Name)
		case p.Example == nil:
		case p.In == "path":
			d.path[p.Name] = fmt.Sprint(p.Example)
		case p.In == "query":
			d.query[p.Name] = texts(p.Example)
		}
	}
	content := bodyOf(op)
	if content == nil {
		return d, nil
	}
	object, ok := content.Example.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: the body has no example that is an object", op)
	}
	d.body = object
	return d, nil
}

func bodyOf(op *Operation) *openapi3.MediaType {
	if op.RequestBody == nil {
		return nil
	}
	return op.RequestBody.Value.Content["application/json"]
}

// texts gives an example as the values of a query parameter.
func texts(value any) []string {
	list, ok := value.([]any)
	if !ok {
		return []string{fmt.Sprint(value)}
	}
	var values []string
	for _, v := range list {
		values = append(values, fmt.Sprint(v))
	}
	return values
}

// request makes the request of a path, which is that of the operation or an alias.
func (d *draft) request(op *Operation, path, name, member string) (Request, error) {
	for param, value := range d.path {
		path = strings.ReplaceAll(path, "{"+param+"}", url.PathEscape(value))
	}
	if len(d.query) > 0 {
		path += "?" + d.query.Encode()
	}
	r := Request{Name: name, Method: op.Method, Target: path, Member: member, Body: d.raw}
	if d.body != nil && !d.hasRaw {
		text, err := json.Marshal(d.body)
		if err != nil {
			return r, fmt.Errorf("%s: writing the example body: %w", op, err)
		}
		r.Body = string(text)
	}
	return r, nil
}

// clone copies a draft so that a change does not reach the original.
func (d *draft) clone() (*draft, error) {
	c := &draft{path: maps.Clone(d.path), query: maps.Clone(d.query)}
	if d.body == nil {
		return c, nil
	}
	text, err := json.Marshal(d.body)
	if err != nil {
		return nil, fmt.Errorf("copying a body: %w", err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text)) // keeps integers exact
	if err != nil {
		return nil, fmt.Errorf("copying a body: %w", err)
	}
	c.body = value.(map[string]any)
	return c, nil
}

// Examples are the request of an operation's examples in different words, which must all
// have the same answer: at each of its paths, with the other names of its parameters and
// members, and with a member that nobody knows.
func (d *Document) Examples(op *Operation) ([]Request, error) {
	base, err := example(op)
	if err != nil {
		return nil, err
	}
	var list []Request
	add := func(d *draft, path, name string) {
		r, requestErr := d.request(op, path, name, "")
		list, err = append(list, r), errors.Join(err, requestErr)
	}
	for _, path := range op.paths() {
		add(base, path, "the example")
	}
	if renamed, changed := base.renamed(op); changed {
		add(renamed, op.Path, "with the other names")
	}
	if base.body != nil {
		wider := &draft{path: base.path, query: base.query, body: maps.Clone(base.body)}
		wider.body["member_that_nobody_knows"] = []int{1}
		add(wider, op.Path, "with an unknown member")
	}
	return list, err
}

// renamed is the draft with the other names of parameters and of members of the body.
func (d *draft) renamed(op *Operation) (renamed *draft, changed bool) {
	renamed = &draft{path: d.path, query: maps.Clone(d.query), body: maps.Clone(d.body)}
	for _, ref := range op.Parameters {
		p := ref.Value
		if names := spellings(p.Name, p.Extensions); len(names) > 1 && renamed.query.Has(p.Name) {
			renamed.query[names[1]] = renamed.query[p.Name]
			delete(renamed.query, p.Name)
			changed = true
		}
	}
	content := bodyOf(op)
	if content == nil {
		return renamed, changed
	}
	for name, ref := range content.Schema.Value.Properties {
		if names := spellings(name, extensions(ref)); len(names) > 1 && renamed.body[name] != nil {
			renamed.body[names[1]] = renamed.body[name]
			delete(renamed.body, name)
			changed = true
		}
	}
	return renamed, changed
}

// extensions are those of a schema or, if it is a reference, those beside it.
func extensions(ref *openapi3.SchemaRef) map[string]any {
	if ref.Ref != "" {
		return ref.Extensions
	}
	return ref.Value.Extensions
}
