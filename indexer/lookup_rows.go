package indexer

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

//go:embed sql/create_lookup_rows.sql
var createLookupRows string

const (
	// lookupPage is how many items are read, and held as they are read, at a time.
	lookupPage = 512
	// lookupPoll is longer than for lifetimes: who looks up what is newer finds it, too,
	// and each step costs queries.
	lookupPoll = 5 * time.Second
)

// CreateLookupRows makes the table that LookupRows fills and history.Copies reads. It is
// safe to repeat.
func CreateLookupRows(ctx context.Context, db *store.DB) error {
	if err := db.Exec(ctx, createLookupRows, "", nil); err != nil {
		return fmt.Errorf("making the table of copies by update id, for which the ClickHouse server needs EmbeddedRocksDB: %w", err)
	}
	return nil
}

// LookupRows copies the items of public history into table lookup_rows, by update id. It
// follows the stream's watermark as lifetimes do; late verdicts are not copied, readers add
// them. Only one LookupRows may work on a store at a time.
type LookupRows struct {
	follower
	history *history.Reader
	rows    *store.LookupRows
	samples samples
	catalog *values.Catalog
	packer  *store.LookupPacker
	last    uint32 // id of the newest dictionary, which packer uses
	pieces  [][]byte
	body    []byte
}

// NewLookupRows returns the copy of a stream, with values converted by a catalogue; poll is the
// wait when caught up, 5 s if zero.
func NewLookupRows(db *store.DB, stream string, catalog *values.Catalog, poll time.Duration, log *slog.Logger) *LookupRows {
	if poll == 0 {
		poll = lookupPoll
	}
	return &LookupRows{
		follower: newFollower(db, stream, history.LookupsStream(stream), poll, log),
		history:  history.NewReader(db, stream), rows: store.NewLookupRows(), catalog: catalog,
	}
}

// Run steps until ctx ends, then returns nil. It returns early only with an error that
// needs a person.
func (l *LookupRows) Run(ctx context.Context) error { return l.run(ctx, l.Step) }

// CatchUp steps until the copy has reached the stream's watermark. A failure is tried again
// a few times.
func (l *LookupRows) CatchUp(ctx context.Context) error { return l.catchUp(ctx, l.Step) }

// Step takes the next range of committed batches. It returns ErrCaughtUp when the copy has
// reached the watermark.
func (l *LookupRows) Step(ctx context.Context) error {
	began, err := l.load(ctx)
	if err != nil {
		return err
	}
	if began {
		if err := l.loadDictionary(ctx); err != nil {
			l.loaded = false
			return err
		}
		l.warnOfCatalog(ctx)
	}
	return l.take(ctx, "copying items for lookups", l.apply)
}

// warnOfCatalog says in the log that copies were made with another catalogue, which readers
// do not use.
func (l *LookupRows) warnOfCatalog(ctx context.Context) {
	id := l.journal.committed.UpdateID
	found, err := history.NewCopies(l.db, l.stream, l.catalog).ByID(ctx, []string{id})
	if copied, ok := found[id]; err == nil && ok {
		if _, ok, err = copied.Piece(ctx, nil); err == nil && !ok {
			l.log.WarnContext(ctx, "copies for lookups were made with another catalogue of templates and are not used: make them anew", "through", l.journal.committed)
		}
	}
	if err != nil {
		l.log.WarnContext(ctx, "copies for lookups cannot be read", "err", err)
	}
}

// apply copies one range. Imports are not looked up. A row replaces one of the same key, so
// that what an earlier attempt has written does no harm.
func (l *LookupRows) apply(ctx context.Context, row store.BatchRow) error {
	if row.Through.RecordTime == schemas.MinMicros {
		return nil
	}
	store.Reset(l.rows)
	for rg := (history.Range{After: row.After, Through: row.Through, Limit: lookupPage}); ; {
		items, err := l.history.Items(ctx, rg)
		if err != nil {
			return err
		}
		if err := l.addPage(ctx, items); err != nil {
			return err
		}
		if len(items) < rg.Limit {
			break
		}
		rg.After = items[len(items)-1].Position()
	}
	return l.db.Insert(ctx, "lookup_rows", "", l.rows)
}

// addPage adds the rows of some items, after a new dictionary where that helps.
func (l *LookupRows) addPage(ctx context.Context, items []schemas.Item) error {
	l.makePieces(items)
	for _, piece := range l.pieces {
		l.samples.look(l.last, piece)
	}
	if l.samples.due(l.last) {
		if err := l.newDictionary(ctx); err != nil {
			return err
		}
	}
	for i, piece := range l.pieces {
		l.body = l.packer.Pack(l.body[:0], piece)
		l.samples.packed(len(piece), len(l.body))
		l.rows.Append(store.LookupKey(l.stream, items[i].Position().UpdateID), l.body)
	}
	return nil
}

// makePieces makes the pieces of items, in memory that the next ones use again.
func (l *LookupRows) makePieces(items []schemas.Item) {
	for len(l.pieces) < len(items) {
		l.pieces = append(l.pieces, nil)
	}
	l.pieces = l.pieces[:len(items)]
	for i := range items {
		l.pieces[i] = store.AppendLookupPiece(l.pieces[i][:0], &items[i], l.catalog)
	}
}

// loadDictionary goes on with the newest dictionary that is stored.
func (l *LookupRows) loadDictionary(ctx context.Context) error {
	list, err := history.LookupDictionaries(ctx, l.db, l.stream)
	if err != nil {
		return err
	}
	var newest store.LookupDictionary
	for _, d := range list {
		if d.ID > newest.ID {
			newest = d
		}
	}
	if l.packer, err = store.NewLookupPacker(newest); err != nil {
		return err
	}
	l.last = newest.ID
	l.samples.begin()
	return nil
}

// newDictionary stores a dictionary and takes what is stored then: an attempt that went
// before may have stored another one under the same number.
func (l *LookupRows) newDictionary(ctx context.Context) error {
	block := store.NewLookupDictionaries()
	block.Append(l.stream, store.LookupDictionary{ID: l.last + 1, Content: l.samples.content()})
	token := fmt.Sprintf("%s/dictionary/%d", l.own, l.last+1)
	if err := l.db.Insert(ctx, "lookup_dictionaries", token, block); err != nil {
		return err
	}
	want := l.last + 1
	if err := l.loadDictionary(ctx); err != nil {
		return err
	}
	if l.last != want {
		return fmt.Errorf("dictionary %d of %s was stored, and the newest is %d: %w", want, l.own, l.last, errDictionary)
	}
	return nil
}

var errDictionary = errors.New("lookup dictionaries contradict what was written")
