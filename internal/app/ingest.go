package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

func newIngest(a *app) *cobra.Command {
	var once bool
	cmd := &cobra.Command{
		Use:   "ingest [--scan-url URL]... [--node-url URL]",
		Short: "backfill history from its upstreams into the store, then follow their tail",
		Long: `ingest reads the whole history of the network from a scan service (its update and
backfilling operations) and, where a node is given, what that node's own parties see from
its ledger API. It writes both into ClickHouse exactly once, and then follows the tail
until it is stopped. It can be stopped and started at any time: it goes on where the
store stands. Whatever an upstream answers, or does not, is tried again until it serves;
only a history that has become another one stops a stream, which /streams then shows. With
--once it ends with an error instead once an upstream cannot be read.

Several scan services share the work, and replace each other while one is away. With
--scan-agree 2 or more a range is stored only once so many gave the same content.`,
		Example: "  ledgerlake ingest --scan-url https://scan.example.com\n" +
			"  ledgerlake ingest --scan-url https://scan-a.example.com --scan-url https://scan-b.example.com --scan-agree 2\n" +
			"  ledgerlake ingest --node-url http://127.0.0.1:7575 --node-token-file /run/secrets/token --status-listen 127.0.0.1:8090\n" +
			"  ledgerlake ingest --scan-url http://127.0.0.1:5012 --clickhouse-dsn clickhouse://default@127.0.0.1:9000/default --once",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if len(a.cfg.ScanURLs) == 0 && a.cfg.NodeURL == "" {
				return settings.Usage("ingest needs --scan-url, the address of a scan service such as http://127.0.0.1:5012, or --node-url, that of a node's ledger API")
			}
			if err := a.refuseSimulated(); err != nil {
				return err
			}
			s := newStack(a)
			defer s.closeInto(&err)
			s.makesStore = true
			if err := s.checkLocal(cmd.Context()); err != nil {
				return err
			}
			if a.cfg.StatusListen != "" && !once {
				if err := s.bind(a.cfg.StatusListen, "status-listen"); err != nil {
					return err
				}
			}
			if err := s.reachUpstreams(cmd.Context()); err != nil {
				return err
			}
			if err := s.openStore(cmd.Context()); err != nil {
				return err
			}
			if err := s.refuseDamaged(cmd.Context(), false); err != nil {
				return err
			}
			streams, err := s.newStreams(a.cfg.ScanURLs, a.cfg.NodeURL)
			if err != nil {
				return err
			}
			if once {
				return s.guard(cmd.Context(), func(ctx context.Context) error {
					return streams.backfill(ctx, console.NewProgress(a.console))
				})
			}
			parts := []func(context.Context) error{streams.run, s.watchDamage}
			if a.cfg.StatusListen != "" {
				server, err := s.newStatusServer(streams)
				if err != nil {
					return err
				}
				parts = append(parts, server.Serve)
			}
			return s.supervise(cmd.Context(), parts...)
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "stop when the end of the upstreams' history is reached")
	return cmd
}

// newStatusServer serves the status page and the metrics of an ingest that has no query
// tier beside it.
func (s *stack) newStatusServer(streams *streams) (*query.Server, error) {
	listener, err := s.listen(s.app.cfg.StatusListen, "status-listen")
	if err != nil {
		return nil, err
	}
	page := &statusPage{db: s.db, streams: streams, damage: &s.damage}
	server, err := query.New(query.Config{
		Listener: listener, Mounts: []query.Mount{page.mount()}, Log: s.app.log, Metrics: newRegistry(page), Hosts: s.app.cfg.Hosts(),
	})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(s.app.stdout, "streams: http://%s/streams, metrics: http://%s/metrics\n", server.Addr(), server.Addr())
	return server, nil
}

// supervise runs parts until ctx ends or one of them, or an embedded service, fails.
func (s *stack) supervise(ctx context.Context, parts ...func(context.Context) error) error {
	group, ctx := guard.WithContext(ctx)
	for _, part := range append(parts, s.watch) {
		group.Go(func() error {
			err := part(ctx)
			if errors.Is(err, context.Canceled) && ctx.Err() != nil {
				return nil // the stop was asked for
			}
			return err
		})
	}
	return group.Wait()
}

