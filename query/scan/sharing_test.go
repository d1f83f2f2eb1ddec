package scan

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestLookupsShareQueries(t *testing.T) {
	var queries, most atomic.Int64
	l := newLookups(func(_ context.Context, ids []string) (map[string]schemas.Item, error) {
		queries.Add(1)
		time.Sleep(time.Millisecond) // as queries do
		most.Store(max(most.Load(), int64(len(ids))))
		found := map[string]schemas.Item{}
		for _, id := range ids {
			if id != "missing" {
				found[id] = schemas.Item{Update: &schemas.Update{UpdateID: id}}
			}
		}
		return found, nil
	})
	const callers = 500
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			id := fmt.Sprintf("id%d", i%100)
			it, ok, err := l.get(context.Background(), id)
			if err != nil || !ok || it.Update.UpdateID != id {
				t.Errorf("%s: %v %v %v", id, it.Update, ok, err)
			}
		})
	}
	wg.Wait()
	if queries.Load() > callers/2 || most.Load() > gatherIDs {
		t.Errorf("%d lookups took %d queries with up to %d ids", callers, queries.Load(), most.Load())
	}
	if _, ok, err := l.get(context.Background(), "missing"); ok || err != nil {
		t.Errorf("a missing id gives %v, %v", ok, err)
	}
}

// Lookups wait longer for others while many come at the same time, and no longer than usual
// after one that was alone.
func TestLookupsOfACrowdWaitForEachOther(t *testing.T) {
	l := newLookups(func(context.Context, []string) (map[string]int, error) { return nil, nil })
	ask := func(callers int) {
		var g *gathering[int]
		for i := range callers {
			g = l.join(context.Background(), fmt.Sprintf("id%d", i))
		}
		<-g.done
	}
	for _, c := range []struct {
		callers int
		want    time.Duration
	}{{1, 0}, {gatherIDs, crowdTime}, {1, 0}, {crowd, crowdTime}} {
		ask(c.callers)
		if got := l.patience(); got != c.want {
			t.Errorf("after a gathering of %d the next waits %s, want %s", c.callers, got, c.want)
		}
	}
}

func TestLookupOfOneCallerDoesNotCancelOthers(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	l := newLookups(func(ctx context.Context, ids []string) (map[string]schemas.Item, error) {
		once.Do(func() { close(started) })
		<-release
		return map[string]schemas.Item{"a": {}, "b": {}}, ctx.Err()
	})
	impatient, cancel := context.WithCancel(context.Background())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { _, _, err := l.get(impatient, "a"); first <- err }()
	go func() { _, _, err := l.get(context.Background(), "b"); second <- err }()
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

func TestCachedLoadsOnceAndNotForLong(t *testing.T) {
	var mu sync.Mutex
	now := time.Unix(1, 0)
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	var loads atomic.Int64
	gate := make(chan struct{})
	c := &cached[int64]{ttl: time.Second, now: clock, load: func(context.Context) (int64, error) {
		<-gate
		return loads.Add(1), nil
	}}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if v, err := c.get(context.Background()); v != 1 || err != nil {
				t.Errorf("got %d, %v", v, err)
			}
		})
	}
	time.Sleep(10 * time.Millisecond) // let most of them wait for the same load
	close(gate)
	wg.Wait()
	mu.Lock()
	now = now.Add(time.Second)
	mu.Unlock()
	if v, _ := c.get(context.Background()); v != 2 {
		t.Errorf("after its time the value is %d", v)
	}
}

func TestCachedForgetsErrors(t *testing.T) {
	fail := true
	c := &cached[int]{ttl: time.Hour, now: time.Now, load: func(context.Context) (int, error) {
		if fail {
			return 0, errors.New("away")
		}
		return 7, nil
	}}
	if _, err := c.get(context.Background()); err == nil {
		t.Error("no error")
	}
	fail = false
	if v, err := c.get(context.Background()); v != 7 || err != nil {
		t.Errorf("got %d, %v", v, err)
	}
}
