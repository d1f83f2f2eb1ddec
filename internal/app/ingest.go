package app

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/indexer/analytics"
	"github.com/ledgerlake/ledgerlake/indexer/typed"
	"github.com/ledgerlake/ledgerlake/indexer/wallet"
	"github.com/ledgerlake/ledgerlake/ingest/node"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/app/simulated"
	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// source is where one stream comes from: a network's scan services, or a node.
type source interface {
	// identify finds out which stream it is, where only the upstream knows.
	identify(ctx context.Context) error
	// Backfill ingests up to the upstream's end as of now, Run continues from there.
	Backfill(ctx context.Context) error
	Run(ctx context.Context) error
	// stream names the stream, "" as long as that is not known.
	stream() string
	live() LiveStream
}

// streams are the streams that this process ingests, each with the lifetimes derived
// from it.
type streams struct {
	p       *process
	db      *database
	sources []*ingested
	// facts asks the scan services for what history does not tell; it may be nil.
	facts *scan.Facts
	// catalog converts values of copies for lookups.
	catalog *values.Catalog
}

// newStreams prepares what is given; nothing is asked of it yet.
func (d *database) newStreams(scanURLs []string, nodeURL string) (*streams, error) {
	all := &streams{p: d.p, db: d, catalog: d.packages.Catalog}
	if len(scanURLs) > 0 {
		into := d.newIngested()
		from, err := d.newScanSource(scanURLs, into.db)
		if err != nil {
			return nil, err
		}
		all.add(from, into)
		if d.p.cfg.FactsInterval > 0 {
			if all.facts, err = d.newFacts(scanURLs, into.db); err != nil {
				return nil, err
			}
		}
	}
	if nodeURL != "" {
		into := d.newIngested()
		from, err := d.newNodeSource(nodeURL, into.db)
		if err != nil {
			return nil, err
		}
		all.add(from, into)
	}
	return all, nil
}

// add takes a source in.
func (s *streams) add(from source, into *ingested) {
	into.source = &retriedSource{source: from, retrier: s.p.retrier, log: s.p.log, replaced: into.yield}
	s.sources = append(s.sources, into)
}

// backfill ingests the streams one after another up to the end of their upstreams as of
// now, with their lifetimes.
func (s *streams) backfill(ctx context.Context, p *console.Progress) error {
	for _, from := range s.sources {
		if err := s.backfillAlone(ctx, from, p); err != nil {
			return err
		}
	}
	return nil
}

// backfillAlone takes the stream over from any other process, and lets that go on afterwards.
func (s *streams) backfillAlone(ctx context.Context, from *ingested, p *console.Progress) error {
	if from.lease == nil {
		return s.backfillOne(ctx, from, p)
	}
	if err := from.source.identify(ctx); err != nil {
		return err
	}
	return seize(ctx, from.lease, from.stream(), func(ctx context.Context) error { return s.backfillOne(ctx, from, p) })
}

func (s *streams) backfillOne(ctx context.Context, from *ingested, p *console.Progress) error {
	p.Begin("backfill", "updates", 0)
	err := s.alongside(ctx, from, func(ctx context.Context) error {
		every(ctx, 200*time.Millisecond, func() {
			st := from.live()
			done, total := st.Updates+st.Imports, int64(0)
			if st.fraction > 0.01 {
				total = max(done, int64(float64(done)/st.fraction))
			}
			p.Set(done, total)
		})
		return nil
	})
	if err != nil {
		return err
	}
	if err := indexer.SetBackfilled(ctx, from.db, from.stream()); err != nil {
		return err
	}
	if s.facts != nil && from.stream() == schemas.ScanStream {
		s.facts.Round(ctx)
	}
	st := from.live()
	p.End(fmt.Sprintf("%s: %d updates, %d imported contracts, %d events, %d verdicts", from.stream(), st.Updates, st.Imports, st.Events, st.Verdicts))
	return nil
}

