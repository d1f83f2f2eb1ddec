package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer/lease"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// ingested is a source with where its stream is written.
type ingested struct {
	source
	// db is what writes the stream and all that is derived from it.
	db *store.DB
	// lease says whether this process writes it, or another one does. It is nil where no other
	// process can.
	lease *lease.Lease
	// lose gives the lease up; it is set while the process has it.
	lose func(error)
}

// live shows a stream that this process does not write as standby, without what was true of it
// when it did.
func (from *ingested) live() LiveStream {
	l := from.source.live()
	if from.lease == nil {
		return l
	}
	held, other := from.lease.State()
	switch {
	case held:
		return l
	case other != "":
		l.Detail = "waits for " + other
	case l.Phase == string(stream.PhaseStarting) || l.Phase == string(stream.PhaseWaiting):
		return l // the upstream has to say first which stream it has
	default:
		l.Detail = "has lost the stream to another process"
	}
	l.Phase = phaseStandby
	l.LagSeconds, l.LagOffsets, l.Rate, l.ETASeconds, l.following = 0, 0, 0, 0, false
	return l
}

// yield gives the lease up if err says that another process writes the stream, and reports whether it
// does and there is one.
func (from *ingested) yield(err error) bool {
	if from.lose == nil || !errors.Is(err, schemas.ErrReplaced) {
		return false
	}
	from.lose(err)
	return true
}

// phaseStandby is the phase of a stream that another process writes while this one waits.
const phaseStandby = "standby"

// replacedPause is how long a process that finds a stream claimed, but not its lease taken, lets the
// other one have it.
const replacedPause = 3 * time.Second

// newIngested returns where a stream is written, without its source. An embedded store needs no
// lease: the lock of its folder keeps other processes away.
func (d *database) newIngested() *ingested {
	if d.p.cfg.ClickHouseDSN == "" {
		return &ingested{db: d.db}
	}
	l := lease.New(lease.Config{DB: d.db, Log: d.p.log, Process: processName()})
	return &ingested{db: d.db.Fenced(l.Check), lease: l}
}

// processName names this process to the operators of others.
func processName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "a machine without a name"
	}
	return fmt.Sprintf("%s, process %d", host, os.Getpid())
}

// seized does work as the only writer of a stream, from which it takes over at once. The store of the
// process is bound to that meanwhile.
func (d *database) seized(ctx context.Context, of string, work func(context.Context) error) error {
	unbound, into := d.db, d.newIngested()
	if into.lease == nil {
		return work(ctx)
	}
	d.db = into.db
	defer func() { d.db = unbound }()
	return seize(ctx, into.lease, of, work)
}

// seize does work with a lease that is taken at once. It fails with schemas.ErrReplaced if another
// process takes over before the work is done.
func seize(ctx context.Context, l *lease.Lease, of string, work func(context.Context) error) error {
	hold, err := l.Seize(ctx, of)
	if err != nil {
		return err
	}
	defer hold.Release()
	err = work(hold.Context())
	if cause := context.Cause(hold.Context()); err != nil && errors.Is(cause, schemas.ErrReplaced) {
		return cause
	}
	return err
}

// runOne ingests and follows a stream until ctx ends: while this process has the lease, and as the
// standby of another one while that has it.
func (s *streams) runOne(ctx context.Context, from *ingested) {
	if from.lease == nil {
		s.work(ctx, from)
		return
	}
	for ctx.Err() == nil {
		// A node's stream has the name of the node's participant, who is asked until it answers.
		if err := from.identify(ctx); err != nil || from.stream() == "" {
			return
		}
		hold, err := from.lease.Acquire(ctx, from.stream())
		if err != nil {
			return // ctx has ended
		}
		s.workWith(ctx, hold, from)
	}
}

// workWith works until the lease is lost or ctx ends, and releases it.
func (s *streams) workWith(ctx context.Context, hold *lease.Hold, from *ingested) {
	from.lose = hold.Lose
	s.work(hold.Context(), from)
	from.lose = nil
	claimed := ctx.Err() == nil && !hold.Taken(ctx)
	hold.Release()
	if claimed {
		s.p.log.WarnContext(ctx, "another process has claimed the stream without its lease; this one waits before it claims it again",
			"stream", from.stream(), "err", context.Cause(hold.Context()), "wait", replacedPause)
		_ = remote.Sleep(ctx, replacedPause) // returns early when ctx ends; the caller looks for that
	}
}
