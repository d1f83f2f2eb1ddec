package query

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// MaxListItems is the most elements that a list in a request may have.
const MaxListItems = 1000

// Params reads the members of a JSON body or the parameters of a query string. The
// first problem is remembered: read everything, then ask Err once. A member
// that is null counts as absent, unknown ones are ignored, and a member is found
// under both of its spellings.
type Params struct {
	members map[string]json.RawMessage // of a body
	args    *fasthttp.Args             // of a query string, else nil
	prefix  string                     // "after." for members of member after
	err     *error
}

func queryParams(args *fasthttp.Args) *Params {
	return &Params{args: args, err: new(error)}
}

// bodyParams reads a JSON object. A body that isn't one gives Params with an error.
func bodyParams(body []byte) *Params {
	p := &Params{err: new(error)}
	if err := jsonscan.Valid(body); err != nil {
		p.fail("The body is not well-formed JSON: %s.", err)
		return p
	}
	p.decode(body, "The body")
	return p
}

func (p *Params) decode(object []byte, what string) {
	if err := json.Unmarshal(object, &p.members); err != nil || p.members == nil {
		p.fail("%s must be a JSON object.", what)
	}
}

// Err returns the first problem as an Error of class Invalid, or nil.
func (p *Params) Err() error { return *p.err }

// Fail notes a problem that the caller of Params found in a value, unless there is
// an earlier one.
func (p *Params) Fail(format string, args ...any) { p.fail(format, args...) }

func (p *Params) fail(format string, args ...any) {
	if *p.err == nil {
		*p.err = Errorf(Invalid, format, args...)
	}
}

func (p *Params) failType(name, want string) {
	p.fail("%s %s must be %s.", p.kind(), p.prefix+name, want)
}

func (p *Params) kind() string {
	if p.args != nil {
		return "Query parameter"
	}
	return "Member"
}

// find returns the raw value of a parameter: JSON in a body, plain text in a query.
func (p *Params) find(name string) (raw []byte, ok bool) {
	for _, spelling := range spellings(name) {
		if p.args != nil {
			if raw = p.args.Peek(spelling); raw != nil {
				return raw, true
			}
			continue
		}
		if raw, ok = p.members[spelling]; ok && string(raw) != "null" {
			return raw, true
		}
	}
	return nil, false
}

func (p *Params) require(name string) (raw []byte, ok bool) {
	if raw, ok = p.find(name); !ok {
		p.fail("%s %s is required.", p.kind(), p.prefix+name)
	}
	return raw, ok
}

