package typed

import (
	"fmt"
	"hash"
	"hash/fnv"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Limits of a table. What is beyond them is JSON text.
const (
	MaxColumns         = 200
	maxDepth           = 5
	maxContentBranches = 12
)

// Column is one of a planned table.
type Column struct {
	Name string
	// Type is that of ClickHouse, such as "Nullable(Int64)".
	Type string
	// Path tells which part of the value the column has: labels, each with a dot before it, and in the end
	// a mark such as #tag. It is the same in all versions of the type.
	Path string
}

// Meaning says in English which part the column has.
func (c Column) Meaning() string {
	path, mark, _ := strings.Cut(strings.TrimPrefix(c.Path, "."), "#")
	mark, _, _ = strings.Cut(mark, "[")
	if path == "" {
		path = "the value"
	}
	switch mark {
	case "tag":
		return "Constructor of " + path
	case "present":
		return "Whether there is " + path
	case "key":
		return "Keys of " + path
	case "value":
		return "Values of " + path + strings.TrimPrefix(c.Path[strings.LastIndex(c.Path, "#value")+len("#value"):], "[]")
	case "json":
		return path + " as JSON"
	case "content":
		return "Content of " + path + " as JSON"
	}
	return path
}

// Part is a value of which rows are made: the payload of a contract, or the argument or the result of a
// choice. A nil Type is of values that are not known: they are JSON text.
type Part struct {
	// Name begins the names of the columns, "" for a payload, whose fields have their own names.
	Name string
	Type *values.Type
}

// Plan says which column has which part of values.
type Plan struct {
	// Columns are those that were recorded, in their order, and then those that are new.
	Columns []Column
	// Shape is the same for types with the same parts. Of a later version it is another one.
	Shape uint64

	roots []node
	zeros []any
}

// New makes the plan of some parts. recorded are the columns that the table has, nil for a new one; they
// keep their places and their types.
func New(recorded []Column, parts ...Part) *Plan {
	b := &builder{byPath: map[string]int{}, inside: map[string]bool{}, names: map[string]bool{}, max: MaxColumns, on: map[*values.Type]bool{}, shape: fnv.New64a()}
	for _, c := range recorded {
		b.add(c)
	}
	p := new(Plan)
	for _, part := range parts {
		if part.Type == nil {
			part.Type = unknown
		}
		p.roots = append(p.roots, b.part(part.Type, place{path: part.Name, name: part.Name}))
	}
	p.Columns, p.Shape = b.columns, b.shape.Sum64()
	for _, c := range p.Columns {
		p.zeros = append(p.zeros, Zero(c.Type))
	}
	return p
}

// unknown is a type of which all values are JSON.
var unknown = new(values.Type)

// Zero is what a cell of a type has where nothing is put into it.
func Zero(columnType string) any {
	switch {
	case strings.HasPrefix(columnType, "Array("), strings.HasPrefix(columnType, "Map("):
		return []any{}
	case strings.Contains(columnType, "Nullable("):
		return nil
	case strings.HasPrefix(columnType, "Decimal("):
		return Units{}
	}
	switch columnType {
	case "Int64":
		return int64(0)
	case "Bool":
		return false
	case "Date32":
		return Days(0)
	case "DateTime64(6, 'UTC')":
		return zeroTime
	}
	return ""
}

// place is where a type stands.
type place struct {
	path, name string
	depth      int
	nullable   bool // there may be no value
	inList     bool // columns have a list with an element for each of it
}

// field is the place of a field of what is at p.
func (p place) field(label string) place {
	p.path += "." + label
	p.name = joined(p.name, label)
	p.depth++
	return p
}

// marked is the place of what is noted beside a value, such as #tag.
func (p place) marked(mark string) place {
	p.path += "#" + mark
	p.name = joined(p.name, mark)
	return p
}

// joined is the name of a column for a part of what has another one.
func joined(name, label string) string {
	if strings.Contains(label, "__") || strings.HasPrefix(label, "_") && name == "" {
		label += "_"
	}
	if name == "" {
		return label
	}
	return name + "__" + label
}

// builder plans one table.
type builder struct {
	columns []Column
	byPath  map[string]int
	inside  map[string]bool // paths in and below which columns were recorded
	names   map[string]bool
	max     int                   // how many columns there may be after what is planned
	on      map[*values.Type]bool // the path to what is planned
	shape   hash.Hash64
}

// add adds a column that was recorded.
func (b *builder) add(c Column) {
	b.byPath[c.Path], b.names[c.Name] = len(b.columns), true
	b.columns = append(b.columns, c)
	for at, mark := range c.Path {
		if mark == '.' || mark == '#' || mark == '[' {
			b.inside[c.Path[:at]] = true
		}
	}
	b.inside[c.Path] = true
}

// slot is the column for values of a type at a place.
func (b *builder) slot(at place, base string, nullable bool) slot {
	full := base
	switch {
	case nullable && strings.HasPrefix(base, "LowCardinality("):
		full = "LowCardinality(Nullable(String))"
	case nullable:
		full = "Nullable(" + base + ")"
	}
	if at.inList {
		full = "Array(" + full + ")"
	}
	if n, ok := b.byPath[at.path]; ok {
		return slot{column: n, list: at.inList, broken: b.columns[n].Type != full}
	}
	c := Column{Name: at.name, Type: full, Path: at.path}
	for n := 2; b.names[c.Name]; n++ {
		c.Name = fmt.Sprintf("%s_%d", at.name, n)
	}
	n := len(b.columns)
	b.byPath[c.Path], b.names[c.Name] = n, true
	b.columns = append(b.columns, c)
	return slot{column: n, list: at.inList}
}

// cut takes the last columns back.
func (b *builder) cut(to int) {
	for _, c := range b.columns[to:] {
		delete(b.byPath, c.Path)
		delete(b.names, c.Name)
	}
	b.columns = b.columns[:to]
}

// part plans a type: by columns where there is room, else as JSON.
func (b *builder) part(t *values.Type, at place) node {
	b.note(at, fmt.Sprint(t.Kind, t.Scale))
	if !b.mustBeJSON(t, at) {
		mark := len(b.columns)
		n := b.columnsOf(t, at)
		if n != nil && (b.inside[at.path] || len(b.columns) <= max(b.max, mark+1)) {
			return n
		}
		b.cut(mark)
	}
	at.nullable = at.nullable || t.Kind == values.KindOptional
	return b.json(at)
}

// note makes something part of the shape.
func (b *builder) note(at place, what string) { fmt.Fprintf(b.shape, "%s %s\n", at.path, what) }

// mustBeJSON reports whether a type is JSON whatever room there is.
func (b *builder) mustBeJSON(t *values.Type, at place) bool {
	_, recorded := b.byPath[at.marked("json").path]
	return recorded || t == unknown || at.depth >= maxDepth && !isFlat(t) || b.on[t]
}

// isFlat reports whether a type needs at most the columns of one scalar.
func isFlat(t *values.Type) bool {
	switch t.Kind {
	case values.KindOptional, values.KindList, values.KindTextMap:
		return isFlat(t.Elem)
	case values.KindUnit:
		return true
	}
	_, _, ok := scalarOf(t)
	return ok
}

func (b *builder) json(at place) node {
	if at.name == "" {
		at.name = "payload"
	}
	return &scalar{slot: b.slot(at.marked("json"), "String", at.nullable), kind: rawJSON, nullable: at.nullable}
}

// columnsOf plans a type by its parts; nil if that is not possible.
func (b *builder) columnsOf(t *values.Type, at place) node {
	if s, base, ok := scalarOf(t); ok {
		s.slot = b.slot(at, base, at.nullable)
		return &s
	}
	b.on[t] = true
	defer delete(b.on, t)
	for _, f := range t.Fields {
		b.note(at, f.Label)
	}
	switch t.Kind {
	case values.KindUnit:
		return unit{}
	case values.KindOptional:
		return b.optional(t.Elem, at)
	case values.KindRecord:
		return b.record(t, at)
	case values.KindVariant:
		return b.variant(t, at)
	}
	if at.inList {
		return nil
	}
	switch t.Kind {
	case values.KindList:
		return b.list(t.Elem, at)
	case values.KindTextMap, values.KindGenMap:
		return b.mapOf(t, at)
	}
	return nil
}

// optional plans Optional elem; nil if elem is JSON, as then all of it is.
func (b *builder) optional(elem *values.Type, at place) node {
	if elem.Kind == values.KindOptional || b.mustBeJSON(elem, at) {
		return nil
	}
	at.nullable = true
	o := new(optional)
	switch elem.Kind {
	case values.KindRecord, values.KindUnit, values.KindList, values.KindTextMap, values.KindGenMap:
		present := b.slot(at.marked("present"), "Bool", false)
		o.present = &present
	}
	if o.elem = b.columnsOf(elem, at); o.elem == nil {
		return nil
	}
	return o
}

// record plans the fields, so that there is room for each.
func (b *builder) record(t *values.Type, at place) node {
	if isSet(t) && !at.inList {
		key := at
		key.inList, key.nullable = true, false
		s, base, _ := scalarOf(t.Fields[0].Type.Key)
		s.slot = b.slot(key, base, false)
		return &set{&s}
	}
	r := &record{fields: make([]recordField, len(t.Fields))}
	whole := b.max
	defer func() { b.max = whole }()
	for i, f := range t.Fields {
		b.max = whole - (len(t.Fields) - 1 - i)
		r.fields[i] = recordField{label: f.Label, node: b.part(f.Type, at.field(f.Label)), optional: f.Type.Kind == values.KindOptional}
	}
	r.sort()
	return r
}

// isSet reports whether a type is the standard library's set: a record around a map to unit.
func isSet(t *values.Type) bool {
	if len(t.Fields) != 1 || t.Fields[0].Label != "map" {
		return false
	}
	m := t.Fields[0].Type
	if m.Kind != values.KindGenMap || m.Elem.Kind != values.KindUnit {
		return false
	}
	_, _, plain := scalarOf(m.Key)
	return plain
}

// variant plans the tag and the contents of the constructors.
func (b *builder) variant(t *values.Type, at place) node {
	tagged := b.inside[at.path+"#tag"]
	v := &variant{tag: b.slot(at.marked("tag"), "LowCardinality(String)", at.nullable)}
	inner := at
	inner.nullable = true
	full := 0
	for _, c := range t.Fields {
		if c.Type.Kind != values.KindUnit {
			full++
		}
	}
	if b.inside[at.path+"#content"] || full > maxContentBranches && !tagged {
		v.content = b.json(inner.marked("content"))
		return v
	}
	v.contents = make(map[string]node, len(t.Fields))
	for _, c := range t.Fields {
		n := b.part(c.Type, inner.field(c.Label))
		v.contents[c.Label] = n
		v.all = append(v.all, n)
	}
	return v
}

// list plans a list by its elements, whose parts have a list each.
func (b *builder) list(elem *values.Type, at place) node {
	inner := at
	inner.inList, inner.nullable = true, false
	before := len(b.columns)
	n := b.elements(elem, inner)
	first := firstSlot(n)
	if first < 0 {
		b.cut(before)
		return nil // all elements are alike: nothing would tell how many there are
	}
	return &list{elem: n, first: first}
}

// elements plans what stands in a list.
func (b *builder) elements(t *values.Type, at place) node {
	if at.name == "" {
		at.name = "element"
	}
	at.path += "[]"
	at.depth++
	return b.part(t, at)
}

// mapOf plans a map.
func (b *builder) mapOf(t *values.Type, at place) node {
	if s, base, ok := scalarOf(t.Elem); ok && t.Kind == values.KindTextMap {
		s.slot = b.slot(at, "Map(String, "+base+")", false)
		return &textMap{s}
	}
	key := at.marked("key")
	key.inList, key.nullable = true, false
	m := &parallelMap{text: t.Kind == values.KindTextMap}
	keyType := t.Key
	if m.text {
		keyType = values.Scalar(values.KindText)
	}
	m.key = b.elements(keyType, key)
	if m.first = firstSlot(m.key); m.first < 0 {
		return nil
	}
	value := at.marked("value")
	value.inList, value.nullable = true, false
	m.value = b.elements(t.Elem, value)
	return m
}
