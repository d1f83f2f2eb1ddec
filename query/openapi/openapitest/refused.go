package openapitest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Refused derives requests that must be answered with 400: the example of an operation
// with one thing wrong in it. Every parameter and member gets each kind of value that its
// schema excludes, under both of its names.
func (d *Document) Refused(op *Operation) ([]Request, error) {
	base, err := example(op)
	if err != nil {
		return nil, err
	}
	m := &maker{op: op, base: base}
	for _, ref := range op.Parameters {
		m.parameter(ref.Value)
	}
	if content := bodyOf(op); content != nil {
		m.bodies()
		m.members(content.Schema.Value, nil)
	}
	return m.list, m.err
}

// Names reports whether the text of an error names the parameter or member that is wrong:
// as the request does, or in words, such as "update id" for update_id.
func (r *Request) Names(text string) bool {
	text, member := strings.ToLower(text), strings.ToLower(r.Member)
	return strings.Contains(text, member) || strings.Contains(text, strings.ReplaceAll(member, "_", " "))
}

// maker collects requests that must be refused.
type maker struct {
	op   *Operation
	base *draft
	list []Request
	err  error // the first one
}

// add takes the example with a change.
func (m *maker) add(name, member string, change func(*draft)) {
	c, err := m.base.clone()
	if err == nil {
		change(c)
		var r Request
		if r, err = c.request(m.op, m.op.Path, name, member); err == nil {
			m.list = append(m.list, r)
		}
	}
	if m.err == nil {
		m.err = err
	}
}

// parameter spoils a parameter of path or query.
func (m *maker) parameter(p *openapi3.Parameter) {
	schema := p.Schema.Value
	switch p.In {
	case "path":
		for _, bad := range badTexts(schema) {
			if bad == "" { // that would be another path
				continue
			}
			member := p.Name
			if strings.Contains(bad, "%") { // encoded twice: refused before its route is known
				member = "path"
			}
			m.add("path parameter "+p.Name+" = "+short(bad), member, func(d *draft) { d.path[p.Name] = bad })
		}
	case "query":
		if p.Required {
			m.add("without query parameter "+p.Name, p.Name, func(d *draft) { delete(d.query, p.Name) })
		}
		for _, name := range spellings(p.Name, p.Extensions) {
			for _, bad := range badQueries(name, schema) {
				m.add("query parameter "+name+" = "+short(fmt.Sprint(bad)), p.Name, func(d *draft) {
					delete(d.query, p.Name)
					d.query[name] = bad
				})
			}
		}
	}
}

// longestQuery is the longest query string that is sent: a server takes heads of 16 KiB.
const longestQuery = 16_100

// badQueries gives the values of a query parameter, which a list has several of.
func badQueries(name string, schema *openapi3.Schema) (list [][]string) {
	if !schema.Type.Is("array") {
		for _, bad := range badTexts(schema) {
			list = append(list, []string{bad})
		}
		return list
	}
	for _, bad := range badTexts(schema.Items.Value) {
		list = append(list, []string{bad})
	}
	if schema.MaxItems == nil {
		return list
	}
	good := goodText(schema.Items.Value)
	if n := int(*schema.MaxItems) + 1; n*(len(url.QueryEscape(good))+len(name)+2) < longestQuery {
		list = append(list, slices.Repeat([]string{good}, n))
	}
	return list
}

