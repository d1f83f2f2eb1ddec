package typed

import (
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/typed"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// projection makes the rows of one table.
type projection struct {
	*Table
	plan  *typed.Plan
	parts []typed.Part
	block *store.Columns
	// unknown says that the catalogue has lost the types by which the table was planned.
	unknown bool
}

func newProjection(t *Table, catalog *values.Catalog) (*projection, error) {
	p := &projection{Table: t, parts: t.parts(catalog)}
	p.plan = typed.New(t.Columns, p.parts...)
	lost := slices.ContainsFunc(p.parts, func(part typed.Part) bool { return part.Type == nil })
	if p.unknown = lost && len(p.plan.Columns) > len(t.Columns); p.unknown {
		p.plan = typed.New(t.Columns)
	}
	var err error
	p.block, err = store.NewColumns(t.blockColumns(p.plan))
	return p, err
}

// key names what events are of: a template, one of its choices, or one of an interface.
type key struct{ packageName, entity, choice string }

// set are tables that are derived together, by what their rows are of.
type set struct {
	all     []*projection
	by      map[key]*projection
	of      map[key]bool // templates of which there are tables
	filters store.Params
}

func newSet(tables []*projection) *set {
	s := &set{all: tables, by: make(map[key]*projection), of: make(map[key]bool)}
	var packages, entities, interfaces []string
	for _, p := range tables {
		k := key{p.Package, p.Entity, p.Choice}
		if p.Interface {
			k.packageName = "" // which events do not name
			interfaces = append(interfaces, p.Entity)
		} else {
			packages, entities = append(packages, p.Package), append(entities, p.Entity)
			s.of[key{p.Package, p.Entity, ""}] = true
		}
		s.by[k] = p
	}
	distinct := func(list []string) string {
		slices.Sort(list)
		return store.Texts(slices.Compact(list))
	}
	s.filters = store.Params{"packages": distinct(packages), "entities": distinct(entities), "interfaces": distinct(interfaces)}
	return s
}

// entityOf is the Module:Entity at the end of an id.
func entityOf(id string) string {
	_, entity, _ := strings.Cut(id, ":")
	return entity
}

// derivation makes the rows of a set out of events in the order of history.
type derivation struct {
	*set
	stream string
	// created are the rows of contracts that the update under way has created.
	update  string
	created []createdRow
	text    [2][]byte
}

type createdRow struct {
	*projection
	contract string
	cells    []any
}

// take takes an event.
func (d *derivation) take(at schemas.Position, encoding schemas.Encoding, e *schemas.Event) {
	if at.UpdateID != d.update {
		d.flush()
		d.update = at.UpdateID
	}
	entity := entityOf(e.TemplateID)
	if e.Kind == schemas.Created {
		if p := d.by[key{e.PackageName, entity, ""}]; p != nil {
			d.created = append(d.created, createdRow{p, e.ContractID, d.row(p, at, encoding, e)})
		}
		return
	}
	if e.Consuming && d.of[key{e.PackageName, entity, ""}] {
		for _, c := range d.created {
			if c.contract == e.ContractID {
				c.cells[transientCell] = true
			}
		}
	}
	k := key{e.PackageName, entity, e.Choice}
	if e.InterfaceID != "" {
		k = key{"", entityOf(e.InterfaceID), e.Choice}
	}
	if p := d.by[k]; p != nil {
		p.block.Append(d.row(p, at, encoding, e))
	}
}

// flush writes the contracts of an update, of which it is known by now which have ended in it.
func (d *derivation) flush() {
	for _, c := range d.created {
		c.block.Append(c.cells)
	}
	clear(d.created)
	d.created = d.created[:0]
}

// transientCell is the place of _transient among the columns of contracts.
var transientCell = slices.IndexFunc(contractColumns, func(c systemColumn) bool { return c.name == "_transient" })

// row makes the cells of an event.
func (d *derivation) row(p *projection, at schemas.Position, encoding schemas.Encoding, e *schemas.Event) []any {
	cells, unfit := d.values(p, encoding, e)
	system := []any{
		d.stream, at.MigrationID, store.Clamp(at.RecordTime), at.UpdateID, int64(e.Node), at.Offset, e.ContractID, e.TemplateID,
	}
	if p.Choice != "" {
		var witnesses []string
		if e.Local != nil {
			witnesses = e.Local.Witnesses
		}
		system = append(system, e.Consuming, list(e.ActingParties), list(witnesses))
	} else {
		system = append(system, store.Clamp(e.CreatedAt), list(e.Signatories), list(e.Observers), false)
	}
	return append(append(system, unfit), cells...)
}

func list(names []string) []any {
	cells := make([]any, len(names))
	for i, name := range names {
		cells[i] = name
	}
	return cells
}

// values are the cells of an event's values; or none, and the values as JSON, if they do not fit.
func (d *derivation) values(p *projection, encoding schemas.Encoding, e *schemas.Event) (cells []any, unfit string) {
	stored := [][]byte{e.Argument, e.Result}[:len(p.parts)]
	texts := make([][]byte, len(stored))
	fits := true
	for i, text := range stored {
		var ok bool
		texts[i], ok = d.compact(i, text, encoding, p.parts[i].Type)
		fits = fits && ok
	}
	if fits && !p.unknown {
		if cells, err := p.plan.Row(texts...); err == nil {
			return cells, ""
		}
	}
	if len(texts) == 1 {
		return p.plan.Zeros(), string(texts[0])
	}
	return p.plan.Zeros(), `{"argument":` + string(texts[0]) + `,"result":` + string(texts[1]) + `}`
}

// compact is a value in compact_json, or as it is stored where that cannot be had.
func (d *derivation) compact(part int, stored []byte, encoding schemas.Encoding, of *values.Type) ([]byte, bool) {
	switch {
	case len(stored) == 0:
		return []byte("null"), false
	case encoding == schemas.CompactJSON:
		return stored, true
	}
	text, err := values.AppendCompact(d.text[part][:0], stored, of)
	if err != nil {
		return stored, of == nil
	}
	d.text[part] = text
	return text, true
}
