package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/jobs"
)

const (
	// lookForDead is how often the queue is asked for jobs that failed for good.
	lookForDead = 200 * time.Millisecond
	// lookForDue is how often the store is asked what is due while jobs of this process run, as
	// other processes may run some of them. The answer is read out of the whole history.
	lookForDue = 2 * time.Second
)

// exportAll runs the export jobs until nothing that was due is left. A job that
// is dead ends it with its error.
func (w *worker) exportAll(ctx context.Context, p *console.Progress) error {
	ended := newEndings()
	queue, work, err := w.openQueue(ctx, jobs.Config{Rescan: 10 * time.Second, NotYetWait: 3 * time.Second, Ended: ended.add})
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
	total := len(due)
	p.Begin("export", "jobs", int64(total))
	if total > 0 {
		if err := w.runExport(ctx, queue, func(ctx context.Context) error {
			return awaitExport(ctx, queue, work, ended, due, p)
		}); err != nil {
			return err
		}
	}
	p.End(fmt.Sprintf("%d jobs", total))
	return nil
}

// runExport runs jobs while await does.
func (w *worker) runExport(ctx context.Context, queue *jobs.Queue, await func(context.Context) error) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	guard.Go(func() error { return queue.Run(running) }, func(err error) { ended <- err })
	err := await(ctx)
	stop()
	return errors.Join(err, <-ended)
}

// awaitExport returns when nothing is due any more. due is what was; jobs that end in this process
// are taken out of it, and the store is asked when none is left, or others may have ended some.
func awaitExport(ctx context.Context, queue *jobs.Queue, work ExportJobs, ended *endings, due map[string]bool, p *console.Progress) error {
	total, asked, wait := len(due), time.Now(), lookForDue
	for {
		for _, id := range ended.take() {
			delete(due, id)
		}
		// Not at once where none is left: a job that has just ended may still be in the queue, and
		// would not be queued again.
		if since := time.Since(asked); since > wait || len(due) == 0 && since > lookForDead {
			var err error
			began := time.Now()
			if due, err = work.Due(ctx); err != nil {
				return err
			}
			asked, wait = time.Now(), max(lookForDue, 4*time.Since(began))
			if len(due) == 0 {
				p.Set(int64(total), int64(total))
				return nil
			}
			queue.Rescan()
		}
		p.Set(int64(max(total-len(due), 0)), int64(total))
		if err := deadExport(ctx, queue, due); err != nil {
			return err
		}
		if disagreed := work.disagreed.Load(); disagreed != nil {
			return *disagreed
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ended.news:
		case <-time.After(lookForDead):
		}
	}
}

// endings are the jobs of this process that have done their work. It is safe for concurrent use.
type endings struct {
	mu   sync.Mutex
	ids  []string
	news chan struct{} // has an element after add, until somebody takes it
}

func newEndings() *endings { return &endings{news: make(chan struct{}, 1)} }

// add notes that a run of a job has ended.
func (e *endings) add(id string, err error) {
	if err == nil {
		e.mu.Lock()
		e.ids = append(e.ids, id)
		e.mu.Unlock()
	}
	select {
	case e.news <- struct{}{}:
	default:
	}
}

// take returns the jobs that have been added since the last call.
func (e *endings) take() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	ids := e.ids
	e.ids = nil
	return ids
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
