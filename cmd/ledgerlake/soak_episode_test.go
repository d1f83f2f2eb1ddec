package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/faults"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// shape is how the product is configured in an episode.
type shape struct {
	source     scan.Source
	workers    int
	batchItems int
	pageLimit  int // of the upstream, in items
}

// drawShape picks a configuration. Batches and pages are small, so that a short history
// has many of them.
func drawShape(seed faults.Seed) shape {
	r := seed.Rand("shape")
	s := shape{source: scan.Events, workers: 1 + r.IntN(4), batchItems: 60 + r.IntN(150), pageLimit: 25 + r.IntN(100)}
	switch r.IntN(10) {
	case 0:
		s.source = scan.Updates
	case 1:
		s.source = scan.UpdatesBefore
	}
	return s
}

func (s shape) String() string {
	return fmt.Sprintf("source %s, %d workers, batches of %d items, pages of %d", s.source, s.workers, s.batchItems, s.pageLimit)
}

// episode is one run of the product between proxies, in a database of its own.
type episode struct {
	*lab
	seed     faults.Seed
	plan     faults.Plan
	shape    shape
	database string
	liar     *faults.Liar
	// node is how the product reads a node, nil when it reads scan services.
	node     *nodeShape
	nodeLiar *faults.NodeLiar
	// witnesses are honest upstreams beside the one that may lie; two of all have to
	// agree on everything. Empty: the one is believed.
	witnesses []string
	disagreed atomic.Int64
	tally     faults.Tally
	upstream  *faults.HTTP
	engine    *faults.TCP
	closers   []func() error
	diary     diary
}

// diary keeps what the product logged and what the episode did, for failures.
type diary struct {
	mu sync.Mutex
	b  strings.Builder
}

func (d *diary) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.b.Write(p)
}

func (d *diary) note(format string, args ...any) {
	_, _ = fmt.Fprintf(d, "%s EPISODE "+format+"\n", append([]any{time.Now().Format("15:04:05.000")}, args...)...)
}

func (d *diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.b.String()
}

func (l *lab) newEpisode(seed faults.Seed, plan faults.Plan) *episode {
	ep := &episode{lab: l, seed: seed, plan: plan, shape: drawShape(seed), database: fmt.Sprintf("e%d", seed)}
	return ep
}

// configured says how the product was.
func (ep *episode) configured() string {
	if ep.node != nil {
		return ep.node.String()
	}
	return ep.shape.String()
}

// stream is the one that the product ingests.
func (ep *episode) stream() string {
	if ep.node != nil {
		return ep.lab.node.stream
	}
	return schemas.ScanStream
}

