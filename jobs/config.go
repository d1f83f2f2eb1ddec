package jobs

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"
)

// Config configures a Queue.
type Config struct {
	// RedisURL names the Redis that holds the queue, for example
	// "redis://user:password@host:6379/0", "rediss://host", "unix:///path.sock" or
	// "redis-sentinel://host1,host2?master=name". Empty means one within this process,
	// which is lost with it; that loses no work, see the package comment.
	RedisURL string
	// Name keeps the queues of several deployments on one Redis apart. It defaults to
	// "ledgerlake".
	Name string
	// Concurrency is how many tasks of the Bulk lane this process runs at a time.
	// Defaults to 2.
	Concurrency int
	// PromptConcurrency is the same for the Prompt lane. Defaults to 2.
	PromptConcurrency int
	// Rescan is how often handlers are asked what is due. Defaults to 1 min.
	Rescan time.Duration
	// MaxRetry is how often a failed task is repeated before it is dead. Defaults to 150,
	// which with the default Backoff is most of a day: longer than a usual outage of a
	// storage service.
	MaxRetry int
	// Backoff is the wait before a task is repeated that failed n times, n from 1 on.
	// It defaults to 1 s, doubled each time up to 10 min, with jitter.
	Backoff func(n int) time.Duration
	// NotYetWait is the wait before a task is repeated that ended with NotYet. Defaults to 30 s.
	NotYetWait time.Duration
	// Revive is how long a dead task stays dead while its handler says that its work is due: its
	// cause may have been settled meanwhile. Defaults to 1 h.
	Revive time.Duration
	// Drain is how long running tasks may take to finish when Run is told to stop. Then
	// their context ends and they are queued again. Defaults to 10 s.
	Drain time.Duration
	// Ended, if not nil, is told of each run of a task that has ended in this process, with its
	// error, nil if the work is done. Only after that the task leaves the queue. It must not wait.
	Ended func(taskID string, err error)
	// Log is required.
	Log *slog.Logger
}

// String returns the configuration with the password of the URL masked.
func (c Config) String() string {
	return fmt.Sprintf("redis=%s name=%s concurrency=%d prompt_concurrency=%d rescan=%v max_retry=%d drain=%v",
		maskURL(c.RedisURL), c.Name, c.Concurrency, c.PromptConcurrency, c.Rescan, c.MaxRetry, c.Drain)
}

// GoString is String, so that %#v does not reveal the password either.
func (c Config) GoString() string { return "jobs.Config{" + c.String() + "}" }

// LogValue implements slog.LogValuer with the password masked.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// withDefaults returns c with empty fields filled in.
func (c Config) withDefaults() Config {
	c.Name = cmp.Or(c.Name, "ledgerlake")
	c.Concurrency = cmp.Or(c.Concurrency, 2)
	c.PromptConcurrency = cmp.Or(c.PromptConcurrency, 2)
	c.Rescan = cmp.Or(c.Rescan, time.Minute)
	c.MaxRetry = cmp.Or(c.MaxRetry, 150)
	c.NotYetWait = cmp.Or(c.NotYetWait, 30*time.Second)
	c.Revive = cmp.Or(c.Revive, time.Hour)
	c.Drain = cmp.Or(c.Drain, 10*time.Second)
	if c.Backoff == nil {
		c.Backoff = backoff
	}
	return c
}

func (c Config) validate() error {
	if c.Log == nil {
		return errors.New("jobs: no logger given")
	}
	if c.Concurrency < 1 || c.PromptConcurrency < 1 || c.MaxRetry < 0 || c.Rescan < 0 || c.Drain < 0 {
		return fmt.Errorf("jobs: negative or zero limits: %v", c)
	}
	return nil
}

// backoff doubles from 1 s to 10 min and takes away up to half at random, so that
// tasks which failed together do not come back together.
func backoff(n int) time.Duration {
	const first, longest = time.Second, 10 * time.Minute
	wait := longest
	if n < 11 { // 2^10 s is above the longest
		wait = min(first<<max(n-1, 0), longest)
	}
	return wait/2 + rand.N(wait/2)
}
