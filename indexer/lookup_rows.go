package indexer

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ledgerlake/ledgerlake/docs/formats"
	"github.com/ledgerlake/ledgerlake/indexer/journal"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/history/copies"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

var (
	//go:embed sql/create_lookup_rows.sql
	createLookupRows string
	//go:embed sql/create_node_lookup_rows.sql
	createNodeLookupRows string
)

const (
	// lookupPage is how many items are read, and held as they are read, at a time.
	lookupPage = 512
	// lookupPace is longer than for lifetimes: lookups of newer updates work without the copy,
	// and each step costs queries.
	lookupPace = 5 * time.Second
)

// CreateLookupRows makes the tables that LookupRows fills, and copies.Items and
// copies.Updates read. It is safe to repeat.
func CreateLookupRows(ctx context.Context, db *store.DB) error {
	for table, create := range map[string]string{"lookup_rows": createLookupRows, "node_lookup_rows": createNodeLookupRows} {
		if err := db.Exec(ctx, create, "", nil); err != nil {
			return fmt.Errorf("creating a table of lookup copies, which needs EmbeddedRocksDB in the ClickHouse server: %w", err)
		}
		if err := db.Exec(ctx, alterComments(table, formats.Columns()[table]), "", nil); err != nil {
			return fmt.Errorf("commenting a table of lookup copies: %w", err)
		}
	}
	return nil
}

// LookupRows copies what a stream has, each update by its key, to be looked up. It follows the
// stream's watermark as lifetimes do. Only one LookupRows may work on a stream at a time.
type LookupRows struct {
	db        *store.DB
	stream    string
	follower  *journal.Follower
	originals originals
	rows      *store.LookupRows
	samples   samples
	packer    *copies.Packer
	last      uint32 // id of the newest dictionary, which packer uses
	body      []byte
}

// originals are what copies are made of.
type originals interface {
	// table names the one of the copies.
	table() string
	// each gives the copies of a range with their keys, some at a time, in memory that the next
	// ones use again.
	each(ctx context.Context, after, through schemas.Position, page func(keys []uint64, pieces [][]byte) error) error
	// warn says in the log why copies up to a position are not used, if they are not.
	warn(ctx context.Context, through schemas.Position)
}

// NewLookupRows returns the copy of public history by update id, into table lookup_rows, with
// values converted by a catalogue. Late verdicts are not copied: readers add them. pace is the
// least time from one step to the next, 5 s if zero.
func NewLookupRows(db *store.DB, stream string, catalog *values.Catalog, pace time.Duration, log *slog.Logger) *LookupRows {
	return newLookupRows(db, stream, pace, log, &items{
		history: history.NewReader(db, stream), copies: copies.NewItems(db, stream, catalog), catalog: catalog, log: log,
	})
}

// NewNodeLookupRows returns the copy of a node's stream by offset, into table node_lookup_rows.
func NewNodeLookupRows(db *store.DB, stream string, pace time.Duration, log *slog.Logger) *LookupRows {
	return newLookupRows(db, stream, pace, log, &nodeUpdates{history: nodehistory.NewReader(db, stream)})
}

func newLookupRows(db *store.DB, stream string, pace time.Duration, log *slog.Logger, of originals) *LookupRows {
	return &LookupRows{
		db: db, stream: stream, follower: journal.NewFollower(db, stream, journals.LookupsStream(stream), cmp.Or(pace, lookupPace), log),
		originals: of, rows: store.NewLookupRows(),
	}
}

// Run steps until ctx ends, then returns nil. It returns early only with an error that
// needs a person.
func (l *LookupRows) Run(ctx context.Context) error { return l.follower.Run(ctx, l.Step) }

// CatchUp steps until the copy has reached the stream's watermark. A failure is tried again
// a few times.
func (l *LookupRows) CatchUp(ctx context.Context) error { return l.follower.CatchUp(ctx, l.Step) }

// Step takes the next range of committed batches. It returns journal.ErrCaughtUp when the copy has
// reached the watermark.
func (l *LookupRows) Step(ctx context.Context) error {
	loaded, err := l.follower.Load(ctx)
	if err != nil {
		return err
	}
	if loaded {
		if err := l.loadDictionary(ctx); err != nil {
			l.follower.Forget()
			return err
		}
		l.originals.warn(ctx, l.follower.Committed())
	}
	return l.follower.Take(ctx, "copying items for lookups", l.apply)
}

// apply copies one range. Imports are not looked up. A row replaces one of the same key, so
// that what an earlier attempt has written does no harm.
func (l *LookupRows) apply(ctx context.Context, row *store.BatchRow) error {
	if row.Through.RecordTime == schemas.MinMicros {
		return nil
	}
	store.Reset(l.rows)
	if err := l.originals.each(ctx, row.After, row.Through, func(keys []uint64, pieces [][]byte) error {
		return l.addPage(ctx, keys, pieces)
	}); err != nil {
		return err
	}
	return l.db.Insert(ctx, l.originals.table(), "", l.rows)
}

