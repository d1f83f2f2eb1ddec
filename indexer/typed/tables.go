// Package typed derives typed tables from the committed rows of streams: a table for the contracts of a
// template, and one for each choice. They have the rows of an undisturbed run after any crash, and come and
// go while streams are followed.
package typed

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history/typedviews"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/typed"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

var (
	//go:embed sql/tables.sql
	selectTables string
	//go:embed sql/columns.sql
	selectColumns string
	//go:embed sql/state.sql
	selectState string
	//go:embed sql/forget_tables.sql
	forgetTables string
	//go:embed sql/forget_columns.sql
	forgetColumns string
	//go:embed sql/count.sql
	countRows string
	//go:embed sql/views.sql
	selectViews string
)

// maxTables bounds the typed tables of a store: each costs the engine memory and files.
const maxTables = 1000

// ErrCluster says that there are no typed tables on a cluster.
var ErrCluster = errors.New("typed tables cannot be made on a cluster of several shards or replicas: use a store on one server")

// Kinds of tables, as table projections names them.
const (
	contracts       = "contracts"
	choice          = "choice"
	interfaceChoice = "interface_choice"
)

// Table is a typed table.
type Table struct {
	typed.Source
	Name string
	// Interface says that Entity is an interface: the exercises are on contracts of any template.
	Interface bool
	// Columns are those of values, as they were recorded.
	Columns []typed.Column

	fill  int64
	shape uint64
}

// parts are the values of the table's rows, by the types of a catalogue.
func (t *Table) parts(catalog *values.Catalog) []typed.Part {
	if t.Choice == "" {
		return []typed.Part{{Type: catalog.Template(t.Package, t.Entity)}}
	}
	iface := ""
	if t.Interface {
		iface = t.Entity
	}
	return []typed.Part{
		{Name: "arg", Type: catalog.ChoiceArgument(t.Package, t.Entity, iface, t.Choice)}, {Name: "res", Type: catalog.ChoiceResult(t.Package, t.Entity, iface, t.Choice)},
	}
}

func (t *Table) kind() string {
	switch {
	case t.Choice == "":
		return contracts
	case t.Interface:
		return interfaceChoice
	}
	return choice
}

type (
	tableRow struct {
		Name    string         `column:"table_name"`
		Kind    string         `column:"kind,enum"`
		Package string         `column:"package_name,low"`
		Entity  string         `column:"entity"`
		Choice  string         `column:"choice"`
		Fill    int64          `column:"fill"`
		Shape   uint64         `column:"shape"`
		At      schemas.Micros `column:"written_at"`
	}
	columnRow struct {
		Table  string         `column:"table_name"`
		Number int32          `column:"number"`
		Name   string         `column:"column_name"`
		Type   string         `column:"column_type"`
		Path   string         `column:"path"`
		At     schemas.Micros `column:"written_at"`
	}
)

// Tables are the typed tables of a store.
type Tables struct {
	db      *store.DB
	catalog *values.Catalog
}

// NewTables returns those of a store, with the catalogue by which they are planned.
func NewTables(db *store.DB, catalog *values.Catalog) *Tables { return &Tables{db, catalog} }

// List returns all tables by name.
func (s *Tables) List(ctx context.Context) ([]*Table, error) {
	rows, err := store.SelectAll(ctx, s.db, selectTables, nil, store.NewRecords[tableRow]())
	if err != nil {
		return nil, fmt.Errorf("reading the typed tables of the store: %w", err)
	}
	columns, err := store.SelectAll(ctx, s.db, selectColumns, nil, store.NewRecords[columnRow]())
	if err != nil {
		return nil, fmt.Errorf("reading the columns of typed tables: %w", err)
	}
	list := make([]*Table, len(rows))
	byName := make(map[string]*Table)
	for i, r := range rows {
		list[i] = &Table{
			Source: typed.Source{Package: r.Package, Entity: r.Entity, Choice: r.Choice}, Name: r.Name,
			Interface: r.Kind == interfaceChoice, fill: r.Fill, shape: r.Shape,
		}
		byName[r.Name] = list[i]
	}
	for _, c := range columns {
		if t := byName[c.Table]; t != nil {
			t.Columns = append(t.Columns, typed.Column{Name: c.Name, Type: c.Type, Path: c.Path})
		}
	}
	return list, nil
}

// Made is a table or a view that was made.
type Made struct{ Name, Of string }

