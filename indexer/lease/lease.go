// Package lease decides which of the processes that could write a stream does. One holds the lease
// and shows every second that it lives; the others wait, and one of them takes over when it has been
// silent for some seconds, or at once when it releases the lease. Two processes never both write.
//
// The signs of life are rows of table leases. Nobody compares the clocks of two machines: how long
// the holder has been silent is measured by the clock of who waits, from one change that it observes
// to the next, and the age of a row by the clock of the server alone.
//
// A row is written before the others' are read, by the holder and by who takes over alike. So of two
// that act at the same time at least one reads the other's row, and yields. The holder writes to the
// store only for Config.Valid after its last sign of life, which is shorter than Config.Silence: what
// it has sent last was sent before another took over. A process that was stopped, and is continued,
// finds its sign too old, asks, and learns that it has lost the lease before it writes anything.
package lease

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ledgerlake/ledgerlake/indexer/journal"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	//go:embed sql/create_leases.sql
	createLeases string
	//go:embed sql/signs.sql
	selectSigns string
	//go:embed sql/uptime.sql
	selectUptime string
)

// Config says for whom a lease is, and its times.
type Config struct {
	DB  *store.DB    // required
	Log *slog.Logger // required
	// Process names this process to people, such as "db1, process 4711". Required.
	Process string

	// Beat is how often a holder shows that it lives. Default 1 s.
	Beat time.Duration
	// Valid is for how long after a sign of life its process may write without another. Default 2 s.
	Valid time.Duration
	// Silence is after how long without a sign of life another process takes over. It must be longer
	// than Valid, by what a statement may take on its way. Default 3 s.
	Silence time.Duration
	// Look is how often a process that waits looks for signs of life. Default 250 ms.
	Look time.Duration
}

// Lease is this process's part in who writes one stream. It is safe for concurrent use, but only one
// Acquire or Seize may run at a time, and not before the Hold of the last one is released.
type Lease struct {
	cfg    Config
	writer string

	mu       sync.Mutex
	beats    int64
	hold     *Hold
	waitsFor string
	made     bool // whether the table is known to exist
}

// New returns a lease that is not held. It asks the store for nothing yet.
func New(cfg Config) *Lease {
	cfg.DB = cfg.DB.First()
	cfg.Beat = cmp.Or(cfg.Beat, time.Second)
	cfg.Valid = cmp.Or(cfg.Valid, 2*time.Second)
	cfg.Silence = cmp.Or(cfg.Silence, 3*time.Second)
	cfg.Look = cmp.Or(cfg.Look, 250*time.Millisecond)
	return &Lease{cfg: cfg, writer: uuid.NewString()}
}

// State reports whether this process has the lease, as far as it knows, and names the one that Acquire
// waits for, "" while it waits for none.
func (l *Lease) State() (held bool, waitsFor string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hold != nil && l.hold.isLost() == nil, l.waitsFor
}

// Check returns nil if this process may write to the stream now. It returns schemas.ErrReplaced if it
// has not, or no longer, the lease, and another error if that is unknown because the store does not
// answer.
func (l *Lease) Check(ctx context.Context) error {
	l.mu.Lock()
	hold := l.hold
	l.mu.Unlock()
	if hold == nil {
		return fmt.Errorf("%w: this one does not have the lease", schemas.ErrReplaced)
	}
	return hold.check(ctx)
}

// Acquire waits until no other process writes the stream, and takes the lease. It returns only with a
// lease, or when ctx ends: failures of the store are logged and waited out.
func (l *Lease) Acquire(ctx context.Context, stream string) (*Hold, error) {
	defer l.setWaitsFor("")
	log := l.cfg.Log.With("stream", stream)
	w := watch{lease: l, log: log}
	for failures := 0; ; {
		hold, err := l.try(ctx, stream, &w)
		switch {
		case hold != nil:
			return hold, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			w.interrupted()
			if failures++; failures&(failures-1) == 0 {
				log.WarnContext(ctx, "cannot tell who writes the stream: nobody does until the server that knows answers", "err", err, "failures", failures)
			}
		default:
			failures = 0
		}
		// At random, so that several that wait do not act in step.
		_ = remote.Sleep(ctx, l.cfg.Look/2+rand.N(l.cfg.Look)) // the next try finds that ctx has ended
	}
}

// try looks once, and takes the lease if nobody has it. Without a hold and an error, somebody has.
func (l *Lease) try(ctx context.Context, stream string, w *watch) (*Hold, error) {
	signs, err := l.signs(ctx, stream)
	if err != nil {
		return nil, err
	}
	uptime := time.Duration(0)
	if len(signs) == 0 && !w.looked {
		if uptime, err = l.uptime(ctx); err != nil {
			return nil, err
		}
	}
	silence, free := w.look(ctx, signs, uptime, time.Now())
	if !free {
		return nil, nil
	}
	hold, other, err := l.take(ctx, stream, signs, func(sign *store.LeaseSign) bool { return alive(sign, signs) })
	switch {
	case err != nil:
		return nil, err
	case other != "":
		w.log.InfoContext(ctx, "another process shows life at the same moment", "process", other)
		w.interrupted()
		return nil, nil
	}
	w.log.InfoContext(ctx, "this process writes the stream from now on", "before", processOf(signs), "silent_for", silence.Round(time.Millisecond), "term", hold.term)
	return hold, nil
}

