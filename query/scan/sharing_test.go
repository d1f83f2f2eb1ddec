package scan

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// busyShelf is a shelf whose progress takes as long as release says.
type busyShelf struct {
	*shelf
	reads   atomic.Int64
	release chan struct{} // one for each reading
}

func (b *busyShelf) Progress(ctx context.Context) ([]Pipeline, error) {
	b.reads.Add(1)
	select {
	case <-b.release:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return []Pipeline{{Name: "parquet", Done: int(b.reads.Load())}}, nil
}

// However many ask for the progress of exports, it is read once a second at most, and while a
// busy store takes its time they are told the last one.
func TestProgressDoesNotWaitForTheStore(t *testing.T) {
	b := &busyShelf{shelf: &shelf{}, release: make(chan struct{}, 10)}
	var now atomic.Int64
	now.Store(at("2026-07-01T00:00:00Z").Time().UnixNano())
	s := serve(t, world(), func(c *Config) {
		c.Bulk, c.Now = b, func() time.Time { return time.Unix(0, now.Load()) }
	})
	ask := func(want string) {
		t.Helper()
		if r := s.do("GET", "/v0/history/bulk/progress", ""); r.status != 200 || !strings.Contains(r.body, want) {
			t.Errorf("progress %d %s, want %s", r.status, r.body, want)
		}
	}
	b.release <- struct{}{}
	for range 20 {
		ask(`"done":1,`)
	}
	if n := b.reads.Load(); n != 1 {
		t.Errorf("within a moment progress was read %d times", n)
	}
	now.Add(int64(2 * time.Second))
	for range 5 {
		ask(`"done":1,`) // the store does not answer
	}
	for stop := time.Now().Add(10 * time.Second); b.reads.Load() != 2; time.Sleep(time.Millisecond) {
		if time.Now().After(stop) {
			t.Fatalf("progress was read %d times, want 2", b.reads.Load())
		}
	}
	b.release <- struct{}{}
	for stop := time.Now().Add(10 * time.Second); !strings.Contains(s.do("GET", "/v0/history/bulk/progress", "").body, `"done":2,`); time.Sleep(time.Millisecond) {
		if time.Now().After(stop) {
			t.Fatal("what was read is not told")
		}
	}
	now.Add(int64(time.Hour)) // what is too old is not told
	b.release <- struct{}{}
	ask(`"done":3,`)
}

// What is read ahead of a client is read only if there is memory for it, which is given back.
func TestReadingAheadTakesSpareMemory(t *testing.T) {
	m := world()
	var held, asked, refuse atomic.Int64
	s := serve(t, m, func(c *Config) {
		c.Spare = func(bytes int64) (func(), bool) {
			asked.Add(1)
			if bytes <= 0 || refuse.Load() > 0 {
				return nil, false
			}
			held.Add(bytes)
			return func() { held.Add(-bytes) }, true
		}
	})
	walk := func() {
		t.Helper()
		after := ""
		for range 5 {
			var page struct {
				Transactions []struct {
					RecordTime  string `json:"record_time"`
					MigrationID int64  `json:"migration_id"`
				}
			}
			s.ok("POST", "/v2/updates", `{"page_size":5`+after+`}`, &page)
			last := page.Transactions[len(page.Transactions)-1]
			after = fmt.Sprintf(`,"after":{"after_migration_id":%d,"after_record_time":%q}`, last.MigrationID, last.RecordTime)
		}
	}
	walk()
	if asked.Load() == 0 {
		t.Error("nothing was read ahead")
	}
	for stop := time.Now().Add(10 * time.Second); held.Load() != 0; time.Sleep(time.Millisecond) {
		if time.Now().After(stop) {
			t.Fatalf("%d bytes are not given back", held.Load())
		}
	}
	refuse.Store(1)
	walk()
	if held.Load() != 0 {
		t.Errorf("%d bytes are held", held.Load())
	}
}
