package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/export"
	"github.com/ledgerlake/ledgerlake/jobs"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func newWorker(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "worker",
		Short: "run background jobs: export of closed segments",
		Long: `worker takes jobs from the queue and asks the store what is due: each closed day of
history is exported once, whichever worker gets it. Run several against one --redis-url.`,
		Example: "  ledgerlake worker --clickhouse-dsn clickhouse://default@127.0.0.1:9000/default --redis-url redis://127.0.0.1:6379/0 \\\n" +
			"      --s3-endpoint http://127.0.0.1:7070 --s3-bucket ledgerlake --s3-access-key KEY --s3-secret-key SECRET",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			s := newStack(a)
			defer s.closeInto(&err)
			if err := s.open(cmd.Context()); err != nil {
				return err
			}
			worker, err := s.newWorker(cmd.Context())
			if err != nil {
				return err
			}
			return s.supervise(cmd.Context(), worker)
		},
	}
}

func newExport(a *app) *cobra.Command {
	var from, to string
	cmd := &cobra.Command{
		Use:   "export",
		Short: "export closed segments now",
		Long: `export publishes the closed days of history that are not published yet, as jobs on the
queue, and returns when they are done. --from and --to limit the days.`,
		Example: "  ledgerlake export --data /srv/ledgerlake\n  ledgerlake export --from 2026-07-01 --to 2026-07-03",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			for _, day := range []string{from, to} {
				if _, err := time.Parse(time.DateOnly, day); day != "" && err != nil {
					return fmt.Errorf("%q is not a day such as 2026-07-01", day)
				}
			}
			s := newStack(a)
			s.exportFrom, s.exportTo = from, to
			defer s.closeInto(&err)
			if err := s.open(cmd.Context()); err != nil {
				return err
			}
			p := newProgress(a.stderr)
			return s.guard(cmd.Context(), func(ctx context.Context) error { return s.exportAll(ctx, p) })
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "first day to export, such as 2026-07-01")
	cmd.Flags().StringVar(&to, "to", "", "last day to export")
	return cmd
}

// segments lets jobs export segments and ask which are due.
type segments struct {
	exporter *export.Exporter
	temp     string // where objects wait for their upload
	from, to string // days, "" = no limit
}

// ExportSegment exports one segment. What a person must look at is not repeated.
func (s segments) ExportSegment(ctx context.Context, ref schemas.SegmentRef, progress jobs.ProgressFunc) error {
	progress(0, 1)
	err := s.exporter.ExportSegment(ctx, ref)
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return jobs.Permanent(fmt.Errorf("the disk of %s is full, free some space: %w", s.temp, err))
	case errors.Is(err, export.ErrConflict), schemas.NeedsPerson(err):
		return jobs.Permanent(err)
	case err != nil:
		return err
	}
	progress(1, 1)
	return nil
}

// DueSegments lists closed segments that are not published, oldest first.
func (s segments) DueSegments(ctx context.Context) ([]schemas.SegmentRef, error) {
	all, err := s.exporter.DueSegments(ctx)
	if err != nil {
		return nil, err
	}
	var due []schemas.SegmentRef
	for _, ref := range all {
		if ref.IsImports() || (s.from == "" || ref.Date >= s.from) && (s.to == "" || ref.Date <= s.to) {
			due = append(due, ref)
		}
	}
	return due, nil
}

// openQueue connects to the job queue and registers the handlers.
func (s *stack) openQueue(ctx context.Context, rescan time.Duration) (*jobs.Queue, segments, error) {
	exporter, err := s.newExporter()
	if err != nil {
		return nil, segments{}, err
	}
	work := segments{exporter: exporter, temp: s.app.cfg.Data, from: s.exportFrom, to: s.exportTo}
	queue, err := jobs.Open(ctx, jobs.Config{
		RedisURL: s.app.cfg.RedisURL, Concurrency: s.app.cfg.Concurrency, Rescan: rescan, Log: s.app.log,
	})
	if err != nil {
		return nil, work, err
	}
	s.onClose(queue.Close)
	return queue, work, queue.Register(jobs.ExportSegments(work))
}

// newWorker returns the part that runs jobs until its context ends.
func (s *stack) newWorker(ctx context.Context) (func(context.Context) error, error) {
	queue, _, err := s.openQueue(ctx, 10*time.Second)
	if err != nil {
		return nil, err
	}
	return queue.Run, nil
}

// exportAll runs the export jobs until nothing that was due is left. A segment whose
// job is dead ends it with the job's error.
func (s *stack) exportAll(ctx context.Context, p *progress) error {
	queue, work, err := s.openQueue(ctx, time.Second)
	if err != nil {
		return err
	}
	due, err := work.DueSegments(ctx)
	if err != nil {
		return err
	}
	if err := retryDead(ctx, queue, due); err != nil {
		return err
	}
	p.begin("export", "segments", int64(len(due)))
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- queue.Run(running) }()
	err = s.awaitExport(ctx, queue, work, len(due), p)
	stop()
	if err := errors.Join(err, <-ended); err != nil {
		return err
	}
	p.end(fmt.Sprintf("%d segments", len(due)))
	return nil
}

func (s *stack) awaitExport(ctx context.Context, queue *jobs.Queue, work segments, total int, p *progress) error {
	for {
		left, err := work.DueSegments(ctx)
		if err != nil {
			return err
		}
		p.set(int64(total-len(left)), int64(total))
		if len(left) == 0 {
			return nil
		}
		if err := deadExport(ctx, queue, left); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// retryDead queues jobs of the given segments again that had failed for good: who asks
// for an export now wants them tried.
func retryDead(ctx context.Context, queue *jobs.Queue, due []schemas.SegmentRef) error {
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

// deadExport returns the failure of a job that exports one of the given segments and
// will not be tried again by itself, or nil.
func deadExport(ctx context.Context, queue *jobs.Queue, due []schemas.SegmentRef) error {
	dead, err := deadAmong(ctx, queue, due)
	if err != nil || len(dead) == 0 {
		return err
	}
	return fmt.Errorf("the job %s failed for good: %s", dead[0].ID, dead[0].LastError)
}

func deadAmong(ctx context.Context, queue *jobs.Queue, due []schemas.SegmentRef) ([]jobs.Status, error) {
	all, err := queue.Dead(ctx)
	if err != nil {
		return nil, err
	}
	wanted := make(map[string]bool, len(due))
	for _, ref := range due {
		wanted[jobs.ExportTaskID(ref)] = true
	}
	return slices.DeleteFunc(all, func(s jobs.Status) bool { return !wanted[s.ID] }), nil
}
