package indexer

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/ledgerlake/ledgerlake/indexer/journal"
	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history/audit"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Writer writes the batches of one stream exactly once. The order of its steps is
// what makes that true; each can be repeated:
//
//  1. The intent: sequence, range and content hash of the batch.
//  2. The rows of each table, with a deduplication token of stream, sequence and table.
//  3. The commit, which moves the stream's watermark.
//
// After a crash the intent without a commit names the batch to repeat, and its
// hash decides whether the upstream still has the same history.
// A Writer may be used by one goroutine at a time.
type Writer struct {
	db     *store.DB
	stream string
	name   string // distinguishes this writer's intents from another's
	log    *slog.Logger

	loaded    bool
	sequence  int64 // of the last committed batch, 0 = none
	committed schemas.Position
	pending   *schemas.Intent
	epoch     int64 // of our claim on the stream

	rows *store.BatchRows // kept from batch to batch for their memory
}

// NewWriter returns the writer of a stream. It reads nothing yet.
func NewWriter(db *store.DB, stream string, log *slog.Logger) *Writer {
	return &Writer{db: db, stream: stream, name: uuid.NewString(), log: log.With("stream", stream), rows: store.NewBatchRows()}
}

// Resume reads the position of the stream from the store.
func (w *Writer) Resume(ctx context.Context, stream string) (schemas.Resume, error) {
	if stream != w.stream {
		return schemas.Resume{}, fmt.Errorf("this writer serves stream %s, not %s", w.stream, stream)
	}
	if err := checkStopped(ctx, w.db, stream); err != nil {
		return schemas.Resume{}, err
	}
	if err := w.load(ctx); err != nil {
		return schemas.Resume{}, err
	}
	return schemas.Resume{Committed: w.committed, Pending: w.pending}, nil
}

func (w *Writer) load(ctx context.Context) error {
	at, err := journal.TakeOver(ctx, w.db, w.stream, w.name)
	if err != nil {
		return err
	}
	if at.Hash != "" && !store.IsBatchHash(at.Hash) {
		return fmt.Errorf("%w: batch %d of %s has hash %s: an earlier version, which computed hashes differently, wrote the store; ingest into a new one",
			schemas.ErrDiverged, at.Sequence, w.stream, at.Hash)
	}
	w.sequence, w.committed, w.pending, w.epoch = at.Sequence, at.Committed, at.Pending, at.Epoch
	w.loaded = true
	return nil
}

// Write stores b and moves the watermark to b.Through. It may be called again with
// the same batch after any error but schemas.ErrDiverged, which means that the
// batch does not fit what is stored or announced.
func (w *Writer) Write(ctx context.Context, b *schemas.Batch) error {
	if !w.loaded {
		if err := w.load(ctx); err != nil {
			return err
		}
		if w.committed == b.Through && b.After.Before(b.Through) {
			return nil // the last commit was applied and only its reply was lost
		}
	}
	if err := w.check(b); err != nil {
		return err
	}
	err := w.write(ctx, b)
	// After an error it is unknown which step was applied: read the journal again.
	w.loaded = err == nil
	return err
}

func (w *Writer) check(b *schemas.Batch) error {
	switch {
	case b.Stream != w.stream:
		return fmt.Errorf("batch of stream %s given to the writer of %s", b.Stream, w.stream)
	case b.After != w.committed:
		return fmt.Errorf("%w: a batch starts after %s, but %s is committed up to %s",
			schemas.ErrDiverged, b.After, w.stream, w.committed)
	case !b.After.Before(b.Through):
		return fmt.Errorf("%w: a batch ends at %s, not after its start %s", schemas.ErrDiverged, b.Through, b.After)
	}
	last := b.After
	for i := range b.Items {
		it := &b.Items[i]
		p := it.Position()
		if !last.Before(p) || b.Through.Before(p) {
			return fmt.Errorf("%w: item %d of a batch is at %s, outside (%s, %s]",
				schemas.ErrDiverged, i, p, last, b.Through)
		}
		if err := storable(it); err != nil {
			return err
		}
		if u := it.Update; u != nil && u.IsImport() && (it.Verdict != nil || !isImport(u)) {
			return fmt.Errorf("%w: import update %s is not a single created event", schemas.ErrMalformed, u.UpdateID)
		}
		last = p
	}
	return nil
}

// isImport reports whether an import update has no more than its table: a created event, which
// in public history is its root, and no hash of an external transaction.
func isImport(u *schemas.Update) bool {
	return len(u.Events) == 1 && u.Events[0].Kind == schemas.Created && u.ExternalTransactionHash == "" &&
		(u.Local != nil || slices.Equal(u.RootEvents, []int32{0}))
}

// storable refuses an item that the tables cannot give back as it was.
func storable(it *schemas.Item) error {
	if it.Verdict == nil && (it.Traffic != nil || it.AppActivity != nil) || it.Traffic != nil && it.Traffic.TotalCost < 0 {
		return fmt.Errorf("%w: update %s has side data without a verdict or with a negative cost", schemas.ErrMalformed, it.Position())
	}
	if it.Update == nil {
		return nil
	}
	for i := range it.Update.Events {
		if id := it.Update.Events[i].ContractID; hasMark(id) {
			return fmt.Errorf("%w: contract id %q of update %s has a control character", schemas.ErrMalformed, id, it.Update.UpdateID)
		}
	}
	return nil
}

