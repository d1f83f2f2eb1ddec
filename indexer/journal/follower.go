package journal

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/commits_after.sql
var commitsAfter string

// ErrCaughtUp says that a step found nothing to do.
var ErrCaughtUp = errors.New("caught up")

const (
	// maxRangeRows bounds the rows, and so the memory, of one step: it takes whole batches
	// until their items and events exceed it.
	maxRangeRows  = 120_000
	maxRangeBatch = 64
	// While a backfill commits large batches, Run lets some of them accumulate: the cost of a
	// step is mostly per step. In following the tail, ranges are small and never wait.
	bulkRows  = 20_000
	bulkPause = 1500 * time.Millisecond
	// idlePoll is how often Run asks for commits that it was not told of, as another process's are
	// not; ownPoll how often if this process writes the stream, and another one can only have taken it
	// over without a word.
	idlePoll = time.Second
	ownPoll  = 15 * time.Second
)

// Follower walks behind the watermark of a stream in ranges of whole batches. Each range is
// announced and committed in a journal of the follower's own, like a batch. A Follower may be
// used by one goroutine at a time.
type Follower struct {
	db        *store.DB
	stream    string // that is followed
	own       string // whose journal it writes
	name      string
	log       *slog.Logger
	pace      time.Duration
	poll      time.Duration // as ownPoll
	hours     bool          // ranges are whole hours
	unhurried bool          // keeps to the pace whatever comes
	tookAll   bool          // the last range has all commits that were known

	rangeRows uint64 // after which a range ends
	loaded    bool
	state     State
	source    int64     // sequence of the last commit of the stream that is taken; 0 = not known
	rows      uint64    // items and events of the last step
	asked     time.Time // when the journal of the stream was read last
}

// NewFollower returns a follower of a stream with a journal under the name own. pace is the least
// time from one step to the next while it keeps up with the stream.
func NewFollower(db *store.DB, stream, own string, pace time.Duration, log *slog.Logger) *Follower {
	return &Follower{db: db, stream: stream, own: own, name: uuid.NewString(), pace: pace, poll: ownPoll, log: log.With("stream", own), rangeRows: maxRangeRows}
}

// NewSmallFollower is NewFollower with ranges of at most as many items and events as given, unless a single batch
// has more: for what must not hold up something else for long.
func NewSmallFollower(db *store.DB, stream, own string, pace time.Duration, log *slog.Logger, rangeRows uint64) *Follower {
	f := NewFollower(db, stream, own, pace, log)
	f.rangeRows = rangeRows
	return f
}

// Unhurried has Run keep to the pace also when more is committed while a step is on its way, as it is on
// a machine that is busy: for what nobody waits for.
func (f *Follower) Unhurried() { f.unhurried = true }

// PollEvery has Run take a step at least every so often, for a step that looks for more than commits.
func (f *Follower) PollEvery(d time.Duration) { f.poll = d }

// Committed is the end of the last range that was committed, as of the last Load or Take.
func (f *Follower) Committed() schemas.Position { return f.state.Committed }

// Forget has the next Load read the journal again.
func (f *Follower) Forget() { f.loaded = false }

// Run steps until ctx ends, then returns nil. It returns early only with an error that
// needs a person: what is stored contradicts itself, or the disk is full.
func (f *Follower) Run(ctx context.Context, step func(context.Context) error) error {
	for failures := 0; ctx.Err() == nil; {
		began, committed, wait := time.Now(), f.db.NextCommit(f.stream), time.Duration(0)
		switch err := f.step(ctx, step); {
		case err == nil && f.rows > bulkRows:
			failures, wait = 0, bulkPause
		case err == nil && f.unhurried && f.tookAll:
			failures, wait = 0, f.pace-time.Since(began)
		case err == nil:
			failures = 0
		case errors.Is(err, ErrCaughtUp):
			failures = 0
			committed.Await(ctx, f.poll, max(idlePoll, f.pace))
			wait = f.pace - time.Since(began)
		case schemas.NeedsPerson(err):
			return err
		case ctx.Err() == nil:
			failures++
			wait = min(time.Duration(failures)*f.pace, 10*time.Second)
			f.log.ErrorContext(ctx, "step failed", "err", err, "retry_in", wait)
		}
		_ = remote.Sleep(ctx, wait) // the loop looks whether ctx has ended
	}
	return nil
}