// bodies spoils the body as a whole.
func (m *maker) bodies() {
	for name, text := range map[string]string{
		"no body": "", "a body that is cut off": "{", "a body with text behind": "{} {}", "a body that is a list": "[]",
		"a body that is null": "null", "a body that is a text": `"text"`, "a body that is no JSON": "page_size=1",
		"a body that is not UTF-8": "{\"a\":\"\xff\xfe\"}", "a doubled member": `{"a":1,"a":2}`,
		"a body of 10,000 levels": `{"a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "}",
	} {
		m.add(name, "body", func(d *draft) { d.hasRaw, d.raw = true, text })
	}
}

// members spoils each member of an object; at are the names on the way to it.
func (m *maker) members(object *openapi3.Schema, at []string) {
	for name, ref := range object.Properties {
		schema, place := ref.Value, append(slices.Clone(at), name)
		if slices.Contains(object.Required, name) {
			m.member("without member", place, name, func(parent map[string]any) { delete(parent, name) })
			m.member("null as member", place, name, func(parent map[string]any) { parent[name] = nil })
		}
		for _, spelling := range spellings(name, extensions(ref)) {
			for _, bad := range badValues(schema) {
				m.member(fmt.Sprintf("%s as member", short(string(bad))), append(slices.Clone(at), spelling), name, func(parent map[string]any) {
					delete(parent, name)
					parent[spelling] = bad
				})
			}
		}
		// What stands in the place of another member is not in the example to be spoiled.
		if alternative, _ := extensions(ref)["x-alternative"].(bool); !alternative {
			m.members(schema, place)
		}
	}
}

// member changes the object that has the last of place as a member.
func (m *maker) member(what string, place []string, neutral string, change func(parent map[string]any)) {
	m.add(what+" "+strings.Join(place, "."), neutral, func(d *draft) {
		parent := d.body
		for _, name := range place[:len(place)-1] {
			inner, ok := parent[name].(map[string]any)
			if !ok {
				if m.err == nil {
					m.err = fmt.Errorf("%s: the example has no object %s", m.op, name)
				}
				return
			}
			parent = inner
		}
		change(parent)
	})
}

func short(text string) string {
	if len(text) > 60 {
		return fmt.Sprintf("%s.. (%d bytes)", text[:40], len(text))
	}
	return text
}

// badValues are JSON values that a schema excludes.
func badValues(s *openapi3.Schema) (list []json.RawMessage) {
	add := func(texts ...string) {
		for _, text := range texts {
			list = append(list, json.RawMessage(text))
		}
	}
	switch {
	case s.Type.Is("string"):
		add("17", "true", "[]", "{}", `["a"]`)
		for _, bad := range badTexts(s) {
			add(quoted(bad))
		}
	case s.Type.Is("integer"):
		add(`"7"`, "1.5", "true", "[]", "{}", `""`)
		for _, bad := range outOfRange(s) {
			add(bad)
		}
	case s.Type.Is("boolean"):
		add(`"true"`, "1", "[]", "{}")
	case s.Type.Is("array"):
		list = append(list, badLists(s)...)
	case s.Type.Is("object"):
		add(`"a"`, "17", "true", "[]")
	}
	return list
}

func badLists(s *openapi3.Schema) (list []json.RawMessage) {
	for _, text := range []string{`"a"`, "17", "{}", "[null]"} {
		list = append(list, json.RawMessage(text))
	}
	for _, bad := range badValues(s.Items.Value) {
		list = append(list, json.RawMessage("["+string(bad)+"]"))
	}
	if s.MinItems > 0 {
		list = append(list, json.RawMessage("[]"))
	}
	if s.MaxItems != nil {
		many := slices.Repeat([]string{quoted(goodText(s.Items.Value))}, int(*s.MaxItems)+1)
		list = append(list, json.RawMessage("["+strings.Join(many, ",")+"]"))
	}
	return list
}

func quoted(text string) string {
	// A string always marshals.
	raw, _ := json.Marshal(text)
	return string(raw)
}

// badTexts are texts that a schema excludes, in a path or a query string or, for a
// string, in JSON.
func badTexts(s *openapi3.Schema) (list []string) {
	switch {
	case s.Type.Is("integer"):
		return append([]string{"", "x", "1.5", "1e3", "0x10", "--1"}, outOfRange(s)...)
	case s.Type.Is("boolean"):
		return []string{"maybe", "2"}
	}
	if len(s.Enum) > 0 {
		list = append(list, "no such value")
	}
	if s.Format == "date-time" {
		list = append(list, "", "yesterday", "2026-07-01", "2026-07-01T00:00:00", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z",
			"2026-07-01T24:00:00Z", "2026-07-01T00:00:00.Z", "12026-07-01T00:00:00Z", "1751328000")
	} else if s.Pattern != "" {
		list = append(list, notMatching(s)...)
	}
	if s.MaxLength != nil {
		list = append(list, strings.Repeat("a", int(*s.MaxLength)+1))
	}
	return list
}

// notMatching are texts that do not match the pattern of a schema.
func notMatching(s *openapi3.Schema) []string {
	return slices.DeleteFunc([]string{"", "x", "not a value", "a:b", "a:b:c:d", "::", "a::b", "%00", "'; DROP TABLE updates; --", "é"}, matches(s))
}

// goodText is a text that a schema allows.
func goodText(s *openapi3.Schema) string {
	candidates := []string{"a", "a:b:c", "00", "a::b"}
	if i := slices.IndexFunc(candidates, matches(s)); i >= 0 {
		return candidates[i]
	}
	panic("no candidate matches " + s.Pattern)
}

// outOfRange are integers that a schema excludes.
func outOfRange(s *openapi3.Schema) []string {
	list := []string{"9223372036854775808", "-9223372036854775809"}
	if s.Format == "int32" {
		list = []string{"2147483648", "-2147483649"}
	}
	if s.Min != nil {
		list = append(list, fmt.Sprintf("%.0f", *s.Min-1))
	}
	if s.Max != nil {
		list = append(list, fmt.Sprintf("%.0f", *s.Max+1))
	}
	return list
}