// alongside ingests a stream up to its upstream's end as of now with the lifetimes and
// others beside it, and then lets what is derived from it catch up.
func (s *streams) alongside(ctx context.Context, from *ingested, beside ...func(context.Context) error) error {
	derive := func(ctx context.Context) error { return s.derive(ctx, from) }
	if err := s.p.guard(ctx, from.Backfill, append(beside, derive)...); err != nil {
		return err
	}
	if copied := s.lookupRows(from); copied != nil {
		if err := copied.CatchUp(ctx); err != nil {
			return err
		}
	}
	if wallets := s.wallets(from); wallets != nil {
		if err := wallets.CatchUp(ctx); err != nil {
			return err
		}
	}
	if err := s.movements(from).CatchUp(ctx); err != nil {
		return err
	}
	for _, sums := range newRollups(from.db, from.stream(), s.p.log) {
		if err := sums.CatchUp(ctx); err != nil {
			return err
		}
	}
	if err := s.typed(from).CatchUp(ctx); err != nil {
		return err
	}
	return indexer.NewLifetimes(from.db, from.stream(), 0, s.p.log).CatchUp(ctx)
}

// typed are the typed tables of a stream.
func (s *streams) typed(from *ingested) *typed.Typed {
	return typed.New(from.db, from.stream(), s.catalog, 0, s.p.log)
}

// lookupRows is the copy for lookups of a stream, or nil if it is to have none.
func (s *streams) lookupRows(from *ingested) *indexer.LookupRows {
	switch {
	case !s.p.cfg.LookupRows:
		return nil
	case from.stream() != schemas.ScanStream:
		return indexer.NewNodeLookupRows(from.db, from.stream(), 0, s.p.log)
	}
	return indexer.NewLookupRows(from.db, from.stream(), s.catalog, 0, s.p.log)
}

// wallets are what is derived from a node's stream for wallets, nil of public history: what
// belongs to wallets alone is not in it.
func (s *streams) wallets(from *ingested) *wallet.Wallets {
	if from.stream() == schemas.ScanStream {
		return nil
	}
	return wallet.New(from.db, from.stream(), 0, s.p.log)
}

func (s *streams) movements(from *ingested) *analytics.Movements {
	return analytics.NewMovements(from.db, from.stream(), s.catalog, 0, s.p.log)
}

// run ingests and follows all streams until ctx ends. An upstream's fault is waited out, and
// a stream that stops leaves all else going: what is stored is served on.
func (s *streams) run(ctx context.Context) error {
	group := guard.NewGroup()
	for _, from := range s.sources {
		group.Go(func() error { s.runOne(ctx, from); return nil })
		group.Go(func() error { every(ctx, 10*time.Second, func() { s.report(from) }); return nil })
	}
	return group.Wait()
}

// work ingests and follows a stream until ctx ends, with what belongs to it beside it.
// None of these ends with another.
func (s *streams) work(ctx context.Context, from *ingested) {
	beside := guard.NewGroup()
	keep := func(what string, work func(context.Context) error) {
		beside.Go(func() error {
			if err := s.p.retrier.run(ctx, s.p.log.With("stream", from.stream()), what, work); err != nil && !from.yield(err) {
				s.p.log.ErrorContext(ctx, what+" stopped", "stream", from.stream(), "err", err)
			}
			return nil
		})
	}
	keep("reading", from.Run)
	keep("deriving", func(ctx context.Context) error { return s.derive(ctx, from) })
	keep("recording the end of the backfill", func(ctx context.Context) error { return s.markBackfilled(ctx, from) })
	if s.facts != nil && from.stream() == schemas.ScanStream {
		keep("refreshing facts", func(ctx context.Context) error { s.facts.Run(ctx); return nil })
	}
	_ = beside.Wait() // what fails there has said so
}