// alive reports whether a process has shown life since earlier signs were read.
func alive(sign *store.LeaseSign, earlier []store.LeaseSign) bool {
	return !sign.Released && !slices.ContainsFunc(earlier, func(e store.LeaseSign) bool { return e.Writer == sign.Writer && e.Beat == sign.Beat })
}

// Seize takes the lease at once, whoever has it, and waits until that process writes no more.
func (l *Lease) Seize(ctx context.Context, stream string) (*Hold, error) {
	signs, err := l.signs(ctx, stream)
	if err != nil {
		return nil, err
	}
	hold, other, err := l.take(ctx, stream, signs, func(*store.LeaseSign) bool { return false })
	if err == nil && other != "" {
		err = fmt.Errorf("%w: %s takes %s over at the same moment", schemas.ErrReplaced, other, stream)
	}
	if err != nil {
		return nil, fmt.Errorf("taking %s over: %w", stream, err)
	}
	if last := latest(signs); last != nil && !last.Released && age(last) < l.cfg.Silence {
		l.cfg.Log.InfoContext(ctx, "takes the stream over", "stream", stream, "from", last.Process)
		_ = remote.Sleep(ctx, l.cfg.Valid) // what the other one believes to have lasts no longer; the work finds that ctx has ended
	}
	return hold, nil
}

// take claims the stream and shows life. It withdraws, and names the other process, if another one
// has a later claim by then, or is found to be alive.
func (l *Lease) take(ctx context.Context, stream string, signs []store.LeaseSign, alive func(*store.LeaseSign) bool) (hold *Hold, other string, err error) {
	// The claim makes terms grow whatever becomes of the rows in memory.
	term, err := journal.Claim(ctx, l.cfg.DB, stream, l.writer)
	if err != nil {
		return nil, "", err
	}
	if last := latest(signs); last != nil {
		term = max(term, last.Term+1) // a journal that was emptied begins with 1 again
	}
	sent := time.Now()
	if err := l.show(ctx, stream, term, false); err != nil {
		return nil, "", err
	}
	if signs, err = l.signs(ctx, stream); err != nil {
		return nil, "", err
	}
	for i := range signs {
		if s := &signs[i]; s.Writer != l.writer && (s.Term >= term || alive(s)) {
			return nil, s.Process, l.show(ctx, stream, yielded, true)
		}
	}
	hold = newHold(ctx, l, stream, term, sent)
	l.mu.Lock()
	l.hold = hold
	l.mu.Unlock()
	return hold, "", nil
}

// yielded is the term of a process that has not taken the lease after all. With the term that it tried
// for it would be the last one to have had the lease, and to have released it: others would take it
// while the one that has it, and may not have lost it, writes.
const yielded = 0

// show writes a sign of life, or that there will be no more.
func (l *Lease) show(ctx context.Context, stream string, term int64, released bool) error {
	l.mu.Lock()
	l.beats++
	row := store.LeaseRow{Stream: stream, Writer: l.writer, Process: l.cfg.Process, Term: term, Beat: l.beats, Released: released}
	l.mu.Unlock()
	block := store.NewRecords[store.LeaseRow]()
	block.Append(row)
	if err := l.cfg.DB.Insert(ctx, "leases", "", block); err != nil {
		return fmt.Errorf("showing that this process writes %s: %w", stream, err)
	}
	return nil
}

// signs are the last ones of each process that has written the stream, the latest term first.
func (l *Lease) signs(ctx context.Context, stream string) ([]store.LeaseSign, error) {
	l.mu.Lock()
	made := l.made
	l.mu.Unlock()
	if !made {
		if err := l.cfg.DB.Exec(ctx, createLeases, "", nil); err != nil {
			return nil, fmt.Errorf("creating table leases: %w", err)
		}
	}
	signs, err := readSigns(ctx, l.cfg.DB, stream)
	l.mu.Lock()
	l.made = err == nil
	l.mu.Unlock()
	return signs, err
}

func readSigns(ctx context.Context, db *store.DB, stream string) ([]store.LeaseSign, error) {
	signs, err := store.SelectAll(ctx, db, selectSigns, store.Params{"stream": store.Text(stream)}, store.NewRecords[store.LeaseSign]())
	if err != nil {
		return nil, fmt.Errorf("reading who writes the streams: %w", err)
	}
	return signs, nil
}

func (l *Lease) uptime(ctx context.Context) (time.Duration, error) {
	seconds, _, err := store.SelectOne(ctx, l.cfg.DB, selectUptime, nil, store.NewRecords[store.Count]())
	if err != nil {
		return 0, fmt.Errorf("asking for how long the server has run: %w", err)
	}
	return time.Duration(seconds.N) * time.Second, nil
}

func (l *Lease) setWaitsFor(process string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waitsFor = process
}

// latest is the sign of the process that took the stream last, nil if there is none.
func latest(signs []store.LeaseSign) *store.LeaseSign {
	if len(signs) == 0 {
		return nil
	}
	return &signs[0]
}

func processOf(signs []store.LeaseSign) string {
	if last := latest(signs); last != nil {
		return last.Process
	}
	return ""
}

func age(sign *store.LeaseSign) time.Duration { return time.Duration(sign.Age) * time.Millisecond }
