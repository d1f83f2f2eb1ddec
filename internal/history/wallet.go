package history

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/wallet_end.sql
var walletEndQuery string

// WalletStream names the journal of what is derived from a node's stream for wallets.
func WalletStream(stream string) string { return stream + "/wallet" }

// Wallet reads what is derived from a node's own stream for the wallets of its parties: their
// contracts, transaction logs, and what became of offers and traffic requests. It shows the
// state at its watermark, which follows that of the stream, and takes templates in the
// network's spelling, "package-name:Module:Entity". It is safe for concurrent use.
type Wallet struct {
	db     *store.DB
	stream string
	passed atomic.Int64 // highest offset of the watermark that was read

	mu     sync.Mutex
	looked time.Time // when somebody who waits has last read the watermark
}

// NewWallet returns a reader of a node's stream, see schemas.NodeStream.
func NewWallet(db *store.DB, stream string) *Wallet { return &Wallet{db: db, stream: stream} }

// Stream names the node's stream that w reads.
func (w *Wallet) Stream() string { return w.stream }

// Watermark returns the position up to which the stream has been taken in, schemas.Start
// before the first.
func (w *Wallet) Watermark(ctx context.Context) (schemas.Position, error) {
	return NewReader(w.db, w.stream).lastCommit(ctx, WalletStream(w.stream))
}

// End returns the offset of the watermark, 0 before the first. It is asked for in each reading
// and reads no more columns than it must.
func (w *Wallet) End(ctx context.Context) (end int64, err error) {
	block := store.NewOffsets()
	err = w.db.Select(ctx, walletEndQuery, store.Params{
		"stream": store.Text(WalletStream(w.stream)), "imported": store.Time(schemas.MinMicros),
	}, block, func() error {
		end = block.AppendTo(nil)[0]
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("reading how far wallets of %s are: %w", w.stream, err)
	}
	for {
		known := w.passed.Load()
		if known >= end || w.passed.CompareAndSwap(known, end) {
			return end, nil
		}
	}
}

// waitPause is how often the watermark is read while anybody waits for an offset.
const waitPause = 20 * time.Millisecond

// WaitFor returns nil once everything up to an offset is shown by w, which is soon after the
// node's stream has it. When ctx ends first it returns an error that wraps ctx's.
func (w *Wallet) WaitFor(ctx context.Context, offset int64) error {
	for w.passed.Load() < offset {
		// A connection may run out of time a moment before ctx does.
		if err := w.look(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if w.passed.Load() >= offset {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting until wallets show offset %d, now at %d: %w", offset, w.passed.Load(), ctx.Err())
		case <-time.After(waitPause):
		}
	}
	return nil
}

// look reads the watermark, unless another who waits has just done so.
func (w *Wallet) look(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.looked) < waitPause/2 {
		return nil
	}
	_, err := w.End(ctx)
	w.looked = time.Now()
	return err
}