// Names are those of all parameters of a query string, as they are spelled there, each once.
func (p *Params) Names() (names []string) {
	for key := range p.args.All() {
		if name := string(key); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Has reports whether the parameter is there and not null.
func (p *Params) Has(name string) bool {
	_, ok := p.find(name)
	return ok
}

// Int64 reads a required integer.
func (p *Params) Int64(name string) int64 { return p.integer(name, 64) }

// Int32 reads a required integer of 32 bits.
func (p *Params) Int32(name string) int { return int(p.integer(name, 32)) }

func (p *Params) integer(name string, bits int) int64 {
	raw, ok := p.require(name)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(string(raw), 10, bits)
	if err != nil {
		p.failType(name, fmt.Sprintf("an integer of %d bits", bits))
	}
	return n
}

// OptionalInt64 reads an integer; ok is false when it is absent.
func (p *Params) OptionalInt64(name string) (n int64, ok bool) {
	if _, ok = p.find(name); !ok {
		return 0, false
	}
	return p.integer(name, 64), true
}

// Bool reads true or false; absent means false.
func (p *Params) Bool(name string) bool {
	raw, ok := p.find(name)
	if ok && string(raw) != "true" && string(raw) != "false" {
		p.failType(name, "true or false")
	}
	return string(raw) == "true"
}

// OptionalLimit is Limit with a default for when it is absent.
func (p *Params) OptionalLimit(name string, maximum int) int {
	if !p.Has(name) {
		return maximum
	}
	return p.Limit(name, maximum)
}

// Limit reads a required page size or count from 1 to maximum.
func (p *Params) Limit(name string, maximum int) int {
	n := p.Int32(name)
	switch {
	case *p.err != nil:
	case n < 1:
		p.fail("%s %s: Limit must be at least 1.", p.kind(), p.prefix+name)
	case n > maximum:
		p.fail("%s %s: Exceeded limit maximum (%d > %d).", p.kind(), p.prefix+name, n, maximum)
	}
	return n
}

// Text reads a required string.
func (p *Params) Text(name string) string {
	raw, ok := p.require(name)
	if !ok {
		return ""
	}
	return p.text(name, raw)
}

// OptionalText reads a string; ok is false when it is absent.
func (p *Params) OptionalText(name string) (text string, ok bool) {
	raw, ok := p.find(name)
	if !ok {
		return "", false
	}
	return p.text(name, raw), true
}

func (p *Params) text(name string, raw []byte) string {
	if p.args != nil {
		return string(raw)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		p.failType(name, "a string")
	}
	return s
}

// OneOf reads a string out of allowed; absent means the first of them.
func (p *Params) OneOf(name string, allowed ...string) string {
	text, ok := p.OptionalText(name)
	if !ok {
		return allowed[0]
	}
	if !slices.Contains(allowed, text) {
		p.failType(name, "one of "+strings.Join(allowed, ", "))
	}
	return text
}

// Time reads a required instant.
func (p *Params) Time(name string) schemas.Micros {
	raw, ok := p.require(name)
	if !ok {
		return 0
	}
	return p.time(name, raw)
}

// OptionalTime reads an instant; ok is false when it is absent.
func (p *Params) OptionalTime(name string) (m schemas.Micros, ok bool) {
	raw, ok := p.find(name)
	if !ok {
		return 0, false
	}
	return p.time(name, raw), true
}

func (p *Params) time(name string, raw []byte) schemas.Micros {
	text := p.text(name, raw)
	m, err := schemas.ParseTime(text)
	if err != nil {
		p.fail("%s %s: %s.", p.kind(), p.prefix+name, err)
	}
	return m
}

// Texts reads a list of at most MaxListItems strings; absent gives none. In a query string
// the parameter is repeated for each.
func (p *Params) Texts(name string) []string {
	raw, ok := p.find(name)
	if !ok {
		return nil
	}
	texts, ok := p.texts(name, raw)
	switch {
	case !ok:
		p.failType(name, "an array of strings")
		return nil
	case len(texts) > MaxListItems:
		p.fail("%s %s has %d elements, at most %d are allowed.", p.kind(), p.prefix+name, len(texts), MaxListItems)
		return nil
	}
	return texts
}

func (p *Params) texts(name string, raw []byte) (texts []string, ok bool) {
	if p.args != nil {
		for _, spelling := range spellings(name) {
			for _, value := range p.args.PeekMulti(spelling) {
				texts = append(texts, string(value))
			}
		}
		return texts, true
	}
	var list []*string
	if err := json.Unmarshal(raw, &list); err != nil || slices.Contains(list, nil) {
		return nil, false
	}
	for _, s := range list {
		texts = append(texts, *s)
	}
	return texts, true
}

// AllTexts reads a required list of strings, as many as fit into a request.
func (p *Params) AllTexts(name string) []string {
	raw, ok := p.require(name)
	if !ok {
		return nil
	}
	texts, ok := p.texts(name, raw)
	if !ok {
		p.failType(name, "an array of strings")
	}
	return texts
}

// RequiredTexts is Texts for a member that must be there.
func (p *Params) RequiredTexts(name string) []string {
	if _, ok := p.require(name); !ok {
		return nil
	}
	return p.Texts(name)
}

// Object reads a member that is an object; nil when it is absent. Problems inside
// are reported by p.Err too.
func (p *Params) Object(name string) *Params {
	raw, ok := p.find(name)
	if !ok {
		return nil
	}
	inner := &Params{prefix: p.prefix + name + ".", err: p.err}
	inner.decode(raw, "Member "+p.prefix+name)
	return inner
}

// RequiredObject is Object for a member that must be there.
func (p *Params) RequiredObject(name string) *Params {
	if _, ok := p.require(name); !ok {
		return nil
	}
	return p.Object(name)
}

// Objects reads a required list of least to most objects. Problems inside are reported by p.Err
// too.
func (p *Params) Objects(name string, least, most int) []*Params {
	raw, ok := p.require(name)
	if !ok {
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		p.failType(name, "an array of objects")
		return nil
	}
	if len(list) < least || len(list) > most {
		p.fail("%s %s has %d elements, it must have from %d to %d.", p.kind(), p.prefix+name, len(list), least, most)
		return nil
	}
	objects := make([]*Params, len(list))
	for i, element := range list {
		place := fmt.Sprintf("%s%s[%d]", p.prefix, name, i)
		objects[i] = &Params{prefix: place + ".", err: p.err}
		objects[i].decode(element, "Member "+place)
	}
	return objects
}

// Raw reads a required member as the JSON that it is.
func (p *Params) Raw(name string) json.RawMessage {
	raw, _ := p.require(name)
	return raw
}
