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

// read returns the value that raw stands for. The error is a *Refusal.
func (r *arguments) read(a *model.Arena, what string, t *values.Type, raw json.RawMessage) (model.Value, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var parsed any
	if err := d.Decode(&parsed); err != nil {
		return model.Value{}, Refuse(CodePreprocessing, "%s is not JSON: %v", what, err)
	}
	r.arena, r.path = a, append(r.path[:0], what...)
	return r.value(t, parsed)
}

// wrong is the refusal of the value in work.
func (r *arguments) wrong(format string, args ...any) error {
	return Refuse(CodePreprocessing, "%s %s", r.path, fmt.Sprintf(format, args...))
}

func (r *arguments) value(t *values.Type, v any) (model.Value, error) {
	switch t.Kind {
	case values.KindUnit:
		return model.Unit(), nil // whatever stands there: it says nothing
	case values.KindBool:
		b, ok := v.(bool)
		if !ok {
			return model.Value{}, r.wrong("is no boolean")
		}
		return model.Boolean(b), nil
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
	if !ok {
		return model.Value{}, r.wrong("is no text")
	}
	return r.text(t, s)
}

// number reads an int64 or a numeric, which may be given as a number or a text.
func (r *arguments) number(k values.Kind, v any) (model.Value, error) {
	var s string
	switch v := v.(type) {
	case string:
		s = v
	case json.Number:
		s = v.String()
	default:
		return model.Value{}, r.wrong("is no number")
	}
	if k == values.KindInt64 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return model.Value{}, r.wrong("is no 64-bit integer: %.40q", s)
		}
		return model.Int64Value(n), nil
	}
	d, err := model.ParseDecimal(s)
	if err != nil {
		return model.Value{}, r.wrong("%v: %.60q", err, s)
	}
	return model.Numeric(d), nil
}

func (r *arguments) text(t *values.Type, s string) (model.Value, error) {
	switch t.Kind {
	case values.KindText:
		if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			return model.Value{}, r.wrong("holds characters that no text may have")
		}
		return model.Text(s), nil
	case values.KindParty:
		p, err := r.party(s)
		return model.PartyValue(p), err
	case values.KindContractID:
		n, err := r.contract(s)
		return model.ContractID(n), err
	case values.KindTimestamp:
		at, err := time.Parse(time.RFC3339, s)
		if err != nil {
			return model.Value{}, r.wrong("is no time with a zone: %.40q", s)
		}
		return model.Timestamp(at.UnixMicro()), nil
	case values.KindDate:
		day, err := time.Parse(time.DateOnly, s)
		if err != nil {
			return model.Value{}, r.wrong("is no date: %.40q", s)
		}
		return model.Date(day.Unix() / 86400), nil
	}
	for _, f := range t.Fields { // of an enum
		if f.Label == s {
			return model.Enum(s), nil
		}
	}
	return model.Value{}, r.wrong("is no %s: %.40q", t.Name, s)
}

func (r *arguments) party(s string) (model.Party, error) {
	label, fingerprint, ok := strings.Cut(s, model.PartyNamespaceMark)
	if !ok || label == "" || fingerprint == "" {
		return model.NoParty, r.wrong("is no party: %.80q", s)
	}
	p, ok := r.names.Named(s)
	if !ok {
		return model.NoParty, Refuse(CodeInvalidArgument, "%s: the network knows no party %.255s", r.path, s).with("unknown_party", s)
	}
	return p, nil
}

// contract returns the number of a contract. One of another ledger is not found.
func (r *arguments) contract(s string) (uint64, error) {
	if _, err := hex.DecodeString(s); err != nil || len(s) < 4 || s != strings.ToLower(s) {
		return 0, r.wrong("is no contract id: %.150q", s)
	}
	n, ok := r.names.IDs.ContractNumber(s)
	if !ok {
		return 0, contractNotFound(s)
	}
	return n, nil
}

// within reads a part of the value in work; name is how it is called.
func (r *arguments) within(name string, t *values.Type, v any) (model.Value, error) {
	outer := len(r.path)
	r.path = append(r.path, name...)
	got, err := r.value(t, v)
	r.path = r.path[:outer]
	return got, err
}

