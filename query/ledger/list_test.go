package ledger

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/query"
)

func TestListRules(t *testing.T) {
	source := &memory{}
	source.grow(12)
	s := serve(t, source, func(c *Config, _ *query.Config) { c.ListLimit = 5 })
	for name, c := range map[string]struct {
		parameters string
		body       string
		want       []int64
	}{
		"all between two offsets":            {"", updates(4, 10, anyParty), span(3, 5)},
		"as many as the limit of the server": {"", updates(0, 10, anyParty), span(1, 5)},
		"none between equal offsets":         {"", updates(10, 10, anyParty), nil},
		"a limit":                            {"?limit=2", updates(0, 24, anyParty), span(1, 2)},
		"a limit of the server's":            {"?limit=5", updates(0, 24, anyParty), span(1, 5)},
		"a limit above the server's":         {"?limit=1000", updates(0, 10, anyParty), span(1, 5)},
		"a limit of 0":                       {"?limit=0", updates(0, 24, anyParty), nil},
		"descending":                         {"", updates(4, 12, anyParty, `,"descendingOrder":true`), span(6, 3)},
		"descending with a limit":            {"?limit=3", updates(0, 24, anyParty, `,"descendingOrder":true`), span(12, 10)},
		"without an end":                     {"?limit=5", updates(14, -1, anyParty), span(8, 12)},
		"without an end, at the end":         {"", updates(24, -1, anyParty), nil},
		"with an end and an idle time":       {"?stream_idle_timeout_ms=20", updates(18, 24, anyParty), span(10, 12)},
		"few of a party among others":        {"?limit=3", updates(0, 24, byParty(bob)), []int64{8, 10, 12}},
	} {
		for _, path := range []string{"/v2/updates", "/v2/updates/flats"} {
			var list []element
			s.post(path+c.parameters, c.body, &list)
			if got := offsets(list); !slices.Equal(got, c.want) {
				t.Errorf("%s: POST %s%s %s has offsets %v, want %v", name, path, c.parameters, c.body, got, c.want)
			}
		}
	}
	for name, parameters := range map[string]string{"without a limit": "", "with one above the server's": "?limit=6"} {
		e := s.refused("POST", "/v2/updates"+parameters, updates(0, 12, anyParty), 413, listTooLong)
		if e.ErrorCategory != 2 || e.GRPCCodeValue != 10 {
			t.Errorf("%s: %+v", name, e)
		}
	}
	for _, bad := range []string{"limit=-1", "limit=x", "limit=", "limit=1.5", "limit=9223372036854775808", "stream_idle_timeout_ms=-1", "stream_idle_timeout_ms=soon", "stream_idle_timeout_ms="} {
		name, _, _ := strings.Cut(bad, "=")
		a := s.do("POST", "/v2/updates?"+bad, updates(0, 2, anyParty))
		if a.status != 400 || a.header.Get("Content-Type") != "text/plain; charset=utf-8" || !strings.Contains(a.body, name) {
			t.Errorf("with %s the answer is %d %s %s", bad, a.status, a.header.Get("Content-Type"), a.body)
		}
	}
}

// The answer of a list between two offsets never changes: it is made once for each range,
// format and limit. One that is open, or refused, is made again.
func TestListsAreKept(t *testing.T) {
	source := &memory{}
	source.grow(12)
	s := serve(t, source, func(c *Config, _ *query.Config) { c.ListLimit, c.CacheBytes = 5, 1<<20 })
	reads := func(what, path, body string, status, want int) string {
		t.Helper()
		source.mu.Lock()
		before := source.read
		source.mu.Unlock()
		a := s.do("POST", path, body)
		source.mu.Lock()
		defer source.mu.Unlock()
		if got := source.read - before; a.status != status || (got > 0) != (want > 0) {
			t.Errorf("%s: %d after reading %d updates, want %d", what, a.status, got, status)
		}
		return a.body
	}
	const list, again, anew = "/v2/updates?limit=3", 0, 1
	first := reads("the first time", list, updates(4, 20, anyParty), 200, anew)
	if second := reads("the second time", list, updates(4, 20, anyParty), 200, again); second != first {
		t.Errorf("it was %s and is %s", first, second)
	}
	reads("another limit", "/v2/updates?limit=4", updates(4, 20, anyParty), 200, anew)
	reads("another begin", list, updates(6, 20, anyParty), 200, anew)
	reads("another end", list, updates(4, 18, anyParty), 200, anew)
	reads("another order", list, updates(4, 20, anyParty, `,"descendingOrder":true`), 200, anew)
	reads("another party", list, updates(4, 20, byParty(bob)), 200, anew)
	for range 2 {
		reads("without an end", list, updates(4, -1, anyParty), 200, anew)
		reads("too long", "/v2/updates", updates(0, 20, anyParty), 413, anew)
	}
}