// step takes one step. After a panic it is unknown how far it got: the journal is read again.
func (f *Follower) step(ctx context.Context, step func(context.Context) error) error {
	err := guard.Call(func() error { return step(ctx) })
	var panicked *guard.PanicError
	if errors.As(err, &panicked) {
		f.loaded = false
	}
	return err
}

// CatchUp steps until the stream's watermark is reached. A failure is tried again a few
// times.
func (f *Follower) CatchUp(ctx context.Context, step func(context.Context) error) error {
	const attempts = 5
	for failures := 0; ; {
		switch err := f.step(ctx, step); {
		case errors.Is(err, ErrCaughtUp):
			return nil
		case err == nil:
			failures = 0
		case ctx.Err() != nil, schemas.NeedsPerson(err), failures == attempts:
			return err
		default:
			failures++
			f.log.WarnContext(ctx, "step failed", "err", err)
			_ = remote.Sleep(ctx, time.Duration(failures)*f.pace) // the next step finds that ctx has ended
		}
	}
}

// Load takes the journal over, unless that is done; it reports whether it did.
func (f *Follower) Load(ctx context.Context) (loaded bool, err error) {
	if f.loaded {
		return false, nil
	}
	if f.state, err = TakeOver(ctx, f.db, f.own, f.name); err != nil {
		return false, err
	}
	f.loaded = true
	return true, nil
}

// Take has the next range of committed batches applied and commits it, with the counts of rows
// that apply puts into it. It returns ErrCaughtUp when the watermark is reached.
func (f *Follower) Take(ctx context.Context, what string, apply func(context.Context, *store.BatchRow) error) error {
	row, source, err := f.Next(ctx)
	if errors.Is(err, ErrCaughtUp) {
		return err
	}
	if err == nil {
		err = apply(ctx, &row)
	}
	if err == nil {
		if err = Insert(ctx, f.db, row, store.Commit); err != nil {
			err = fmt.Errorf("committing: %w", err)
		}
	}
	if err != nil {
		f.loaded = false // which step was applied is unknown
		return fmt.Errorf("%s after %s: %w", what, row.After, err)
	}
	f.state, f.source = State{Sequence: row.Sequence, Committed: row.Through, Epoch: row.Epoch}, source
	f.rows = row.Items + row.Events
	return nil
}

// BackToStart has everything derived again from the start of the stream, in the steps that
// follow.
func (f *Follower) BackToStart(ctx context.Context) error { return f.MoveTo(ctx, schemas.Start) }

// MoveTo has the steps that follow begin after a position.
func (f *Follower) MoveTo(ctx context.Context, at schemas.Position) error {
	if _, err := f.Load(ctx); err != nil {
		return err
	}
	f.loaded, f.source = false, 0
	move := store.BatchRow{
		Stream: f.own, Sequence: f.state.Sequence + 1, After: f.state.Committed, Through: at,
		Hash: at.String(), Writer: f.name, Epoch: f.state.Epoch,
	}
	// Another range than this one may be announced under the number: it is void then, as a
	// commit counts more than an intent.
	if err := Insert(ctx, f.db, move, store.Commit); err != nil {
		return fmt.Errorf("taking %s to %s: %w", f.own, at, err)
	}
	return nil
}

// Pending reports whether a range is announced and not committed, as of the last Load.
func (f *Follower) Pending() bool { return f.state.Pending != nil }

