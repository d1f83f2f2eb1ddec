package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func newIngest(a *app) *cobra.Command {
	var once bool
	cmd := &cobra.Command{
		Use:   "ingest --scan-url URL",
		Short: "backfill history from a scan into the store, then follow its tail",
		Long: `ingest reads the whole history of the network from a scan service (its update and
backfilling operations), writes it into ClickHouse exactly once, and then follows the
tail until it is stopped. It can be stopped and started at any time: it goes on where
the store stands.`,
		Example: "  ledgerlake ingest --scan-url https://scan.example.com\n" +
			"  ledgerlake ingest --scan-url http://127.0.0.1:5012 --clickhouse-dsn clickhouse://default@127.0.0.1:9000/default\n" +
			"  ledgerlake ingest --scan-url http://127.0.0.1:5012 --once",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if a.cfg.ScanURL == "" {
				return errors.New("ingest needs --scan-url, the address of a scan service such as http://127.0.0.1:5012")
			}
			s := newStack(a)
			defer s.closeInto(&err)
			if err := s.openStore(cmd.Context()); err != nil {
				return err
			}
			in, err := s.newIngestion(a.cfg.ScanURL)
			if err != nil {
				return err
			}
			if once {
				return s.guard(cmd.Context(), func(ctx context.Context) error {
					return in.backfill(ctx, newProgress(a.stderr))
				})
			}
			return s.supervise(cmd.Context(), in.run)
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "stop when the end of the upstream's history is reached")
	return cmd
}

// supervise runs parts until ctx ends or one of them, or an embedded service, fails.
func (s *stack) supervise(ctx context.Context, parts ...func(context.Context) error) error {
	group, ctx := errgroup.WithContext(ctx)
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

// ingestion is one upstream's way into the store: the ingester and the lifetimes that
// follow it.
type ingestion struct {
	ingester  *scan.Ingester
	lifetimes *indexer.Lifetimes
	db        *store.DB
	log       *slog.Logger
}

func (s *stack) newIngestion(scanURL string) (*ingestion, error) {
	cfg := &s.app.cfg
	source := scan.Source(cfg.ScanSource)
	if cfg.ScanSource == "auto" {
		source = scan.Auto
	}
	ingester, err := scan.New(scan.Config{
		BaseURL: scanURL, Sink: indexer.NewSinks(s.db, s.app.log), Log: s.app.log, Source: source,
		Workers: cfg.ScanWorkers, RequestsPerSecond: cfg.ScanRate, MaxPageBytes: cfg.ScanPageBytes,
		Poll: cfg.FollowInterval, Version: readBuild().version,
	})
	if err != nil {
		return nil, err
	}
	return &ingestion{
		ingester: ingester, lifetimes: indexer.NewLifetimes(s.db, schemas.ScanStream, 0, s.app.log),
		db: s.db, log: s.app.log,
	}, nil
}

// backfill ingests up to the upstream's end as of now and derives the lifetimes.
func (in *ingestion) backfill(ctx context.Context, p *progress) error {
	p.begin("backfill", "updates", 0)
	err := in.alongside(ctx, in.ingester.Backfill, func(ctx context.Context) {
		every(ctx, 200*time.Millisecond, func() {
			st := in.ingester.Status()
			done := st.Updates + st.Imports
			total := int64(0)
			if st.Fraction > 0.01 {
				total = max(done, int64(float64(done)/st.Fraction))
			}
			p.set(done, total)
		})
	})
	if err != nil {
		return err
	}
	if err := indexer.SetBackfilled(ctx, in.db, schemas.ScanStream); err != nil {
		return err
	}
	st := in.ingester.Status()
	p.end(fmt.Sprintf("%d updates, %d import updates, %d events, %d verdicts", st.Updates, st.Imports, st.Events, st.Verdicts))
	return nil
}

// alongside runs work with the lifetimes and watch beside it, and then lets the
// lifetimes catch up.
func (in *ingestion) alongside(ctx context.Context, work func(context.Context) error, watch func(context.Context)) error {
	besides, stop := context.WithCancel(ctx)
	defer stop()
	group, groupCtx := errgroup.WithContext(besides)
	group.Go(func() error { return in.lifetimes.Run(groupCtx) })
	group.Go(func() error { watch(groupCtx); return nil })
	workErr := work(groupCtx)
	stop()
	if err := group.Wait(); err != nil {
		return err
	}
	if workErr != nil {
		return workErr
	}
	return in.lifetimes.CatchUp(ctx)
}

// run ingests and follows until ctx ends, logging how it stands.
func (in *ingestion) run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return in.ingester.Run(ctx) })
	group.Go(func() error { return in.lifetimes.Run(ctx) })
	group.Go(func() error { return in.markBackfilled(ctx) })
	group.Go(func() error {
		every(ctx, 10*time.Second, in.report)
		return nil
	})
	return group.Wait()
}

// markBackfilled waits until the upstream's end is reached once and records it.
func (in *ingestion) markBackfilled(ctx context.Context) error {
	for ctx.Err() == nil {
		if in.ingester.Status().Phase == scan.PhaseFollowing {
			return indexer.SetBackfilled(ctx, in.db, schemas.ScanStream)
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
	return nil
}

func (in *ingestion) report() {
	st := in.ingester.Status()
	attrs := []any{
		"phase", st.Phase, "position", st.Position.String(), "updates", st.Updates, "events", st.Events,
		"rate", int(st.Rate), "lag", st.Lag.Round(time.Millisecond), "retries", st.Retries,
	}
	if st.ETA > 0 {
		attrs = append(attrs, "eta", st.ETA.Round(time.Second))
	}
	if st.Detail != "" {
		attrs = append(attrs, "detail", st.Detail)
	}
	in.log.Info("ingest", attrs...)
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