// A list without an end is complete when nothing came for the idle time, and takes what
// comes before.
func TestListWithoutEndWaits(t *testing.T) {
	t.Parallel()
	source := &memory{}
	source.grow(3)
	s := serve(t, source, nil)
	begin := time.Now()
	var list []element
	s.post("/v2/updates?stream_idle_timeout_ms=150", updates(0, -1, anyParty), &list)
	if took := time.Since(begin); took < 150*time.Millisecond || len(list) != 3 {
		t.Errorf("%d updates after %s", len(list), took)
	}
	go func() {
		for range 4 {
			time.Sleep(60 * time.Millisecond)
			source.grow(1)
		}
	}()
	s.post("/v2/updates?stream_idle_timeout_ms=1000", updates(0, -1, anyParty), &list)
	if got := offsets(list); !slices.Equal(got, span(1, 7)) {
		t.Errorf("offsets %v", got)
	}
	// As many as the limit are there at once.
	begin = time.Now()
	s.post("/v2/updates?limit=2&stream_idle_timeout_ms=60000", updates(0, -1, anyParty), &list)
	if took := time.Since(begin); took > 5*time.Second || len(list) != 2 {
		t.Errorf("%d updates after %s", len(list), took)
	}
}

// A list without an end tells up to where it was read, so that the next one goes on there even
// when nothing was seen, where there is room for one element more.
func TestListWithoutEndTellsHowFarItRead(t *testing.T) {
	t.Parallel()
	source := &memory{}
	source.grow(7) // bob sees 4, its archival 5, and 6
	s := serve(t, source, func(c *Config, _ *query.Config) { c.ListLimit = 3 })
	last := offsetOf(7)
	for name, c := range map[string]struct {
		parameters, body string
		checkpoint       int64 // 0 for none
	}{
		"nothing seen":                       {"", updates(offsetOf(6), -1, byParty(bob)), last},
		"something seen before the end":      {"", updates(offsetOf(4), -1, byParty(bob)), last},
		"as many as the limit of the server": {"", updates(offsetOf(3), -1, byParty(bob)), 0},
		"the last was seen":                  {"", updates(offsetOf(5), -1, anyParty), 0},
		"nothing left":                       {"", updates(last, -1, anyParty), 0},
		"between the updates that are there": {"", updates(last-1, -1, anyParty), 0},
		"a limit that is reached":            {"?limit=1", updates(offsetOf(3), -1, byParty(bob)), 0},
		"no elements wanted":                 {"?limit=0", updates(offsetOf(6), -1, byParty(bob)), 0},
		"with an end":                        {"", updates(offsetOf(6), last, byParty(bob)), 0},
	} {
		for _, path := range []string{"/v2/updates", "/v2/updates/flats"} {
			var list []element
			s.post(path+c.parameters, c.body, &list)
			var got int64
			for i, e := range list {
				if cp := e.Update.OffsetCheckpoint; cp != nil {
					got = cp.Value.Offset
					if i != len(list)-1 || len(cp.Value.SynchronizerTimes) != 1 {
						t.Errorf("%s: %s: element %d of %d is %+v", name, path, i, len(list), cp)
					}
				}
			}
			if got != c.checkpoint {
				t.Errorf("%s: POST %s%s %s has a checkpoint at %d, want %d", name, path, c.parameters, c.body, got, c.checkpoint)
			}
		}
	}
}

// The wait of a list ends before the time for the request does.
func TestIdleTimeIsBounded(t *testing.T) {
	source := &memory{}
	source.grow(3)
	s := serve(t, source, func(_ *Config, tier *query.Config) { tier.RequestTimeout = 1300 * time.Millisecond })
	var list []element
	s.post("/v2/updates?stream_idle_timeout_ms=3600000", updates(0, -1, anyParty), &list)
	if len(list) != 3 {
		t.Errorf("%d updates", len(list))
	}
}

