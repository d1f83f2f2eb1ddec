package app

import (
	"context"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app/operating"
	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/jobs"
	automations "github.com/ledgerlake/ledgerlake/jobs/wallet"
)

// worker runs background jobs.
type worker struct {
	p       *process
	objects *objects
	wallets *wallets

	limits ExportLimits // of what is exported
}

// openQueue connects to the job queue and registers the handlers of the layouts that are
// published. cfg says how jobs are run, but for what follows from the settings.
func (w *worker) openQueue(ctx context.Context, cfg jobs.Config) (*jobs.Queue, ExportJobs, error) {
	work, err := w.newExportJobs()
	if err != nil {
		return nil, work, err
	}
	cfg.RedisURL, cfg.Concurrency, cfg.Log = w.p.cfg.RedisURL, w.p.cfg.Concurrency, w.p.log
	queue, err := jobs.Open(ctx, cfg)
	if err != nil {
		return nil, work, err
	}
	w.p.onClose(queue.Close)
	return queue, work, queue.Register(work.Handlers()...)
}

// start returns the part that runs jobs until its context ends.
func (w *worker) start(ctx context.Context) (func(context.Context) error, error) {
	queue, _, err := w.openQueue(ctx, jobs.Config{Rescan: 10 * time.Second, NotYetWait: 30 * time.Second})
	if err != nil {
		return nil, err
	}
	w.p.queue.Store(&operating.Jobs{Queue: queue, Runs: true})
	if w.p.cfg.GCInterval > 0 {
		garbage, err := w.objects.newCollections()
		if err != nil {
			return nil, err
		}
		if err := queue.Register(jobs.Collections(garbage)); err != nil {
			return nil, err
		}
	}
	return w.withAutomations(queue)
}

// withAutomations runs the queue and, where they are configured, the automations of wallets.
func (w *worker) withAutomations(queue *jobs.Queue) (func(context.Context) error, error) {
	names, ok := w.wallets.automationNames()
	if !ok {
		return queue.Run, nil
	}
	automation := w.wallets.newAutomations(names)
	if err := queue.Register(automations.Handler(automation.find)); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		group, ctx := guard.WithContext(ctx)
		group.Go(func() error { return queue.Run(ctx) })
		group.Go(func() error { return automation.schedule(ctx, queue) })
		return group.Wait()
	}, nil
}

// reachQueue makes sure that the Redis of the queue answers, if one is given.
func (w *worker) reachQueue(ctx context.Context) error {
	if w.p.cfg.RedisURL == "" {
		return nil
	}
	queue, err := jobs.Open(ctx, jobs.Config{RedisURL: w.p.cfg.RedisURL, Log: w.p.log})
	if err != nil {
		return fmt.Errorf("--redis-url: %w", err)
	}
	return queue.Close()
}

// Work runs jobs until ctx ends.
func (a *App) Work(ctx context.Context) error {
	if err := a.openForJobs(ctx); err != nil {
		return err
	}
	work, err := a.worker.start(ctx)
	if err != nil {
		return err
	}
	return a.p.supervise(ctx, work, a.db.watchDamage)
}

// openForJobs reaches the queue and opens the store and the bucket, for commands that publish.
func (a *App) openForJobs(ctx context.Context) error {
	if err := a.worker.reachQueue(ctx); err != nil {
		return err
	}
	if err := a.open(ctx); err != nil {
		return err
	}
	return a.db.refuseDamaged(ctx, false)
}
