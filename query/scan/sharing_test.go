package scan

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

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