// record reads a record. Absent members are none; the optional ones behind the last that
// is there are left out, as by a client of an older package version.
func (r *arguments) record(t *values.Type, v any) (model.Value, error) {
	members, ok := v.(map[string]any)
	if !ok {
		return model.Value{}, r.wrong("is no record")
	}
	last := len(t.Fields)
	for last > 0 && t.Fields[last-1].Type.Kind == values.KindOptional && !present(members, t.Fields[last-1].Label) {
		last--
	}
	elems := r.arena.Alloc(last)
	for i := range last {
		f := &t.Fields[i]
		member, ok := members[f.Label]
		if !ok && f.Type.Kind != values.KindOptional {
			return model.Value{}, Refuse(CodeMissingField, "%s.%s is missing", r.path, f.Label)
		}
		var err error
		if elems[i], err = r.within("."+f.Label, f.Type, member); err != nil {
			return model.Value{}, err
		}
	}
	return model.Value{Kind: model.KindRecord, Shape: r.shape(t), Elems: elems}, nil
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

func (r *arguments) variant(t *values.Type, v any) (model.Value, error) {
	members, _ := v.(map[string]any)
	tag, ok := members["tag"].(string)
	if !ok {
		return model.Value{}, r.wrong("is no variant with a tag")
	}
	for _, f := range t.Fields {
		if f.Label == tag {
			content, err := r.within("."+tag, f.Type, members["value"])
			if err != nil {
				return model.Value{}, err
			}
			return r.arena.Variant(tag, content), nil
		}
	}
	return model.Value{}, r.wrong("is no %s: %.40q", cmp.Or(t.Name, "known variant"), tag)
}

// optional reads an optional; one within another is in an array.
func (r *arguments) optional(t *values.Type, v any) (model.Value, error) {
	if v == nil {
		return model.None(), nil
	}
	if t.Elem.Kind == values.KindOptional {
		list, ok := v.([]any)
		switch {
		case !ok || len(list) > 1:
			return model.Value{}, r.wrong("is no optional within an optional")
		case len(list) == 0:
			return r.arena.Some(model.None()), nil
		}
		v = list[0]
	}
	content, err := r.value(t.Elem, v)
	if err != nil {
		return model.Value{}, err
	}
	return r.arena.Some(content), nil
}

func (r *arguments) list(t *values.Type, v any) (model.Value, error) {
	list, ok := v.([]any)
	if !ok {
		return model.Value{}, r.wrong("is no list")
	}
	elems := make([]model.Value, len(list))
	for i, v := range list {
		var err error
		if elems[i], err = r.within("["+strconv.Itoa(i)+"]", t.Elem, v); err != nil {
			return model.Value{}, err
		}
	}
	return model.Value{Kind: model.KindList, Elems: elems}, nil
}

// entries reads a map: an object if its keys are texts, else a list of pairs.
func (r *arguments) entries(t *values.Type, v any) (model.Value, error) {
	var pairs [][2]model.Value
	switch v := v.(type) {
	case map[string]any:
		if t.Kind != values.KindTextMap {
			return model.Value{}, r.wrong("is no list of keys and values")
		}
		for key, content := range v {
			got, err := r.within("."+key, t.Elem, content)
			if err != nil {
				return model.Value{}, err
			}
			pairs = append(pairs, [2]model.Value{model.Text(key), got})
		}
	case []any:
		if t.Kind != values.KindGenMap {
			return model.Value{}, r.wrong("is no object")
		}
		for i, entry := range v {
			pair, err := r.pair(t, i, entry)
			if err != nil {
				return model.Value{}, err
			}
			pairs = append(pairs, pair)
		}
	default:
		return model.Value{}, r.wrong("is no map")
	}
	slices.SortFunc(pairs, func(p, q [2]model.Value) int { return r.compare(&p[0], &q[0]) })
	m := model.Value{Kind: model.KindTextMap}
	if t.Kind == values.KindGenMap {
		m.Kind = model.KindGenMap
	}
	for i := range pairs {
		if i > 0 && r.compare(&pairs[i-1][0], &pairs[i][0]) == 0 {
			return model.Value{}, r.wrong("has a key twice")
		}
		m.Elems = append(m.Elems, pairs[i][0], pairs[i][1])
	}
	return m, nil
}

func (r *arguments) pair(t *values.Type, i int, v any) (pair [2]model.Value, err error) {
	list, ok := v.([]any)
	if !ok || len(list) != 2 {
		return pair, r.wrong("has an entry that is no pair")
	}
	name := "[" + strconv.Itoa(i) + "]"
	if pair[0], err = r.within(name, t.Key, list[0]); err != nil {
		return pair, err
	}
	pair[1], err = r.within(name, t.Elem, list[1])
	return pair, err
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
