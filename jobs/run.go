package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"

	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// How often a worker looks for tasks. asynq's own intervals, 1 s and 5 s, would be felt
// by a person who waits; a look costs Redis well under a millisecond.
const (
	lookForTasks   = 200 * time.Millisecond
	lookForDelayed = 500 * time.Millisecond
)

// stragglers is how long Run waits for handlers whose context has ended.
const stragglers = 5 * time.Second

// errRunning is what a task gets that this process is running already, as can be after
// Redis was flushed. It comes back later and does not count as a failure.
var errRunning = errors.New("the same task is running already")

// Run runs tasks and queues what is due until ctx ends, and then returns nil after
// running tasks have finished, or were cut off and queued again, see Config.Drain. It
// must not be called twice at the same time.
func (q *Queue) Run(ctx context.Context) error {
	// Not ctx: that running tasks may finish is what Drain is for.
	base := context.WithoutCancel(ctx)
	var servers []*asynq.Server
	for _, lane := range q.usedLanes() {
		server := asynq.NewServerFromRedisClient(q.redis, q.serverConfig(base, lane))
		if err := server.Start(asynq.HandlerFunc(q.process)); err != nil {
			q.stop(servers)
			return fmt.Errorf("jobs: starting the workers of lane %s: %w", lane, err)
		}
		servers = append(servers, server)
	}
	q.cfg.Log.InfoContext(ctx, "job queue running", "config", q.cfg)
	q.schedule(ctx)
	q.stop(servers)
	q.cfg.Log.InfoContext(base, "job queue stopped")
	return nil
}

// usedLanes returns the lanes that have a handler.
func (q *Queue) usedLanes() []Lane {
	q.mu.Lock()
	defer q.mu.Unlock()
	var used []Lane
	for _, lane := range lanes {
		for _, h := range q.handlers {
			if h.Kind.Lane == lane {
				used = append(used, lane)
				break
			}
		}
	}
	return used
}

func (q *Queue) serverConfig(base context.Context, lane Lane) asynq.Config {
	concurrency := q.cfg.Concurrency
	if lane == Prompt {
		concurrency = q.cfg.PromptConcurrency
	}
	return asynq.Config{
		Concurrency:              concurrency,
		Queues:                   map[string]int{q.cfg.queue(lane): 1},
		BaseContext:              func() context.Context { return base },
		TaskCheckInterval:        lookForTasks,
		DelayedTaskCheckInterval: lookForDelayed,
		ShutdownTimeout:          q.cfg.Drain,
		RetryDelayFunc: func(n int, err error, _ *asynq.Task) time.Duration {
			if errors.Is(err, errNotYet) {
				return q.cfg.NotYetWait
			}
			var p *passing
			if errors.As(err, &p) {
				return q.cfg.Backoff(p.times)
			}
			return q.cfg.Backoff(n + 1)
		},
		IsFailure: func(err error) bool {
			return !errors.Is(err, errRunning) && !errors.Is(err, errNotYet) && !isPassing(err)
		},
		ErrorHandler: asynq.ErrorHandlerFunc(q.logFailure),
		Logger:       asynqLog{q.cfg.Log.With("component", "asynq")},
		LogLevel:     asynq.InfoLevel,
	}
}

// stop ends the workers, all lanes at once, and waits for their handlers to return.
func (q *Queue) stop(servers []*asynq.Server) {
	ended := make(chan struct{})
	guard.Go(func() error {
		lanes := guard.NewGroup()
		for _, s := range servers {
			lanes.Go(func() error { s.Shutdown(); return nil })
		}
		err := lanes.Wait()
		q.runs.Wait()
		return err
	}, func(err error) {
		if err != nil {
			q.cfg.Log.Error("stopping the workers", "err", err)
		}
		close(ended)
	})
	select {
	case <-ended:
	case <-time.After(q.cfg.Drain + stragglers):
		q.cfg.Log.Warn("job handlers still run after their context has ended", "waited", q.cfg.Drain+stragglers)
	}
}

// process runs one task.
func (q *Queue) process(ctx context.Context, t *asynq.Task) error {
	id, _ := asynq.GetTaskID(ctx)
	h, r, err := q.begin(id, t.Type())
	if err != nil {
		return err
	}
	err = q.runTask(ctx, h, r, id, t)
	q.finish(id)
	if q.cfg.Ended != nil {
		q.cfg.Ended(id, err)
	}
	return err
}

