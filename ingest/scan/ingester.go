package scan

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Ingester brings one upstream's history into one stream of a sink. Backfill and Run
// must not run at the same time; Status may be called at any time.
type Ingester struct {
	cfg    Config
	peers  *peers
	log    *slog.Logger
	status *progress
	writer *stream.Writer
	pacer  pacer
	tail   *tail

	// The rest belongs to the goroutine that runs Backfill or Run.

	// at is how far the sink has history.
	at schemas.Position
	// migration is the one being read, -1 before the first is known; importsDone means
	// that its import updates are through.
	migration   int64
	importsDone bool
	view        *view
	tracks      *tracks
	// following is set once Run has backfilled. short counts the steps in a row that
	// ended before the overview says that history does.
	following bool
	short     int
	// reached counts the legs in a row that ended where the upstream's history did.
	reached int
	// held counts the steps in a row in which all that came was beyond the horizon. lasting
	// is set while Run is on: it waits for that to end, where Backfill fails.
	held    int
	lasting bool
	// taken counts the items that came since the last wait.
	taken int
}

// New checks cfg and fills in its defaults. It does not talk to the upstream yet.
func New(cfg Config) (*Ingester, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	ing := &Ingester{cfg: cfg, status: newProgress(cfg.Now)}
	var err error
	if ing.peers, err = newPeers(&ing.cfg, ing.status); err != nil {
		return nil, err
	}
	ing.log = cfg.Log.With("stream", schemas.ScanStream, "upstream", strings.Join(ing.peers.names(), " "))
	ing.tail = newTail(ing.log)
	ing.peers.check = ing.tail.check
	ing.writer = stream.NewWriter(&ing.cfg.Settings, ing.status.Progress, ing.log)
	ing.pacer = pacer{poll: cfg.Poll, status: ing.status, log: ing.log}
	ing.view = &view{cfg: &ing.cfg, peers: ing.peers, status: ing.status, lead: ing.peers.list[0]}
	ing.tracks = &tracks{
		cfg: &ing.cfg, peers: ing.peers, status: ing.status, log: ing.log, view: ing.view, tail: ing.tail,
		pages: map[string]*pageSizer{"imports": newPageSizer(), "history": newPageSizer()},
	}
	return ing, nil
}

// Status says how far the ingest is.
func (ing *Ingester) Status() Status {
	s := ing.status.snapshot()
	s.Upstreams = ing.peers.status()
	return s
}

// Backfill brings the stream to the upstream's end as of now. It returns the reason
// when ctx ends earlier, an error that wraps schemas.ErrDiverged or
// schemas.ErrMalformed when a person must look, or the failure that was retried for
// Config.GiveUpAfter.
func (ing *Ingester) Backfill(ctx context.Context) error {
	ctx, stop := ing.peers.watch(ctx)
	defer stop()
	return ing.backfillWithStatus(ctx)
}

func (ing *Ingester) backfillWithStatus(ctx context.Context) error {
	err := ing.backfill(ctx)
	if err != nil {
		ing.status.Stopped(err)
		return err
	}
	if ing.held == 0 {
		ing.status.SetPhase(stream.PhaseCaughtUp, "")
	}
	return nil
}

func (ing *Ingester) backfill(ctx context.Context) error {
	begin := ing.cfg.Now()
	if err := ing.resume(ctx); err != nil {
		return err
	}
	for {
		caughtUp, err := ing.step(ctx)
		if err != nil {
			return err
		}
		if caughtUp && ing.held > 0 {
			return nil
		}
		if caughtUp {
			s := ing.Status()
			ing.log.InfoContext(ctx, "history has caught up", "source", ing.view.source, "position", ing.at,
				"updates", s.Updates, "imports", s.Imports, "bytes", s.Bytes, "elapsed", ing.cfg.Now().Sub(begin))
			return nil
		}
	}
}

// Run backfills and then follows the upstream until ctx ends, which it reports as the
// reason why it ended. Other errors are those of Backfill.
func (ing *Ingester) Run(ctx context.Context) error {
	ctx, stop := ing.peers.watch(ctx)
	defer stop()
	ing.lasting = true
	defer func() { ing.lasting = false }()
	if err := ing.backfillWithStatus(ctx); err != nil {
		return err
	}
	ing.following = true
	defer func() { ing.following = false }()
	if ing.cfg.Gaps != nil {
		ctx, stopSide := context.WithCancel(ctx)
		ended := make(chan struct{})
		guard.Go(func() error { ing.fillGaps(ctx); return nil }, func(err error) {
			if err != nil {
				ing.log.ErrorContext(ctx, "the search for late side data has ended", "err", err)
			}
			close(ended)
		})
		defer func() { stopSide(); <-ended }()
	}
	err := ing.follow(ctx)
	ing.status.Stopped(err)
	return err
}