// Add makes the tables of some names that there are not yet, and returns them. A name is that of a package,
// PACKAGE:MODULE:ENTITY of a template or an interface, that and /CHOICE, or one of typedviews.Names. Without a choice
// it stands for the contracts and all choices but Archive; a view, for the tables that it reads and itself. The
// next step of each stream's Typed fills them.
func (s *Tables) Add(ctx context.Context, names []string) (made []Made, err error) {
	var wanted []*Table
	var views []*typedviews.View
	for _, name := range names {
		if v := typedviews.Named(name); v != nil {
			views = append(views, v)
			for _, of := range v.Tables {
				wanted = append(wanted, &Table{Source: of})
			}
			continue
		}
		found := s.named(name)
		if len(found) == 0 {
			return nil, fmt.Errorf("there is no package, template or choice %q in the catalogue, nor in a package that was added: name one as in acme-trade, acme-trade:Acme.Trade:Order or acme-trade:Acme.Trade:Order/Order_Fill, or a view: %s", name, strings.Join(typedviews.Names(), ", "))
		}
		wanted = append(wanted, found...)
	}
	tables, err := s.make(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		made = append(made, Made{t.Name, t.Source.String()})
	}
	for _, v := range views {
		if err := s.createView(ctx, v); err != nil {
			return nil, err
		}
		made = append(made, Made{v.Name, v.Title})
	}
	return made, nil
}

// named are the tables that a name stands for.
func (s *Tables) named(name string) (list []*Table) {
	entity, only, _ := strings.Cut(name, "/")
	for _, e := range s.catalog.Entries() {
		if id := e.PackageName + ":" + e.Entity; entity != e.PackageName && entity != id || only != "" && entity != id {
			continue
		}
		of := typed.Source{Package: e.PackageName, Entity: e.Entity}
		if !e.Interface && only == "" {
			list = append(list, &Table{Source: of})
		}
		for _, of.Choice = range s.catalog.Choices(e.PackageName, e.Entity) {
			if only == "" || only == of.Choice {
				list = append(list, &Table{Source: of, Interface: e.Interface})
			}
		}
	}
	return list
}

// make makes those that there are not. All are filled together.
func (s *Tables) make(ctx context.Context, wanted []*Table) (made []*Table, err error) {
	if s.db.IsCluster() {
		return nil, ErrCluster
	}
	list, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	known, names := make(map[typed.Source]bool), make(map[string]bool)
	for _, t := range list {
		known[t.Source], names[t.Name] = true, true
	}
	now := schemas.Micros(time.Now().UnixMicro())
	for _, t := range wanted {
		if known[t.Source] {
			continue
		}
		known[t.Source] = true
		t.Name = t.TableName(func(name string) bool { return names[name] })
		names[t.Name] = true
		plan := typed.New(nil, t.parts(s.catalog)...)
		t.Columns, t.shape, t.fill = plan.Columns, plan.Shape, int64(now)
		made = append(made, t)
	}
	if n := len(list) + len(made); n > maxTables {
		return nil, fmt.Errorf("with these there would be %d typed tables, and there may be %d: name templates in place of packages, or drop tables with ledgerlake table drop", n, maxTables)
	}
	for _, t := range made {
		if err := s.create(ctx, t); err != nil {
			return nil, err
		}
	}
	return made, s.record(ctx, now, made)
}

// record writes what is known of tables; the columns first, as a table is there once its row is.
func (s *Tables) record(ctx context.Context, now schemas.Micros, tables []*Table) error {
	rows, columns := store.NewRecords[tableRow](), store.NewRecords[columnRow]()
	for _, t := range tables {
		for i, c := range t.Columns {
			columns.Append(columnRow{t.Name, int32(i), c.Name, c.Type, c.Path, now})
		}
		rows.Append(tableRow{t.Name, t.kind(), t.Package, t.Entity, t.Choice, t.fill, t.shape, now})
	}
	if err := s.db.Insert(ctx, "projection_columns", "", columns); err != nil {
		return fmt.Errorf("recording the columns of typed tables: %w", err)
	}
	if err := s.db.Insert(ctx, "projections", "", rows); err != nil {
		return fmt.Errorf("recording typed tables: %w", err)
	}
	return nil
}

