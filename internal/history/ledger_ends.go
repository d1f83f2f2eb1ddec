package history

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// LedgerEnd returns the offset up to which a node's stream is complete and final, 0 when it
// has no history.
func (r *Reader) LedgerEnd(ctx context.Context) (int64, error) {
	watermark, err := r.Watermark(ctx)
	return offsetOfMark(watermark), err
}

// LedgerEndFrom is LedgerEnd, or an earlier one that is known already and not below an
// offset: what is asked for below it needs no other.
func (r *Reader) LedgerEndFrom(ctx context.Context, offset int64) (int64, error) {
	if known := r.passed.Load(); known != nil {
		if end := offsetOfMark(*known); end >= offset && end > 0 {
			return end, nil
		}
	}
	return r.LedgerEnd(ctx)
}

// offsetOfMark is the offset of a watermark: 0 as long as it stands within the contracts
// that the stream began with.
func offsetOfMark(mark schemas.Position) int64 {
	if mark.RecordTime == schemas.MinMicros {
		return 0
	}
	return mark.Offset
}

// LedgerBegin returns the offset after which a node's stream has updates: that of the set
// of active contracts that it began with because the node had pruned what was before, and 0
// for a whole stream. A set without contracts does not show.
func (r *Reader) LedgerBegin(ctx context.Context) (int64, error) {
	if known := r.begunAfter.Load(); known != 0 {
		return max(known, 0), nil
	}
	end, err := r.LedgerEnd(ctx)
	if err != nil || end == 0 {
		return 0, err
	}
	begin, err := r.selectOffsets(ctx, ledgerBeginQuery, store.Params{"stream": store.Text(r.stream)})
	if err != nil {
		return 0, fmt.Errorf("reading where %s begins: %w", r.stream, err)
	}
	if len(begin) == 0 {
		r.begunAfter.Store(-1)
		return 0, nil
	}
	r.begunAfter.Store(begin[0])
	return begin[0], nil
}

// LedgerActiveEnd returns the offset up to which the lifetimes of contracts are known, 0
// when there are none. It is never above LedgerEnd.
func (r *Reader) LedgerActiveEnd(ctx context.Context) (int64, error) {
	mark, err := r.ContractsWatermark(ctx)
	if err != nil {
		return 0, err
	}
	end := offsetOfMark(mark)
	for {
		known := r.lifetimes.Load()
		if known >= end || r.lifetimes.CompareAndSwap(known, end) {
			return end, nil
		}
	}
}

// awaitLifetimes waits until lifetimes are known up to an offset, which they are soon after
// the stream is, or ctx ends.
func (r *Reader) awaitLifetimes(ctx context.Context, offset int64) error {
	const pause = 25 * time.Millisecond
	for r.lifetimes.Load() < offset {
		if _, err := r.LedgerActiveEnd(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		if r.lifetimes.Load() >= offset {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for lifetimes of contracts up to offset %d, now at %d: %w", offset, r.lifetimes.Load(), ctx.Err())
		case <-time.After(pause):
		}
	}
	return nil
}

func (r *Reader) selectOffsets(ctx context.Context, query string, params store.Params) ([]int64, error) {
	var list []int64
	block := store.NewOffsets()
	err := r.db.Select(ctx, query, params, block, func() error {
		list = block.AppendTo(list)
		return nil
	})
	return list, err
}

// SynchronizerTimes returns the latest record time of each synchronizer at or below an
// offset, by id.
func (r *Reader) SynchronizerTimes(ctx context.Context, offset int64) (times []SynchronizerTime, err error) {
	all, err := r.selectRanges(ctx, synchronizerRangesQuery, store.Params{"stream": store.Text(r.stream)})
	if err != nil {
		return nil, fmt.Errorf("reading the synchronizers of %s: %w", r.stream, err)
	}
	for i, s := range all {
		if slices.ContainsFunc(all[:i], func(t store.SynchronizerRange) bool { return t.SynchronizerID == s.SynchronizerID }) {
			continue // of another migration
		}
		last, err := r.selectRanges(ctx, ledgerSynchronizerTimeQuery, store.Params{
			"stream": store.Text(r.stream), "synchronizer": store.Text(s.SynchronizerID), "through": store.Int(offset),
		})
		if err != nil {
			return nil, fmt.Errorf("reading the record time of %s at offset %d: %w", s.SynchronizerID, offset, err)
		}
		if len(last) > 0 {
			times = append(times, SynchronizerTime{s.SynchronizerID, last[0].Max})
		}
	}
	slices.SortFunc(times, func(a, b SynchronizerTime) int { return strings.Compare(a.SynchronizerID, b.SynchronizerID) })
	return times, nil
}
