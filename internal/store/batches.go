package store

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// BatchState says how far a batch has come.
type BatchState string

// A batch is announced by an intent and finished by a commit. An intent is withdrawn
// when its writer gave way to another one before it wrote any row.
const (
	Intent    BatchState = "intent"
	Commit    BatchState = "commit"
	Withdrawn BatchState = "withdrawn"
	// Claim is not about a batch: it says that a writer takes over the stream.
	Claim BatchState = "claim"
)

// BatchRow is one line of the writer's journal.
type BatchRow struct {
	Stream   string           `column:"stream,low"`
	Sequence int64            `column:"sequence"`
	State    BatchState       `column:"state,enum"`
	After    schemas.Position `column:"after_"`
	Through  schemas.Position `column:"through_"`
	Items    uint64           `column:"items"`
	Events   uint64           `column:"events"`
	Hash     string           `column:"hash"`
	Writer   string           `column:"writer"`
	// Epoch is that of the writer's claim: of two writers the one with the higher epoch
	// came later.
	Epoch int64 `column:"epoch"`
	// Counts are nil where they are not known.
	Counts *RowCounts
}

// RowCounts says how many rows a batch has in tables other than events. Those of a stream's own
// journal have no lifetimes, and those of the journal of lifetimes nothing else.
type RowCounts struct {
	Updates   int64 `column:"update_rows"`
	Imports   int64 `column:"import_rows"`
	Verdicts  int64 `column:"verdict_rows"`
	Lifetimes int64 `column:"lifetime_rows"`
	// Places are not known of batches that an earlier version wrote.
	Places int64 `column:"place_rows"`
}

// unknown is the count of rows that nobody knows.
const unknown = -1

// IsMark reports whether the line only says that the stream was taken back to where it begins
// and ends; see indexer.Rewind.
func (r *BatchRow) IsMark() bool { return r.State == Commit && r.After == r.Through }

// StandingIntents returns the intents among rows that count: those that are not withdrawn
// and beside which no intent of a later writer stands. A writer claims its stream before it
// reads the journal and looks for later claims after each intent and before any row. So
// an intent that a later writer did not see was either followed by no row, or by those of
// a writer that had ended; it came late and is void.
func StandingIntents(rows []BatchRow) []BatchRow {
	type key struct {
		sequence, epoch int64
		writer          string
	}
	withdrawn := make(map[key]bool)
	for _, r := range rows {
		if r.State == Withdrawn {
			withdrawn[key{r.Sequence, r.Epoch, r.Writer}] = true
		}
	}
	latest := make(map[int64]int64) // sequence -> epoch
	var intents []BatchRow
	for _, r := range rows {
		if r.State == Intent && !withdrawn[key{r.Sequence, r.Epoch, r.Writer}] {
			intents = append(intents, r)
			latest[r.Sequence] = max(latest[r.Sequence], r.Epoch)
		}
	}
	return slices.DeleteFunc(intents, func(r BatchRow) bool { return r.Epoch < latest[r.Sequence] })
}

// Batches are rows of table batches.
type Batches struct {
	*Records[BatchRow]
	counts *Records[RowCounts]
}

// NewBatches returns a block without rows.
func NewBatches() *Batches { return &Batches{NewRecords[BatchRow](), NewRecords[RowCounts]()} }

func (b *Batches) columns() []column { return append(b.Records.columns(), b.counts.columns()...) }

// Append adds r.
func (b *Batches) Append(r BatchRow) {
	b.Records.Append(r)
	if r.Counts == nil {
		r.Counts = &RowCounts{unknown, unknown, unknown, unknown, unknown}
	}
	b.counts.Append(*r.Counts)
}

// AppendTo appends the block's rows to list.
func (b *Batches) AppendTo(list []BatchRow) []BatchRow {
	first := len(list)
	list = b.Records.AppendTo(list)
	for i, counts := range b.counts.AppendTo(nil) {
		if counts.Updates != unknown {
			list[first+i].Counts = &counts
		}
	}
	return list
}

