package typed

import (
	"context"
	"fmt"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas/typed"
)

// systemColumn is one that all tables of a kind have.
type systemColumn struct{ name, columnType, codec, meaning string }

const (
	plainCodec = "ZSTD(1)"
	deltaCodec = "Delta, ZSTD(1)"
)

// positionColumns come first in every table, and order its rows.
var positionColumns = []systemColumn{
	{"_stream", "LowCardinality(String)", plainCodec, "Stream that the row belongs to; scan is the public history"},
	{"_migration_id", "Int64", plainCodec, "Migration of the row, from 0"},
	{"_record_time", "DateTime64(6, 'UTC')", deltaCodec, "Record time of the update; 1900-01-01 of a contract that was carried over"},
	{"_update_id", "String", plainCodec, "Update that created, assigned or carried over the contract, or has the exercise"},
	{"_node", "Int32", plainCodec, "Number of the event in its update"},
	{"_offset", "Int64", deltaCodec, "Offset on a node's own stream; 0 in public history"},
	{"_contract_id", "String", plainCodec, "The contract"},
	{"_template_id", "LowCardinality(String)", plainCodec, "PACKAGE_ID:Module.Name:Entity of the contract"},
}

var contractColumns = append(positionColumns[:len(positionColumns):len(positionColumns)], []systemColumn{
	{"_created_at", "DateTime64(6, 'UTC')", deltaCodec, "Ledger effective time of the contract's creation"},
	{"_signatories", "Array(LowCardinality(String))", plainCodec, "Signatories, sorted"},
	{"_observers", "Array(LowCardinality(String))", plainCodec, "Observers, sorted"},
	{"_transient", "Bool", plainCodec, "Whether the contract ended in the update that created it"},
	unfitColumn,
}...)

var choiceColumns = append(positionColumns[:len(positionColumns):len(positionColumns)], []systemColumn{
	{"_consuming", "Bool", plainCodec, "Whether the exercise archived the contract"},
	{"_acting_parties", "Array(LowCardinality(String))", plainCodec, "Parties that exercised the choice"},
	{"_witnesses", "Array(LowCardinality(String))", plainCodec, "Parties of the node that saw the exercise; none in public history"},
	unfitColumn,
}...)

var unfitColumn = systemColumn{"_unfit", "String", plainCodec, "The values as JSON if they do not fit the columns of the table, which then have nothing of them; else empty"}

func (t *Table) systemColumns() []systemColumn {
	if t.Choice != "" {
		return choiceColumns
	}
	return contractColumns
}

// blockColumns are all columns, those that all tables have first.
func (t *Table) blockColumns(plan *typed.Plan) (list []store.TableColumn) {
	for _, c := range t.systemColumns() {
		list = append(list, store.TableColumn{Table: t.Name, Name: c.name, Type: c.columnType})
	}
	for _, c := range plan.Columns {
		list = append(list, store.TableColumn{Table: t.Name, Name: c.Name, Type: c.Type})
	}
	return list
}

// create makes the table and, of contracts, the view of their lifetimes. What is there under the names is of
// somebody who was interrupted.
func (s *Tables) create(ctx context.Context, t *Table) error {
	statements := []string{"DROP TABLE IF EXISTS " + quoted(t.Name) + " SYNC", t.createStatement()}
	if t.Choice == "" {
		statements = append(statements, t.viewStatement())
	}
	return s.run(ctx, "making table "+t.Name, statements...)
}

// run executes statements one after the other. doing says what for.
func (s *Tables) run(ctx context.Context, doing string, statements ...string) error {
	for _, statement := range statements {
		if err := s.db.Exec(ctx, statement, "", nil); err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
	return nil
}

func (t *Table) createStatement() string {
	var lines []string
	for _, c := range t.systemColumns() {
		lines = append(lines, fmt.Sprintf("%s %s COMMENT %s CODEC(%s)", quoted(c.name), c.columnType, quotedText(c.meaning), c.codec))
	}
	for _, c := range t.Columns {
		lines = append(lines, definition(c))
	}
	return "CREATE TABLE " + quoted(t.Name) + " (" + strings.Join(lines, ", ") + `)
ENGINE = MergeTree
ORDER BY (_stream, _migration_id, _record_time, _update_id, _node)
SETTINGS non_replicated_deduplication_window = 1000
COMMENT ` + quotedText(t.Title())
}

// definition is a column of a plan.
func definition(c typed.Column) string {
	return fmt.Sprintf("%s %s COMMENT %s CODEC(ZSTD(1))", quoted(c.Name), c.Type, quotedText(c.Meaning()))
}

// addColumns gives the table columns that its plan has since.
func (s *Tables) addColumns(ctx context.Context, t *Table, columns []typed.Column) error {
	var parts []string
	for _, c := range columns {
		parts = append(parts, "ADD COLUMN IF NOT EXISTS "+definition(c))
	}
	statements := []string{"ALTER TABLE " + quoted(t.Name) + " " + strings.Join(parts, ", ")}
	if t.Choice == "" {
		statements = append(statements, t.viewStatement())
	}
	return s.run(ctx, "adding columns to table "+t.Name, statements...)
}

// viewStatement makes the view that has the ends of contracts, as the tables of lifetimes know them: those
// do not have what ended in the update that created it.
func (t *Table) viewStatement() string {
	return `CREATE OR REPLACE VIEW ` + quoted(typed.LifetimesView(t.Name)) + ` AS
SELECT t.*, multiIf(t._transient, t._record_time, e.ended = 1, e.archived_at, toDateTime64('2299-12-31 00:00:00', 6, 'UTC')) AS _archived_at
FROM ` + quoted(t.Name) + ` AS t
LEFT ANY JOIN
(
    SELECT stream, migration_id, contract_id, created_time, archived_at, 1 AS ended FROM contracts_archived WHERE template = ` + quotedText(t.Package+":"+t.Entity) + `
    UNION ALL
    SELECT stream, migration_id, contract_id, created_time, archived_at, 1 AS ended FROM contracts_live
    WHERE template = ` + quotedText(t.Package+":"+t.Entity) + ` AND archived_at < toDateTime64('2299-12-31 00:00:00', 6, 'UTC')
) AS e ON t._stream = e.stream AND t._migration_id = e.migration_id AND t._contract_id = e.contract_id AND t._record_time = e.created_time
COMMENT ` + quotedText(t.Title()+", with _archived_at: 2299-12-31 while they are active")
}

// dropTable drops a table and its view.
func (s *Tables) dropTable(ctx context.Context, t *Table) error {
	return s.run(ctx, "dropping table "+t.Name, "DROP VIEW IF EXISTS "+quoted(typed.LifetimesView(t.Name)), "DROP TABLE IF EXISTS "+quoted(t.Name)+" SYNC")
}

var escaper = strings.NewReplacer("\\", "\\\\", "`", "\\`", "'", "\\'")

// quoted is a name in a statement, quotedText a text.
func quoted(name string) string     { return "`" + escaper.Replace(name) + "`" }
func quotedText(text string) string { return "'" + escaper.Replace(text) + "'" }
