// Package tables reads rows of the tables of public history for people who ask by column: pages in
// the order of history, of what matches a condition, up to a position. It knows neither interfaces nor
// what the rows mean.
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
	// derived names the journal of a table whose rows are made of a stream's, nil for the stream itself.
	derived func(stream string) string
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
}

// packed are the columns that others are computed from, and those that public history has nothing in.
var packed = []string{
	"stream", "body", "body_shape", "body_scalars", "body_ids", "body_parties", "argument_shape", "argument_scalars", "argument_ids", "argument_parties",
	"views_shape", "views_scalars", "views_ids", "views_parties", "node_offset", "command_id", "paid_traffic_cost", "trace_context", "topology",
	"extras", "witness_parties", "acs_delta", "last_descendant", "created_offset", "archived_offset",
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
	tables memo.Value[[]Table]
}

// NewReader returns that of a stream of public history.
func NewReader(db *store.DB, stream string) *Reader {
	r := &Reader{db: db, stream: stream}
	r.tables = memo.Value[[]Table]{Load: r.load, TTL: describedFor, Now: time.Now}
	return r
}

// describedFor is how long what the server says of tables is taken for true: packages add columns.
const describedFor = time.Minute

// Tables are those that can be read, with their columns.
func (r *Reader) Tables(ctx context.Context) ([]Table, error) { return r.tables.Get(ctx) }

// described is a column as the server describes it.
type described struct {
	Table   string `column:"table_name"`
	Name    string `column:"column_name"`
	Type    string `column:"column_type"`
	Meaning string `column:"meaning"`
}

// load reads the columns of all tables. Of one that is made of several it has those that all have.
func (r *Reader) load(ctx context.Context) ([]Table, error) {
	var names []string
	for i := range all {
		names = append(names, all[i].parts()...)
	}
	rows, err := store.SelectAll(ctx, r.db, columnsQuery, store.Params{"tables": store.Texts(names)}, store.NewRecords[described]())
	if err != nil {
		return nil, fmt.Errorf("reading the columns of the tables: %w", err)
	}
	list := slices.Clone(all)
	for i := range list {
		t := &list[i]
		for _, c := range rows {
			if c.Table != t.parts()[0] || slices.Contains(packed, c.Name) || !store.HasType(c.Type) {
				continue
			}
			everywhere := func(part string) bool {
				return slices.ContainsFunc(rows, func(d described) bool { return d.Table == part && d.Name == c.Name && d.Type == c.Type })
			}
			if !slices.ContainsFunc(t.parts(), func(part string) bool { return !everywhere(part) }) {
				t.Columns = append(t.Columns, Column{c.Name, c.Type, c.Meaning, slices.Contains(t.json, c.Name)})
			}
		}
		for _, key := range t.Key {
			if _, ok := t.Column(key); !ok {
				return nil, fmt.Errorf("table %s of the store has no column %s: %s", t.Name, key, strings.Join(t.parts(), ", "))
			}
		}
	}
	return list, nil
}
