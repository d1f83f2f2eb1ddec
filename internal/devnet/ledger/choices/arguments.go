package choices

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// arguments reads contract values as clients write them, in compact_json. It is not safe
// for concurrent use.
type arguments struct {
	names  *model.Names
	shapes map[*values.Type]*model.Shape
	arena  *model.Arena // receives the values
	path   []byte       // of the value in work
}

func newArguments(n *model.Names) *arguments {
	return &arguments{names: n, shapes: map[*values.Type]*model.Shape{}}
}

// read returns the value that raw stands for, or throws a refusal.
func (r *arguments) read(a *model.Arena, what string, t *values.Type, raw json.RawMessage) model.Value {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var parsed any
	if err := d.Decode(&parsed); err != nil {
		panic(Refuse(CodePreprocessing, "%s is not JSON: %v", what, err))
	}
	r.arena, r.path = a, append(r.path[:0], what...)
	return r.value(t, parsed)
}

// wrong is the refusal of the value in work.
func (r *arguments) wrong(format string, args ...any) *Refusal {
	return Refuse(CodePreprocessing, "%s %s", r.path, fmt.Sprintf(format, args...))
}

// require throws the refusal of the value in work unless it is right.
func (r *arguments) require(right bool, format string, args ...any) {
	if !right {
		panic(r.wrong(format, args...))
	}
}

func (r *arguments) value(t *values.Type, v any) model.Value {
	switch t.Kind {
	case values.KindUnit:
		return model.Unit() // whatever stands there: it says nothing
	case values.KindBool:
		b, ok := v.(bool)
		r.require(ok, "is not a boolean")
		return model.Boolean(b)
	case values.KindInt64, values.KindNumeric:
		return r.number(t.Kind, v)
	case values.KindRecord:
		return r.record(t, v)
	case values.KindVariant:
		return r.variant(t, v)
	case values.KindOptional:
		return r.optional(t, v)
	case values.KindList:
		return r.list(t, v)
	case values.KindTextMap, values.KindGenMap:
		return r.entries(t, v)
	}
	s, ok := v.(string)
	r.require(ok, "is not a text")
	return r.text(t, s)
}

// number reads an int64 or a numeric, which may be given as a number or a text.
func (r *arguments) number(k values.Kind, v any) model.Value {
	var s string
	switch v := v.(type) {
	case string:
		s = v
	case json.Number:
		s = v.String()
	default:
		panic(r.wrong("is not a number"))
	}
	if k == values.KindInt64 {
		n, err := strconv.ParseInt(s, 10, 64)
		r.require(err == nil, "is not a 64-bit integer: %.40q", s)
		return model.Int64Value(n)
	}
	d, err := model.ParseDecimal(s)
	r.require(err == nil, "%v: %.60q", err, s)
	return model.Numeric(d)
}

func (r *arguments) text(t *values.Type, s string) model.Value {
	switch t.Kind {
	case values.KindText:
		r.require(utf8.ValidString(s) && !strings.ContainsRune(s, 0), "has characters that are not allowed in a text")
		return model.Text(s)
	case values.KindParty:
		return model.PartyValue(r.party(s))
	case values.KindContractID:
		return model.ContractID(r.contract(s))
	case values.KindTimestamp:
		at, err := time.Parse(time.RFC3339, s)
		r.require(err == nil, "is not a time with a zone: %.40q", s)
		return model.Timestamp(at.UnixMicro())
	case values.KindDate:
		day, err := time.Parse(time.DateOnly, s)
		r.require(err == nil, "is not a date: %.40q", s)
		return model.Date(day.Unix() / 86400)
	}
	for _, f := range t.Fields { // of an enum
		if f.Label == s {
			return model.Enum(s)
		}
	}
	panic(r.wrong("is not a %s: %.40q", t.Name, s))
}

func (r *arguments) party(s string) model.Party {
	label, fingerprint, ok := strings.Cut(s, model.PartyNamespaceMark)
	r.require(ok && label != "" && fingerprint != "", "is not a party: %.80q", s)
	p, ok := r.names.Named(s)
	if !ok {
		panic(Refuse(CodeInvalidArgument, "%s: the network does not know party %.255s", r.path, s).with("unknown_party", s))
	}
	return p
}

// contract returns the number of a contract. One of another ledger is not found.
func (r *arguments) contract(s string) uint64 {
	if _, err := hex.DecodeString(s); err != nil || len(s) < 4 || s != strings.ToLower(s) {
		panic(r.wrong("is not a contract id: %.150q", s))
	}
	n, ok := r.names.IDs.ContractNumber(s)
	if !ok {
		panic(contractNotFound(s))
	}
	return n
}

// within reads a part of the value in work; name is how it is called.
func (r *arguments) within(name string, t *values.Type, v any) model.Value {
	outer := len(r.path)
	r.path = append(r.path, name...)
	got := r.value(t, v)
	r.path = r.path[:outer]
	return got
}

