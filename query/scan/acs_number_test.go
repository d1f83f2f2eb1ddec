package scan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
)

type numberedAnswer struct {
	RecordTime string `json:"record_time"`
	Events     []struct {
		ContractID string `json:"contract_id"`
		EventID    string `json:"event_id"`
		EventType  string `json:"event_type"`
	} `json:"created_events"`
	Token *int64 `json:"next_page_token"`
}

// numbered walks an active set by numbered tokens; every page is asked of the server that
// next returns.
func numbered(t *testing.T, next func() *served, path, members string, size int) (ids []string, tokens []int64) {
	t.Helper()
	after := ""
	for {
		var page numberedAnswer
		next().ok("POST", path, fmt.Sprintf(`{%s,"page_size":%d%s}`, members, size, after), &page)
		for _, e := range page.Events {
			ids = append(ids, e.ContractID)
			if isV0 := strings.Contains(path, "/v0/"); isV0 != (e.EventID == "#"+e.ContractID+":0" && e.EventType == "created_event") {
				t.Errorf("%s gives event id %q of type %q", path, e.EventID, e.EventType)
			}
		}
		if page.Token == nil {
			return ids, tokens
		}
		if *page.Token < 1 || *page.Token >= 1<<53 {
			t.Errorf("token %d is no positive integer of 53 bits", *page.Token)
		}
		tokens = append(tokens, *page.Token)
		after = fmt.Sprintf(`,"after":%d`, *page.Token)
	}
}

func TestNumberedPages(t *testing.T) {
	m := world()
	want := activeAt(m, 0, at("2026-07-01T06:00:00Z"), func(*lifetime) bool { return true })
	ofBob := activeAt(m, 0, at("2026-07-01T06:00:00Z"), func(l *lifetime) bool { return slices.Contains(l.Event.Signatories, bob) })
	members := `"migration_id":0,"record_time":"2026-07-01T06:00:00Z"`
	one := serve(t, m)
	for _, path := range []string{"/v0/state/acs", "/v1/state/acs"} {
		for _, size := range []int{1, 7, len(want), 1000} {
			same, _ := numbered(t, func() *served { return one }, path, members, size)
			// A server that has just started remembers no places.
			fresh, _ := numbered(t, func() *served { return serve(t, m, func(c *Config) { c.ChunkBytes = 1 }) }, path, members, max(size, 5))
			if !slices.Equal(same, want) || !slices.Equal(fresh, want) {
				t.Errorf("%s in pages of %d: %v and %v, want %v", path, size, same, fresh, want)
			}
		}
	}
	filtered, _ := numbered(t, func() *served { return serve(t, m) }, "/v1/state/acs", members+`,"party_ids":["`+bob+`"]`, 4)
	if !slices.Equal(filtered, ofBob) || len(ofBob) < 5 {
		t.Errorf("of a party: %v, want %v", filtered, ofBob)
	}
}

func TestNumberedTokensBelongToTheirRequest(t *testing.T) {
	m := world()
	s := serve(t, m)
	members := `"migration_id":0,"record_time":"2026-07-01T06:00:00Z"`
	_, tokens := numbered(t, func() *served { return s }, "/v1/state/acs", members, 3)
	ask := func(members string, token int64) int {
		return s.do("POST", "/v1/state/acs", `{`+members+`,"page_size":3,"after":`+strconv.FormatInt(token, 10)+`}`).status
	}
	for _, token := range tokens {
		for bit := range 53 {
			if got := ask(members, token^1<<bit); got != 400 {
				t.Errorf("token %d with bit %d altered: %d", token, bit, got)
			}
		}
		for name, other := range map[string]string{
			"another time":    strings.Replace(members, "06:00", "03:00", 1),
			"another instant": strings.Replace(members, "record_time", "at", 1),
			"a party":         members + `,"party_ids":["` + alice + `"]`,
			"a template":      members + `,"templates":["a:b:c"]`,
		} {
			if got := ask(other, token); got != 400 {
				t.Errorf("%s: %d", name, got)
			}
		}
	}
	for _, token := range []int64{0, -1, 1, 1 << 24, 1<<62 + 5, -1 << 63, 1<<63 - 1} {
		if got := ask(members, token); got != 400 {
			t.Errorf("token %d: %d", token, got)
		}
	}
	foreign := serve(t, m, func(c *Config) { c.TokenKey = []byte("another key of 16 bytes or more") })
	foreign.refused("POST", "/v1/state/acs", fmt.Sprintf(`{%s,"page_size":3,"after":%d}`, members, tokens[0]), 400, "Invalid after token")
	s.refused("POST", "/v1/state/acs", `{`+members+`,"page_size":3,"after":"x"}`, 400, "integer")
	s.refused("POST", "/v0/state/acs", `{`+members+`,"page_size":3,"after":1.5}`, 400, "integer")
}

// A numbered token of at_or_before goes on with the set of its first page, whichever
// snapshots have come since, also on a server that has just started.
func TestNumberedTokenKeepsItsSnapshot(t *testing.T) {
	m := world()
	full := m.mark
	m.setMark(schemas.EndOf(0, at("2026-07-01T04:00:00Z")))
	members := `"migration_id":0,"record_time":"2026-07-01T23:00:00Z","record_time_match":"at_or_before"`
	var first, second numberedAnswer
	serve(t, m).ok("POST", "/v1/state/acs", `{`+members+`,"page_size":3}`, &first)
	m.setMark(full)
	serve(t, m).ok("POST", "/v1/state/acs", fmt.Sprintf(`{%s,"page_size":1000,"after":%d}`, members, *first.Token), &second)
	var got []string
	for _, e := range append(first.Events, second.Events...) {
		got = append(got, e.ContractID)
	}
	want := activeAt(m, 0, at("2026-07-01T03:00:00Z"), func(*lifetime) bool { return true })
	if second.RecordTime != first.RecordTime || !slices.Equal(got, want) {
		t.Errorf("at %s: %v, want %v", second.RecordTime, got, want)
	}
}
