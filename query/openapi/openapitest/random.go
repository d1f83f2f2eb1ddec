package openapitest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// Random derives a request of an operation by chance: its example with some parameters and members
// changed to values that its schema allows, excludes or knows nothing of, or a body that is no
// JSON any more. The same state of r gives the same request. known are values from answers, such
// as ids, which get further than invented ones.
func (d *Document) Random(op *Operation, r *rand.Rand, known []string) (Request, error) {
	base, err := example(op)
	if err != nil {
		return Request{}, err
	}
	c, err := base.clone()
	if err != nil {
		return Request{}, err
	}
	g := &random{r, known}
	for _, ref := range op.Parameters {
		g.parameter(c, ref.Value)
	}
	content := bodyOf(op)
	if content != nil && g.often() {
		c.body, _ = g.object(content.Schema.Value, c.body, 0).(map[string]any)
	}
	paths := op.paths()
	request, err := c.request(op, paths[r.IntN(len(paths))], "random", "")
	if err != nil {
		return request, err
	}
	if content != nil && g.seldom() {
		request.Body = g.damaged(request.Body)
	}
	return request, nil
}

// random makes values.
type random struct {
	*rand.Rand
	known []string
}

func (g *random) often() bool  { return g.IntN(3) > 0 }
func (g *random) seldom() bool { return g.IntN(12) == 0 }

// parameter changes a parameter of path or query, or takes it away.
func (g *random) parameter(c *draft, p *openapi3.Parameter) {
	schema := p.Schema.Value
	switch {
	case g.IntN(3) == 0: // as in the example
	case p.In == "path":
		if text := g.text(schema); text != "" {
			c.path[p.Name] = text
		}
	case p.In == "query":
		names := spellings(p.Name, p.Extensions)
		delete(c.query, p.Name)
		for range g.IntN(3) {
			name := names[g.IntN(len(names))]
			c.query[name] = append(c.query[name], g.text(schema))
		}
	}
}

// text is a value of a schema in a path or a query string.
func (g *random) text(s *openapi3.Schema) string {
	if s.Type.Is("array") && s.Items != nil {
		s = s.Items.Value
	}
	if bad := badTexts(s); len(bad) > 0 && g.IntN(4) == 0 {
		return bad[g.IntN(len(bad))]
	}
	switch {
	case len(s.Enum) > 0 && g.often():
		return fmt.Sprint(s.Enum[g.IntN(len(s.Enum))])
	case s.Type.Is("integer"):
		return fmt.Sprint(g.integer())
	case s.Type.Is("boolean"):
		return []string{"true", "false", "TRUE", "1"}[g.IntN(4)]
	}
	return g.word()
}

// oddWords are texts that have broken programs.
var oddWords = []string{
	"", "a", "a::b", "::", "00", "0", "-1", "null", "NaN", "%00", "%", "é", "\u202e", "\U0001F600", "\x00", "\n", "\\", `"`, "'", "`", "{x:String}", "{{", "$1", "%s%d",
	"'; DROP TABLE updates; --", "a/b", "a,b", " a ", "2026-07-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "2026-07-01T00:00:00.123456789Z", "1e999", "0x10",
	"\xff\xfe", "id:M:E", "#splice-amulet:Splice.Amulet:Amulet", "1220" + "ab",
}

func (g *random) word() string {
	switch g.IntN(8) {
	case 0, 1:
		return oddWords[g.IntN(len(oddWords))]
	case 2:
		return strings.Repeat(oddWords[g.IntN(len(oddWords))], g.IntN(400))
	case 3:
		text := make([]byte, g.IntN(40))
		for i := range text {
			text[i] = byte(g.Uint32())
		}
		return string(text)
	case 4:
		return strings.Repeat("0a", g.IntN(70))
	}
	if len(g.known) == 0 {
		return "alice::1220"
	}
	text := g.known[g.IntN(len(g.known))]
	if text != "" && g.IntN(4) == 0 {
		cut := g.IntN(len(text))
		text = text[:cut] + string(byte('0'+g.IntN(10))) + text[cut:]
	}
	return text
}

