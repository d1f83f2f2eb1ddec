package scan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

type updatesAnswer struct {
	Transactions []json.RawMessage `json:"transactions"`
}

type eventsAnswer struct {
	Events []json.RawMessage `json:"events"`
}

// walk follows the cursor of pages to the end, as clients do, and returns all elements.
func (s *served) walk(path string, size int, encoding string) []string {
	s.t.Helper()
	var all []string
	after := ""
	for {
		body := fmt.Sprintf(`{"page_size":%d,"contract_value_encoding":"%s"%s}`, size, encoding, after)
		var page struct {
			updatesAnswer
			eventsAnswer
		}
		s.ok("POST", path, body, &page)
		list := append(page.Transactions, page.Events...)
		for _, e := range list {
			all = append(all, string(e))
		}
		if len(list) < size {
			return all
		}
		var last struct {
			MigrationID *int64 `json:"migration_id"`
			RecordTime  string `json:"record_time"`
			Update      *struct {
				MigrationID int64  `json:"migration_id"`
				RecordTime  string `json:"record_time"`
			} `json:"update"`
			Verdict *struct {
				MigrationID int64  `json:"migration_id"`
				RecordTime  string `json:"record_time"`
			} `json:"verdict"`
		}
		if err := json.Unmarshal(list[len(list)-1], &last); err != nil {
			s.t.Fatal(err)
		}
		switch {
		case last.Verdict != nil:
			last.MigrationID, last.RecordTime = &last.Verdict.MigrationID, last.Verdict.RecordTime
		case last.Update != nil:
			last.MigrationID, last.RecordTime = &last.Update.MigrationID, last.Update.RecordTime
		}
		after = fmt.Sprintf(`,"after":{"after_migration_id":%d,"after_record_time":"%s"}`, *last.MigrationID, last.RecordTime)
	}
}

// want renders what the source holds straight through package schemas, values converted
// with the same catalogue.
func want(m *memory, path, encoding string) []string {
	var all []string
	form := schemas.UpdateForm{WithOffset: path == "/v1/updates"}
	w := newUpdateWriter(values.Default(), form, schemas.Encoding(encoding))
	for i := range m.items {
		it := &m.items[i]
		switch {
		case path == "/v0/events":
			all = append(all, string(w.item(nil, it)))
		case it.Update != nil:
			all = append(all, string(w.update(nil, it.Update)))
		}
	}
	return all
}

func TestPagesGiveAllOfHistoryOnce(t *testing.T) {
	m := world()
	for _, chunk := range []int64{1, 3000, 1 << 20} { // one row at a time, a few, all
		s := serve(t, m, func(c *Config) { c.ChunkBytes = chunk })
		for _, path := range []string{"/v2/updates", "/v1/updates", "/v0/events"} {
			for _, encoding := range []string{"compact_json", "protobuf_json"} {
				for _, size := range []int{7, 58, 1000} {
					got, want := s.walk(path, size, encoding), want(m, path, encoding)
					if strings.Join(got, "\n") != strings.Join(want, "\n") {
						t.Errorf("%s in pages of %d, %s, chunks of %d bytes: %d elements, want %d", path, size, encoding, chunk, len(got), len(want))
					}
				}
			}
		}
	}
}

func TestOffsetsOnlyInVersionOne(t *testing.T) {
	s := serve(t, world())
	for path, want := range map[string]int{"/v1/updates": 5, "/v2/updates": 0} {
		var page updatesAnswer
		body := s.ok("POST", path, `{"page_size":5}`, &page)
		if got := strings.Count(body, `"offset":"000000000000000001"`); got != want {
			t.Errorf("%s has %d offsets, want %d", path, got, want)
		}
	}
}

func TestEncodings(t *testing.T) {
	m := world()
	foreign := transaction(1, m.mark.RecordTime+1, "1220foreign", schemas.ProtobufJSON)
	foreign.Events[0].TemplateID, foreign.Events[0].PackageName = "ab:Other.Module:Thing", "other"
	m.items = append(m.items, schemas.Item{Update: foreign, Verdict: verdict(1, foreign.RecordTime, foreign.UpdateID)})
	m.setMark(foreign.Position())
	s := serve(t, m)
	type update struct {
		Events map[string]struct {
			Arguments json.RawMessage `json:"create_arguments"`
		} `json:"events_by_id"`
	}
	cases := []struct {
		name, id, query, want string
	}{
		{"stored protobuf, asked for compact by default", "1220000000", "", string(coin(schemas.CompactJSON, alice, 1))},
		{"stored protobuf, asked for protobuf", "1220000000", "?contract_value_encoding=protobuf_json", string(coin(schemas.ProtobufJSON, alice, 1))},
		{"the network's spelling", "1220000000", "?daml_value_encoding=protobuf_json", string(coin(schemas.ProtobufJSON, alice, 1))},
		{"stored compact, asked for compact", "1220000001", "?contract_value_encoding=compact_json", string(coin(schemas.CompactJSON, alice, 1))},
		{"stored compact, asked for protobuf", "1220000001", "?contract_value_encoding=protobuf_json", string(coin(schemas.ProtobufJSON, alice, 1))},
		{"unknown template as stored", "1220foreign", "?contract_value_encoding=protobuf_json", string(coin(schemas.ProtobufJSON, alice, 1))},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var u update
			s.ok("GET", "/v2/updates/"+c.id+c.query, "", &u)
			if got := string(u.Events[c.id+":0"].Arguments); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			var e struct{ Update update }
			s.ok("GET", "/v0/events/"+c.id+c.query, "", &e)
			if got := string(e.Update.Events[c.id+":0"].Arguments); got != c.want {
				t.Errorf("event: got  %s\nwant %s", got, c.want)
			}
		})
	}
	var u update
	s.ok("GET", "/v2/updates/1220foreign", "", &u)
	var fallback struct {
		Error string
		Value json.RawMessage
	}
	raw := u.Events["1220foreign:0"].Arguments
	if err := json.Unmarshal(raw, &fallback); err != nil || fallback.Error == "" || string(fallback.Value) != string(coin(schemas.ProtobufJSON, alice, 1)) {
		t.Errorf("an unknown template in the other encoding gives %s", raw)
	}
}

