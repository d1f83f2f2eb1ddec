// Package tables reads rows of the tables of a stream for people who ask by column: pages in the order of
// the table, of what matches a condition, up to a position. Of a node's stream it reads what the parties see
// that the reader may read as. It knows neither interfaces nor what the rows mean.
package tables

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/columns.sql
var columnsQuery string

// Table is one that can be read.
type Table struct {
	Name  string
	Title string
	// Key are the columns that order the rows, and tell one from the other.
	Key []string
	// Columns are all that can be asked for, in order.
	Columns []Column

	sources []string // tables that it is made of, nil for itself
	json    []string // columns with texts in JSON
	hidden  []string // columns that are not shown
	// prefix begins the names of the columns with the stream and the position of a row.
	prefix string
	// derived names the journal of a table whose rows are made of a stream's, nil for the stream itself.
	derived func(stream string) string
	// typed are the journals of typed tables that it is made of.
	typed []string
	// ofNode says that its rows, of a node's stream, have no offset.
	ofNode bool

	// Of a node's stream: the column with the offset of a row, the condition for rows that one of some
	// parties sees ("" for a table that only readers of everything may read), and the columns that tell of more
	// than these parties see.
	offset, seen string
	whole        []string
	readers      []string // see For
}

// Access is what somebody may read of a node's stream: what any of the parties sees, or everything.
type Access struct {
	All     bool
	Parties []string
}

// For returns the table as somebody with an access has it; ok is false if they may not read it.
func (t *Table) For(a Access) (own Table, ok bool) {
	if a.All {
		return *t, true
	}
	own = *t
	own.readers = a.Parties
	own.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c Column) bool { return slices.Contains(t.whole, c.Name) })
	return own, t.seen != "" && len(a.Parties) > 0
}

// Column is one of a table.
type Column struct {
	Name string
	// Type is that of ClickHouse, and Meaning what the column is, in English.
	Type, Meaning string
	// JSON says that the texts of the column are JSON, or empty.
	JSON bool
}

// position are the columns that order updates.
var position = []string{"migration_id", "record_time", "update_id"}

// all are the tables, without columns.
var all = []Table{
	{Name: "updates", Title: "Transactions and reassignments", Key: position},
	{Name: "events", Title: "Creates and exercises of transactions", Key: append(slices.Clip(position), "node"), json: []string{"argument", "result"}},
	{Name: "verdicts", Title: "Decisions of the mediators, also about what was rejected or is private", Key: position, json: []string{"views", "traffic_envelopes", "activity_records"}},
	{Name: "traffic", Title: "What transactions cost in traffic", Key: position, json: []string{"envelopes"}},
	{Name: "app_activity", Title: "Activity of apps that rewards are computed from", Key: position, json: []string{"records"}},
	{
		Name: "contracts", Title: "Contracts from their creation to their end, but those that end in the update that creates them", Key: []string{"migration_id", "created_at", "contract_id", "created_time"},
		sources: []string{"contracts_live", "contracts_archived"}, json: []string{"argument"}, derived: journal.ContractsStream,
	},
	{
		Name: "movements", Title: "What each choice did to the holdings of each party, and why",
		Key: append([]string{"party", "instrument"}, append(slices.Clip(position), "entry")...), derived: journal.MovementsStream,
	},
	{
		Name: "transfers", Title: "Coins that went from one party to another",
		Key: append([]string{"receiver", "instrument"}, append(slices.Clip(position), "entry")...), derived: journal.MovementsStream,
	},
	{
		Name: "mints", Title: "Coins that came into being, and why",
		Key: append([]string{"party", "instrument"}, append(slices.Clip(position), "entry")...), derived: journal.MovementsStream,
	},
	{
		Name: "burns", Title: "Coins that ceased to be, and why",
		Key: append([]string{"party", "instrument"}, append(slices.Clip(position), "entry")...), derived: journal.MovementsStream,
	},
}

// ofNodes are the tables of a node's stream, without columns.
var ofNodes = []Table{
	{Name: "updates", Title: "Transactions and reassignments that the node saw", Key: position, json: []string{"trace_context", "topology", "extras"}, offset: "node_offset"},
	{
		Name: "events", Title: "Creates and exercises that parties of the node saw", Key: append(slices.Clip(position), "node"), json: []string{"argument", "result", "extras"},
		offset: "node_offset", seen: "hasAny(witness_parties, {readers:Array(String)})", whole: []string{"witness_parties", "children", "last_descendant", "extras"},
	},
	{
		Name: "contracts", Title: "Contracts of parties of the node from their creation to their end", Key: []string{"migration_id", "created_at", "contract_id", "created_time"},
		sources: []string{"contracts_live", "contracts_archived"}, json: []string{"argument"}, derived: journal.ContractsStream,
		offset: "created_offset", seen: "(hasAny(signatories, {readers:Array(String)}) OR hasAny(observers, {readers:Array(String)}))",
	},
	{
		Name: "movements", Title: "What each choice did to the holdings of parties of the node, and why",
		Key: append([]string{"party", "instrument"}, append(slices.Clip(position), "entry")...), derived: journal.MovementsStream,
		offset: "node_offset", seen: "party IN {readers:Array(String)}", // What follows is of the choice, which they need not have seen.
		whole: []string{"event", "purpose", "counterparty", "stated_round", "choice", "template", "reference", "reason"},
	},
}

