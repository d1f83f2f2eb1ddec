package app

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/jobs"
	automations "github.com/ledgerlake/ledgerlake/jobs/wallet"
)

func newWorker(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "worker",
		Short: "run background jobs: export of closed segments, collection of garbage, automations of wallets",
		Long: `worker takes jobs from the queue and asks the store what is due: each closed day of
history, or hour with --bulk-segments hour, is exported once, whichever worker gets it. Run
several against one --redis-url.`,
		Example: "  ledgerlake worker --clickhouse-dsn clickhouse://default@127.0.0.1:9000/default --redis-url redis://127.0.0.1:6379/0 \\\n" +
			"      --s3-endpoint http://127.0.0.1:7070 --s3-bucket ledgerlake --s3-access-key KEY --s3-secret-key SECRET",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			a.limitExports()
			s := newStack(a)
			defer s.closeInto(&err)
			if err := s.reachQueue(cmd.Context()); err != nil {
				return err
			}
			if err := s.open(cmd.Context()); err != nil {
				return err
			}
			if err := s.refuseDamaged(cmd.Context(), false); err != nil {
				return err
			}
			worker, err := s.newWorker(cmd.Context())
			if err != nil {
				return err
			}
			return s.supervise(cmd.Context(), worker, s.watchDamage)
		},
	}
}

// openQueue connects to the job queue and registers the handlers of the layouts that are
// published.
func (s *stack) openQueue(ctx context.Context, rescan time.Duration) (*jobs.Queue, exportJobs, error) {
	work, err := s.newExportJobs()
	if err != nil {
		return nil, work, err
	}
	queue, err := jobs.Open(ctx, jobs.Config{
		RedisURL: s.app.cfg.RedisURL, Concurrency: s.app.cfg.Concurrency, Rescan: rescan, Patience: 3 * rescan, Log: s.app.log,
	})
	if err != nil {
		return nil, work, err
	}
	s.onClose(queue.Close)
	return queue, work, queue.Register(work.handlers()...)
}

// newWorker returns the part that runs jobs until its context ends.
func (s *stack) newWorker(ctx context.Context) (func(context.Context) error, error) {
	queue, _, err := s.openQueue(ctx, 10*time.Second)
	if err != nil {
		return nil, err
	}
	if s.app.cfg.GCInterval > 0 {
		garbage, err := s.newCollections()
		if err != nil {
			return nil, err
		}
		if err := queue.Register(jobs.Collections(garbage)); err != nil {
			return nil, err
		}
	}
	return s.withAutomations(queue)
}

// withAutomations runs the queue and, where they are configured, the automations of wallets.
func (s *stack) withAutomations(queue *jobs.Queue) (func(context.Context) error, error) {
	names, ok := s.automationNames()
	if !ok {
		return queue.Run, nil
	}
	automation := s.newAutomations(names)
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