// logger writes what the product says into the diary.
func (ep *episode) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(io.Writer(&ep.diary), &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// close ends the proxies.
func (ep *episode) close() error {
	var errs []error
	for _, f := range ep.closers {
		errs = append(errs, f())
	}
	ep.closers = nil
	return errors.Join(errs...)
}

// open makes the database and the proxies.
func (ep *episode) open(ctx context.Context) error {
	if err := ep.create(ctx, ep.database); err != nil {
		return err
	}
	var err error
	ep.engine, err = faults.NewTCP(faults.TCPConfig{Name: "engine", Target: ep.address, Faults: ep.plan.Engine, Fragile: true, Tally: &ep.tally})
	if err != nil {
		return err
	}
	ep.closers = append(ep.closers, ep.engine.Close)
	upstream := faults.HTTPConfig{
		Name: "upstream", Target: ep.lab.upstream, Faults: ep.plan.Upstream, Liar: ep.liar, PageLimit: ep.shape.pageLimit, Tally: &ep.tally,
	}
	if ep.node != nil {
		upstream = ep.nodeUpstream()
	}
	ep.upstream, err = faults.NewHTTP(upstream)
	if err != nil {
		return err
	}
	ep.closers = append(ep.closers, ep.upstream.Close)
	return nil
}

const (
	// lifeTimeout is far above what a life takes, on a machine with many other things to do,
	// too: to exceed it is to hang.
	lifeTimeout = 3 * time.Minute
	// mostLives bounds the lives that end by an error of their own.
	mostLives = 30
	soakPoll  = 10 * time.Millisecond
	// lifetimesPoll is longer: every look is a query.
	lifetimesPoll = 60 * time.Millisecond
	// rebirth is how long a supervisor waits before it starts a process again.
	rebirth = 20 * time.Millisecond
)

var (
	errKilled     = errors.New("the process was killed")
	errHangs      = errors.New("no end in sight")
	errFalseAlarm = errors.New("the product asks for a person, but the upstream is honest")
)

// ingest runs the product from one planned stop to the next, then until it has come to
// the end by itself, and then once more without faults. All errors it returns are
// findings.
func (ep *episode) ingest(ctx context.Context) error {
	if err := ep.open(ctx); err != nil {
		return err
	}
	stops := ep.plan.Stops
	for life := 1; ; life++ {
		var stop *faults.Stop
		if len(stops) > 0 {
			stop, stops = &stops[0], stops[1:]
		}
		err := ep.live(ctx, stop)
		ep.diary.note("life %d ended: %v", life, err)
		switch {
		case err == nil && stop == nil:
			ep.engine.Pass()
			ep.upstream.Pass()
			if err := ep.live(ctx, nil); err != nil {
				return fmt.Errorf("life without faults: %w", err)
			}
			return ep.tidy(ctx)
		case errors.Is(err, errHangs):
			return err
		case schemas.NeedsPerson(err):
			return fmt.Errorf("%w: %w", errFalseAlarm, err)
		case life > mostLives:
			return fmt.Errorf("the product does not come to an end in %d lives: %w", life, err)
		}
	}
}

// live is one life of the process: new objects over what the store holds. It ends when
// history is through, by an error, or by the stop.
func (ep *episode) live(ctx context.Context, stop *faults.Stop) error {
	alive, die := context.WithCancelCause(ctx)
	defer die(nil)
	hangs := time.AfterFunc(lifeTimeout, func() {
		stacks := make([]byte, 4<<20)
		ep.diary.note("hangs; all goroutines:\n%s", stacks[:runtime.Stack(stacks, true)])
		die(errHangs)
		ep.engine.Kill()
	})
	defer hangs.Stop()
	defer ep.engine.Revive()
	if stop != nil {
		turn := ep.engine.Turn(ep.engine.Turns() + stop.Turn)
		ended := make(chan struct{})
		var watch sync.WaitGroup
		defer watch.Wait()
		defer close(ended)
		watch.Go(func() {
			select {
			case <-turn:
				if !stop.Gentle {
					ep.engine.Kill() // first: the process must not be able to say good-bye
					ep.shards.kill(ep.seed, &ep.tally)
				}
				ep.tally.Add("process: " + map[bool]string{true: "stop", false: "kill"}[stop.Gentle])
				die(errKilled)
			case <-ended:
			}
		})
	}
	err := ep.work(alive)
	if cause := context.Cause(alive); cause != nil {
		return cause
	}
	if err != nil {
		time.Sleep(rebirth)
	}
	return err
}

// work is what the product does in one life: what `ingest --once` does.
func (ep *episode) work(ctx context.Context) error {
	log := ep.logger()
	db, err := ep.lab.open(ctx, ep.database, ep.engine.Addr())
	if err != nil {
		return err
	}
	defer db.Close()
	if ep.node != nil {
		return ep.workOnNode(ctx, db)
	}
	cfg := scan.Config{
		BaseURL: ep.upstream.URL(), Source: ep.shape.source, Workers: ep.shape.workers, MaxPageBytes: faults.OversizedBytes,
		Settings: stream.Settings{
			Sink: indexer.NewSinks(db, log), Log: log, BatchItems: ep.shape.batchItems, RequestTimeout: 700 * time.Millisecond,
		},
		Poll: soakPoll, Refresh: 200 * time.Millisecond,
	}
	if len(ep.witnesses) > 0 {
		cfg.Peers, cfg.Agree, cfg.AgreeOn, cfg.Disagreements = ep.witnesses, 2, scan.AgreeOnEvents, ep
	}
	ingester, err := scan.New(cfg)
	if err != nil {
		return err
	}
	return app.BackfillScan(ctx, db, log, ingester)
}

// Disagreed takes note that upstreams do not agree.
func (ep *episode) Disagreed(_ context.Context, d scan.Disagreement) error {
	ep.disagreed.Add(1)
	ep.diary.note("disagreement, resolved %v: %s", d.Resolved, d)
	return nil
}

// tidy brings ended lifetimes to where they belong, so that tables compare.
func (ep *episode) tidy(ctx context.Context) error {
	db, err := ep.lab.open(ctx, ep.database, ep.address)
	if err != nil {
		return err
	}
	defer db.Close()
	return ep.awaitShards(ctx, func() error { return indexer.NewLifetimes(db, ep.stream(), soakPoll, ep.logger()).Tidy(ctx) })
}

// result is what came of an episode.
type result struct {
	kind     string // "ingest", "node", "lie", "export", "kill", "clients" or "operator"
	findings []string
	damage   harm
	fired    int
	// lie and found are set by episodes with a lie that was told.
	lie, found string
	untold     bool
	elapsed    time.Duration
}

// runIngest is an episode with an honest upstream.
func (l *lab) runIngest(ctx context.Context, seed faults.Seed) (result, *episode) {
	res := result{kind: "ingest"}
	ep := l.newEpisode(seed, faults.NewPlan(seed, l.ingestExtent()))
	if err := ep.ingest(ctx); err != nil {
		res.findings = append(res.findings, err.Error())
	} else if err := ep.check(ctx, &res); err != nil {
		res.findings = append(res.findings, err.Error())
	}
	res.fired = ep.tally.Total()
	return res, ep
}

func (l *lab) ingestExtent() faults.Extent {
	return faults.Extent{Requests: l.extent.Requests, EngineTurns: l.extent.EngineTurns}
}

// orderEvery is how seldom items are read back through the product: that takes as long
// as the rest of the checks.
const orderEvery = 8

// check compares the store with that of the undisturbed run.
func (ep *episode) check(ctx context.Context, res *result) error {
	got, err := ep.fingerprint(ctx, ep.database)
	if err != nil {
		return err
	}
	truth := ep.truths[ep.shape.source]
	if ep.node != nil {
		truth = ep.lab.node.truths[ep.node.pruned]
	}
	d, where := compare(truth.tables, got)
	findings, err := ep.checkJournal(ctx, ep.database, ep.stream())
	if err != nil {
		return err
	}
	res.findings = append(append(res.findings, where...), findings...)
	if ep.node == nil && ep.seed%orderEvery == 0 {
		if d.reordered, err = ep.reordered(ctx, ep.database); err != nil {
			return err
		}
	}
	if d.any() {
		res.findings = append(res.findings, d.String())
	}
	res.damage = d
	return nil
}
