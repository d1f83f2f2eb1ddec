package analytics

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

//go:embed sql/stored_round_entries.sql
var storedRoundEntries string

// readEntries reads all rows of table round_entries once.
func (a *Audit) readEntries(ctx context.Context) error {
	params := a.between(0, a.mark.MigrationID, store.BeforeHistory, store.NeverArchived)
	return a.eachEntry(ctx, params, func(e *store.RoundEntry) {
		a.looked["entries of rounds"]++
		a.sums(e.Position).storedEntries += hashEntry(e)
	})
}

func (a *Audit) eachEntry(ctx context.Context, params store.Params, each func(*store.RoundEntry)) error {
	block := store.NewRoundEntries()
	err := a.db.Select(ctx, storedRoundEntries, params, block, func() error {
		for _, e := range block.AppendTo(nil) {
			each(&e)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading table round_entries: %w", err)
	}
	return nil
}

func hashEntry(e *store.RoundEntry) uint64 {
	return xxh3.HashString(fmt.Sprint(e.MigrationID, e.RecordTime, e.Round, e.Party, describeEntry(e)))
}

// describeEntry has all of a row but its key.
func describeEntry(e *store.RoundEntry) string {
	return fmt.Sprintf("rewards %s of apps and %s of validators, traffic of %d bytes in %d purchases for %s, coins %s less %s for each round",
		e.AppRewards, e.ValidatorRewards, e.TrafficBytes, e.TrafficPurchases, e.TrafficSpent, e.InitialChange, e.RateChange)
}

// compareEntries names the rows of a day that differ from those expected. Rows of one key are equal only in one order.
func (a *Audit) compareEntries(ctx context.Context, params store.Params, expected []store.RoundEntry) error {
	var stored []store.RoundEntry
	if err := a.eachEntry(ctx, params, func(e *store.RoundEntry) { stored = append(stored, *e) }); err != nil {
		return err
	}
	slices.SortFunc(expected, byKey)
	slices.SortFunc(stored, byKey)
	for len(expected)+len(stored) > 0 {
		order := 0
		switch {
		case len(expected) == 0:
			order = 1
		case len(stored) == 0:
			order = -1
		default:
			order = byKey(expected[0], stored[0])
		}
		d := Difference{What: "a row of round_entries", Expected: "no such row", Found: "no such row"}
		name := func(e *store.RoundEntry) {
			d.Party, d.What = e.Party, fmt.Sprintf("a row of round_entries, round %d, %s", e.Round, e.RecordTime)
		}
		if order >= 0 {
			name(&stored[0])
			d.Found, stored = describeEntry(&stored[0]), stored[1:]
		}
		if order <= 0 {
			name(&expected[0])
			d.Expected, expected = describeEntry(&expected[0]), expected[1:]
		}
		if d.Expected != d.Found {
			a.found(d)
		}
	}
	return nil
}

func byKey(x, y store.RoundEntry) int {
	return cmp.Or(x.Position.Compare(y.Position), cmp.Compare(x.Round, y.Round), cmp.Compare(x.Party, y.Party))
}