// follow polls for new history until ctx ends: soon after much came, and less and less
// often while none does. After a little it waits until more has come, see stream.Settings.MaxWait.
func (ing *Ingester) follow(ctx context.Context) error {
	shortest := ing.cfg.BusyPoll
	if ing.view.source == UpdatesBefore {
		shortest = ing.cfg.Poll
	}
	for wait := shortest; ; {
		if ing.held == 0 {
			ing.status.SetPhase(stream.PhaseFollowing, "")
		}
		if err := remote.Sleep(ctx, ing.pause(wait)); err != nil {
			return err
		}
		began, before := time.Now(), ing.at
		ing.taken = 0
		for caughtUp := false; !caughtUp; {
			var err error
			if caughtUp, err = ing.step(ctx); err != nil {
				return err
			}
		}
		switch {
		case ing.at == before:
			wait = min(2*wait, ing.cfg.Poll)
		case ing.taken < stream.MinSize:
			wait = max(shortest, ing.cfg.MaxWait-time.Since(began))
		default:
			wait = shortest
		}
	}
}

// resume asks the sink for the position of the stream, chooses a source and repeats a batch
// that was announced but perhaps not written in full.
func (ing *Ingester) resume(ctx context.Context) error {
	ing.status.SetPhase(stream.PhaseStarting, "")
	resume, err := ing.writer.Resume(ctx, schemas.ScanStream)
	if err != nil {
		return err
	}
	ing.moveTo(resume.Committed)
	ing.view.chain = nil
	choice := prober{cfg: &ing.cfg, peers: ing.peers, status: ing.status, log: ing.log, pacer: ing.pacer}
	if ing.view.source, err = choice.choose(ctx, resume); err != nil {
		return err
	}
	ing.status.chose(ing.view.source)
	ing.peers.refreshEvery(ing.view.refresh())
	ing.tail.place(resume.Committed, ing.view.source, ing.peers.several())
	ing.log.InfoContext(ctx, "ingest starts", "source", ing.view.source, "position", ing.at, "pending", resume.Pending != nil)
	if resume.Pending != nil {
		if err := ing.repeat(ctx, resume.Pending); err != nil {
			return fmt.Errorf("repeating the unfinished batch after %s through %s: %w", resume.Pending.After, resume.Pending.Through, err)
		}
	}
	return nil
}

// moveTo sets the position and with it the migration to continue with.
func (ing *Ingester) moveTo(at schemas.Position) {
	ing.at, ing.migration = at, at.MigrationID
	ing.importsDone = at != schemas.Start && at.RecordTime != schemas.MinMicros
	ing.status.Moved(at)
	ing.peers.moved(ing.at, ing.migration)
}

// step reads what the upstream has of the current migration, or continues with the next
// one. It reports true when there is nothing left to read at present.
func (ing *Ingester) step(ctx context.Context) (caughtUp bool, err error) {
	// The overview is read before the pages: history of a migration that has a
	// successor by then will not grow after that.
	if err := ing.overview(ctx); err != nil {
		return false, err
	}
	if ing.migration < 0 {
		ing.migration = ing.view.chain.ids[0]
		ing.peers.moved(ing.at, ing.migration)
	}
	if !ing.importsDone {
		if err := ing.importUpdates(ctx); err != nil {
			return false, err
		}
		ing.importsDone = true
	}
	ing.tracks.beyond.reset()
	end, err := ing.history(ctx)
	if err != nil {
		return false, err
	}
	if ing.taken += end.items; end.items > 0 {
		ing.short, ing.held = 0, 0
		if ing.tracks.beyond.get() != nil {
			return ing.following, nil // the next step has but what is waited for
		}
		return ing.atEnd(end), nil
	}
	if b := ing.tracks.beyond.get(); b != nil {
		return ing.heldBack(ctx, b)
	}
	ing.held = 0
	next, known := ing.view.chain.next(ing.migration)
	if to, short := ing.endsShort(); short {
		return ing.readAgain(ctx, to, known)
	}
	ing.short = 0
	switch {
	case known:
		ing.log.InfoContext(ctx, "migration is complete", "migration", ing.migration, "next", next)
		ing.migration, ing.importsDone = next, false
		ing.peers.moved(ing.at, ing.migration)
		return false, nil
	case end.next != schemas.Start:
		ing.view.chain = nil // there is history of a migration that the overview does not have yet
		return false, ing.pacer.wait(ctx, 1, fmt.Sprintf("the upstream has history of migration %d but no overview of it yet", end.next.MigrationID))
	}
	return true, nil
}

// atEnd reports whether a leg with items was all that the upstream has at present. To ask again
// would cost one that follows a request, and a batch, for next to nothing. A backfill asks once more,
// and only once: a network that is never still would keep it for ever.
func (ing *Ingester) atEnd(end legEnd) bool {
	if end.next != schemas.Start {
		ing.reached = 0
		return false
	}
	ing.reached++
	_, known := ing.view.chain.next(ing.migration)
	_, short := ing.endsShort()
	return ing.following || ing.reached > 1 && !known && !short
}

// endsShort reports whether the stream ends before the current migration's history
// does as of the overview, through record time to.
func (ing *Ingester) endsShort() (to schemas.Micros, short bool) {
	_, to, known := ing.view.chain.infos[ing.migration].Span()
	return to, known && ing.start().RecordTime < to
}
