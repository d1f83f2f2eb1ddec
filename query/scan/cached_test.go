package scan

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// counting counts how often updates are looked up.
type counting struct {
	*memory
	lookups atomic.Int64
}

func (c *counting) ItemsByID(ctx context.Context, ids []string) (map[string]schemas.Item, error) {
	c.lookups.Add(1)
	return c.memory.ItemsByID(ctx, ids)
}

func TestLookupsAreKeptAndTagged(t *testing.T) {
	m := world()
	source := &counting{memory: m}
	late := m.items[2].Update.UpdateID
	m.items[2].Verdict, m.items[2].Traffic = nil, nil // it may come later
	s := serve(t, m, func(c *Config) { c.Source = source })
	for _, path := range []string{"/v2/updates/1220000000", "/v1/updates/1220000000", "/v0/updates/1220000000?lossless=true", "/v0/events/1220000000"} {
		source.lookups.Store(0)
		first := s.do("GET", path, "")
		tag := first.header.Get("ETag")
		again := s.do("GET", path, "")
		known := s.do("GET", path, "", "If-None-Match", tag)
		other := s.do("GET", path, "", "If-None-Match", `"x", W/"y"`)
		if first.status != 200 || again.body != first.body || other.body != first.body || !strings.Contains(first.header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %s, then %s", path, first.status, first.body, again.body)
		}
		if tag == "" || known.status != 304 || known.body != "" || known.header.Get("ETag") != tag {
			t.Errorf("%s with tag %s: %d %q", path, tag, known.status, known.body)
		}
		if n := source.lookups.Load(); n != 1 {
			t.Errorf("%s was looked up %d times", path, n)
		}
	}
	source.lookups.Store(0)
	for range 2 {
		if r := s.do("GET", "/v0/events/"+late, ""); r.status != 200 || r.header.Get("ETag") != "" {
			t.Errorf("an event without its verdict: %d with tag %q", r.status, r.header.Get("ETag"))
		}
	}
	s.refused("GET", "/v2/updates/nothing", "", 404, "not found")
	s.refused("GET", "/v2/updates/nothing", "", 404, "not found")
	if n := source.lookups.Load(); n != 4 {
		t.Errorf("what may change was looked up %d times, want 4", n)
	}
}

func TestActiveSetsAreTagged(t *testing.T) {
	s := serve(t, world())
	fixed := `{"migration_id":0,"record_time":"2026-07-01T06:00:00Z","page_size":3}`
	first := s.do("POST", "/v2/state/acs", fixed)
	tag := first.header.Get("ETag")
	if r := s.do("POST", "/v2/state/acs", fixed, "If-None-Match", tag); r.status != 200 || tag == "" || r.header.Get("ETag") != tag {
		t.Errorf("a page of a fixed set with its tag %q: %d with tag %q", tag, r.status, r.header.Get("ETag"))
	}
	moving := `{"migration_id":0,"record_time":"2026-07-01T06:00:00Z","record_time_match":"at_or_before","page_size":3}`
	if r := s.do("POST", "/v2/state/acs", moving, "If-None-Match", "*"); r.status != 200 || r.header.Get("ETag") != "" {
		t.Errorf("a page of a set that may change: %d with tag %q", r.status, r.header.Get("ETag"))
	}
	if r := s.do("POST", "/v2/state/acs", `{"migration_id":9,"at":"2026-07-01T06:00:00Z","page_size":3}`, "If-None-Match", "*"); r.status != 404 {
		t.Errorf("an error with If-None-Match: %d", r.status)
	}
}
