package scan

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"testing"
	"time"
)

// stopped is a clock that is put forward by hand.
type stopped struct {
	mu sync.Mutex
	at time.Time
}

func (c *stopped) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *stopped) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// TestDownloadsOfObjectsThatChange: what is remembered of the catalog is neither asked for
// with each request nor relied on for long, nor against what the storage has.
func TestDownloadsOfObjectsThatChange(t *testing.T) {
	clock := &stopped{at: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)}
	s := serve(t, world(), func(c *Config) { c.Now = clock.now })
	const path, key = "/v0/history/bulk/download/updates%2Fobject", "updates/object"
	expect := func(step string, status int, body string, asked int) {
		t.Helper()
		s.bulk.asked = 0
		r := s.do("GET", path, "")
		sum := sha256.Sum256([]byte(body))
		if r.status != status || status == 200 && (r.body != body || r.header.Get("ETag") != `"`+hex.EncodeToString(sum[:])+`"`) {
			t.Errorf("%s: %d %q with tag %s, want %d %q", step, r.status, r.body, r.header.Get("ETag"), status, body)
		}
		if s.bulk.asked != asked {
			t.Errorf("%s: the catalog was asked %d times, want %d", step, s.bulk.asked, asked)
		}
	}
	expect("not published yet", 404, "", 1)
	expect("still not", 404, "", 1)
	s.bulk.put(key, "first")
	expect("published", 200, "first", 1)
	for range 3 {
		expect("again", 200, "first", 0)
	}
	s.bulk.put(key, "second")
	expect("published anew", 200, "second", 1)
	expect("and again", 200, "second", 0)
	s.bulk.expired = map[string]bool{key: true}
	clock.advance(listedFor - time.Nanosecond)
	expect("expired just now", 200, "second", 0)
	clock.advance(time.Nanosecond)
	expect("expired a moment ago", 404, "", 1)
	s.bulk.expired = nil
	expect("back", 200, "second", 1)
	delete(s.bulk.content, key)
	expect("withdrawn and deleted", 404, "", 1)
}
