package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hibiken/asynq"
)

// State is where a task is.
type State string

// The states. A task that is done is in none of them: it has left the queue.
const (
	Active  State = "active"  // running
	Pending State = "pending" // waiting for a worker
	Delayed State = "delayed" // not to run before NextRun
	Failing State = "failing" // failed, to be repeated at NextRun
	Dead    State = "dead"    // failed for good, waiting for a person
)

// ErrUnknownTask means that the queue holds no such task in such a state.
var ErrUnknownTask = errors.New("no such task")

// Status describes a task on the queue.
type Status struct {
	ID      string
	Kind    string
	Lane    Lane
	State   State
	Payload json.RawMessage
	// Failures is how often the task was repeated so far, MaxRetry how often it may be.
	Failures, MaxRetry int
	// LastError and LastFailed are of the last failure, else empty.
	LastError  string
	LastFailed time.Time
	// NextRun is when the task will run, zero unless delayed or failing.
	NextRun time.Time
	// Started, Done and Total are of a run in this process: when it began, and how far it is, see ProgressFunc.
	// They are zero of other tasks.
	Started     time.Time
	Done, Total int64
}

// pageSize is how many tasks are read at once.
const pageSize = 200

// List returns up to limit tasks of one state, lane by lane.
func (q *Queue) List(ctx context.Context, state State, limit int) ([]Status, error) {
	var found []Status
	for _, lane := range lanes {
		for page := 1; len(found) < limit; page++ {
			infos, err := q.listPage(ctx, lane, state, page)
			if err != nil {
				return nil, fmt.Errorf("jobs: listing %s tasks: %w", state, err)
			}
			for _, info := range infos[:min(len(infos), limit-len(found))] {
				found = append(found, q.withRun(newStatus(lane, state, info)))
			}
			if len(infos) < pageSize {
				break
			}
		}
	}
	return found, nil
}

// Dead returns the dead tasks, at most 10,000: the queue keeps no more of them, and
// none longer than 90 days. The store will say that their work is due again.
func (q *Queue) Dead(ctx context.Context) ([]Status, error) {
	return q.List(ctx, Dead, 10_000)
}

// listPage reads one page of one lane. A lane that nothing was ever queued in is empty.
func (q *Queue) listPage(ctx context.Context, lane Lane, state State, page int) ([]*asynq.TaskInfo, error) {
	if err := ctx.Err(); err != nil { // the inspector takes no context
		return nil, err
	}
	list := map[State]func(string, ...asynq.ListOption) ([]*asynq.TaskInfo, error){
		Active:  q.inspector.ListActiveTasks,
		Pending: q.inspector.ListPendingTasks,
		Delayed: q.inspector.ListScheduledTasks,
		Failing: q.inspector.ListRetryTasks,
		Dead:    q.inspector.ListArchivedTasks,
	}[state]
	if list == nil {
		return nil, fmt.Errorf("unknown state %q", state)
	}
	infos, err := list(q.cfg.queue(lane), asynq.Page(page), asynq.PageSize(pageSize))
	if errors.Is(err, asynq.ErrQueueNotFound) {
		return nil, nil
	}
	return infos, err
}

func newStatus(lane Lane, state State, info *asynq.TaskInfo) Status {
	s := Status{
		ID: info.ID, Kind: info.Type, Lane: lane, State: state,
		Payload:  info.Payload,
		Failures: info.Retried, MaxRetry: info.MaxRetry,
		LastError: info.LastErr, LastFailed: info.LastFailedAt,
	}
	if state == Delayed || state == Failing {
		s.NextRun = info.NextProcessAt
	}
	return s
}

// withRun adds how far the run of an active task is, if it is in this process.
func (q *Queue) withRun(s Status) Status {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r := q.running[s.ID]; r != nil && s.State == Active {
		s.Started, s.Done, s.Total = r.started, r.done.Load(), r.total.Load()
	}
	return s
}

// Counts returns the number of tasks in each state.
func (q *Queue) Counts(ctx context.Context) (map[State]int, error) {
	if err := ctx.Err(); err != nil { // the inspector takes no context
		return nil, err
	}
	counts := map[State]int{Active: 0, Pending: 0, Delayed: 0, Failing: 0, Dead: 0}
	// Asked first, because GetQueueInfo returns no ErrQueueNotFound.
	known, err := q.inspector.Queues()
	if err != nil {
		return nil, fmt.Errorf("jobs: counting tasks: %w", err)
	}
	for _, lane := range lanes {
		if !slices.Contains(known, q.cfg.queue(lane)) {
			continue // nothing was ever queued in it
		}
		info, err := q.inspector.GetQueueInfo(q.cfg.queue(lane))
		if err != nil {
			return nil, fmt.Errorf("jobs: counting tasks of lane %s: %w", lane, err)
		}
		counts[Active] += info.Active
		counts[Pending] += info.Pending
		counts[Delayed] += info.Scheduled
		counts[Failing] += info.Retry
		counts[Dead] += info.Archived
	}
	return counts, nil
}

// Retry has a dead, failing or delayed task run now. The error is ErrUnknownTask if
// there is none of that ID.
func (q *Queue) Retry(ctx context.Context, id string) error {
	for _, lane := range lanes {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := q.inspector.RunTask(q.cfg.queue(lane), id)
		switch {
		case err == nil:
			q.cfg.Log.InfoContext(ctx, "task will be retried on request", "task", id, "lane", lane)
			return nil
		case !errors.Is(err, asynq.ErrTaskNotFound) && !errors.Is(err, asynq.ErrQueueNotFound):
			return fmt.Errorf("jobs: retrying %s: %w", id, err)
		}
	}
	return fmt.Errorf("jobs: retrying %s: %w", id, ErrUnknownTask)
}

// Cancel stops the run of an active task, which is repeated later like one that has failed, and removes any other
// task: it is queued again if its work is still due. The error is ErrUnknownTask if there is none of that ID.
func (q *Queue) Cancel(ctx context.Context, id string) error {
	for _, lane := range lanes {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := q.cancel(q.cfg.queue(lane), id)
		switch {
		case err == nil:
			q.cfg.Log.InfoContext(ctx, "task was cancelled on request", "task", id, "lane", lane)
			return nil
		case !errors.Is(err, asynq.ErrTaskNotFound) && !errors.Is(err, asynq.ErrQueueNotFound):
			return fmt.Errorf("jobs: cancelling %s: %w", id, err)
		}
	}
	return fmt.Errorf("jobs: cancelling %s: %w", id, ErrUnknownTask)
}

func (q *Queue) cancel(queue, id string) error {
	info, err := q.inspector.GetTaskInfo(queue, id)
	if err != nil {
		return err
	}
	if info.State == asynq.TaskStateActive {
		return q.inspector.CancelProcessing(id)
	}
	return q.inspector.DeleteTask(queue, id)
}