// guard runs work and ends it early when an embedded service fails. Other parts may run
// beside it; they end when work does.
func (s *stack) guard(ctx context.Context, work func(context.Context) error, besides ...func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var workErr error
	err := s.supervise(ctx, append(besides, func(ctx context.Context) error {
		defer stop()
		workErr = work(ctx)
		return workErr
	})...)
	// supervise takes a cancelled part for one that was asked to stop; work was not
	// asked to unless another part failed first, which err then tells.
	return errOr(err, workErr)
}

// source is where one stream comes from: a network's scan services, or a node.
type source interface {
	// Backfill ingests up to the upstream's end as of now, Run goes on from there.
	Backfill(ctx context.Context) error
	Run(ctx context.Context) error
	// stream names the stream, "" as long as that is not known.
	stream() string
	live() liveStream
}

// streams are the streams that this process ingests, each with the lifetimes derived
// from it.
type streams struct {
	*stack
	sources []source
	// facts asks the scan services for what history does not tell; it may be nil.
	facts *scan.Facts
	// catalog converts values of copies for lookups.
	catalog *values.Catalog
}

// newStreams prepares what is given; nothing is asked of it yet.
func (s *stack) newStreams(scanURLs []string, nodeURL string) (*streams, error) {
	catalog, err := s.app.catalog()
	if err != nil {
		return nil, err
	}
	all := &streams{stack: s, catalog: catalog}
	if len(scanURLs) > 0 {
		from, err := s.newScanSource(scanURLs)
		if err != nil {
			return nil, err
		}
		all.add(from)
		if s.app.cfg.FactsInterval > 0 {
			if all.facts, err = s.newFacts(scanURLs); err != nil {
				return nil, err
			}
		}
	}
	if nodeURL != "" {
		from, err := s.newNodeSource(nodeURL)
		if err != nil {
			return nil, err
		}
		all.add(from)
	}
	return all, nil
}

// add takes a source in.
func (s *streams) add(from source) {
	s.sources = append(s.sources, &steadySource{source: from, steady: s.app.steady, log: s.app.log})
}

// backfill ingests the streams one after another up to the end of their upstreams as of
// now, with their lifetimes.
func (s *streams) backfill(ctx context.Context, p *console.Progress) error {
	for _, from := range s.sources {
		if err := s.backfillOne(ctx, from, p); err != nil {
			return err
		}
	}
	if s.facts != nil {
		s.facts.Round(ctx)
	}
	return nil
}

func (s *streams) backfillOne(ctx context.Context, from source, p *console.Progress) error {
	p.Begin("backfill", "updates", 0)
	err := s.alongside(ctx, from, func(ctx context.Context) {
		every(ctx, 200*time.Millisecond, func() {
			st := from.live()
			done, total := st.Updates+st.Imports, int64(0)
			if st.fraction > 0.01 {
				total = max(done, int64(float64(done)/st.fraction))
			}
			p.Set(done, total)
		})
	})
	if err != nil {
		return err
	}
	if err := indexer.SetBackfilled(ctx, s.db, from.stream()); err != nil {
		return err
	}
	st := from.live()
	p.End(fmt.Sprintf("%s: %d updates, %d imported contracts, %d events, %d verdicts", from.stream(), st.Updates, st.Imports, st.Events, st.Verdicts))
	return nil
}