// hasMark reports whether an id has a character that the store uses to distinguish ids and texts
// apart.
func hasMark(id string) bool {
	return strings.ContainsAny(id, "\n\x00\x01\x02\x03")
}

func (w *Writer) write(ctx context.Context, b *schemas.Batch) error {
	hash := w.rows.Fill(b)
	row := store.BatchRow{
		Stream: w.stream, Sequence: w.sequence + 1, After: b.After, Through: b.Through,
		Items: uint64(len(b.Items)), Events: uint64(w.rows.Events()), Counts: w.rows.Counts(), Hash: hash, Writer: w.name, Epoch: w.epoch,
	}
	if err := w.announce(ctx, row); err != nil {
		return err
	}
	if err := w.insert(ctx, row.Sequence); err != nil {
		return fmt.Errorf("writing batch %d of %s: %w", row.Sequence, w.stream, err)
	}
	if w.pending != nil {
		if whole, err := w.whole(ctx, b.After); err != nil {
			return err
		} else if !whole {
			return w.again(ctx, b)
		}
	}
	if err := journal.Insert(ctx, w.db, row, store.Commit); err != nil {
		return fmt.Errorf("committing batch %d of %s: %w", row.Sequence, w.stream, err)
	}
	w.sequence, w.committed, w.pending = row.Sequence, b.Through, nil
	w.log.DebugContext(ctx, "wrote batch", "sequence", row.Sequence, "items", row.Items, "events", row.Events, "through", b.Through.String())
	return nil
}

// announce persists the intent, or compares the batch with the intent that is
// already there.
func (w *Writer) announce(ctx context.Context, row store.BatchRow) error {
	if p := w.pending; p != nil {
		if p.After != row.After || p.Through != row.Through || p.Hash != row.Hash {
			return fmt.Errorf("%w: batch %d of %s was announced as %d items through %s with hash %s, and is now %d items through %s with hash %s: the upstream has changed its history, or another upstream answers; nothing was overwritten",
				schemas.ErrDiverged, p.Sequence, w.stream, p.Items, p.Through, p.Hash, row.Items, row.Through, row.Hash)
		}
		return nil
	}
	return journal.Announce(ctx, w.db, row)
}

// whole reports whether the rows of a batch that was begun before stand there once, now that they were
// inserted again. They do not if the engine has forgotten the tokens of the first attempt: it keeps
// those of the last 1,000 inserts into a table, and a backup has none.
func (w *Writer) whole(ctx context.Context, after schemas.Position) (bool, error) {
	stand, err := audit.NewReader(w.db, w.stream).RowsAbove(ctx, after)
	return err == nil && maps.Equal(stand, w.rows.Above(after)), err
}

// again writes a batch anew whose rows stand twice or not at all: under another number, because the
// tokens of this one have been seen.
func (w *Writer) again(ctx context.Context, b *schemas.Batch) error {
	// What another writer has committed since stands above the batch, too.
	if err := w.load(ctx); err != nil {
		return err
	}
	if w.pending == nil || w.committed != b.After {
		return fmt.Errorf("%w: it has written %s beyond %s since", schemas.ErrReplaced, w.stream, b.After)
	}
	w.log.WarnContext(ctx, "the rows of a batch that was begun earlier are not there once: writing it anew", "sequence", w.pending.Sequence, "after", b.After.String())
	r := NewRewind(w.db, w.stream, nil, w.log)
	if err := r.mark(ctx, w.stream, b.After, map[string]int64{w.stream: w.epoch}); err != nil {
		return err
	}
	if err := r.dropRows(ctx, w.stream, b.After); err != nil {
		return err
	}
	if err := w.load(ctx); err != nil {
		return err
	}
	return w.write(ctx, b)
}

// insert writes the rows of a batch, those of each table with a separate token.
func (w *Writer) insert(ctx context.Context, sequence int64) error {
	group, ctx := guard.WithContext(ctx)
	for table, block := range w.rows.Blocks() {
		group.Go(func() error {
			return w.db.Insert(ctx, table, fmt.Sprintf("%s/%d/%s", w.stream, sequence, table), block)
		})
	}
	return group.Wait()
}

// Sinks serves several streams, one Writer each. It is what ingest writes to.
type Sinks struct {
	db  *store.DB
	log *slog.Logger

	mu      sync.Mutex
	writers map[string]*Writer
}

// NewSinks returns writers over db, made as streams appear.
func NewSinks(db *store.DB, log *slog.Logger) *Sinks {
	return &Sinks{db: db, log: log, writers: make(map[string]*Writer)}
}

// Resume returns the position of a stream.
func (s *Sinks) Resume(ctx context.Context, stream string) (schemas.Resume, error) {
	return s.writer(stream).Resume(ctx, stream)
}

// Write stores b: see Writer.Write. Batches of one stream must come one after another.
func (s *Sinks) Write(ctx context.Context, b *schemas.Batch) error {
	return s.writer(b.Stream).Write(ctx, b)
}

func (s *Sinks) writer(stream string) *Writer {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, ok := s.writers[stream]
	if !ok {
		w = NewWriter(s.db, stream, s.log)
		s.writers[stream] = w
	}
	return w
}