// derive keeps what is derived from a stream, its lifetimes, its copy for lookups, its wallets,
// movements, rollups and typed tables, up with it until ctx ends.
func (s *streams) derive(ctx context.Context, from *ingested) error {
	if !waitFor(ctx, func() bool { return from.stream() != "" }) {
		return nil
	}
	group, ctx := guard.WithContext(ctx)
	group.Go(func() error { return indexer.NewLifetimes(from.db, from.stream(), 0, s.p.log).Run(ctx) })
	if copied := s.lookupRows(from); copied != nil {
		group.Go(func() error { return copied.Run(ctx) })
	}
	// A backfill comes first: nobody has a present state before its end anyway, and larger ranges cost less.
	following := func(run func(context.Context) error) {
		group.Go(func() error {
			if !waitFor(ctx, func() bool { return from.live().following }) {
				return nil
			}
			return run(ctx)
		})
	}
	if wallets := s.wallets(from); wallets != nil {
		following(wallets.Run)
	}
	following(s.movements(from).Run)
	for _, sums := range newRollups(from.db, from.stream(), s.p.log) {
		following(sums.Run)
	}
	following(s.typed(from).Run)
	return group.Wait()
}

// markBackfilled waits until the upstream's end is reached once and records it.
func (s *streams) markBackfilled(ctx context.Context, from *ingested) error {
	if !waitFor(ctx, func() bool { return from.live().following }) {
		return nil
	}
	return indexer.SetBackfilled(ctx, from.db, from.stream())
}

// report logs how a stream stands.
func (s *streams) report(from *ingested) {
	st := from.live()
	attrs := []any{
		"stream", from.stream(), "phase", st.Phase, "position", st.Position, "updates", st.Updates, "events", st.Events,
		"rate", int(st.Rate), "lag", st.lag(), "retries", st.Retries,
	}
	if st.ETASeconds > 0 {
		attrs = append(attrs, "eta", st.eta())
	}
	if st.Detail != "" {
		attrs = append(attrs, "detail", st.Detail)
	}
	s.p.log.Info("ingest", attrs...)
}

// Ingest reads the upstreams of the settings into the store until ctx ends, or with once up to the
// end of their history. listening is called with the address of the status page, if there is one.
func (a *App) Ingest(ctx context.Context, once bool, progress *console.Progress, listening func(address string)) error {
	cfg := a.p.cfg
	if err := (simulated.Folder{Settings: cfg}).RefuseSimulated(); err != nil {
		return err
	}
	a.db.makes = true
	if err := a.db.checkLocal(ctx); err != nil {
		return err
	}
	status := cfg.StatusListen != "" && !once
	if status {
		if err := a.listeners.bind(cfg.StatusListen, "status-listen"); err != nil {
			return err
		}
	}
	if err := a.db.reachUpstreams(ctx); err != nil {
		return err
	}
	if err := a.db.open(ctx); err != nil {
		return err
	}
	if err := a.db.refuseDamaged(ctx, false); err != nil {
		return err
	}
	streams, err := a.db.newStreams(cfg.ScanURLs, cfg.NodeURL)
	if err != nil {
		return err
	}
	if once {
		return a.p.guard(ctx, func(ctx context.Context) error { return streams.backfill(ctx, progress) })
	}
	parts := []func(context.Context) error{streams.run, a.db.watchDamage, a.db.packages.Run}
	if status {
		server, err := a.servers.newStatusServer(streams)
		if err != nil {
			return err
		}
		listening(server.Addr())
		parts = append(parts, server.Serve)
	}
	return a.p.supervise(ctx, parts...)
}

// BackfillScan has an ingester read public history up to its upstream's end as of now, and lets what
// is derived from it catch up.
func BackfillScan(ctx context.Context, db *store.DB, log *slog.Logger, from *scan.Ingester) error {
	return newBackfill(db, log).alongside(ctx, &ingested{source: scanSource{from}, db: db})
}

// BackfillNode is BackfillScan for the stream of a node.
func BackfillNode(ctx context.Context, db *store.DB, log *slog.Logger, from *node.Ingester) error {
	return newBackfill(db, log).alongside(ctx, &ingested{source: nodeSource{from, ""}, db: db})
}

func newBackfill(db *store.DB, log *slog.Logger) *streams {
	p := &process{cfg: new(settings.Config), log: log}
	return &streams{p: p, db: &database{p: p, db: db}, catalog: values.Default()}
}
