package lab

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/indexer/analytics"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// LoadTask asks for a history to be loaded into a new engine.
type LoadTask struct {
	URL        string `json:"url"`
	NetworkPID int    `json:"network_pid"`
	// Dir is the engine's folder.
	Dir string `json:"dir"`
	// Lifetimes lets the product derive contract lifetimes beside the ingest.
	Lifetimes bool `json:"lifetimes"`
	// Analytics lets the product derive its tables for questions after that.
	Analytics bool `json:"analytics"`
	// ParseOnce lets the baseline extract events in the way that parses least.
	ParseOnce bool `json:"parse_once"`
	// Quiet is the time without merges after which the engine counts as settled.
	Quiet time.Duration `json:"quiet"`
}

// Loaded is what loading a history took.
type Loaded struct {
	Engine string `json:"engine"`
	// PageBytes is the size of the upstream's pages, each counted once.
	PageBytes int64 `json:"page_bytes"`
	// HistorySeconds passed until all history was in, Seconds until all that was asked
	// for was derived from it too.
	HistorySeconds float64 `json:"history_seconds"`
	Seconds        float64 `json:"seconds"`
	// Cost is that of Seconds, Settled includes the merges that went on afterwards.
	Cost    Cost `json:"cost"`
	Settled Cost `json:"settled"`
	// ClientPeak and EnginePeak are the largest resident sets, in bytes.
	ClientPeak int64                 `json:"client_peak_bytes"`
	EnginePeak int64                 `json:"engine_peak_bytes"`
	Tables     map[string]TableFacts `json:"tables"`
	// Unassignments are events to the network and not in table events.
	Unassignments uint64 `json:"unassignments"`
}

// productMemoryLimit is the default of ledgerlake's --memory-limit.
const productMemoryLimit = 700 << 20

// RoleIngest is the child that ingests as the product does.
const RoleIngest = "ingest"

// ingestHistory is the child that is the product: ingester, writer and lifetimes.
func ingestHistory(ctx context.Context, task LoadTask, answer func(any) error) error {
	debug.SetMemoryLimit(productMemoryLimit)
	return WithStore(ctx, task, answer, func(ctx context.Context, s *EngineStore, l *Load) error {
		return ingest(ctx, task, s.DB, l)
	})
}

// ingest is what `ledgerlake ingest --once` does.
func ingest(ctx context.Context, task LoadTask, db *store.DB, l *Load) error {
	log := NewLogger()
	ingester, err := scan.New(scan.Config{BaseURL: task.URL, Settings: stream.Settings{Sink: indexer.NewSinks(db, log), Log: log}})
	if err != nil {
		return err
	}
	if err := alongside(ctx, task.Lifetimes, db, log, func(ctx context.Context) error {
		err := ingester.Backfill(ctx)
		l.HistoryDone()
		return err
	}); err != nil {
		return err
	}
	if task.Analytics {
		if err := deriveAnalytics(ctx, db, log); err != nil {
			return err
		}
	}
	st := ingester.Status()
	l.PageBytes = st.Bytes
	if st.Retries > 0 {
		return fmt.Errorf("%d requests were retried, the last for %s: this makes the measurement unreliable", st.Retries, st.LastError)
	}
	return indexer.SetBackfilled(ctx, db, schemas.ScanStream)
}

// alongside runs work, with lifetimes beside it that then catch up.
func alongside(ctx context.Context, lifetimes bool, db *store.DB, log *slog.Logger, work func(context.Context) error) error {
	if !lifetimes {
		return work(ctx)
	}
	l := indexer.NewLifetimes(db, schemas.ScanStream, 0, log)
	besides, stop := context.WithCancel(ctx)
	defer stop()
	group, groupCtx := errgroup.WithContext(besides)
	group.Go(func() error { return l.Run(groupCtx) })
	err := work(groupCtx)
	stop()
	if err := errors.Join(group.Wait(), err); err != nil {
		return err
	}
	return l.CatchUp(ctx)
}

// Load is a load under way.
type Load struct {
	Loaded
	began time.Time
}

// HistoryDone notes that all history is in.
func (l *Load) HistoryDone() { l.HistorySeconds = time.Since(l.began).Seconds() }

// WithStore runs work on a new engine and answers with what it took.
func WithStore(ctx context.Context, task LoadTask, answer func(any) error, work func(context.Context, *EngineStore, *Load) error) (err error) {
	s, err := OpenEngine(ctx, task.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	m, err := StartMeter(s.Engine.PID(), task.NetworkPID)
	if err != nil {
		return err
	}
	l := &Load{began: time.Now()}
	if err := work(ctx, s, l); err != nil {
		return err
	}
	l.Seconds = time.Since(l.began).Seconds()
	if err := l.finish(ctx, s, m, task.Quiet); err != nil {
		return err
	}
	return answer(l.Loaded)
}

// finish fills in what is known only at the end. The order matters: questions about the
// content cost processor time and memory themselves.
func (l *Load) finish(ctx context.Context, s *EngineStore, m *Meter, quiet time.Duration) (err error) {
	if l.Cost, err = m.Since(); err != nil {
		return err
	}
	if err := s.Settle(ctx, quiet); err != nil {
		return err
	}
	if l.Settled, err = m.Since(); err != nil {
		return err
	}
	if l.ClientPeak, err = PeakBytes(os.Getpid()); err != nil {
		return err
	}
	if l.EnginePeak, err = PeakBytes(s.Engine.PID()); err != nil {
		return err
	}
	if l.Engine, err = s.version(ctx); err != nil {
		return err
	}
	if l.Unassignments, err = s.unassignments(ctx); err != nil {
		return err
	}
	l.Tables, err = s.contents(ctx)
	return err
}

// deriveAnalytics derives the tables for questions as a backfill does when its history is in.
func deriveAnalytics(ctx context.Context, db *store.DB, log *slog.Logger) error {
	if err := analytics.NewMovements(db, schemas.ScanStream, values.Default(), 0, log).CatchUp(ctx); err != nil {
		return err
	}
	for _, stream := range []string{schemas.ScanStream, journal.SideStream(schemas.ScanStream)} {
		if err := analytics.NewRollups(db, stream, 0, log).CatchUp(ctx); err != nil {
			return err
		}
	}
	return nil
}
