package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// Queue is a connection to the queue: it queues tasks, runs them if asked to, and
// shows them. It is safe for concurrent use.
type Queue struct {
	cfg       Config
	redis     redis.UniversalClient
	builtin   *builtin // nil unless there is no other Redis
	inspector *asynq.Inspector
	rescan    chan struct{}

	mu       sync.Mutex
	handlers map[string]Handler   // by the name of their kind
	kinds    []string             // names in the order in which they were registered
	running  map[string]*run      // tasks running in this process, by ID
	waits    map[string]int       // how often a task has ended with Passing in a row
	finished map[string]time.Time // when those that ended since the last scan did
	runs     sync.WaitGroup       // one for each of running
	// untilRescan is after how many ended tasks the next scan is due, 0 if none waits for that.
	untilRescan int
}

// Open connects to the queue, or starts the built-in one. The error is ErrUnreachable
// if Redis does not answer; it names the fix and no password.
func Open(ctx context.Context, cfg Config) (*Queue, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	q := &Queue{
		cfg:      cfg,
		rescan:   make(chan struct{}, 1),
		handlers: map[string]Handler{},
		running:  map[string]*run{},
		waits:    map[string]int{},
		finished: map[string]time.Time{},
	}
	address := cfg.RedisURL
	if address == "" {
		var err error
		if q.builtin, err = startBuiltin(); err != nil {
			return nil, fmt.Errorf("jobs: %w", err)
		}
		address = q.builtin.url
	}
	client, err := connect(ctx, address)
	if err != nil {
		q.closeBuiltin()
		return nil, fmt.Errorf("jobs: %w", err)
	}
	q.redis, q.inspector = client, asynq.NewInspectorFromRedisClient(client)
	return q, nil
}

// Close ends the connection, and the built-in server with it. Run must have returned.
func (q *Queue) Close() error {
	err := q.redis.Close()
	q.closeBuiltin()
	if err != nil {
		return fmt.Errorf("jobs: closing: %w", err)
	}
	return nil
}

func (q *Queue) closeBuiltin() {
	if q.builtin != nil {
		q.builtin.close()
	}
}

// Ping returns ErrUnreachable if Redis does not answer now.
func (q *Queue) Ping(ctx context.Context) error {
	if err := q.redis.Ping(ctx).Err(); err != nil {
		return fmt.Errorf("jobs: %w", explain(q.cfg.RedisURL, err))
	}
	return nil
}

// Register adds handlers, one for each kind. It must be called before Run. What is due is
// queued in the order of the handlers.
func (q *Queue) Register(handlers ...Handler) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, h := range handlers {
		if err := h.Kind.validate(); err != nil {
			return fmt.Errorf("jobs: %w", err)
		}
		if h.Run == nil {
			return fmt.Errorf("jobs: the handler of %s has no Run", h.Kind.Name)
		}
		if _, taken := q.handlers[h.Kind.Name]; taken {
			return fmt.Errorf("jobs: %s has two handlers", h.Kind.Name)
		}
		q.handlers[h.Kind.Name], q.kinds = h, append(q.kinds, h.Kind.Name)
	}
	return nil
}

// Enqueue queues the task and returns true, or returns false if a task of that ID is
// queued, running or dead already, which is no error.
func (q *Queue) Enqueue(ctx context.Context, task Task) (bool, error) {
	if err := task.validate(); err != nil {
		return false, fmt.Errorf("jobs: queueing: %w", err)
	}
	payload, err := json.Marshal(task.Payload)
	if err != nil {
		return false, fmt.Errorf("jobs: queueing %s: encoding payload: %w", task.ID, err)
	}
	// A client of its own, which costs nothing: one that lives on would not enter its
	// queues into the list of queues again after Redis was flushed, and the inspector
	// would find none.
	client := asynq.NewClientFromRedisClient(q.redis)
	_, err = client.EnqueueContext(ctx, asynq.NewTask(task.Kind.Name, payload), task.options(q.cfg)...)
	if errors.Is(err, asynq.ErrTaskIDConflict) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("jobs: queueing %s: %w", task.ID, err)
	}
	return true, nil
}
