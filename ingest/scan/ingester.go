package scan

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

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
	pages  map[string]*pageSizer // by kind of track
	status *progress
	// writing is held while the sink takes a batch.
	writing sync.Mutex

	// The rest belongs to the goroutine that runs Backfill or Run.

	// at is how far the sink has history.
	at schemas.Position
	// migration is the one being read, -1 before the first is known; importsDone means
	// that its import updates are through.
	migration   int64
	importsDone bool
	source      Source
	// chain is the overview that is gone by, of the upstream lead.
	chain *chain
	lead  *peer
	// anchor is the last update that was handed to the sink.
	anchor anchors
	// following is set once Run has backfilled. short counts the steps in a row that
	// ended before the overview says that history does.
	following bool
	short     int
	// reached counts the legs in a row that ended where the upstream's history did.
	reached int
	// beyond has what came from beyond the horizon in this step, and held counts the steps
	// in a row that had nothing else. lasting is set while Run is on: it waits for that to
	// end, where Backfill fails.
	beyond  beyonds
	held    int
	lasting bool
}

// New checks cfg and fills in its defaults. It does not talk to the upstream yet.
func New(cfg Config) (*Ingester, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	ing := &Ingester{cfg: cfg, pages: map[string]*pageSizer{"imports": newPageSizer(), "history": newPageSizer()}}
	ing.status = newProgress(cfg.Now)
	ing.anchor.at.position = schemas.Start
	var err error
	if ing.peers, err = newPeers(&ing.cfg, ing.status); err != nil {
		return nil, err
	}
	ing.peers.check = ing.checkAnchor
	ing.lead = ing.peers.list[0]
	ing.log = cfg.Log.With("stream", cfg.Stream, "upstream", strings.Join(ing.peers.names(), " "))
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
	return ing.backfillAndTell(ctx)
}