// Drop drops the tables of some names, which are those of tables or as Add takes them, with the views that read
// them, and returns the names of what was dropped. Of a view, its tables stay. If a name fits none, none is
// dropped.
func (s *Tables) Drop(ctx context.Context, names []string) (dropped []string, err error) {
	list, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	views, err := s.madeViews(ctx)
	if err != nil {
		return nil, err
	}
	var tables []*Table
	var alone []*typedviews.View
	for _, name := range names {
		if n := slices.IndexFunc(views, func(v *typedviews.View) bool { return v.Name == name }); n >= 0 {
			alone = append(alone, views[n])
			continue
		}
		found := slices.DeleteFunc(slices.Clone(list), func(t *Table) bool { return !t.isNamed(name) })
		if len(found) == 0 {
			return nil, fmt.Errorf("there is no typed table %q: ledgerlake table list names them", name)
		}
		tables = append(tables, found...)
	}
	for _, v := range alone {
		dropped = append(dropped, v.Name)
	}
	if err := s.dropViews(ctx, alone); err != nil {
		return nil, err
	}
	slices.SortFunc(tables, func(a, b *Table) int { return cmp.Compare(a.Name, b.Name) })
	more, err := s.drop(ctx, slices.Compact(tables))
	return append(dropped, more...), err
}

func (t *Table) isNamed(name string) bool {
	whole := t.Source.String()
	return name == t.Name || name == whole || name == t.Package || name == t.Package+":"+t.Entity
}

// drop drops tables and the views that read them. They are forgotten first, so that nobody fills them.
func (s *Tables) drop(ctx context.Context, tables []*Table) (dropped []string, err error) {
	if len(tables) == 0 {
		return nil, nil
	}
	views, err := s.madeViews(ctx)
	if err != nil {
		return nil, err
	}
	views = slices.DeleteFunc(views, func(v *typedviews.View) bool { return !reads(v, tables) })
	if err := s.dropViews(ctx, views); err != nil {
		return nil, err
	}
	for _, v := range views {
		dropped = append(dropped, v.Name)
	}
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.Name
	}
	params := store.Params{"tables": store.Texts(names)}
	if err := s.db.Exec(ctx, forgetTables, "", params); err != nil {
		return nil, fmt.Errorf("forgetting typed tables: %w", err)
	}
	if err := s.db.Exec(ctx, forgetColumns, "", params); err != nil {
		return nil, fmt.Errorf("forgetting the columns of typed tables: %w", err)
	}
	for _, t := range tables {
		if err := s.dropTable(ctx, t); err != nil {
			return nil, err
		}
	}
	return append(dropped, names...), nil
}

// DropUnknown drops the tables of which the catalogue no longer has the template, interface or choice, and
// returns them.
func (s *Tables) DropUnknown(ctx context.Context) (dropped []string, err error) {
	list, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	var unknown []*Table
	for _, t := range list {
		known := slices.ContainsFunc(s.named(t.Source.String()), func(k *Table) bool { return k.Source == t.Source })
		if !known {
			unknown = append(unknown, t)
		}
	}
	return s.drop(ctx, unknown)
}

// Summary describes a table, or a view.
type Summary struct {
	Name string `json:"name"`
	// Of is PACKAGE:MODULE:ENTITY, with /CHOICE for a choice; of a view its title.
	Of string `json:"of"`
	// Columns are those of values.
	Columns int `json:"columns"`
	// Rows are those of all streams; Unfit those whose values do not fit the columns.
	Rows  uint64 `json:"rows"`
	Unfit uint64 `json:"unfit"`
}

// Summaries describes all tables, by name.
func (s *Tables) Summaries(ctx context.Context) ([]Summary, error) {
	list, err := s.List(ctx)
	summaries := make([]Summary, len(list))
	for i, t := range list {
		counts := []uint64{0, 0}
		for n, query := range []string{countRows, countUnfit} {
			count, _, err := store.SelectOne(ctx, s.db, query, store.Params{"table": store.Text(t.Name)}, store.NewRecords[store.Count]())
			if err != nil {
				return nil, fmt.Errorf("counting the rows of table %s: %w", t.Name, err)
			}
			counts[n] = count.N
		}
		summaries[i] = Summary{t.Name, t.Source.String(), len(t.Columns), counts[0], counts[1]}
	}
	if err != nil {
		return nil, err
	}
	views, err := s.madeViews(ctx)
	for _, v := range views {
		summaries = append(summaries, Summary{Name: v.Name, Of: v.Title, Columns: len(v.Columns)})
	}
	return summaries, err
}