func TestOffsetsOutsideTheStream(t *testing.T) {
	source := &memory{begin: 4}
	source.grow(10)
	s := serve(t, source, nil)
	for name, c := range map[string]struct {
		path, body string
		status     int
		code       Code
	}{
		"a begin that is not there":       {"/v2/updates", updates(3, 10, anyParty), 400, prunedDataAccessed},
		"the beginning":                   {"/v2/updates", updates(0, 10, anyParty), 400, prunedDataAccessed},
		"a begin above the end":           {"/v2/updates", updates(21, -1, anyParty), 400, offsetAfterEnd},
		"an end above the end":            {"/v2/updates", updates(4, 21, anyParty), 400, offsetAfterEnd},
		"an end before the begin":         {"/v2/updates", updates(8, 6, anyParty), 400, invalidArgument},
		"a negative begin":                {"/v2/updates", updates(-1, 6, anyParty), 400, invalidArgument},
		"descending without an end":       {"/v2/updates", updates(4, -1, anyParty, `,"descendingOrder":true`), 400, invalidArgument},
		"both forms of filters":           {"/v2/updates/flats", updates(4, 6, anyParty, `,"verbose":true`), 400, invalidArgument},
		"a page from before the begin":    {"/v2/updates/get-updates-page", strings.Replace(updates(0, -1, anyParty), "beginExclusive", "beginOffsetExclusive", 1), 400, prunedDataAccessed},
		"active contracts before it":      {"/v2/state/active-contracts", activeAt(3, anyParty), 400, prunedDataAccessed},
		"active contracts above the end":  {"/v2/state/active-contracts", activeAt(21, anyParty), 400, offsetAfterEnd},
		"active contracts at -1":          {"/v2/state/active-contracts", activeAt(-1, anyParty), 400, invalidArgument},
		"an update that is not there":     {"/v2/updates/update-by-id", `{"updateId":"1220","updateFormat":{}}`, 404, updateNotFound},
		"an offset without an update":     {"/v2/updates/update-by-offset", `{"offset":7,"updateFormat":{}}`, 404, updateNotFound},
		"an offset of 0":                  {"/v2/updates/update-by-offset", `{"offset":0,"updateFormat":{}}`, 400, invalidArgument},
		"a contract that is not there":    {"/v2/events/events-by-contract-id", `{"contractId":"00ff","eventFormat":` + anyParty + `}`, 404, contractNotFound},
		"a template that is not there":    {"/v2/updates", updates(4, 6, templateFilter("#splice-amulet:Splice.Amulet:Nothing")), 404, noTemplatesForName},
		"a package that is not there":     {"/v2/updates", updates(4, 6, templateFilter("#no-such-package:A:B")), 404, packageNamesNotFound},
		"a page that is too large":        {"/v2/updates/get-updates-page", `{"beginOffsetExclusive":4,"maxPageSize":1001,"updateFormat":{}}`, 400, invalidArgument},
		"a page token that nobody gave":   {"/v2/updates/get-updates-page", `{"beginOffsetExclusive":4,"pageToken":"AAAA","updateFormat":{}}`, 400, invalidArgument},
		"a stream token that nobody gave": {"/v2/state/active-contracts", activeAt(8, anyParty, `,"streamContinuationToken":"AAAA"`), 400, invalidArgument},
		"a path that is not there":        {"/v2/commands/nothing", `{}`, 404, unknownPath},
		"what only a node can do":         {"/v2/commands/submit-and-wait", `{}`, 501, unsupported},
		"a websocket that is a plain GET": {"GET /v2/updates", ``, 400, invalidArgument},
		"a method that a path has not":    {"PUT /v2/updates", ``, 405, methodNotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			method, path, ok := strings.Cut(c.path, " ")
			if !ok {
				method, path = "POST", c.path
			}
			s.refused(method, path, c.body, c.status, c.code)
		})
	}
	a := s.do("GET", "/v2/state/latest-pruned-offsets", "")
	if a.body != `{"participantPrunedUpToInclusive":4,"allDivulgedContractsPrunedUpToInclusive":0}` {
		t.Errorf("pruned offsets %s", a.body)
	}
	var list []element
	if s.post("/v2/updates", updates(4, 6, anyParty), &list); len(list) != 1 {
		t.Errorf("%d updates right after the begin", len(list))
	}
}

func templateFilter(id string) string {
	return fmt.Sprintf(`{"filtersForAnyParty":{"cumulative":[{"identifierFilter":{"TemplateFilter":{"value":{"templateId":%q}}}}]}}`, id)
}