// packed are the columns that others are computed from.
var packed = []string{
	"stream", "body", "body_shape", "body_scalars", "body_ids", "body_parties", "argument_shape", "argument_scalars", "argument_ids", "argument_parties",
	"views_shape", "views_scalars", "views_ids", "views_parties",
}

// empty are the columns that public history has nothing in.
var empty = []string{
	"node_offset", "command_id", "paid_traffic_cost", "trace_context", "topology", "extras", "witness_parties", "acs_delta", "last_descendant",
	"created_offset", "archived_offset",
}

func (t *Table) parts() []string {
	if t.sources == nil {
		return []string{t.Name}
	}
	return t.sources
}

// Column returns that of a name.
func (t *Table) Column(name string) (Column, bool) {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return Column{}, false
	}
	return t.Columns[i], true
}

// Reader reads the tables of a stream. It is safe for concurrent use.
type Reader struct {
	db     *store.DB
	stream string
	all    []Table // without columns
	tables memo.Value[[]Table]
}

// NewReader returns that of a stream.
func NewReader(db *store.DB, stream string) *Reader {
	r := &Reader{db: db, stream: stream, all: slices.Clone(ofNodes)}
	hidden := packed
	if stream == schemas.ScanStream {
		r.all, hidden = slices.Clone(all), append(slices.Clip(packed), empty...)
	}
	for i := range r.all {
		r.all[i].hidden = hidden
	}
	r.tables = memo.Value[[]Table]{Load: r.load, TTL: describedFor, Now: time.Now}
	return r
}

// Stream names the stream.
func (r *Reader) Stream() string { return r.stream }

// describedFor is how long what the server says of tables is taken for true: typed tables come and go.
const describedFor = 2 * time.Second

// Tables are those that can be read, with their columns.
func (r *Reader) Tables(ctx context.Context) ([]Table, error) { return r.tables.Get(ctx) }

// described is a column as the server describes it.
type described struct {
	Table   string `column:"table_name"`
	Name    string `column:"column_name"`
	Type    string `column:"column_type"`
	Meaning string `column:"meaning"`
}

// load reads which tables there are, with their columns. Of one that is made of several it has those that all have.
func (r *Reader) load(ctx context.Context) ([]Table, error) {
	typed, err := r.typedTables(ctx)
	if err != nil {
		return nil, err
	}
	candidates := append(slices.Clone(r.all), typed...)
	var names []string
	for i := range candidates {
		names = append(names, candidates[i].parts()...)
	}
	rows, err := store.SelectAll(ctx, r.db, columnsQuery, store.Params{"tables": store.Texts(names)}, store.NewRecords[described]())
	if err != nil {
		return nil, fmt.Errorf("reading the columns of the tables: %w", err)
	}
	columns := make(map[string][]described)
	for _, c := range rows {
		columns[c.Table] = append(columns[c.Table], c)
	}
	var list []Table
	for i := range candidates {
		t := candidates[i]
		t.describe(columns)
		missing := slices.IndexFunc(t.Key, func(key string) bool { _, ok := t.Column(key); return !ok })
		switch {
		case missing < 0:
			list = append(list, t)
		case t.typed == nil:
			return nil, fmt.Errorf("table %s of the store has no column %s: %s", t.Name, t.Key[missing], strings.Join(t.parts(), ", "))
		}
		// Of the others, a view was not made, or a table was dropped just now.
	}
	return list, nil
}

// describe adds the columns that all parts of the table have.
func (t *Table) describe(columns map[string][]described) {
	for _, c := range columns[t.parts()[0]] {
		if slices.Contains(t.hidden, c.Name) || !store.HasType(c.Type) {
			continue
		}
		elsewhere := func(part string) bool {
			return !slices.ContainsFunc(columns[part], func(d described) bool { return d.Name == c.Name && d.Type == c.Type })
		}
		if !slices.ContainsFunc(t.parts()[1:], elsewhere) {
			t.Columns = append(t.Columns, Column{Name: c.Name, Type: c.Type, Meaning: c.Meaning, JSON: slices.Contains(t.json, c.Name)})
		}
	}
}
