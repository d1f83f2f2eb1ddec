package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// reportEvery is how often progress is written at most.
	reportEvery = 500 * time.Millisecond
	// progressTTL is how long the last report of a run that died is kept.
	progressTTL = 10 * time.Minute
)

// Progress is how far the run of a task is.
type Progress struct {
	// Done of Total, in the unit of the handler. A Total of 0 means unknown.
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
	// Rate is per second, since the first report of this run.
	Rate float64 `json:"rate"`
	// ETA is the time left in seconds at that rate, -1 if that cannot be said.
	ETA float64 `json:"eta"`
}

// progress is the reporting of one run.
//
// It does not use asynq's result writer: that one writes into the record of the task,
// and if Redis was flushed meanwhile creates a record that holds nothing else. Such a
// record never expires and would keep the task from being queued ever again.
type progress struct {
	ctx   context.Context // of the run, whose methods have no other
	queue *Queue
	key   string

	mu         sync.Mutex
	current    Progress
	start      time.Time // of the first report
	startDone  int64     // said by the first report
	lastReport time.Time
}

func (q *Queue) newProgress(ctx context.Context, id string) *progress {
	return &progress{ctx: ctx, queue: q, key: q.progressKey(id)}
}

// progressKey is where the progress of a task is kept.
func (q *Queue) progressKey(id string) string { return q.cfg.Name + ":progress:" + id }

// report is a ProgressFunc.
func (p *progress) report(done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.start.IsZero() {
		p.start, p.startDone = now, done
	}
	p.current = estimate(done, total, done-p.startDone, now.Sub(p.start))
	if now.Sub(p.lastReport) < reportEvery && done != total {
		return
	}
	p.lastReport = now
	if err := p.write(); err != nil && p.ctx.Err() == nil {
		p.queue.cfg.Log.DebugContext(p.ctx, "reporting progress failed", "key", p.key, "err", err)
	}
}

// estimate computes rate and time left from what was done since the first report.
func estimate(done, total, since int64, elapsed time.Duration) Progress {
	p := Progress{Done: done, Total: total, ETA: -1}
	if elapsed > 0 {
		p.Rate = float64(since) / elapsed.Seconds()
	}
	switch {
	case total > 0 && done >= total:
		p.ETA = 0
	case total > 0 && p.Rate > 0:
		p.ETA = float64(total-done) / p.Rate
	}
	return p
}

func (p *progress) write() error {
	encoded, err := json.Marshal(p.current)
	if err != nil {
		return fmt.Errorf("encoding progress: %w", err)
	}
	return p.queue.redis.Set(p.ctx, p.key, encoded, progressTTL).Err()
}

// last returns what was reported last.
func (p *progress) last() (done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current.Done, p.current.Total
}

// clear removes the report of a run that has ended.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lastReport.IsZero() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), time.Second)
	defer cancel()
	if err := p.queue.redis.Del(ctx, p.key).Err(); err != nil {
		p.queue.cfg.Log.DebugContext(ctx, "clearing progress failed", "key", p.key, "err", err)
	}
}

// readProgress returns the last report of a task, or nil if there is none.
func (q *Queue) readProgress(ctx context.Context, id string) (*Progress, error) {
	encoded, err := q.redis.Get(ctx, q.progressKey(id)).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading progress of %s: %w", id, err)
	}
	var p Progress
	if err := json.Unmarshal(encoded, &p); err != nil {
		return nil, fmt.Errorf("decoding progress of %s: %w", id, err)
	}
	return &p, nil
}
