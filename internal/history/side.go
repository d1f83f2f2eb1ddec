package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// WithSide returns a reader of the same stream that completes items by what became known
// of them later. What a bulk object was made of is read without it: that never changes.
func (r *Reader) WithSide() *Reader {
	completed := NewReader(r.db, r.stream)
	completed.side = NewReader(r.db, journal.SideStream(r.stream))
	return completed
}

// lateVerdicts completes the ascending verdicts of a range by those that came late. What
// was there first stays.
func (r *Reader) lateVerdicts(ctx context.Context, rg Range, verdicts []schemas.Item) ([]schemas.Item, error) {
	if r.side == nil {
		return verdicts, nil
	}
	mark, err := r.side.Watermark(ctx)
	if err != nil || !rg.After.Before(mark) {
		return verdicts, err
	}
	if mark.Before(rg.Through) {
		rg.Through = mark
	}
	late, err := r.side.migrationVerdicts(ctx, rg)
	if err != nil || len(late) == 0 {
		return verdicts, err
	}
	all := append(verdicts, late...)
	slices.SortStableFunc(all, func(a, b schemas.Item) int { return a.Position().Compare(b.Position()) })
	all = slices.CompactFunc(all, func(a, b schemas.Item) bool { return a.Position() == b.Position() })
	return all[:min(len(all), rg.Limit)], nil
}

// gapChunk is how many transactions are looked at in one step of NextGap.
const gapChunk = 20_000

// NextGap returns the next stretch after a position whose transactions have no verdict in
// the stream, as an exclusive start and an inclusive end within one migration; ok is false
// when there is none up to the watermark. What came late does not count.
func (r *Reader) NextGap(ctx context.Context, after schemas.Position) (start, end schemas.Position, ok bool, err error) {
	watermark, err := r.Watermark(ctx)
	if err != nil {
		return start, end, false, err
	}
	for m := max(after.MigrationID, 0); m <= watermark.MigrationID; m++ {
		rg := Range{
			After: schemas.Position{MigrationID: m, RecordTime: store.BeforeHistory}, Through: schemas.EndOf(m, schemas.MaxMicros), Limit: gapChunk,
		}
		if rg.After.Before(after) {
			rg.After = after
		}
		if watermark.Before(rg.Through) {
			rg.Through = watermark
		}
		switch start, end, ok, err = r.gapWithin(ctx, rg); {
		case err != nil:
			return start, end, false, fmt.Errorf("looking for items without verdicts after %s: %w", rg.After, err)
		case ok:
			return start, end, true, nil
		}
	}
	return start, end, false, nil
}

// gapWithin is NextGap within one migration.
func (r *Reader) gapWithin(ctx context.Context, rg Range) (start, end schemas.Position, ok bool, err error) {
	for rg.After.Before(rg.Through) {
		transactions, err := r.positions(ctx, transactionPositionsQuery, rg)
		if err != nil || len(transactions) == 0 {
			return start, end, false, err
		}
		chunk := Range{After: rg.After, Through: transactions[len(transactions)-1], Limit: 100 * gapChunk}
		verdicts, err := r.positions(ctx, verdictPositionsQuery, chunk)
		if err != nil {
			return start, end, false, err
		}
		if start, end, ok = firstGap(rg.After, transactions, verdicts); ok {
			return start, end, true, nil
		}
		rg.After = chunk.Through
	}
	return start, end, false, nil
}

// firstGap finds the first run of transactions without verdicts; both lists ascend.
func firstGap(after schemas.Position, transactions, verdicts []schemas.Position) (start, end schemas.Position, ok bool) {
	start = after
	for _, p := range transactions {
		i, has := slices.BinarySearchFunc(verdicts, p, schemas.Position.Compare)
		verdicts = verdicts[i:]
		switch {
		case !has:
			end, ok = p, true
		case ok:
			return start, end, true
		default:
			start = p
		}
	}
	return start, end, ok
}