// record reads a record. Absent members are none; the optional ones behind the last that
// is there are left out, as by a client of an older package version.
func (r *arguments) record(t *values.Type, v any) model.Value {
	members, ok := v.(map[string]any)
	r.require(ok, "is not a record")
	last := len(t.Fields)
	for last > 0 && t.Fields[last-1].Type.Kind == values.KindOptional && !present(members, t.Fields[last-1].Label) {
		last--
	}
	elems := r.arena.Alloc(last)
	for i := range last {
		f := &t.Fields[i]
		member, ok := members[f.Label]
		if !ok && f.Type.Kind != values.KindOptional {
			panic(Refuse(CodeMissingField, "%s.%s is missing", r.path, f.Label))
		}
		elems[i] = r.within("."+f.Label, f.Type, member)
	}
	return model.Value{Kind: model.KindRecord, Shape: r.shape(t), Elems: elems}
}

func present(members map[string]any, label string) bool {
	_, ok := members[label]
	return ok
}

func (r *arguments) shape(t *values.Type) *model.Shape {
	s := r.shapes[t]
	if s == nil {
		labels := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			labels[i] = f.Label
		}
		s = model.NewShape(labels...)
		r.shapes[t] = s
	}
	return s
}

func (r *arguments) variant(t *values.Type, v any) model.Value {
	members, _ := v.(map[string]any)
	tag, ok := members["tag"].(string)
	r.require(ok, "is not a variant with a tag")
	for _, f := range t.Fields {
		if f.Label == tag {
			return r.arena.Variant(tag, r.within("."+tag, f.Type, members["value"]))
		}
	}
	panic(r.wrong("is not a %s: %.40q", cmp.Or(t.Name, "known variant"), tag))
}

// optional reads an optional; one within another is in an array.
func (r *arguments) optional(t *values.Type, v any) model.Value {
	if v == nil {
		return model.None()
	}
	if t.Elem.Kind == values.KindOptional {
		list, ok := v.([]any)
		r.require(ok && len(list) <= 1, "is not an optional within an optional")
		if len(list) == 0 {
			return r.arena.Some(model.None())
		}
		v = list[0]
	}
	return r.arena.Some(r.value(t.Elem, v))
}

func (r *arguments) list(t *values.Type, v any) model.Value {
	list, ok := v.([]any)
	r.require(ok, "is not a list")
	elems := make([]model.Value, len(list))
	for i, v := range list {
		elems[i] = r.within("["+strconv.Itoa(i)+"]", t.Elem, v)
	}
	return model.Value{Kind: model.KindList, Elems: elems}
}

// entries reads a map: an object if its keys are texts, else a list of pairs.
func (r *arguments) entries(t *values.Type, v any) model.Value {
	var pairs [][2]model.Value
	switch v := v.(type) {
	case map[string]any:
		r.require(t.Kind == values.KindTextMap, "is not a list of keys and values")
		for key, content := range v {
			pairs = append(pairs, [2]model.Value{model.Text(key), r.within("."+key, t.Elem, content)})
		}
	case []any:
		r.require(t.Kind == values.KindGenMap, "is not an object")
		for i, entry := range v {
			pairs = append(pairs, r.pair(t, i, entry))
		}
	default:
		panic(r.wrong("is not a map"))
	}
	slices.SortFunc(pairs, func(p, q [2]model.Value) int { return r.compare(&p[0], &q[0]) })
	m := model.Value{Kind: model.KindTextMap}
	if t.Kind == values.KindGenMap {
		m.Kind = model.KindGenMap
	}
	for i := range pairs {
		r.require(i == 0 || r.compare(&pairs[i-1][0], &pairs[i][0]) != 0, "has a duplicate key")
		m.Elems = append(m.Elems, pairs[i][0], pairs[i][1])
	}
	return m
}

func (r *arguments) pair(t *values.Type, i int, v any) [2]model.Value {
	list, ok := v.([]any)
	r.require(ok && len(list) == 2, "has an entry that is not a pair")
	name := "[" + strconv.Itoa(i) + "]"
	return [2]model.Value{r.within(name, t.Key, list[0]), r.within(name, t.Elem, list[1])}
}

// compare orders the keys of a map.
func (r *arguments) compare(v, w *model.Value) int {
	switch {
	case v.Kind == model.KindText:
		return strings.Compare(v.Text, w.Text)
	case v.Kind == model.KindParty:
		return r.names.Compare(model.Party(v.Num), model.Party(w.Num))
	case len(v.Elems) > 0:
		for i := range min(len(v.Elems), len(w.Elems)) {
			if c := r.compare(&v.Elems[i], &w.Elems[i]); c != 0 {
				return c
			}
		}
		return cmp.Compare(len(v.Elems), len(w.Elems))
	}
	return cmp.Compare(v.Num, w.Num)
}