// Next announces the next range, or returns the one that is announced already, with
// the sequence number of its last batch in the stream's journal.
func (f *Follower) Next(ctx context.Context) (store.BatchRow, int64, error) {
	row := store.BatchRow{Stream: f.own, Sequence: f.state.Sequence + 1, After: f.state.Committed, Writer: f.name, Epoch: f.state.Epoch}
	if p := f.state.Pending; p != nil {
		row.Through, row.Hash = p.Through, p.Hash
		f.tookAll = false
		return row, f.source, nil
	}
	if f.hours {
		row, err := f.nextHours(ctx, row)
		return row, 0, err
	}
	commits, err := f.commits(ctx, row.After)
	if err != nil {
		return row, 0, fmt.Errorf("reading commits of %s: %w", f.stream, err)
	}
	if len(commits) == 0 {
		return row, 0, ErrCaughtUp
	}
	source := f.source
	f.tookAll = len(commits) < maxRangeBatch
	for i, c := range commits {
		if i > 0 && (row.Items+row.Events+c.Items+c.Events > f.rangeRows || !SameKind(row.Through, c.Through)) {
			f.tookAll = false
			break
		}
		row.Through, source = c.Through, c.Sequence
		row.Items += c.Items
		row.Events += c.Events
	}
	row.Hash = row.Through.String() // another range under this number is other content
	return row, source, Announce(ctx, f.db, row)
}

// commits returns the next commits of the stream, which end after a position. Those that this process has
// made are known without asking the store; it is asked from time to time all the same.
func (f *Follower) commits(ctx context.Context, after schemas.Position) ([]store.BatchRow, error) {
	if known, ok := f.db.CommitsAfter(f.stream, f.source); ok && f.source > 0 && (len(known) > 0 || time.Since(f.asked) < ownPoll) {
		known = known[:min(len(known), maxRangeBatch)]
		return slices.DeleteFunc(slices.Clone(known), func(c store.BatchRow) bool { return !after.Before(c.Through) }), nil
	}
	f.asked = time.Now()
	return selectBatches(ctx, f.db, commitsAfter, store.Params{
		"stream": store.Text(f.stream), "limit": store.Int(maxRangeBatch), "sequence": store.Int(f.source),
		"migration": store.Int(after.MigrationID), "time": store.Time(after.RecordTime), "id": store.Text(after.UpdateID),
		"offset": store.Int(after.Offset),
	})
}

// Begin returns the token under which the rows of a range are inserted. Before the first range clear empties
// its tables: the rows of that one may be written more than once, by different claims.
func Begin(ctx context.Context, db *store.DB, row *store.BatchRow, clear func(context.Context) error) (token string, err error) {
	token = fmt.Sprintf("%s/%d/%s", row.Stream, row.Sequence, row.Hash)
	if row.After != schemas.Start {
		return token, nil
	}
	// A range that was announced before is not looked at for later claims again: who has slept since must not
	// empty the tables of another.
	if err := Announce(ctx, db, *row); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s/%d", token, row.Epoch), clear(ctx)
}

// EachRange calls derive for ranges of the committed batches of a journal up to mark, which have at most
// auditRows items and events, or are one batch. No range has two migrations, or imports beside history.
func EachRange(lines []store.BatchRow, mark schemas.Position, derive func(after, through schemas.Position) error) error {
	after, through, rows := schemas.Start, schemas.Start, uint64(0)
	for _, l := range lines {
		if l.State != store.Commit || l.IsMark() || mark.Before(l.Through) {
			continue
		}
		if rows += l.Items + l.Events; through != after && (rows > auditRows || !SameKind(through, l.Through)) {
			if err := derive(after, through); err != nil {
				return err
			}
			after, rows = through, l.Items+l.Events
		}
		through = l.Through
	}
	if through == after {
		return nil
	}
	return derive(after, through)
}

// auditRows bounds the memory of a range that is derived again.
const auditRows = 120_000

// SameKind reports whether two positions lie in one migration and are both imports
// or both history.
func SameKind(a, b schemas.Position) bool {
	return a.MigrationID == b.MigrationID && (a.RecordTime == schemas.MinMicros) == (b.RecordTime == schemas.MinMicros)
}