// run is a task that runs, and how far it is.
type run struct {
	started     time.Time
	done, total atomic.Int64
}

// progress is the run's ProgressFunc.
func (r *run) progress(done, total int64) {
	r.done.Store(done)
	r.total.Store(total)
}

func (q *Queue) runTask(ctx context.Context, h Handler, r *run, id string, t *asynq.Task) error {
	// Not with asynq's result writer: that one writes into the record of the task, and if
	// Redis was flushed meanwhile creates a record that holds nothing else. Such a record
	// never expires and would keep the task from being queued ever again.
	if err := guard.Call(func() error { return h.Run(ctx, t.Payload(), r.progress) }); err != nil {
		return q.countPassing(id, err)
	}
	q.forgetPassing(id)
	q.cfg.Log.InfoContext(ctx, "task done", "task", id, "kind", t.Type(), "done", r.done.Load(), "total", r.total.Load(), "elapsed", time.Since(r.started))
	return nil
}

// countPassing says in an error of Passing how often the task has ended so since it ended otherwise.
func (q *Queue) countPassing(id string, err error) error {
	if !isPassing(err) {
		q.forgetPassing(id)
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waits[id]++
	return &passing{err, q.waits[id]}
}

func (q *Queue) forgetPassing(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.waits, id)
}

// begin notes that the task runs, unless it does already or nobody can run it.
func (q *Queue) begin(id, kind string) (Handler, *run, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	h, ok := q.handlers[kind]
	if !ok {
		return Handler{}, nil, fmt.Errorf("no handler for tasks of kind %s in this process", kind)
	}
	if _, running := q.running[id]; running {
		return Handler{}, nil, errRunning
	}
	r := &run{started: time.Now()}
	q.running[id] = r
	q.runs.Add(1)
	return h, r, nil
}

func (q *Queue) finish(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.running, id)
	q.finished[id] = time.Now()
	q.countdown()
	q.runs.Done()
}

// logFailure logs a failed run: as an error if the task is dead now.
func (q *Queue) logFailure(ctx context.Context, t *asynq.Task, err error) {
	if errors.Is(err, errRunning) {
		return
	}
	id, _ := asynq.GetTaskID(ctx)
	if errors.Is(err, errNotYet) {
		q.cfg.Log.InfoContext(ctx, "task waits", "task", id, "kind", t.Type(), "for", err, "retry_in", q.cfg.NotYetWait)
		return
	}
	if isPassing(err) {
		q.cfg.Log.WarnContext(ctx, "task failed and is retried until it succeeds", "task", id, "kind", t.Type(), "err", err)
		return
	}
	retried, _ := asynq.GetRetryCount(ctx)
	limit, _ := asynq.GetMaxRetry(ctx)
	log := q.cfg.Log.With("task", id, "kind", t.Type(), "attempt", retried+1, "max_retry", limit, "err", err)
	if retried >= limit || errors.Is(err, asynq.SkipRetry) {
		log.ErrorContext(ctx, "task is dead: fix its cause", "tried_again_after", q.cfg.Revive)
		return
	}
	log.WarnContext(ctx, "task failed and will be retried")
}

// asynqLog passes on what asynq says. Its chatter about starting and stopping is of no
// interest but for debugging.
type asynqLog struct {
	log *slog.Logger
}

// Debug implements asynq.Logger, as do the others.
func (l asynqLog) Debug(args ...any) { l.log.Debug("asynq", "said", text(args)) }

// Info is shown as debug.
func (l asynqLog) Info(args ...any) { l.log.Debug("asynq", "said", text(args)) }

// Warn tells of tasks that were cut off and of calls to be repeated.
func (l asynqLog) Warn(args ...any) { l.log.Warn("asynq", "said", text(args)) }

// Error tells of a Redis that fails.
func (l asynqLog) Error(args ...any) { l.log.Error("asynq", "said", text(args)) }

// Fatal does not exit: this is a library, and asynq goes on as well.
func (l asynqLog) Fatal(args ...any) { l.log.Error("asynq", "said", text(args)) }

func text(args []any) string { return strings.TrimSpace(fmt.Sprint(args...)) }
