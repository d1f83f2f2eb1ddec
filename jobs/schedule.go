package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Rescan asks the handlers soon what is due, not only at the next interval. A running
// Run does so; it returns at once and never fails.
func (q *Queue) Rescan() {
	select {
	case q.rescan <- struct{}{}:
	default: // one is asked for already
	}
}

// schedule queues what is due, at once and then at intervals, until ctx ends.
func (q *Queue) schedule(ctx context.Context) {
	ticker := time.NewTicker(q.cfg.Rescan)
	defer ticker.Stop()
	for ctx.Err() == nil {
		q.forgetFinished()
		for _, h := range q.scheduled() {
			if err := q.enqueueDue(ctx, h); err != nil && ctx.Err() == nil {
				q.cfg.Log.ErrorContext(ctx, "queueing due tasks failed", "kind", h.Kind.Name, "err", err, "retry_in", q.cfg.Rescan)
			}
		}
		select {
		case <-ticker.C:
		case <-q.rescan:
		case <-ctx.Done():
		}
	}
}

// scheduled returns the handlers that can say what is due, in the order in which they were
// registered: what comes first is run first.
func (q *Queue) scheduled() []Handler {
	q.mu.Lock()
	defer q.mu.Unlock()
	var handlers []Handler
	for _, kind := range q.kinds {
		if h := q.handlers[kind]; h.Due != nil {
			handlers = append(handlers, h)
		}
	}
	return handlers
}

// dueAtOnce is how many due tasks of a kind one scan queues at most: years of history that come
// at once must not fill the queue at once. The next scan queues more, and follows soon once
// this process has run most of them.
const dueAtOnce = 100

// enqueueDue queues the due tasks of one kind that are not queued yet.
func (q *Queue) enqueueDue(ctx context.Context, h Handler) error {
	asked := time.Now()
	tasks, err := h.Due(ctx)
	if err != nil {
		return fmt.Errorf("listing what is due: %w", err)
	}
	queued, inQueue := 0, make(map[string]bool)
	for _, task := range tasks {
		if queued == dueAtOnce {
			q.leave(queued)
			break
		}
		if q.finishedSince(task.ID, asked) {
			continue // the answer may be older than that
		}
		fresh, err := q.Enqueue(ctx, task)
		if err != nil {
			return err
		}
		if fresh {
			queued++
		} else {
			inQueue[task.ID] = true
		}
	}
	if err := q.revive(ctx, inQueue); err != nil {
		return err
	}
	if queued > 0 {
		q.cfg.Log.InfoContext(ctx, "queued due tasks", "kind", h.Kind.Name, "queued", queued, "due", len(tasks))
	}
	return nil
}

// revive has those of some tasks run again that have been dead for long.
func (q *Queue) revive(ctx context.Context, ids map[string]bool) error {
	if len(ids) == 0 {
		return nil
	}
	dead, err := q.Dead(ctx)
	if err != nil {
		return err
	}
	for _, task := range dead {
		if !ids[task.ID] || time.Since(task.LastFailed) < q.cfg.Revive {
			continue
		}
		if err := q.Retry(ctx, task.ID); err != nil && !errors.Is(err, ErrUnknownTask) {
			return err
		}
	}
	return nil
}

// finishedSince reports whether this process ended a run of the task since then.
func (q *Queue) finishedSince(id string, then time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	at, ok := q.finished[id]
	return ok && at.After(then)
}

// leave notes that a scan has left due tasks out after it queued n.
func (q *Queue) leave(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	// Those that ended since the scan began are counted no more.
	if q.untilRescan = n*3/4 - len(q.finished); q.untilRescan <= 0 {
		q.untilRescan = 0
		q.Rescan()
	}
}

// countdown asks for the scan that leave waits for, after enough tasks. The caller holds the
// lock.
func (q *Queue) countdown() {
	if q.untilRescan == 0 {
		return
	}
	if q.untilRescan--; q.untilRescan == 0 {
		q.Rescan()
	}
}

// forgetFinished drops what only the scan before needed to know.
func (q *Queue) forgetFinished() {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.finished)
}
