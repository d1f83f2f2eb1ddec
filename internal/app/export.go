package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/jobs"
)

func newExport(a *app) *cobra.Command {
	var from, to string
	var gc bool
	cmd := &cobra.Command{
		Use:   "export",
		Short: "export closed segments now",
		Long: `export publishes the closed days of history that are not published yet, or with
--bulk-segments hour the closed hours, as jobs on the queue, and returns when they are done.
--from and --to limit the days or hours. With --export-agree
it waits for peers, and fails if they have other objects. --gc removes objects that nobody
lists, unfinished uploads and, with --bulk-retention, old days; worker does it at intervals.`,
		Example: "  ledgerlake export --data /srv/ledgerlake\n  ledgerlake export --from 2026-07-01 --to 2026-07-03\n  ledgerlake export --gc",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			limits, err := parseLimits(from, to)
			if err != nil {
				return settings.AsUsage(err)
			}
			a.limitExports()
			s := newStack(a)
			s.exportLimits = limits
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
			if gc {
				return s.guard(cmd.Context(), s.collectNow)
			}
			p := console.NewProgress(a.console)
			return s.guard(cmd.Context(), func(ctx context.Context) error { return s.exportAll(ctx, p) })
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "first day or hour to export, such as 2026-07-01 or 2026-07-01T05")
	cmd.Flags().StringVar(&to, "to", "", "last day or hour to export")
	cmd.Flags().BoolVar(&gc, "gc", false, "instead, remove what nobody needs from the bucket: see --gc-grace and --bulk-retention")
	return cmd
}

// exportAll runs the export jobs until nothing that was due is left. A job that
// is dead ends it with its error.
func (s *stack) exportAll(ctx context.Context, p *console.Progress) error {
	queue, work, err := s.openQueue(ctx, time.Second)
	if err != nil {
		return err
	}
	due, err := work.due(ctx)
	if err != nil {
		return err
	}
	if err := retryDead(ctx, queue, due); err != nil {
		return err
	}
	p.Begin("export", "jobs", int64(len(due)))
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	guard.Go(func() error { return queue.Run(running) }, func(err error) { ended <- err })
	err = s.awaitExport(ctx, queue, work, len(due), p)
	stop()
	if err := errors.Join(err, <-ended); err != nil {
		return err
	}
	p.End(fmt.Sprintf("%d jobs", len(due)))
	return nil
}

// awaitExport returns when nothing is due any more. It looks often, but for no more than a fifth
// of the time: what is due is read out of the whole history, while others work on it.
func (s *stack) awaitExport(ctx context.Context, queue *jobs.Queue, work exportJobs, total int, p *console.Progress) error {
	for {
		began := time.Now()
		left, err := work.due(ctx)
		if err != nil {
			return err
		}
		p.Set(int64(total-len(left)), int64(total))
		if len(left) == 0 {
			return nil
		}
		if err := deadExport(ctx, queue, left); err != nil {
			return err
		}
		if disagreed := work.disagreed.Load(); disagreed != nil {
			return *disagreed
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(max(200*time.Millisecond, 4*time.Since(began))):
		}
	}
}

// retryDead queues those of the given jobs again that had failed for good: who asks
// for an export now wants them tried.
func retryDead(ctx context.Context, queue *jobs.Queue, due map[string]bool) error {
	dead, err := deadAmong(ctx, queue, due)
	if err != nil {
		return err
	}
	for _, task := range dead {
		if err := queue.Retry(ctx, task.ID); err != nil && !errors.Is(err, jobs.ErrUnknownTask) {
			return err
		}
	}
	return nil
}

// deadExport returns the failure of one of the given jobs that will not be tried again by
// itself, or nil.
func deadExport(ctx context.Context, queue *jobs.Queue, due map[string]bool) error {
	dead, err := deadAmong(ctx, queue, due)
	if err != nil || len(dead) == 0 {
		return err
	}
	return fmt.Errorf("the job %s failed for good: %s", dead[0].ID, dead[0].LastError)
}

func deadAmong(ctx context.Context, queue *jobs.Queue, due map[string]bool) ([]jobs.Status, error) {
	all, err := queue.Dead(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(s jobs.Status) bool { return !due[s.ID] }), nil
}
