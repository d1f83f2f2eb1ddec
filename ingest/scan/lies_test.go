package scan

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Pages that a decoder might read as something else than was meant are refused.
func TestPagesThatDecodersMayMisreadStop(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20)
	for name, edit := range map[string]struct{ old, new string }{
		"bytes that are no UTF-8":           {`"party":"alice::1220"`, "\"party\":\"alice\xc3\x28::1220\""},
		"half a surrogate pair":             {`"party":"alice::1220"`, `"party":"alice\ud800::1220"`},
		"migration id beyond 64 bits":       {`"migration_id":0`, `"migration_id":18446744073709551616`},
		"migration id with a fraction":      {`"migration_id":0`, `"migration_id":0.5`},
		"traffic cost beyond 64 bits":       {`"total_traffic_cost":12`, `"total_traffic_cost":9223372036854775808`},
		"round beyond 64 bits":              {`"round_number":`, `"round_number":9223372036854775808`},
		"key twice in an update":            {`"migration_id":0`, `"migration_id":0,"migration_id":0`},
		"key twice in a value":              {`{"party":"alice::1220"}`, `{"party":"alice::1220","party":"mallory::1220"}`},
		"key twice, once escaped":           {`{"party":"alice::1220"}`, `{"party":"alice::1220","p\u0061rty":"mallory::1220"}`},
		"nesting a million deep":            {`{"party":"alice::1220"}`, deep},
		"control character in a string":     {`"alice::1220"`, "\"alice\n::1220\""},
		"time that does not exist":          {`"record_time":"2026-07-01`, `"record_time":"2026-02-30`},
		"node number beyond its range":      {`:0":{`, `:4294967296":{`},
		"number where a text should be":     {`"workflow_id":""`, `"workflow_id":1`},
		"text behind the end of the answer": {`]}`, `]}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, sink := newUpstream(t, generate(0, -1, 0, 60)), newSink()
			found := false
			spoil(u, 1<<40, func(w http.ResponseWriter, answer []byte) {
				at := bytes.LastIndex(answer, []byte(edit.old))
				if found = found || at >= 0; at >= 0 {
					answer = slices.Concat(answer[:at], []byte(edit.new), answer[at+len(edit.old):])
				}
				w.Write(answer)
			})
			ing := newIngester(t, u, sink, func(c *Config) { c.Source = Events })
			err := ing.Backfill(testContext(t))
			checkStopped(t, ing, err, "malformed history")
			if !errors.Is(err, schemas.ErrMalformed) || sink.items > 0 || !found {
				t.Errorf("got %v with %d items, edited %v", err, sink.items, found)
			}
		})
	}
}

// What one upstream gives that way the other makes up for.
func TestMisleadingPagesOfOneUpstreamDoNoHarm(t *testing.T) {
	t.Parallel()
	list, urls := newUpstreams(t, 2, func() []*migration { return []*migration{generate(0, -1, 0, 600)} })
	spoil(list[0], 1<<40, func(w http.ResponseWriter, answer []byte) {
		io.WriteString(w, strings.ReplaceAll(string(answer), `"migration_id":0`, `"migration_id":0,"migration_id":0`))
	})
	sink := newSink()
	if err := newIngesterOf(t, urls, sink, nil).Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, list[1].lines(Events))
}

// A single upstream can leave an update out without breaking any rule of the interface.
// That shows where two have to agree (TestLiesOfOneUpstreamAreFoundOut), and when the
// range was announced already, which is what this is about.
func TestUpdateLeftOutOfAnAnnouncedRangeStops(t *testing.T) {
	t.Parallel()
	for name, how := range lies {
		u, whole := newUpstream(t, generate(0, -1, 0, 500)), newSink()
		if err := newIngester(t, u, whole, func(c *Config) { c.BatchItems = 200 }).Backfill(testContext(t)); err != nil {
			t.Fatal(err)
		}
		b := whole.batches[1]
		lie(u, transaction(u.migrations[0], 250), how)
		sink := newSink()
		sink.at = b.After
		sink.resume = schemas.Resume{Committed: b.After, Pending: &schemas.Intent{After: b.After, Through: b.Through, Items: len(b.Items), Hash: store.HashBatch(&b)}}
		err := newIngester(t, u, sink, nil).Backfill(testContext(t))
		if !errors.Is(err, schemas.ErrDiverged) || sink.items > 0 {
			t.Errorf("%s: got %v with %d items, want diverged history", name, err, sink.items)
		}
	}
}
