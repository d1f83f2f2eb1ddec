// Package wallet reads what is derived from a node's stream for the wallets of its parties.
package wallet

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/end.sql
var endQuery string

// Reader reads what is derived from a node's own stream for the wallets of its parties: their
// contracts, transaction logs, and what became of offers and traffic requests. It shows the
// state at its watermark, which follows that of the stream, and takes templates in the
// network's spelling, "package-name:Module:Entity". It is safe for concurrent use.
type Reader struct {
	db     *store.DB
	stream string
	fresh  time.Duration // see Remembering

	reading sync.Mutex // held while the watermark is read for all who may share it
	last    atomic.Pointer[mark]
}

// mark is the offset of a watermark, and when reading it began and had ended.
type mark struct {
	offset       int64
	began, ended time.Time
}

// Fresh is for how long those who serve wallets remember the watermark: what others did
// shows so much later, and a page of a wallet, which is many readings, asks for it once.
const Fresh = 100 * time.Millisecond

// NewReader returns a reader of a node's stream, see schemas.NodeStream.
func NewReader(db *store.DB, stream string) *Reader { return &Reader{db: db, stream: stream} }

// Remembering has r read the watermark only when the one that it knows was read longer than
// fresh ago, and not, as it does otherwise, in each reading. What WaitFor has waited for is
// shown by all readings that follow. It must be called before r is used.
func (r *Reader) Remembering(fresh time.Duration) *Reader {
	r.fresh = fresh
	return r
}

// Stream names the node's stream that r reads.
func (r *Reader) Stream() string { return r.stream }

// Watermark returns the position up to which the stream has been taken in, schemas.Start
// before the first.
func (r *Reader) Watermark(ctx context.Context) (schemas.Position, error) {
	return journal.Watermark(ctx, r.db, journal.WalletStream(r.stream))
}

// End returns the offset of the watermark, 0 before the first. Each reading needs it. One that
// is remembered is read again ahead of time, so that readings that follow each other do not
// wait for it.
func (r *Reader) End(ctx context.Context) (int64, error) {
	if end, ok := r.known(r.fresh); ok {
		if _, young := r.known(r.fresh / 2); !young {
			r.refresh(ctx)
		}
		return end, nil
	}
	return r.endWithin(ctx, r.fresh)
}

// refreshTimeout ends a refresh whose store does not answer.
const refreshTimeout = 5 * time.Second

// refresh has the watermark read beside the caller, unless that is being done. Where it fails,
// the watermark grows old, and the next one who needs it reads it and has the error.
func (r *Reader) refresh(ctx context.Context) {
	if !r.reading.TryLock() {
		return
	}
	guard.Go(func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTimeout)
		defer cancel()
		_, err := r.readEnd(ctx)
		return err
	}, func(error) { r.reading.Unlock() })
}

// endWithin returns a watermark that was read at most age ago. Those who come together have it
// read once, unless age is 0.
func (r *Reader) endWithin(ctx context.Context, age time.Duration) (int64, error) {
	if age == 0 {
		return r.readEnd(ctx)
	}
	if end, ok := r.known(age); ok {
		return end, nil
	}
	r.reading.Lock()
	defer r.reading.Unlock()
	if end, ok := r.known(age); ok { // another one has read it meanwhile
		return end, nil
	}
	return r.readEnd(ctx)
}

// endSince returns a watermark whose reading began at an instant or later. Callers share it.
func (r *Reader) endSince(ctx context.Context, at time.Time) (int64, error) {
	r.reading.Lock()
	defer r.reading.Unlock()
	if last := r.last.Load(); last != nil && !last.began.Before(at) {
		return last.offset, nil
	}
	return r.readEnd(ctx)
}

func (r *Reader) known(age time.Duration) (end int64, ok bool) {
	last := r.last.Load()
	if last == nil {
		return 0, false
	}
	return last.offset, time.Since(last.ended) < age
}

// readEnd reads no more columns than it must.
func (r *Reader) readEnd(ctx context.Context) (end int64, err error) {
	began := time.Now()
	end, _, err = store.SelectOne(ctx, r.db, endQuery, store.Params{
		"stream": store.Text(journal.WalletStream(r.stream)), "imported": store.Time(schemas.MinMicros),
	}, store.NewOffsets())
	if err != nil {
		return 0, fmt.Errorf("reading the position of the wallets of %s: %w", r.stream, err)
	}
	r.last.Store(&mark{end, began, time.Now()})
	return end, nil
}

// waitPause is how often the watermark is read while a caller waits for an offset, ownPause how often
// if this process derives the wallets, as each commit ends the pause.
const (
	waitPause = 20 * time.Millisecond
	ownPause  = 250 * time.Millisecond
)

// WaitFor returns nil once everything up to an offset is shown by r, which is soon after the
// node's stream has it. When ctx ends first it returns an error that wraps ctx's.
func (r *Reader) WaitFor(ctx context.Context, offset int64) error {
	stream := journal.WalletStream(r.stream)
	end, _ := r.known(0)
	for end < offset {
		committed, began := r.db.NextCommit(stream), time.Now()
		found, err := r.endSince(ctx, began)
		// A connection may run out of time a moment before ctx does.
		if err != nil && ctx.Err() == nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if err == nil {
			end = found
		}
		if end >= offset {
			return nil
		}
		r.db.Hurry(r.stream)
		committed.Await(ctx, ownPause, waitPause)
		if ctx.Err() != nil {
			return fmt.Errorf("waiting until wallets show offset %d, now at %d: %w", offset, end, ctx.Err())
		}
	}
	return nil
}
