package history_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/indexer/journal"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/coins"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// TestMovementPages reads the movements of segments, each row in one of them: openings with the imports,
// and midnight with the day before.
func TestMovementPages(t *testing.T) {
	db := storetest.Open(t, enginetest.StartMigrated(t, indexer.MigrateCluster))
	reader := history.NewReader(db, schemas.ScanStream)
	at := func(text string) schemas.Micros {
		m, err := schemas.ParseTime(text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	day := func(migrationID int64, date string) schemas.SegmentRef {
		return schemas.SegmentRef{Stream: schemas.ScanStream, MigrationID: migrationID, Date: date}
	}
	rows := store.NewMovements()
	want := make(map[schemas.SegmentRef][]string)
	add := func(ref schemas.SegmentRef, at schemas.Micros, id, party, amount string, entry int32) {
		m := store.Movement{Position: schemas.Position{MigrationID: ref.MigrationID, RecordTime: at, UpdateID: id}}
		m.Movement = coins.Movement{Entry: entry, Party: party, Pocket: coins.Unlocked, Amount: decimal.Must(amount), Cause: coins.Transfer, Source: "coins"}
		rows.Append(schemas.ScanStream, &m)
		want[ref] = append(want[ref], id+party+decimal.Must(amount).String())
	}
	// By party, as the store keeps them, these come in another order.
	add(day(1, ""), schemas.MinMicros, "i1", "z", "1000000000000000000000000000.0000000001", 0)
	add(day(1, ""), schemas.MinMicros, "i2", "a", "2", 0)
	add(day(1, "2026-07-01"), at("2026-07-01T00:00:00.000001Z"), "u1", "z", "-0.0000000001", 0)
	add(day(1, "2026-07-01"), at("2026-07-01T00:00:00.000001Z"), "u1", "a", "0.0000000001", 1)
	add(day(1, "2026-07-01"), at("2026-07-02T00:00:00Z"), "u2", "a", "7", 0)
	add(day(1, "2026-07-02"), at("2026-07-02T00:00:00.000001Z"), "u3", "a", "8", 0)
	add(day(2, "2026-07-02"), at("2026-07-02T01:00:00Z"), "u4", "a", "-9", 0)
	if err := db.Insert(t.Context(), "movements", "all", rows); err != nil {
		t.Fatal(err)
	}
	derivedTo := func(sequence int64, through schemas.Position) {
		row := store.BatchRow{Stream: journals.MovementsStream(schemas.ScanStream), Sequence: sequence, After: schemas.Start, Through: through, Writer: "test"}
		if err := journal.Insert(t.Context(), db, row, store.Commit); err != nil {
			t.Fatal(err)
		}
	}
	pages := func(ref schemas.SegmentRef) (got []string, err error) {
		err = reader.MovementPages(t.Context(), ref, 1, func(page []schemas.MovementRow) error {
			if len(page) != 1 || page[0].MigrationID != ref.MigrationID {
				t.Errorf("a page of %s has %+v", ref, page)
			}
			got = append(got, page[0].UpdateID+page[0].Party+page[0].Decimal().String())
			return nil
		})
		return got, err
	}
	derivedTo(1, schemas.EndOf(1, at("2026-07-02T00:00:00Z")))
	for ref, behind := range map[schemas.SegmentRef]bool{day(1, ""): false, day(1, "2026-07-01"): true, day(1, "2026-07-02"): true, day(2, ""): true} {
		if _, err := pages(ref); errors.Is(err, history.ErrMovementsBehind) != behind {
			t.Errorf("segment %s of movements up to the end of the first day: %v", ref, err)
		}
	}
	derivedTo(2, schemas.EndOf(3, at("2026-07-03T00:00:00Z")))
	digests, _, err := reader.MovementDigests(t.Context(), schemas.DaySegments)
	if err != nil || len(digests) != len(want) {
		t.Errorf("movements are in segments %v, %v", digests, err)
	}
	for ref, rows := range want {
		got, err := pages(ref)
		if err != nil || !slices.Equal(got, rows) {
			t.Errorf("segment %s has movements %q, %v; want %q", ref, got, err, rows)
		}
		if n := digests[ref].Rows; n != uint64(len(rows)) {
			t.Errorf("the digest of segment %s has %d rows, want %d", ref, n, len(rows))
		}
	}
	if got, err := pages(day(3, "")); err != nil || len(got) > 0 {
		t.Errorf("a segment without movements has %q, %v", got, err)
	}
	derivedTo(3, schemas.Start) // a rebuild begins
	if _, err := pages(day(1, "")); !errors.Is(err, history.ErrMovementsBehind) {
		t.Errorf("during a rebuild: %v", err)
	}
}
