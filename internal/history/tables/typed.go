package tables

import (
	"context"
	_ "embed"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/history/typedviews"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/typed"
)

var (
	//go:embed sql/typed.sql
	typedQuery string
	//go:embed sql/typed_json.sql
	typedJSONQuery string
)

type (
	// typedRow is a typed table as it is recorded.
	typedRow struct {
		Name    string `column:"table_name"`
		Package string `column:"package_name,low"`
		Entity  string `column:"entity"`
		Choice  string `column:"choice"`
		Fill    int64  `column:"fill"`
		Joined  bool   `column:"joined"`
	}
	typedColumn struct {
		Table string `column:"table_name"`
		Name  string `column:"column_name"`
	}
)

// typedTables are the typed tables of the store, and the views over them, without columns.
func (r *Reader) typedTables(ctx context.Context) (list []Table, err error) {
	params := store.Params{"stream": store.Text(r.stream), "joined": store.Text(journal.TypedJoined)}
	rows, err := store.SelectAll(ctx, r.db, typedQuery, params, store.NewRecords[typedRow]())
	if err != nil || len(rows) == 0 {
		return nil, wrapped("reading the typed tables of the store", err)
	}
	columns, err := store.SelectAll(ctx, r.db, typedJSONQuery, nil, store.NewRecords[typedColumn]())
	if err != nil {
		return nil, wrapped("reading the columns of typed tables", err)
	}
	json := make(map[string][]string)
	for _, c := range columns {
		json[c.Table] = append(json[c.Table], c.Name)
	}
	journals := make(map[typed.Source]string)
	for _, row := range rows {
		of := typed.Source{Package: row.Package, Entity: row.Entity, Choice: row.Choice}
		journals[of] = journal.TypedStream(r.stream)
		if !row.Joined {
			journals[of] = journal.TypedFill(r.stream, row.Fill)
		}
		t := r.typedTable(row.Name, of)
		t.typed, t.json = []string{journals[of]}, append(json[row.Name], "_unfit")
		list = append(list, t)
		if of.Choice == "" {
			t.Name, t.Title = typed.LifetimesView(t.Name), t.Title+", with the times of their ends"
			list = append(list, t)
		}
	}
	for _, v := range typedviews.All {
		t := Table{Name: v.Name, Title: v.Title, Key: v.Key, hidden: []string{"stream"}, ofNode: r.stream != schemas.ScanStream}
		for _, of := range v.Tables {
			t.typed = append(t.typed, journals[of])
		}
		if !slices.Contains(t.typed, "") {
			list = append(list, t)
		}
	}
	return list, nil
}

func wrapped(doing string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// typedTable is a table of contracts or exercises. Of a node's stream its users have the contracts of which
// their parties are stakeholders, and the exercises that these saw.
func (r *Reader) typedTable(name string, of typed.Source) Table {
	t := Table{Name: name, Title: of.Title(), Key: []string{"_migration_id", "_record_time", "_update_id", "_node"}, prefix: "_", hidden: []string{"_stream"}}
	switch {
	case r.stream == schemas.ScanStream:
		t.hidden = append(t.hidden, "_offset", "_witnesses")
	case of.Choice == "":
		t.offset, t.seen = "_offset", "(hasAny(_signatories, {readers:Array(String)}) OR hasAny(_observers, {readers:Array(String)}))"
	default:
		t.offset, t.seen, t.whole = "_offset", "hasAny(_witnesses, {readers:Array(String)})", []string{"_witnesses"}
	}
	return t
}
