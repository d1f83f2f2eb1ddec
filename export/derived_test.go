package export

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// publishedMovements reads the movements of segments back from the bucket.
func publishedMovements(t *testing.T, objects *bucket.Client, e *Exporter, refs []schemas.SegmentRef) (rows []schemas.MovementRow) {
	t.Helper()
	found, err := e.catalog.Segments.Some(t.Context(), refs)
	if err != nil {
		t.Fatal(err)
	}
	for i := range found {
		d, err := published.DerivedOf(&found[i])
		if err != nil || d == nil {
			t.Fatalf("segment %s has derived tables %v, %v", found[i].Ref(), d, err)
		}
		for _, p := range d.AllParts() {
			rows = append(rows, parquetRows[schemas.MovementRow](t, read(t, objects, p.Key))...)
		}
	}
	return rows
}

// TestDerivedTablesComeLater publishes history, as earlier versions did, and movements once they are
// derived: exactly the rows of the store, without a change of any other object but those of tables.
func TestDerivedTablesComeLater(t *testing.T) {
	src, client, c := withMovements(twoMigrations(76, 60)), openBucket(t), &memoryCatalog{}
	src.derived = nil
	e := newTestExporter(t, src, client, c, nil)
	refs := exportDue(t, e)
	before := stored(t, client)
	src.derived = new(schemas.EndOf(1, micros("2026-07-03T23:59:59Z"))) // within a segment
	some := exportDue(t, e)
	if want := slices.DeleteFunc(slices.Clone(refs), func(r schemas.SegmentRef) bool { return r.MigrationID == 1 && r.Date != "" }); !slices.Equal(some, want) {
		t.Errorf("derived are %v, want %v", some, want)
	}
	src.derived = &src.watermark
	if rest := exportDue(t, e); len(rest)+len(some) != len(refs) {
		t.Errorf("derived are %v later", rest)
	}
	if left, err := e.DueSegments(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("after that %v are due, %v", left, err)
	}
	after := stored(t, client)
	for key, sum := range before {
		if after[key] != sum {
			t.Errorf("%s changed", key)
		}
	}
	want := slices.DeleteFunc(slices.Clone(src.movements), func(r schemas.MovementRow) bool { return r.RecordTime > int64(micros("2026-07-04T00:00:00Z")) })
	got := publishedMovements(t, client, e, refs)
	slices.SortFunc(got, byMigration)
	slices.SortFunc(want, byMigration)
	if len(want) < 200 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d movements are published, which are not the %d of the store", len(got), len(want))
	}
	v, err := e.VerifyObjects(t.Context(), nil)
	if err != nil || len(v.Findings) > 0 || v.Digests["movements"].Rows != uint64(len(want)) {
		t.Errorf("findings %q, %v, digest %v", v.Findings, err, v.Digests["movements"])
	}
	damageDerived(t, e, client, refs[1])

	again := openBucket(t)
	exportDue(t, newTestExporter(t, src, again, &memoryCatalog{}, func(c *testConfig) { c.PageRows, c.Workers = 7, 1 }))
	if sums := stored(t, again); !maps.Equal(sums, after) {
		t.Error("another run made other objects")
	}
	w := newTestExporter(t, src, client, c, nil)
	if err := w.Withdraw(t.Context(), schemas.Start); err != nil {
		t.Fatal(err)
	}
	if left := stored(t, client); len(left) > 0 {
		t.Errorf("after a withdrawal %v are left", slices.Sorted(maps.Keys(left)))
	}
	exportDue(t, w)
	if sums := stored(t, client); !maps.Equal(sums, after) {
		t.Error("after a withdrawal other objects are made")
	}
}

func byMigration(a, b schemas.MovementRow) int {
	if a.MigrationID != b.MigrationID {
		return int(a.MigrationID - b.MigrationID)
	}
	return published.CompareKeys(a.Key(), b.Key())
}

