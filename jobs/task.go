package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hibiken/asynq"
)

// Lane keeps tasks of different hurry apart: each has workers of its own, so that
// hours of exports never hold up a task that is due now.
type Lane string

// The lanes.
const (
	Bulk   Lane = "bulk"   // long work without hurry: exports
	Prompt Lane = "prompt" // short work that should start at once: wallet automations
)

// lanes in the order in which they are listed.
var lanes = [...]Lane{Prompt, Bulk}

// Kind is a kind of task.
type Kind struct {
	// Name is the task's type on the queue, e.g. "export_segment".
	Name string
	Lane Lane
	// Timeout ends the context of a run. Defaults to 6 h.
	Timeout time.Duration
}

// Task is one piece of work to queue.
type Task struct {
	Kind Kind
	// ID names the work and nothing else, e.g. "export:scan:1:2026-07-02". A task whose
	// ID is queued, running or dead is not queued again.
	ID string
	// Payload names the work for the handler. It is encoded as JSON.
	Payload any
	// NotBefore is when the task may run at the earliest. Zero means at once.
	NotBefore time.Time
}

// ProgressFunc tells how far a run is: done of total, in a unit of the handler's choice.
// What it was told last is logged at the end. A total of 0 means unknown. It may be called as often as is convenient, also
// concurrently.
type ProgressFunc func(done, total int64)

// Handler runs the tasks of one kind.
type Handler struct {
	Kind Kind
	// Run does the work that the payload names. It returns nil when the work is done,
	// also if it was done before; a Permanent error when repeating cannot help; any
	// other error to be repeated later. It stops when ctx ends.
	Run func(ctx context.Context, payload []byte, progress ProgressFunc) error
	// Due returns all work that is due and not yet done, in the order in which it should
	// run, also what may be queued or running already. It is nil for work that only
	// Enqueue brings.
	Due func(ctx context.Context) ([]Task, error)
}

// Permanent marks an error of a Handler that repeating cannot help: the task is dead
// at once.
func Permanent(err error) error {
	return fmt.Errorf("%w: %w", err, asynq.SkipRetry)
}

// errNotYet marks errors of NotYet.
var errNotYet = errors.New("not yet")

// NotYet marks an error of a Handler that is no failure: what the work waits for has not
// happened yet. The task is repeated after Config.NotYetWait, as often as it takes.
func NotYet(err error) error { return fmt.Errorf("%w: %w", errNotYet, err) }

// passing is an error of Passing, of a run that followed so many others that failed so.
type passing struct {
	err   error
	times int
}

func (p *passing) Error() string { return p.err.Error() }
func (p *passing) Unwrap() error { return p.err }

// Passing marks an error of a Handler whose cause lies outside and passes, such as a full disk or
// a server that is away: the task is repeated for ever, after waits that grow up to the longest of
// Config.Backoff, and never dies of it.
func Passing(err error) error { return &passing{err: err} }

// isPassing reports whether err is one of Passing.
func isPassing(err error) bool {
	var p *passing
	return errors.As(err, &p)
}

// Decode reads a payload. Its error is Permanent.
func Decode[P any](kind Kind, payload []byte) (P, error) {
	var p P
	if err := json.Unmarshal(payload, &p); err != nil {
		return p, Permanent(fmt.Errorf("decoding %s payload: %w", kind.Name, err))
	}
	return p, nil
}

// options are those of the queue for this task.
func (t Task) options(cfg Config) []asynq.Option {
	options := []asynq.Option{
		asynq.TaskID(t.ID),
		asynq.Queue(cfg.queue(t.Kind.Lane)),
		asynq.MaxRetry(cfg.MaxRetry),
		asynq.Timeout(cmp.Or(t.Kind.Timeout, 6*time.Hour)),
		// Retention stays 0: a finished task leaves the queue, so that the same work can
		// be queued again should the store say that it is due again.
	}
	if !t.NotBefore.IsZero() {
		options = append(options, asynq.ProcessAt(t.NotBefore))
	}
	return options
}

// queue is the name of the lane's queue in Redis.
func (c Config) queue(lane Lane) string { return c.Name + "-" + string(lane) }

func (t Task) validate() error {
	if t.ID == "" {
		return errors.New("task has no id")
	}
	return t.Kind.validate()
}

func (k Kind) validate() error {
	if k.Name == "" || (k.Lane != Bulk && k.Lane != Prompt) {
		return fmt.Errorf("task kind %q has no name or no lane (%q)", k.Name, k.Lane)
	}
	return nil
}