func (ing *Ingester) backfillAndTell(ctx context.Context) error {
	err := ing.backfill(ctx)
	if err != nil {
		ing.status.stopped(err)
		return err
	}
	if ing.held == 0 {
		ing.status.phase(PhaseCaughtUp, "")
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
			ing.log.InfoContext(ctx, "history is complete up to now", "source", ing.source, "position", ing.at,
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
	if err := ing.backfillAndTell(ctx); err != nil {
		return err
	}
	ing.following = true
	defer func() { ing.following = false }()
	if ing.cfg.Gaps != nil {
		ctx, stopSide := context.WithCancel(ctx)
		ended := make(chan struct{})
		guard.Go(func() error { ing.fillGaps(ctx); return nil }, func(err error) {
			if err != nil {
				ing.log.ErrorContext(ctx, "looking for late side data has ended", "err", err)
			}
			close(ended)
		})
		defer func() { stopSide(); <-ended }()
	}
	err := ing.follow(ctx)
	ing.status.stopped(err)
	return err
}

// follow asks for new history until ctx ends: soon after some came, and less and less
// often while none does.
func (ing *Ingester) follow(ctx context.Context) error {
	shortest := ing.cfg.BusyPoll
	if ing.source == UpdatesBefore {
		shortest = ing.cfg.Poll
	}
	for wait := shortest; ; {
		if ing.held == 0 {
			ing.status.phase(PhaseFollowing, "")
		}
		if err := remote.Sleep(ctx, ing.pause(wait)); err != nil {
			return err
		}
		before := ing.at
		for caughtUp := false; !caughtUp; {
			var err error
			if caughtUp, err = ing.step(ctx); err != nil {
				return err
			}
		}
		if wait = min(2*wait, ing.cfg.Poll); ing.at != before {
			wait = shortest
		}
	}
}

// resume asks the sink where the stream stands, chooses a source and repeats a batch
// that was announced but perhaps not written in full.
func (ing *Ingester) resume(ctx context.Context) error {
	ing.status.phase(PhaseStarting, "")
	var resume schemas.Resume
	err := ing.retry(ctx, "reading where the stream stands", func() (err error) {
		resume, err = ing.cfg.Sink.Resume(ctx, ing.cfg.Stream)
		return err
	})
	if err != nil {
		return err
	}
	ing.moveTo(resume.Committed)
	ing.chain = nil
	if err := ing.chooseSource(ctx, resume); err != nil {
		return err
	}
	ing.placeAnchor(resume.Committed)
	ing.log.InfoContext(ctx, "ingest starts", "source", ing.source, "position", ing.at, "pending", resume.Pending != nil)
	if resume.Pending != nil {
		if err := ing.repeat(ctx, resume.Pending); err != nil {
			return fmt.Errorf("repeating the unfinished batch after %s through %s: %w", resume.Pending.After, resume.Pending.Through, err)
		}
	}
	return nil
}

// moveTo sets the position and with it the migration to go on with.
func (ing *Ingester) moveTo(at schemas.Position) {
	ing.at, ing.migration = at, at.MigrationID
	ing.importsDone = at != schemas.Start && at.RecordTime != schemas.MinMicros
	ing.status.moved(at)
	ing.peers.moved(ing.at, ing.migration)
}

// step reads what the upstream has of the current migration, or goes on to the next
// one. It reports true when there is nothing left to read at present.
func (ing *Ingester) step(ctx context.Context) (caughtUp bool, err error) {
	// The overview is read before the pages: history of a migration that has a
	// successor by then will not grow after that.
	if err := ing.overview(ctx); err != nil {
		return false, err
	}
	if ing.migration < 0 {
		ing.migration = ing.chain.ids[0]
		ing.peers.moved(ing.at, ing.migration)
	}
	if !ing.importsDone {
		if err := ing.importUpdates(ctx); err != nil {
			return false, err
		}
		ing.importsDone = true
	}
	ing.beyond.reset()
	end, err := ing.history(ctx)
	if err != nil {
		return false, err
	}
	if end.items > 0 {
		ing.short, ing.held = 0, 0
		if ing.beyond.get() != nil {
			return ing.following, nil // the next step has but what is waited for
		}
		return ing.atEnd(end), nil
	}
	if b := ing.beyond.get(); b != nil {
		return ing.heldBack(ctx, b)
	}
	ing.held = 0
	next, known := ing.chain.next(ing.migration)
	if to, short := ing.endsShort(); short {
		return ing.readAgain(ctx, to, known)
	}
	ing.short = 0
	switch {
	case known:
		ing.log.InfoContext(ctx, "migration is through", "migration", ing.migration, "next", next)
		ing.migration, ing.importsDone = next, false
		ing.peers.moved(ing.at, ing.migration)
		return false, nil
	case end.next != schemas.Start:
		ing.chain = nil // there is history of a migration that the overview does not have yet
		return false, ing.wait(ctx, 1, fmt.Sprintf("the upstream has history of migration %d but no overview of it yet", end.next.MigrationID))
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
	_, known := ing.chain.next(ing.migration)
	_, short := ing.endsShort()
	return ing.following || ing.reached > 1 && !known && !short
}

// endsShort reports whether the stream ends before the current migration's history
// does as of the overview, through record time to.
func (ing *Ingester) endsShort() (to schemas.Micros, short bool) {
	_, to, known := ing.chain.infos[ing.migration].Span()
	return to, known && ing.start().RecordTime < to
}

const (
	// cappedTries is how often a backfill asks for events that the overview has but
	// the operation does not give.
	cappedTries = 5
	// shortTries is the same where nothing may hold history back. The waits between
	// them add up to some two minutes.
	shortTries = 8
)

// readAgain decides what to do when the upstream has nothing beyond the position but
// the overview says that there is history up to record time to. Answers may come from
// replicas that are behind, so it is asked for again, with a fresh overview. It
// reports true when the stream counts as caught up: events end at the last verdict
// while a migration goes on, which may stand before the last update.
func (ing *Ingester) readAgain(ctx context.Context, to schemas.Micros, finished bool) (caughtUp bool, err error) {
	capped := ing.source == Events && !finished
	if capped && ing.following {
		return true, nil
	}
	ing.short++
	tries := ing.short
	switch {
	case capped && tries > cappedTries:
		ing.log.InfoContext(ctx, "taken as caught up: the overview has later updates, which events give once their verdicts are there",
			"position", ing.at, "overview_through", to, "checks", cappedTries)
		ing.short = 0
		return true, nil
	case capped:
		tries = 1
	case tries > shortTries:
		err := malformed(ing.lead.client, ing.operation(), ing.start(),
			fmt.Errorf("the history of migration %d ends here, but its overview says it goes through %s", ing.migration, to))
		if !ing.peers.several() {
			return false, err
		}
		// The others may be right: this one is not asked any more.
		ing.lead.bar(err)
		if ing.peers.hopeless(ing.cfg.Agree) != nil {
			return false, err
		}
		ing.short = 0
	}
	ing.chain = nil
	return false, ing.wait(ctx, tries, fmt.Sprintf("the upstream gives nothing after %s, but its overview has history through %s", ing.start(), to))
}

// wait waits before try number n+1, saying why.
func (ing *Ingester) wait(ctx context.Context, n int, reason string) error {
	ing.status.phase(PhaseWaiting, reason)
	if remote.Growing(n) {
		ing.log.InfoContext(ctx, "waiting", "reason", reason, "checks", n)
	}
	const longest = 30 * time.Second
	return remote.Sleep(ctx, min(ing.cfg.Poll<<min(n-1, 5), longest))
}

// importUpdates reads the import updates of the current migration to their end.
func (ing *Ingester) importUpdates(ctx context.Context) error {
	info := ing.chain.infos[ing.migration]
	for tries := 1; !info.ImportsComplete && (info.Previous != nil || info.LastImportID != ""); tries++ {
		if err := ing.wait(ctx, tries, fmt.Sprintf("the upstream is still loading the import updates of migration %d", ing.migration)); err != nil {
			return err
		}
		ing.chain = nil
		if err := ing.overview(ctx); err != nil {
			return err
		}
		info = ing.chain.infos[ing.migration]
	}
	if info.LastImportID == "" {
		return nil
	}
	for tries := 1; ; tries++ {
		last, err := ing.readImports(ctx)
		if err != nil || ing.at == last {
			return err
		}
		if tries == importTries {
			return malformed(ing.lead.client, importUpdatesOperation, ing.start(),
				fmt.Errorf("the import updates of migration %d end at %q, but its overview says %q", ing.migration, ing.start().UpdateID, last.UpdateID))
		}
		// They may have grown since the overview was read.
		reason := fmt.Sprintf("the import updates of migration %d end elsewhere than its overview says", ing.migration)
		if err := ing.wait(ctx, tries, reason); err != nil {
			return err
		}
		ing.chain = nil
		if err := ing.overview(ctx); err != nil {
			return err
		}
	}
}

// importTries is how often the end of the import updates is compared with a fresh
// overview before their difference counts.
const importTries = 4

// readImports reads import updates until there are no more or the last one by the
// overview is there, which it returns.
func (ing *Ingester) readImports(ctx context.Context) (last schemas.Position, err error) {
	ing.status.phase(PhaseImports, "")
	last = schemas.Position{MigrationID: ing.migration, RecordTime: schemas.MinMicros, UpdateID: ing.chain.infos[ing.migration].LastImportID}
	t := ing.imports(ing.migration)
	for ing.at != last {
		end, err := ing.read(ctx, t, "imports", ing.start(), t.position(maxCoordinate), t.coordinate(last))
		if err != nil {
			return last, err
		}
		if end.items == 0 {
			break
		}
	}
	return last, nil
}

// start is where reading of the current migration begins.
func (ing *Ingester) start() schemas.Position {
	if ing.at.MigrationID == ing.migration {
		return ing.at
	}
	return schemas.Position{MigrationID: ing.migration, RecordTime: schemas.MinMicros}
}

// history reads the current migration's history to the upstream's end.
func (ing *Ingester) history(ctx context.Context) (legEnd, error) {
	from, to, known := ing.chain.infos[ing.migration].Span()
	start := ing.start()
	h := ing.horizon(ing.migration)
	if known && h.clock < to {
		ing.beyond.saw(beyond{upstream: ing.lead.client.Upstream(), operation: migrationInfoOperation, horizon: h,
			at: schemas.Position{MigrationID: ing.migration, RecordTime: to}})
		to = h.clock
	}
	t := ing.historyTrack(ing.migration)
	if ing.source != UpdatesBefore {
		last := int64(to)
		if !known {
			last = int64(schemas.MinMicros)
		}
		return ing.readHistory(ctx, t, start, t.position(maxCoordinate), last)
	}
	if !known {
		return legEnd{next: schemas.Start}, nil
	}
	if start.RecordTime < from {
		start = historyBound(ing.migration, int64(from-1))
	}
	if len(ing.chain.infos[ing.migration].Ranges) > 1 && start.RecordTime < to {
		// Synchronizers come in independently of each other: what one of them has below
		// the other's end may still be on its way.
		if err := remote.Sleep(ctx, ing.cfg.Poll); err != nil {
			return legEnd{}, err
		}
	}
	return ing.readHistory(ctx, t, start, historyBound(ing.migration, int64(to)), int64(to))
}

func (ing *Ingester) readHistory(ctx context.Context, t track, start, bound schemas.Position, last int64) (legEnd, error) {
	if int64(start.RecordTime) < last {
		ing.status.phase(PhaseHistory, "")
	}
	return ing.read(ctx, t, "history", start, bound, last)
}

// read reads a track and writes what is in it to the sink, batch after batch.
func (ing *Ingester) read(ctx context.Context, t track, kind string, start, bound schemas.Position, last int64) (end legEnd, err error) {
	group, ctx := guard.WithContext(ctx)
	batches := make(chan filled) // one is written, one waits, one is being filled
	l := &leg{
		track: t, pages: ing.pages[kind], start: start, bound: bound, last: last,
		workers: ing.cfg.Workers, budget: newBudget(ing.cfg.InFlightBytes),
	}
	b := &batcher{stream: ing.cfg.Stream, maxItems: ing.cfg.BatchItems, maxBytes: ing.cfg.BatchBytes, out: batches, after: ing.at,
		apart: kind == "history" && ing.apart(ing.operation())}
	group.Go(func() error {
		for f := range batches {
			if err := ing.write(ctx, f); err != nil {
				return err
			}
			l.budget.release(f.cost)
		}
		return nil
	})
	group.Go(func() error {
		defer close(batches)
		var err error
		if end, err = l.run(ctx, b.add); err != nil {
			return err
		}
		return b.flush(ctx)
	})
	return end, group.Wait()
}

// write hands a batch to the sink until it is stored.
func (ing *Ingester) write(ctx context.Context, f filled) error {
	begin := ing.cfg.Now()
	err := ing.retry(ctx, "writing the batch", func() error { return ing.writeOnce(ctx, f.batch) })
	if err != nil {
		return fmt.Errorf("%d items after %s through %s: %w", len(f.batch.Items), f.batch.After, f.batch.Through, err)
	}
	ing.at = f.batch.Through
	ing.peers.moved(ing.at, ing.migration)
	ing.anchor.set(f.batch)
	ing.status.wrote(f)
	ing.log.DebugContext(ctx, "wrote batch", "items", len(f.batch.Items), "bytes", f.bytes, "through", f.batch.Through,
		"elapsed", ing.cfg.Now().Sub(begin))
	return nil
}

// writeOnce hands a batch to the sink, which takes one at a time.
func (ing *Ingester) writeOnce(ctx context.Context, b *schemas.Batch) error {
	ing.writing.Lock()
	defer ing.writing.Unlock()
	return ing.cfg.Sink.Write(ctx, b)
}

// retry calls the sink until it works, needs a person, ctx ends or it is time to give up.
func (ing *Ingester) retry(ctx context.Context, doing string, call func() error) error {
	begin := ing.cfg.Now()
	for tries := 1; ; tries++ {
		err := call()
		switch {
		case err == nil:
			return nil
		case schemas.NeedsPerson(err):
			return fmt.Errorf("%s: %w", doing, err)
		case remote.Ended(ctx) != nil:
			return remote.Ended(ctx)
		case ing.cfg.GiveUpAfter > 0 && ing.cfg.Now().Sub(begin) > ing.cfg.GiveUpAfter:
			return fmt.Errorf("%s: giving up after %d attempts: %w", doing, tries, err)
		}
		ing.status.retried(err)
		wait := ing.cfg.Backoff(tries)
		if remote.Growing(tries) {
			ing.log.WarnContext(ctx, "sink failed", "doing", doing, "err", err, "attempts", tries, "retry_in", wait)
		}
		if err := remote.Sleep(ctx, wait); err != nil {
			return err
		}
	}
}