// alongside ingests a stream up to its upstream's end as of now with the lifetimes and
// watch beside it, and then lets what is derived from it catch up.
func (s *streams) alongside(ctx context.Context, from source, watch func(context.Context)) error {
	group, groupCtx := guard.WithContext(ctx)
	besides, stop := context.WithCancel(groupCtx)
	defer stop()
	group.Go(func() error {
		defer stop()
		return from.Backfill(groupCtx)
	})
	group.Go(func() error { return s.derive(besides, from) })
	group.Go(func() error { watch(besides); return nil })
	if err := group.Wait(); err != nil {
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
	return indexer.NewLifetimes(s.db, from.stream(), 0, s.app.log).CatchUp(ctx)
}

// lookupRows is the copy for lookups of a stream, or nil if it is to have none.
func (s *streams) lookupRows(from source) *indexer.LookupRows {
	switch {
	case !s.app.cfg.LookupRows:
		return nil
	case from.stream() != schemas.ScanStream:
		return indexer.NewNodeLookupRows(s.db, from.stream(), 0, s.app.log)
	}
	return indexer.NewLookupRows(s.db, from.stream(), s.catalog, 0, s.app.log)
}

// wallets are what is derived from a node's stream for wallets, nil of public history: what
// belongs to wallets alone is not in it.
func (s *streams) wallets(from source) *indexer.Wallets {
	if from.stream() == schemas.ScanStream {
		return nil
	}
	return indexer.NewWallets(s.db, from.stream(), 0, s.app.log)
}

// run ingests and follows all streams until ctx ends. An upstream's fault is waited out, and
// a stream that stops leaves all else going: what is stored is served on.
func (s *streams) run(ctx context.Context) error {
	if s.facts != nil {
		factsCtx, stop := context.WithCancel(ctx)
		asked := make(chan struct{})
		guard.Go(func() error { s.facts.Run(factsCtx); return nil }, func(err error) {
			if err != nil {
				s.app.log.ErrorContext(ctx, "facts are not asked for any more", "err", err)
			}
			close(asked)
		})
		defer func() { stop(); <-asked }()
	}
	group := guard.NewGroup()
	for _, from := range s.sources {
		group.Go(func() error { s.runOne(ctx, from); return nil })
	}
	return group.Wait()
}

// runOne ingests and follows a stream until ctx ends, with what belongs to it beside it.
// None of these ends with another.
func (s *streams) runOne(ctx context.Context, from source) {
	beside := guard.NewGroup()
	keep := func(what string, work func(context.Context) error) {
		beside.Go(func() error {
			if err := s.app.steady.run(ctx, s.app.log.With("stream", from.stream()), what, work); err != nil {
				s.app.log.ErrorContext(ctx, what+" stopped", "stream", from.stream(), "err", err)
			}
			return nil
		})
	}
	keep("reading", from.Run)
	keep("deriving", func(ctx context.Context) error { return s.derive(ctx, from) })
	keep("recording the end of the backfill", func(ctx context.Context) error { return s.markBackfilled(ctx, from) })
	every(ctx, 10*time.Second, func() { s.report(from) })
	_ = beside.Wait() // what fails there has said so
}

// derive keeps what is derived from a stream, its lifetimes, its copy for lookups and its
// wallets, up with it until ctx ends.
func (s *streams) derive(ctx context.Context, from source) error {
	if !waitFor(ctx, func() bool { return from.stream() != "" }) {
		return nil
	}
	group, ctx := guard.WithContext(ctx)
	group.Go(func() error { return indexer.NewLifetimes(s.db, from.stream(), 0, s.app.log).Run(ctx) })
	if copied := s.lookupRows(from); copied != nil {
		group.Go(func() error { return copied.Run(ctx) })
	}
	if wallets := s.wallets(from); wallets != nil {
		group.Go(func() error {
			// A backfill comes first: nobody has a wallet's present state before its end anyway.
			if !waitFor(ctx, func() bool { return from.live().following }) {
				return nil
			}
			return wallets.Run(ctx)
		})
	}
	return group.Wait()
}

// markBackfilled waits until the upstream's end is reached once and records it.
func (s *streams) markBackfilled(ctx context.Context, from source) error {
	if !waitFor(ctx, func() bool { return from.live().following }) {
		return nil
	}
	return indexer.SetBackfilled(ctx, s.db, from.stream())
}

// waitFor looks until something is so, and reports whether it was before ctx ended.
func waitFor(ctx context.Context, so func() bool) bool {
	for !so() {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(100 * time.Millisecond):
		}
	}
	return true
}

// report logs how a stream stands.
func (s *streams) report(from source) {
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
	s.app.log.Info("ingest", attrs...)
}

// every calls f at an interval until ctx ends.
func every(ctx context.Context, interval time.Duration, f func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			f()
		}
	}
}