func (g *random) integer() int64 {
	edges := []int64{0, 1, -1, 2, 7, 100, 999, 1000, 1001, 1<<31 - 1, 1 << 31, -1 << 31, 1<<53 + 1, 1<<63 - 1, -1 << 63}
	if g.often() {
		return edges[g.IntN(len(edges))]
	}
	return int64(g.IntN(500))
}

// deepestValue bounds what is made for a schema that has itself in it.
const deepestValue = 8

// object changes members of an object. old is what the example has, or nil.
func (g *random) object(s *openapi3.Schema, old map[string]any, depth int) any {
	made := map[string]any{}
	for _, name := range sortedNames(s.Properties) {
		ref := s.Properties[name]
		value, had := old[name]
		switch {
		case had && g.often():
			made[name] = value
			if inner, ok := value.(map[string]any); ok && depth < deepestValue && g.often() {
				made[name] = g.object(ref.Value, inner, depth+1)
			}
		case had && g.seldom(): // left out
		case had || g.IntN(4) == 0:
			names := spellings(name, extensions(ref))
			made[names[g.IntN(len(names))]] = g.value(ref.Value, depth+1)
		}
	}
	for name, value := range old {
		if _, ok := s.Properties[name]; !ok {
			made[name] = value // of a map, or what another schema of the body has
		}
	}
	if g.seldom() {
		made[strings.ToValidUTF8(g.word(), "?")] = g.value(&openapi3.Schema{}, depth+1)
	}
	return made
}

func sortedNames(properties openapi3.Schemas) []string {
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// value makes a value for a schema, mostly of its type.
func (g *random) value(s *openapi3.Schema, depth int) any {
	if bad := badValuesOf(s); len(bad) > 0 && g.IntN(5) == 0 {
		return bad[g.IntN(len(bad))]
	}
	if len(s.AnyOf)+len(s.OneOf)+len(s.AllOf) > 0 && depth < deepestValue {
		all := slices.Concat(s.AnyOf, s.OneOf, s.AllOf)
		return g.value(all[g.IntN(len(all))].Value, depth+1)
	}
	switch {
	case depth >= deepestValue:
		return nil
	case s.Type.Is("integer") || s.Type.Is("number"):
		return g.integer()
	case s.Type.Is("boolean"):
		return g.IntN(2) == 0
	case s.Type.Is("array"):
		list := []any{}
		for range g.IntN(4) {
			list = append(list, g.value(s.Items.Value, depth+1))
		}
		return list
	case s.Type.Is("object"):
		object := g.object(s, nil, depth+1)
		if extra := s.AdditionalProperties.Schema; extra != nil {
			for range g.IntN(3) {
				object.(map[string]any)[strings.ToValidUTF8(g.word(), "?")] = g.value(extra.Value, depth+1)
			}
		}
		return object
	case s.Type.Is("string"):
		return strings.ToValidUTF8(g.text(s), "?")
	}
	return []any{nil, true, 1.5, strings.ToValidUTF8(g.word(), "?"), []any{}, map[string]any{}}[g.IntN(6)]
}

// badValuesOf is badValues for schemas that may be incomplete.
func badValuesOf(s *openapi3.Schema) []json.RawMessage {
	if s.Type == nil || s.Type.Is("array") { // of a list, the elements are bad
		return nil
	}
	return badValues(s)
}

// damaged changes a text so that it mostly is no JSON any more.
func (g *random) damaged(text string) string {
	if text == "" {
		return g.word()
	}
	at := g.IntN(len(text))
	switch g.IntN(6) {
	case 0:
		return text[:at]
	case 1:
		return text[:at] + string(byte(g.Uint32())) + text[at:]
	case 2:
		return text[:at] + text[at+1:]
	case 3:
		return text + text
	case 4:
		return strings.Repeat("[", g.IntN(20_000)) + text
	}
	return text[:at] + g.word() + text[at:]
}
