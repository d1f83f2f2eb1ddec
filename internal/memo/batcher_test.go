package memo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestLookupsShareQueries(t *testing.T) {
	var queries, most atomic.Int64
	b := NewBatcher(func(_ context.Context, ids []string) (map[string]string, error) {
		queries.Add(1)
		time.Sleep(time.Millisecond) // as queries do
		most.Store(max(most.Load(), int64(len(ids))))
		found := map[string]string{}
		for _, id := range ids {
			if id != "missing" {
				found[id] = "of " + id
			}
		}
		return found, nil
	})
	const callers = 500
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			id := fmt.Sprintf("id%d", i%100)
			value, ok, err := b.Get(context.Background(), id)
			if err != nil || !ok || value != "of "+id {
				t.Errorf("%s: %v %v %v", id, value, ok, err)
			}
		})
	}
	wg.Wait()
	if queries.Load() > callers/2 || most.Load() > maxBatch {
		t.Errorf("%d lookups took %d queries with up to %d ids", callers, queries.Load(), most.Load())
	}
	if _, ok, err := b.Get(context.Background(), "missing"); ok || err != nil {
		t.Errorf("a missing id gives %v, %v", ok, err)
	}
}

// Lookups wait longer for others while many come at the same time, and no longer than usual
// after one that was alone.
func TestBatchesWaitWhileManyLookupsArrive(t *testing.T) {
	b := NewBatcher(func(context.Context, []string) (map[string]int, error) { return nil, nil })
	ask := func(callers int) {
		for range cap(b.running) { // no query runs before all callers are there
			b.running <- struct{}{}
		}
		var r *Read[map[string]int]
		for i := range callers {
			r = b.join(context.Background(), fmt.Sprintf("id%d", i))
		}
		for range cap(b.running) {
			<-b.running
		}
		<-r.Done()
	}
	for _, c := range []struct {
		callers int
		want    time.Duration
	}{{1, 0}, {maxBatch, maxWait}, {1, 0}, {minBatch, maxWait}} {
		ask(c.callers)
		if got := b.wait(); got != c.want {
			t.Errorf("after a batch of %d the next waits %s, want %s", c.callers, got, c.want)
		}
	}
}

func TestLookupOfOneCallerDoesNotCancelOthers(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	b := NewBatcher(func(ctx context.Context, ids []string) (map[string]int, error) {
		once.Do(func() { close(started) })
		<-release
		return map[string]int{"a": 1, "b": 2}, ctx.Err()
	})
	impatient, cancel := context.WithCancel(context.Background())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { _, _, err := b.Get(impatient, "a"); first <- err }()
	go func() { _, _, err := b.Get(context.Background(), "b"); second <- err }()
	<-started
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that gave up got %v", err)
	}
	close(release)
	if err := <-second; err != nil {
		t.Errorf("the other caller got %v", err)
	}
}
