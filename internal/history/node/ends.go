package node

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// ends reads how far a node's stream and its lifetimes are known.
type ends struct {
	db     *store.DB
	stream string
	mark   *journal.Mark
	// lifetimes is the highest LedgerActiveEnd that was read, and begunAfter LedgerBegin: 0
	// before it was read, -1 for a whole stream.
	lifetimes, begunAfter atomic.Int64
}

// LedgerEnd returns the offset up to which a node's stream is complete and final, 0 when it
// has no history.
func (e *ends) LedgerEnd(ctx context.Context) (int64, error) {
	watermark, err := e.mark.Read(ctx)
	return offsetOfMark(watermark), err
}

// LedgerEndFrom is LedgerEnd, or an earlier one that is known already and not below an
// offset: what is asked for below it needs no other.
func (e *ends) LedgerEndFrom(ctx context.Context, offset int64) (int64, error) {
	if known := e.mark.Passed(); known != nil {
		if end := offsetOfMark(*known); end >= offset && end > 0 {
			return end, nil
		}
	}
	return e.LedgerEnd(ctx)
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
func (e *ends) LedgerBegin(ctx context.Context) (int64, error) {
	if known := e.begunAfter.Load(); known != 0 {
		return max(known, 0), nil
	}
	end, err := e.LedgerEnd(ctx)
	if err != nil || end == 0 {
		return 0, err
	}
	begin, ok, err := store.SelectOne(ctx, e.db, beginQuery, store.Params{"stream": store.Text(e.stream)}, store.NewOffsets())
	if err != nil {
		return 0, fmt.Errorf("reading the beginning of %s: %w", e.stream, err)
	}
	if !ok {
		e.begunAfter.Store(-1)
		return 0, nil
	}
	e.begunAfter.Store(begin)
	return begin, nil
}

// LedgerActiveEnd returns the offset up to which the lifetimes of contracts are known, 0
// when there are none. It is never above LedgerEnd.
func (e *ends) LedgerActiveEnd(ctx context.Context) (int64, error) {
	mark, err := journal.Watermark(ctx, e.db, journal.ContractsStream(e.stream))
	if err != nil {
		return 0, err
	}
	end := offsetOfMark(mark)
	for {
		known := e.lifetimes.Load()
		if known >= end || e.lifetimes.CompareAndSwap(known, end) {
			return end, nil
		}
	}
}

// awaitLifetimes waits until lifetimes are known up to an offset, which they are soon after
// the stream is, or ctx ends. If this process derives them, each commit ends a pause.
func (e *ends) awaitLifetimes(ctx context.Context, offset int64) error {
	const pause, ownPause = 25 * time.Millisecond, 250 * time.Millisecond
	for e.lifetimes.Load() < offset {
		committed := e.db.NextCommit(journal.ContractsStream(e.stream))
		if _, err := e.LedgerActiveEnd(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		if e.lifetimes.Load() >= offset {
			return nil
		}
		committed.Await(ctx, ownPause, pause)
		if ctx.Err() != nil {
			return fmt.Errorf("waiting for lifetimes of contracts up to offset %d, now at %d: %w", offset, e.lifetimes.Load(), ctx.Err())
		}
	}
	return nil
}
