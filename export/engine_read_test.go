package export

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// TestAnotherReaderUnderstandsTheObjects queries the published objects with the engine,
// whose Parquet reader shares nothing with the writer.
func TestAnotherReaderUnderstandsTheObjects(t *testing.T) {
	conn := enginetest.Start(t).Conn
	src := twoMigrations(51, 120)
	g := buckettest.Gateway(t)
	e := newTestExporter(t, src, buckettest.Open(t, bucketConfig(g, "")), &memoryCatalog{}, nil)
	exportDue(t, e)
	want := wantDigests(t, e, src)
	for _, table := range []schemas.ParquetTable{
		schemas.ParquetUpdates, schemas.ParquetEvents, schemas.ParquetACS, schemas.ParquetVerdicts,
		schemas.ParquetTraffic, schemas.ParquetAppActivity, schemas.ParquetImports,
	} {
		// Reading every column makes the reader decode all pages.
		rows := query[uint64](t, conn, string(table), "SELECT countIf(NOT ignore(*)) FROM "+objectsAt(g, table))
		if rows != want[string(table)].Rows {
			t.Errorf("the engine reads %d rows of %s, want %d", rows, table, want[string(table)].Rows)
		}
	}
	var members, parties, payload, roots uint64
	for i := range src.updates {
		u := &src.updates[i]
		if u.MigrationID != 0 {
			continue
		}
		members += uint64(len(u.Events))
		roots += uint64(len(u.RootEvents))
		for _, event := range u.Events {
			parties += uint64(len(event.ActingParties) + len(event.Signatories))
			payload += uint64(len(event.Argument) + len(event.Result))
		}
	}
	contract, rows := firstContract(src)
	events := objectsAt(g, schemas.ParquetEvents)
	checks := []struct {
		name, sql string
		want      uint64
	}{
		{"nodes of a partition", "SELECT countIf(kind != 'unassignment') FROM " + events + " WHERE migration_id = 0", members},
		{"lists of texts", "SELECT sum(length(acting_parties) + length(signatories)) FROM " + events + " WHERE migration_id = 0", parties},
		{"lists of numbers", "SELECT sum(length(root_events)) FROM " + objectsAt(g, schemas.ParquetUpdates) + " WHERE migration_id = 0", roots},
		{"payload bytes", "SELECT sum(length(ifNull(toString(create_arguments), '')) + length(ifNull(toString(choice_argument), ''))" +
			" + length(ifNull(toString(exercise_result), ''))) FROM " + events + " WHERE migration_id = 0", payload},
		{"the filter on a contract", "SELECT count() FROM " + events + " WHERE contract_id = '" + contract + "'", rows},
	}
	for _, c := range checks {
		if got := query[uint64](t, conn, c.name, c.sql); got != c.want {
			t.Errorf("%s: the engine says %d, want %d", c.name, got, c.want)
		}
	}
}

// TestDocumentedQuery runs the queries that the documentation gives for ClickHouse.
func TestDocumentedQuery(t *testing.T) {
	for _, page := range []string{"parquet.md", "iceberg.md"} {
		t.Run(page, func(t *testing.T) { testDocumentedQuery(t, documentedExample(t, page, "sql", "-- ClickHouse")) })
	}
}

func testDocumentedQuery(t *testing.T, sql string) {
	conn := enginetest.Start(t).Conn
	src := twoMigrations(52, 60)
	g := buckettest.Gateway(t)
	exportDue(t, newIcebergExporter(t, src, buckettest.Open(t, bucketConfig(g, "")), &memoryCatalog{}, nil))
	sql = strings.NewReplacer("http://127.0.0.1:7070/ledgerlake", g.Endpoint+"/lake", "'KEY'", "'"+g.AccessKey+"'", "'SECRET'", "'"+g.SecretKey+"'").Replace(sql)
	rows, err := conn.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	got, want := make(map[string]uint64), createdByTemplate(src)
	for rows.Next() {
		var template *string
		var created uint64
		if err := rows.Scan(&template, &created); err != nil {
			t.Fatal(err)
		}
		got[*template] = created
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got, want) || len(want) < 5 {
		t.Errorf("the query counts %v, want %v", got, want)
	}
}

// firstContract returns a contract of a closed day, and how many events it has.
func firstContract(src *memorySource) (id string, events uint64) {
	for i := range src.updates {
		for _, e := range src.updates[i].Events {
			if id == "" {
				id = e.ContractID
			}
			if e.ContractID == id {
				events++
			}
		}
	}
	return id, events
}

func objectsAt(g *bucket.Gateway, table schemas.ParquetTable) string {
	return fmt.Sprintf("s3('%s/lake/%s/v1/**/*.parquet', '%s', '%s', 'Parquet')", g.Endpoint, table, g.AccessKey, g.SecretKey)
}

// query returns the single value of a query, whose text holds the keys of the bucket.
func query[T any](t *testing.T, conn driver.Conn, what, sql string) T {
	t.Helper()
	var v T
	if err := conn.QueryRow(t.Context(), sql).Scan(&v); err != nil {
		t.Fatalf("querying %s: %v", what, err)
	}
	return v
}