// damageDerived changes a row, and what describes the rows, in turn; verification names both.
func damageDerived(t *testing.T, e *Exporter, client *bucket.Client, ref schemas.SegmentRef) {
	t.Helper()
	for key, change := range map[string]func([]byte) []byte{
		schemas.ObjectKey(schemas.ParquetMovements, ref, 0): func(data []byte) []byte {
			return rewrite(t, data, schemas.ParquetMovements, ref, func(r *schemas.MovementRow) { r.Amount[15]++ })
		},
		schemas.DerivedKey(ref): func(data []byte) []byte { return bytes.Replace(data, []byte(`"rows": `), []byte(`"rows":  `), 1) },
	} {
		data := read(t, client, key)
		write(t, client, key, change(data))
		if v, err := e.VerifyObjects(t.Context(), nil); err != nil || len(v.Findings) == 0 || !strings.Contains(v.Findings[0], key) {
			t.Errorf("with %s damaged: findings %q, %v", key, v.Findings, err)
		}
		write(t, client, key, data)
	}
}

// TestCrashWhileDeriving cuts an export of derived tables off before and after each outside write.
func TestCrashWhileDeriving(t *testing.T) {
	src, client := withMovements(twoMigrations(77, 60)), openBucket(t)
	whole := newTestExporter(t, src, client, &memoryCatalog{}, nil)
	if err := whole.ExportSegment(t.Context(), crashRef); err != nil {
		t.Fatal(err)
	}
	want := stored(t, client)
	src.derived = nil
	for _, applied := range []bool{false, true} {
		after := int64(0)
		for ; ; after++ {
			objects, c := openMemory(client), &memoryCatalog{}
			if err := newTestExporter(t, src, objects, c, nil).ExportSegment(t.Context(), crashRef); err != nil {
				t.Fatal(err)
			}
			derived := *src
			derived.derived = &src.watermark
			if !runCut(t, &derived, objects, c, after, applied, func(e *Exporter) error { return e.ExportSegment(t.Context(), crashRef) }) {
				break
			}
			if row := c.Last(crashRef); row.State != published.Published {
				t.Fatalf("after %d writes (applied %v) the segment is %s", after, applied, row.State)
			}
			again := newTestExporter(t, &derived, objects, c, nil)
			if err := again.ExportSegment(t.Context(), crashRef); err != nil {
				t.Fatal(err)
			}
			if got := objects.sums(); !maps.Equal(got, want) {
				t.Errorf("after %d writes (applied %v): got %v, want %v", after, applied, got, want)
			}
		}
		if after < 3 { // a part, its description, and the row
			t.Errorf("only %d writes were cut off", after)
		}
	}
}

// TestReadersOfMovements has DuckDB and ClickHouse add up the objects, the latter through the Iceberg
// table, too: the numbers are decimals, and their sums those of the rows.
func TestReadersOfMovements(t *testing.T) {
	src, c := withMovements(twoMigrations(78, 60)), &memoryCatalog{}
	g := buckettest.Gateway(t)
	client := buckettest.Open(t, bucketConfig(g, ""))
	later := *src
	later.derived = nil
	exportDue(t, newIcebergExporter(t, &later, client, c, nil))
	e := newIcebergExporter(t, src, client, c, nil)
	exportDue(t, e)
	mustBeCurrent(t, e)
	if v, err := e.VerifyObjects(t.Context(), nil); err != nil || len(v.Findings) > 0 {
		t.Errorf("findings %q, %v", v.Findings, err)
	}
	var sum, debits decimal.Decimal
	for _, r := range src.movements {
		if r.RecordTime > int64(micros("2026-07-04T00:00:00Z")) {
			continue
		}
		sum = sum.Plus(r.Decimal())
		if r.Decimal().Sign() < 0 {
			debits = debits.Plus(r.Decimal())
		}
	}
	conn := enginetest.Start(t).Conn
	for name, from := range map[string]string{"objects": objectsAt(g, schemas.ParquetMovements), "Iceberg": tableOf(g, schemas.ParquetMovements)} {
		var got [3]string
		err := conn.QueryRow(t.Context(), "SELECT toTypeName(any(amount)), toString(sum(amount)), toString(sumIf(amount, amount < 0)) FROM "+from).Scan(&got[0], &got[1], &got[2])
		if want := [3]string{"Decimal(38, 10)", sum.Short(), debits.Short()}; err != nil || got != want {
			t.Errorf("ClickHouse adds %s up to %v, %v; want %v", name, got, err, want)
		}
	}
	compareTables(t, conn, g, schemas.ParquetMovements)

	var rows []struct{ Total, Debits string }
	duckdb(t, localCopy(t, client), `WITH m AS (FROM read_parquet('lake/movements/v1/**/*.parquet'))
		SELECT (SELECT sum(amount) FROM m)::VARCHAR AS total, (SELECT sum(amount) FROM m WHERE amount < 0)::VARCHAR AS debits`, &rows)
	if len(rows) != 1 || rows[0].Total != sum.String() || rows[0].Debits != debits.String() {
		t.Errorf("DuckDB adds up %+v, want %s and %s", rows, sum, debits)
	}
}