// addPage adds the rows of some copies, after a new dictionary where that helps.
func (l *LookupRows) addPage(ctx context.Context, keys []uint64, pieces [][]byte) error {
	for _, piece := range pieces {
		l.samples.look(l.last, piece)
	}
	if l.samples.due(l.last) {
		if err := l.newDictionary(ctx); err != nil {
			return err
		}
	}
	for i, piece := range pieces {
		l.body = l.packer.Pack(l.body[:0], piece)
		l.samples.packed(len(piece), len(l.body))
		l.rows.Append(keys[i], l.body)
	}
	return nil
}

// loadDictionary continues with the newest dictionary that is stored.
func (l *LookupRows) loadDictionary(ctx context.Context) error {
	list, err := copies.Dictionaries(ctx, l.db, l.stream)
	if err != nil {
		return err
	}
	var newest store.LookupDictionary
	for _, d := range list {
		if d.ID > newest.ID {
			newest = d
		}
	}
	if l.packer, err = copies.NewPacker(newest); err != nil {
		return err
	}
	l.last = newest.ID
	l.samples.begin()
	return nil
}

// newDictionary stores a dictionary and takes what is stored then: an attempt that went
// before may have stored another one under the same number.
func (l *LookupRows) newDictionary(ctx context.Context) error {
	block := store.NewStreamRecords[store.LookupDictionary]()
	block.Append(l.stream, store.LookupDictionary{ID: l.last + 1, Content: l.samples.content()})
	token := fmt.Sprintf("%s/dictionary/%d", journals.LookupsStream(l.stream), l.last+1)
	if err := l.db.Insert(ctx, "lookup_dictionaries", token, block); err != nil {
		return err
	}
	want := l.last + 1
	if err := l.loadDictionary(ctx); err != nil {
		return err
	}
	if l.last != want {
		return fmt.Errorf("dictionary %d of %s was stored, and the newest is %d: %w", want, journals.LookupsStream(l.stream), l.last, errDictionary)
	}
	return nil
}

var errDictionary = errors.New("lookup dictionaries contradict what was written")

const (
	// dictionaryBytes is how much history a dictionary holds: twice as much saves two
	// percent more.
	dictionaryBytes = 112 << 10
	// maxDictionaries bounds what readers must hold.
	maxDictionaries = 64
	// firstSamples and laterSamples are of how many items one is a sample: of few for the
	// first dictionary, which should not wait, of many for later ones, as neighbours are
	// alike. None is larger than maxSample.
	firstSamples = 32
	laterSamples = 1024
	maxSample    = 32 << 10
	// betterAfter items the first dictionary is replaced by one that has seen more.
	betterAfter = 16 * laterSamples
	// ratioItems are packed until their ratio is compared with the first one under the same
	// dictionary; a new one is due when it takes maxDecline percent of that.
	ratioItems = 4096
	maxDecline = 125
)

// samples are the items that the next dictionary would be made of, and how well the
// current one does. The zero value has none.
type samples struct {
	pieces [][]byte // the oldest first
	bytes  int
	seen   int

	items, in, out    int // since the last comparison
	firstIn, firstOut int // of the first comparison
	worse             bool
}

// look takes an item in one piece, which it copies, that will be packed after the dictionary
// with an id, 0 for none.
func (s *samples) look(last uint32, piece []byte) {
	every := laterSamples
	if last == 0 {
		every = firstSamples
	}
	if s.seen++; s.seen%every != 0 {
		return
	}
	if len(piece) > maxSample {
		return
	}
	s.pieces, s.bytes = append(s.pieces, bytes.Clone(piece)), s.bytes+len(piece)
	for s.bytes-len(s.pieces[0]) >= dictionaryBytes {
		s.bytes -= len(s.pieces[0])
		s.pieces = s.pieces[1:]
	}
}

// due reports whether a dictionary should follow the one with an id, 0 for none.
func (s *samples) due(last uint32) bool {
	return s.bytes >= dictionaryBytes &&
		(last == 0 || last == 1 && s.seen >= betterAfter || s.worse && last < maxDictionaries)
}

// content is that of a dictionary. What is newest is nearest to what refers to it.
func (s *samples) content() (content []byte) {
	for _, piece := range s.pieces {
		content = append(content, piece...)
	}
	return content[max(0, len(content)-dictionaryBytes):]
}

// begin forgets how well an earlier dictionary did.
func (s *samples) begin() {
	s.items, s.in, s.out, s.firstIn, s.firstOut, s.worse = 0, 0, 0, 0, 0, false
}

// packed notes how large an item was in one piece and became.
func (s *samples) packed(in, out int) {
	s.items, s.in, s.out = s.items+1, s.in+in, s.out+out
	if s.items < ratioItems {
		return
	}
	if s.firstIn == 0 {
		s.firstIn, s.firstOut = s.in, s.out
	}
	s.worse = int64(s.out)*100*int64(s.firstIn) > int64(s.in)*maxDecline*int64(s.firstOut)
	s.items, s.in, s.out = 0, 0, 0
}