func TestHistoryIsGatedUntilBackfilled(t *testing.T) {
	s := serve(t, world())
	s.health.set(false, nil)
	for _, path := range []string{"/v2/updates", "/v1/updates", "/v0/events"} {
		s.refused("POST", path, `{"page_size":1}`, 503, "not yet replicated")
		if r := s.do("POST", path, `{"page_size":1}`); r.header.Get("Retry-After") == "" {
			t.Error("503 without Retry-After")
		}
	}
	var any map[string]any
	s.ok("GET", "/v2/updates/1220000000", "", &any)
	s.ok("GET", "/v0/events/1220000000", "", &any)
	s.ok("POST", "/v0/backfilling/updates-before", `{"migration_id":0,"synchronizer_id":"`+sync1+`","before":"2026-07-05T00:00:00Z","count":10}`, &any)
	s.ok("POST", "/v0/backfilling/import-updates", `{"migration_id":1,"after_update_id":"","limit":10}`, &any)
	s.source.setMark(schemas.Start)
	s.refused("POST", "/v2/updates", `{"page_size":1}`, 503, "not yet loaded")
}

func TestNothingAboveTheWatermark(t *testing.T) {
	m := world()
	s := serve(t, m)
	m.setMark(m.items[10].Position())
	if got := len(s.walk("/v2/updates", 1000, "compact_json")); got != 6 {
		t.Errorf("%d updates, want 6", got)
	}
	later := m.items[12].Position().UpdateID
	s.refused("GET", "/v2/updates/"+later, "", 404, "not found")
	s.refused("GET", "/v0/events/"+later, "", 404, "not found")
	m.setMark(schemas.Start)
	if got := len(s.walk("/v2/updates", 1000, "compact_json")); got != 0 {
		t.Errorf("%d updates in an empty store", got)
	}
	s.refused("GET", "/v0/events/latest-record-time", "", 404, "No events")
}

func TestEventsCap(t *testing.T) {
	const minute = 60 * 1e6
	base := at("2026-07-01T00:00:00Z")
	update := func(m int64, minutes int) schemas.Item {
		t := base + schemas.Micros(minutes)*minute
		return schemas.Item{Update: transaction(m, t, fmt.Sprintf("1220u%d%06d", m, minutes), schemas.CompactJSON)}
	}
	alone := func(m int64, minutes int) schemas.Item {
		t := base + schemas.Micros(minutes)*minute
		return schemas.Item{Verdict: verdict(m, t, fmt.Sprintf("1220v%d%06d", m, minutes))}
	}
	both := func(m int64, minutes int) schemas.Item {
		it := update(m, minutes)
		it.Verdict = verdict(m, it.Update.RecordTime, it.Update.UpdateID)
		return it
	}
	many := []schemas.Item{both(0, 0)}
	for i := 1; i <= 350; i++ {
		many = append(many, alone(0, i))
	}
	many = append(many, update(0, 100_000))
	cases := []struct {
		name   string
		items  []schemas.Item
		shown  int
		latest int // minutes, -1 for none
	}{
		{"both at the end", []schemas.Item{both(0, 1), both(0, 2)}, 2, 2},
		{"a verdict alone at the end waits", []schemas.Item{both(0, 1), alone(0, 2)}, 1, 1},
		{"an update alone at the end waits", []schemas.Item{both(0, 1), alone(0, 2), update(0, 3)}, 2, 2},
		{"no verdicts at all: up to the watermark", []schemas.Item{update(0, 1), update(0, 2)}, 2, 2},
		{"only verdicts", []schemas.Item{alone(0, 1)}, 0, -1},
		{"an earlier migration is not capped", []schemas.Item{both(0, 1), alone(0, 2), both(1, 3)}, 3, 3},
		{"the newest migration without verdicts shows nothing", []schemas.Item{both(0, 1), update(1, 3)}, 1, 1},
		{"the last verdict far below many", many, 351, 350},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := &memory{items: c.items}
			m.setMark(c.items[len(c.items)-1].Position())
			s := serve(t, m)
			if got := s.walk("/v0/events", 100, "compact_json"); len(got) != c.shown {
				t.Errorf("%d events are shown, want %d", len(got), c.shown)
			}
			for i, it := range c.items {
				status := s.do("GET", "/v0/events/"+it.Position().UpdateID, "").status
				if want := map[bool]int{true: 200, false: 404}[i < c.shown]; status != want && i%50 < 4 {
					t.Errorf("event %d by id gives %d, want %d", i, status, want)
				}
			}
			if c.latest < 0 {
				s.refused("GET", "/v0/events/latest-record-time", "", 404, "No events")
				return
			}
			var latest recordTimeAnswer
			s.ok("GET", "/v0/events/latest-record-time", "", &latest)
			if want := (base + schemas.Micros(c.latest)*minute).String(); latest.RecordTime != want {
				t.Errorf("latest record time %s, want %s", latest.RecordTime, want)
			}
		})
	}
}