// TestDerivedTablesAreNotWrittenTooEarly has movements taken back after a segment was found due.
func TestDerivedTablesAreNotWrittenTooEarly(t *testing.T) {
	src, objects, c := takenBack{withMovements(twoMigrations(79, 20))}, openMemory(openBucket(t)), &memoryCatalog{}
	e := newTestExporter(t, src, objects, c, nil)
	if err := e.ExportSegment(t.Context(), crashRef); !errors.Is(err, history.ErrMovementsBehind) {
		t.Errorf("exporting without movements: %v", err)
	}
	if row := c.Last(crashRef); row.State != published.Published || row.DerivedHash != "" {
		t.Errorf("the segment is %s with derived tables %q", row.State, row.DerivedHash)
	}
	if _, there := objects.sums()[schemas.DerivedKey(crashRef)]; there {
		t.Error("they are described")
	}
}

// takenBack is a history whose movements are taken back while they are read.
type takenBack struct{ *memorySource }

func (s takenBack) MovementPages(ctx context.Context, ref schemas.SegmentRef, limit int, page func([]schemas.MovementRow) error) error {
	if err := s.memorySource.MovementPages(ctx, ref, limit, page); err != nil {
		return err
	}
	return history.ErrMovementsBehind
}

// TestRebuiltMovementsArePublished has rules of another version derive one row otherwise: its segment
// alone is written again. Equal rows change nothing.
func TestRebuiltMovementsArePublished(t *testing.T) {
	src, client, c := withMovements(twoMigrations(80, 60)), openBucket(t), &memoryCatalog{}
	e := newIcebergExporter(t, src, client, c, nil)
	exportDue(t, e)
	before := stored(t, client)
	rebuild := func() []schemas.SegmentRef {
		digests := make(map[schemas.SegmentRef]schemas.Digest)
		for _, row := range c.Latest() {
			var sum published.Digester
			err := src.MovementPages(t.Context(), row.Ref(), 100, func(page []schemas.MovementRow) error {
				for i := range page {
					sum.AddMovement(&page[i])
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			digests[row.Ref()] = sum.Sum
		}
		if err := published.ForgetDerived(t.Context(), c, digests); err != nil {
			t.Fatal(err)
		}
		return exportDue(t, e)
	}
	if due := rebuild(); len(due) > 0 || !maps.Equal(stored(t, client), before) {
		t.Errorf("with equal rows %v are due", due)
	}
	src.movements[len(src.imports)].Cause = "unexplained" // the first after the openings
	first := schemas.SegmentRef{Stream: "scan", Date: "2026-07-01"}
	if due := rebuild(); len(due) != 2 || due[0] != first { // and the last, for the Iceberg tables
		t.Errorf("after a rebuild %v are due, want %v", due, first)
	}
	mustBeCurrent(t, e)
	changed := make(map[string]bool)
	for key, sum := range stored(t, client) {
		if sum != before[key] && !strings.HasPrefix(key, "iceberg/") {
			changed[key] = true
		}
	}
	if want := map[string]bool{schemas.ObjectKey(schemas.ParquetMovements, first, 0): true, schemas.DerivedKey(first): true}; !maps.Equal(changed, want) {
		t.Errorf("changed are %v, want %v", changed, want)
	}
	if v, err := e.VerifyObjects(t.Context(), nil); err != nil || len(v.Findings) > 0 {
		t.Errorf("findings %q, %v", v.Findings, err)
	}
}
