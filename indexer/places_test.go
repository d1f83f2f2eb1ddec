package indexer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// placeRows are the rows of table places, in order.
func (f *fixture) placeRows(t *testing.T) []string {
	t.Helper()
	rows := indexertest.Texts(t, f.dsn, `SELECT concat(stream, ' ', kind, ' ', toString(place_key), ' ', toString(node_offset), ' ', toString(migration_id), ' ', toString(record_time)) FROM places`)
	slices.Sort(rows)
	return rows
}

// TestPlacesAreFilled has a store whose writer did not write places: what fills them finds the rows
// that the writer writes, also when it is cut off after each of its ranges.
func TestPlacesAreFilled(t *testing.T) {
	enginetest.NotOnShards(t)
	f := newFixture(t)
	h := schematest.New(schematest.Config{Seed: 5, Items: 120})
	side := journals.SideStream(schemas.ScanStream)
	var items, late []schemas.Item
	for i, it := range h.Items {
		if it.Update != nil && it.Verdict != nil && i%5 == 0 {
			late = append(late, schemas.Item{Verdict: it.Verdict})
			it.Verdict, it.Traffic, it.AppActivity = nil, nil, nil
		}
		if it.Update != nil && !it.Update.IsImport() && i%7 == 0 {
			it.Update.ExternalTransactionHash = fmt.Sprintf("1220%060d", i)
		}
		items = append(items, it)
	}
	ofNode := nodeHistory("participant", false)
	list := append(batches(items, 3), ofNode...)
	for _, b := range batches(late, 3) {
		b.Stream = side
		list = append(list, b)
	}
	sinks := NewSinks(f.db, f.log)
	for _, b := range list {
		if err := sinks.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	written := f.placeRows(t)
	for stream, kinds := range map[string][]string{
		schemas.ScanStream: {"update", "verdict", "hash", "contract", "exercise", "party"},
		ofNode[0].Stream:   {"update", "contract", "party"}, side: {"verdict"},
	} {
		for _, kind := range kinds {
			if !slices.ContainsFunc(written, func(row string) bool { return strings.HasPrefix(row, stream+" "+kind+" ") }) {
				t.Errorf("the writer wrote no place of kind %s of %s", kind, stream)
			}
		}
	}
	if err := f.db.Exec(t.Context(), "TRUNCATE TABLE places", "", nil); err != nil {
		t.Fatal(err)
	}
	ranges := 0
	for cutOff := true; cutOff; {
		ctx, cancel := context.WithCancelCause(t.Context())
		begun := false
		err := fillAllPlaces(ctx, f.dsn, func(int64, int64) {
			if begun { // the range before was committed
				cancel(errBetweenRanges)
			}
			begun = true
			ranges++
		})
		cancel(nil)
		if cutOff = errors.Is(context.Cause(ctx), errBetweenRanges); !cutOff && err != nil {
			t.Fatal(err)
		}
	}
	if ranges < 4 {
		t.Errorf("filled in %d ranges, which are too few to be cut off between", ranges)
	}
	if got := f.placeRows(t); !slices.Equal(got, written) {
		t.Errorf("filled %d rows, where the writer wrote %d; missing %.10q", len(got), len(written), without(written, got))
	}
}

var errBetweenRanges = errors.New("cut off")

// without returns the rows of a sorted list that another one lacks.
func without(list, other []string) (missing []string) {
	for _, row := range list {
		if _, found := slices.BinarySearch(other, row); !found {
			missing = append(missing, row)
		}
	}
	return missing
}
