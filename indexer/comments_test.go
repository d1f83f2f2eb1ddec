package indexer

import (
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/docs/formats"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

// uncommented are the columns of a database that lack the comment of the data dictionary.
func uncommented(t *testing.T, conn driver.Conn) (columns []string) {
	t.Helper()
	rows, err := conn.Query(t.Context(), "SELECT table, name, comment FROM system.columns WHERE database = currentDatabase() AND table NOT LIKE 'goose%' AND table NOT LIKE 'contract_ends\\_%'")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	dictionary, n := formats.Columns(), 0
	for ; rows.Next(); n++ {
		var table, column, comment string
		if err := rows.Scan(&table, &column, &comment); err != nil {
			t.Fatal(err)
		}
		if comment == "" || comment != dictionary[table][column] {
			columns = append(columns, table+"."+column+": "+comment)
		}
	}
	if err := rows.Err(); err != nil || n < 300 {
		t.Fatalf("%d columns, %v", n, err)
	}
	return columns
}

// All columns have comments, those of stores of earlier versions, too; tables of others keep theirs.
func TestColumnsHaveComments(t *testing.T) {
	s := enginetest.Start(t)
	if err := Migrate(t.Context(), s.DSN); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), s.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := CreateLookupRows(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if lacking := uncommented(t, s.Conn); len(lacking) > 0 {
		t.Errorf("columns without the comment of docs/formats/store.md:\n%s", strings.Join(lacking, "\n"))
	}
	for _, change := range []string{
		"ALTER TABLE events COMMENT COLUMN kind '', COMMENT COLUMN argument 'as an earlier version had it'",
		"ALTER TABLE traffic COMMENT COLUMN total_cost ''",
		"CREATE TABLE payments (amount Int64 COMMENT 'of somebody else') ENGINE = Memory",
		"DELETE FROM goose_db_version WHERE version_id >= 191",
	} {
		if err := s.Conn.Exec(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	if err := Migrate(t.Context(), s.DSN); err != nil {
		t.Fatal(err)
	}
	if lacking := uncommented(t, s.Conn); len(lacking) != 1 || lacking[0] != "payments.amount: of somebody else" {
		t.Errorf("after a migration columns lack their comments:\n%s", strings.Join(lacking, "\n"))
	}
}
