package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/jobs"
)

// exportAll runs the export jobs until nothing that was due is left. A job that
// is dead ends it with its error.
func (w *worker) exportAll(ctx context.Context, p *console.Progress) error {
	queue, work, err := w.openQueue(ctx, time.Second)
	if err != nil {
		return err
	}
	due, err := work.Due(ctx)
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
	err = w.awaitExport(ctx, queue, work, len(due), p)
	stop()
	if err := errors.Join(err, <-ended); err != nil {
		return err
	}
	p.End(fmt.Sprintf("%d jobs", len(due)))
	return nil
}

// awaitExport returns when nothing is due any more. It looks often, but for no more than a fifth
// of the time: what is due is read out of the whole history, while others work on it.
func (w *worker) awaitExport(ctx context.Context, queue *jobs.Queue, work ExportJobs, total int, p *console.Progress) error {
	for {
		began := time.Now()
		left, err := work.Due(ctx)
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

// Export publishes what is due within limits, and returns when that is done.
func (a *App) Export(ctx context.Context, limits ExportLimits, progress *console.Progress) error {
	a.worker.limits = limits
	if err := a.openForJobs(ctx); err != nil {
		return err
	}
	return a.p.guard(ctx, func(ctx context.Context) error { return a.worker.exportAll(ctx, progress) })
}