// commits tells what this process has committed to whom it waits for it.
type commits struct {
	mu   sync.Mutex
	next map[string]chan struct{} // by stream, for those for whose next commit somebody waits
	here map[string][]BatchRow    // the last commits of the streams that this process writes, without gaps
	// hurried are the streams that are written here, with whether somebody waits for the next commit.
	hurried map[string]chan struct{}
}

// keptCommits is how many commits of a stream are remembered for those who follow it.
const keptCommits = 128

// NextCommit is the next commit of a stream. To wait for it saves asking the store over and over.
type NextCommit struct {
	made <-chan struct{}
	here bool
}

// NextCommit returns the next commit of a stream after the call.
func (db *DB) NextCommit(stream string) NextCommit {
	c := db.commits
	c.mu.Lock()
	defer c.mu.Unlock()
	next, ok := c.next[stream]
	if !ok {
		if c.next == nil {
			c.next = make(map[string]chan struct{})
		}
		next = make(chan struct{})
		c.next[stream] = next
	}
	_, here := c.here[stream]
	return NextCommit{next, here}
}

// Await returns at the commit, when ctx ends, or after a while: own if this process writes the stream,
// as it is likely to make the next commit, too, and else foreign, as what another process commits is
// not known here.
func (n NextCommit) Await(ctx context.Context, own, foreign time.Duration) {
	if !n.here {
		own = foreign
	}
	timer := time.NewTimer(own)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-n.made:
	case <-timer.C:
	}
}

// CommittedHere says that this process has claimed a stream, and makes its next commits.
func (db *DB) CommittedHere(stream string) {
	c := db.commits
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(stream, nil)
}

// keep remembers the last commits of a stream. The caller holds the lock.
func (c *commits) keep(stream string, rows []BatchRow) {
	if c.here == nil {
		c.here = make(map[string][]BatchRow)
	}
	c.here[stream] = rows
}

// Committed tells those who wait for a commit of a stream that there is one.
func (db *DB) Committed(row BatchRow) {
	c := db.commits
	c.mu.Lock()
	defer c.mu.Unlock()
	rows := c.here[row.Stream]
	if n := len(rows); n > 0 && rows[n-1].Sequence+1 != row.Sequence {
		rows = nil
	}
	if len(rows) == keptCommits {
		rows = append([]BatchRow(nil), rows[keptCommits/2:]...)
	}
	if row.After.Before(row.Through) {
		rows = append(rows, row)
	} else {
		rows = nil // the stream was taken back: what was committed above that is gone
	}
	c.keep(row.Stream, rows)
	if next, ok := c.next[row.Stream]; ok {
		close(next)
		delete(c.next, row.Stream)
	}
}

// CommitsAfter returns the commits of a stream after a sequence number, oldest first, without asking the
// store. ok is false if they are not all known, because the number is too long ago or another process may
// have made some.
func (db *DB) CommitsAfter(stream string, sequence int64) (rows []BatchRow, ok bool) {
	c := db.commits
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.here[stream]
	if len(all) == 0 || sequence < all[0].Sequence-1 || sequence > all[len(all)-1].Sequence {
		return nil, false
	}
	return all[sequence-all[0].Sequence+1:], true // nobody changes these: see Committed
}

// CommittedElsewhere says that another process commits to a stream, and to what is derived from it,
// from now on. Who waits for a commit asks as often as it would of another process.
func (db *DB) CommittedElsewhere(stream string) {
	c := db.commits
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.here {
		if name == stream || strings.HasPrefix(name, stream+"/") {
			delete(c.here, name)
		}
	}
}

// Hurry says that somebody waits for the next commit of a stream, to this process if it writes the stream.
func (db *DB) Hurry(stream string) {
	select {
	case db.Hurried(stream) <- struct{}{}:
	default: // it is known already
	}
}

// Hurried returns the channel that receives when somebody waits for the next commit of a stream.
func (db *DB) Hurried(stream string) chan struct{} {
	c := db.commits
	c.mu.Lock()
	defer c.mu.Unlock()
	hurried, ok := c.hurried[stream]
	if !ok {
		if c.hurried == nil {
			c.hurried = make(map[string]chan struct{})
		}
		hurried = make(chan struct{}, 1)
		c.hurried[stream] = hurried
	}
	return hurried
}
