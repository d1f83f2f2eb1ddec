package scan

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var _ Source = struct {
	*history.Reader
	*history.State
}{}

func TestRoutesAreDistinctAndNamed(t *testing.T) {
	api, err := New(Config{Source: world(), Health: &health{}, Log: quiet(t), TokenKey: testKey})
	if err != nil {
		t.Fatal(err)
	}
	names, paths := map[string]bool{}, map[string]bool{}
	for _, r := range api.Routes() {
		operation := r.Method + " " + r.Path
		if names[r.Name] || paths[operation] || r.Handle == nil || !strings.HasPrefix(r.Name, "scan.") {
			t.Errorf("route %s named %q is doubled or incomplete", operation, r.Name)
		}
		names[r.Name], paths[operation] = true, true
	}
	if got := len(api.Mount().Prefixes); got != 2 {
		t.Errorf("%d prefixes", got)
	}
}

func TestConfigIsChecked(t *testing.T) {
	good := Config{Source: world(), Health: &health{}, Log: quiet(t), TokenKey: testKey}
	for name, spoil := range map[string]func(*Config){
		"no source":       func(c *Config) { c.Source = nil },
		"no health":       func(c *Config) { c.Health = nil },
		"short token key": func(c *Config) { c.TokenKey = []byte("short") },
		"page size":       func(c *Config) { c.MaxPageSize = 1001 },
	} {
		cfg := good
		spoil(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRefusedRequests(t *testing.T) {
	s := serve(t, world())
	thousand := strings.TrimSuffix(strings.Repeat(`"p",`, 1001), ",")
	acs := func(more string) string {
		return `{"migration_id":0,"record_time":"2026-07-01T06:00:00Z","page_size":10` + more + `}`
	}
	cases := []struct {
		method, path, body string
		status             int
		text               string
	}{
		{"POST", "/v2/updates", `{"page_size":0}`, 400, "Limit must be at least 1."},
		{"POST", "/v2/updates", `{"page_size":-1}`, 400, "Limit must be at least 1."},
		{"POST", "/v2/updates", `{"page_size":2000}`, 400, "Exceeded limit maximum (2000 > 1000)."},
		{"POST", "/v2/updates", `{}`, 400, "page_size is required"},
		{"POST", "/v2/updates", `{"page_size":"10"}`, 400, "integer"},
		{"POST", "/v2/updates", `{"page_size":10`, 400, "JSON"},
		{"POST", "/v2/updates", ``, 400, "JSON"},
		{"POST", "/v2/updates", `{"page_size":10,"after":{}}`, 400, "after.after_migration_id is required"},
		{"POST", "/v2/updates", `{"page_size":10,"after":{"after_migration_id":0}}`, 400, "after.after_record_time is required"},
		{"POST", "/v2/updates", `{"page_size":10,"after":{"after_migration_id":0,"after_record_time":"2026-07-01T00:00:00"}}`, 400, "after_record_time"},
		{"POST", "/v2/updates", `{"page_size":10,"after":{"after_migration_id":0,"after_record_time":"yesterday"}}`, 400, "after_record_time"},
		{"POST", "/v2/updates", `{"page_size":10,"contract_value_encoding":"xml"}`, 400, "one of compact_json, protobuf_json"},
		{"POST", "/v2/updates", `{"page_size":10,"daml_value_encoding":"xml"}`, 400, "one of compact_json, protobuf_json"},
		{"POST", "/v1/updates", `{"page_size":1001}`, 400, "Exceeded limit maximum (1001 > 1000)."},
		{"POST", "/v0/events", `{"page_size":1001}`, 400, "Exceeded limit maximum (1001 > 1000)."},
		{"GET", "/v2/updates", ``, 405, ""},
		{"POST", "/v2/updates/x", `{}`, 405, ""},
		{"GET", "/v2/updates/nothing", ``, 404, "not found"},
		{"GET", "/v1/updates/nothing", ``, 404, "not found"},
		{"GET", "/v2/updates/%ff%22%3C", ``, 404, "id \ufffd\"< not found"},
		{"GET", "/v0/events/nothing", ``, 404, "not found"},
		{"GET", "/v2/updates/00import1", ``, 404, "not found"},
		{"GET", "/v2/updates/x?daml_value_encoding=xml", ``, 400, "one of"},
		{"GET", "/v2/updates/" + strings.Repeat("a", 5000), ``, 400, "too long"},
		{"POST", "/v2/state/acs", `{"record_time":"2026-07-01T06:00:00Z","page_size":10}`, 400, "migration_id is required"},
		{"POST", "/v2/state/acs", `{"migration_id":0,"page_size":10}`, 400, "record_time is required"},
		{"POST", "/v2/state/acs", acs(`,"record_time_match":"near"`), 400, "one of exact, at_or_before"},
		{"POST", "/v2/state/acs", acs(`,"templates":["Splice.Amulet:Amulet"]`), 400, "PACKAGE_NAME"},
		{"POST", "/v2/state/acs", acs(`,"templates":["a::b"]`), 400, "PACKAGE_NAME"},
		{"POST", "/v2/state/acs", acs(`,"party_ids":[` + thousand + `]`), 400, "1001 elements"},
		{"POST", "/v2/state/acs", acs(`,"templates":[` + thousand + `]`), 400, "1001 elements"},
		{"POST", "/v2/state/acs", acs(`,"party_ids":"p"`), 400, "array of strings"},
		{"POST", "/v2/state/acs", acs(`,"after":"x"`), 400, "Invalid after token"},
		{"POST", "/v2/state/acs", acs(`,"after":17`), 400, "string"},
		{"POST", "/v2/state/acs", acs(`,"at":"2026-07-01T06:00:00Z"`), 400, "exclude each other"},
		{"GET", "/v0/state/acs/snapshot-timestamp", ``, 400, "before is required"},
		{"GET", "/v0/state/acs/snapshot-timestamp?before=2026-07-01T06:00:00Z", ``, 400, "migration_id is required"},
		{"GET", "/v0/state/acs/snapshot-timestamp?before=2026-07-01T06:00:00Z&migration_id=x", ``, 400, "integer"},
		{"GET", "/v0/state/acs/snapshot-timestamp-after?after=x&migration_id=0", ``, 400, "after"},
		{"POST", "/v0/backfilling/migration-info", `{}`, 400, "migration_id is required"},
		{"POST", "/v0/backfilling/migration-info", `{"migration_id":9}`, 404, "No data for migration 9"},
		{"POST", "/v0/backfilling/updates-before", `{"migration_id":0,"before":"2026-07-01T06:00:00Z","count":1}`, 400, "synchronizer_id is required"},
		{"POST", "/v0/backfilling/updates-before", `{"migration_id":0,"synchronizer_id":"s","before":"2026-07-01T06:00:00Z","count":1001}`, 400, "Exceeded"},
		{"POST", "/v0/backfilling/updates-before", `{"migration_id":9,"synchronizer_id":"s","before":"2026-07-01T06:00:00Z","count":1}`, 404, "No data for migration 9"},
		{"POST", "/v0/backfilling/import-updates", `{"migration_id":1,"limit":1}`, 400, "after_update_id is required"},
		{"POST", "/v0/backfilling/import-updates", `{"migration_id":1,"after_update_id":"","limit":0}`, 400, "Limit must be at least 1."},
		{"GET", "/v0/history/bulk/acs", ``, 400, "at_or_before_record_time is required"},
		{"GET", "/v0/history/bulk/acs?at_or_before_record_time=2026-07-01T06:00:00Z&format=csv", ``, 400, "one of json_zstd, parquet"},
		{"POST", "/v0/history/bulk/updates", `{"start_record_time":"2026-07-02T00:00:00Z","end_record_time":"2026-07-01T00:00:00Z","page_size":1}`, 400, "must be after"},
		{"POST", "/v0/history/bulk/updates", `{"start_record_time":"2026-07-01T00:00:00Z","end_record_time":"2026-07-02T00:00:00Z","page_size":1,"format":"parquet","next_page_token":"x"}`, 400, "token"},
		{"POST", "/v0/history/bulk/checksums", `{}`, 400, "object_keys is required"},
	}
	for _, c := range cases {
		for _, prefix := range Prefixes {
			s.refused(c.method, prefix+c.path, c.body, c.status, c.text)
		}
	}
}

func TestMalformedEscapeInPath(t *testing.T) {
	s := serve(t, world())
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /v2/updates/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(conn)
	if err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 400") || !strings.Contains(string(text), `{"error":"The path is not well-formed`) {
		t.Errorf("answer %s, %v", text, err)
	}
}

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
func want(m *memory, api *API, path, encoding string) []string {
	var all []string
	form := schemas.UpdateForm{WithOffset: path == "/v1/updates"}
	w := api.updateWriter(form, schemas.Encoding(encoding))
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
	api, err := New(Config{Source: m, Health: &health{}, Log: quiet(t), TokenKey: testKey})
	if err != nil {
		t.Fatal(err)
	}
	for _, chunk := range []int64{1, 3000, 1 << 20} { // one row at a time, a few, all
		s := serve(t, m, func(c *Config) { c.ChunkBytes = chunk })
		for _, path := range []string{"/v2/updates", "/v1/updates", "/v0/events"} {
			for _, encoding := range []string{"compact_json", "protobuf_json"} {
				for _, size := range []int{7, 58, 1000} {
					got, want := s.walk(path, size, encoding), want(m, api, path, encoding)
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

func TestStoreFailureIsHidden(t *testing.T) {
	m := world()
	s := serve(t, m)
	m.setFail(errors.New("code: 60, message: table updates at host db-1"))
	for _, c := range [][3]string{
		{"POST", "/v2/updates", `{"page_size":1}`}, {"POST", "/v0/events", `{"page_size":1}`}, {"GET", "/v2/updates/x", ""},
		{"GET", "/v0/state/acs/snapshot-timestamp?before=2026-07-01T06:00:00Z&migration_id=0", ""},
		{"POST", "/v0/backfilling/migration-info", `{"migration_id":0}`},
	} {
		if r := s.do(c[0], c[1], c[2]); r.status != 500 || r.body != `{"error":"An unexpected error occurred."}` {
			t.Errorf("%s %s = %d %s", c[0], c[1], r.status, r.body)
		}
	}
	m.setFail(nil)
	var page updatesAnswer
	s.ok("POST", "/v2/updates", `{"page_size":1}`, &page)
}

func TestService(t *testing.T) {
	s := serve(t, world())
	for _, prefix := range Prefixes {
		var version struct {
			Version  string    `json:"version"`
			CommitTS time.Time `json:"commit_ts"`
		}
		s.ok("GET", prefix+"/version", "", &version)
		if version.Version != "1.2.3" || version.CommitTS.Unix() != 1780000000 {
			t.Errorf("version %+v", version)
		}
		for _, path := range []string{"/readyz", "/livez"} {
			if r := s.do("GET", prefix+path, ""); r.status != 200 || r.body != "" {
				t.Errorf("%s = %d %q", path, r.status, r.body)
			}
		}
	}
	var status struct {
		Success        *nodeStatus `json:"success"`
		NotInitialized *inactive   `json:"not_initialized"`
	}
	s.ok("GET", "/status", "", &status)
	if status.Success == nil || status.Success.ID != "scan-1" || !status.Success.Active || status.Success.Ports == nil {
		t.Errorf("status %+v", status)
	}
	s.health.set(true, errors.New("store is away"))
	if r := s.do("GET", "/readyz", ""); r.status != 503 || r.body != "" {
		t.Errorf("readyz = %d %q while not ready", r.status, r.body)
	}
	if r := s.do("GET", "/livez", ""); r.status != 200 {
		t.Errorf("livez = %d while not ready", r.status)
	}
	status.Success = nil
	s.ok("GET", "/status", "", &status)
	if status.Success != nil || status.NotInitialized == nil {
		t.Errorf("status %+v while not ready", status)
	}
}

func TestBackfilling(t *testing.T) {
	s := serve(t, world())
	var info struct {
		Previous   *int64        `json:"previous_migration_id"`
		Ranges     []recordRange `json:"record_time_range"`
		LastImport *string       `json:"last_import_update_id"`
		Complete   bool          `json:"complete"`
		Imports    bool          `json:"import_updates_complete"`
	}
	s.ok("POST", "/v0/backfilling/migration-info", `{"migration_id":1}`, &info)
	if info.Previous == nil || *info.Previous != 0 || info.LastImport == nil || *info.LastImport != "00import2" || !info.Complete || !info.Imports ||
		len(info.Ranges) != 1 || info.Ranges[0] != (recordRange{sync1, "2026-07-02T00:10:00.000000Z", "2026-07-02T04:40:00.000000Z"}) {
		t.Errorf("migration 1: %+v", info)
	}
	info.Previous, info.LastImport = nil, nil
	body := s.ok("POST", "/v0/backfilling/migration-info", `{"migration_id":0}`, &info)
	if info.Previous != nil || info.LastImport != nil {
		t.Errorf("migration 0: %s", body)
	}

	// Imports may still grow while the watermark is among them.
	last := s.source.imports[2].Position()
	s.source.setMark(last)
	s.ok("POST", "/v0/backfilling/migration-info", `{"migration_id":1}`, &info)
	if info.Imports || len(info.Ranges) != 0 {
		t.Errorf("migration 1 with imports only: %+v", info)
	}
	s.source.setMark(world().mark)
	s.health.set(false, nil)
	s.ok("POST", "/v0/backfilling/migration-info", `{"migration_id":1}`, &info)
	if info.Complete || info.Imports {
		t.Errorf("migration 1 during backfill: %+v", info)
	}
	var status struct{ Complete *bool }
	s.ok("GET", "/v0/backfilling/status", "", &status)
	if status.Complete == nil || *status.Complete {
		t.Errorf("status during backfill: %+v", status)
	}
}

func TestUpdatesBefore(t *testing.T) {
	for _, chunk := range []int64{1, 1 << 20} {
		s := serve(t, world(), func(c *Config) { c.ChunkBytes = chunk })
		var all []schemas.Item
		before := "2026-07-09T00:00:00Z"
		for {
			body := s.ok("POST", "/v0/backfilling/updates-before", `{"migration_id":0,"synchronizer_id":"`+sync1+`","before":"`+before+`","count":20}`, new(updatesAnswer))
			page, err := schemas.DecodeUpdates([]byte(body), schemas.ProtobufJSON)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			if !strings.Contains(body, schemas.WireOffset) {
				t.Error("no offset")
			}
			all = append(all, page...)
			before = page[len(page)-1].Update.RecordTime.String()
		}
		if len(all) != 48 {
			t.Fatalf("%d updates, want 48", len(all))
		}
		for i, it := range all {
			if i > 0 && it.Update.RecordTime >= all[i-1].Update.RecordTime {
				t.Errorf("update %d is not older than the one before", i)
			}
			if got := string(it.Update.Events[0].Argument); got != string(coin(schemas.ProtobufJSON, alice, 1)) {
				t.Errorf("update %d is not in protobuf_json: %s", i, got)
			}
		}
		var page updatesAnswer
		s.ok("POST", "/v0/backfilling/updates-before", `{"migration_id":0,"synchronizer_id":"`+sync1+`","before":"2026-07-01T04:00:00Z","at_or_after":"2026-07-01T02:00:00.000001Z","count":20}`, &page)
		if len(page.Transactions) != 4 {
			t.Errorf("%d updates between two instants, want 4", len(page.Transactions))
		}
	}
}

func TestImportUpdates(t *testing.T) {
	s := serve(t, world())
	var ids []string
	after := ""
	for {
		body := s.ok("POST", "/v0/backfilling/import-updates", `{"migration_id":1,"after_update_id":"`+after+`","limit":2}`, new(updatesAnswer))
		page, err := schemas.DecodeUpdates([]byte(body), schemas.ProtobufJSON)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, it := range page {
			ids = append(ids, it.Update.UpdateID)
			if !it.Update.IsImport() || string(it.Update.Events[0].Argument) != string(coin(schemas.ProtobufJSON, bob, 1)) {
				t.Errorf("import %+v", it.Update)
			}
		}
		after = ids[len(ids)-1]
	}
	if got := strings.Join(ids, " "); got != "00import0 00import1 00import2" {
		t.Errorf("imports %s", got)
	}
	var page updatesAnswer
	s.ok("POST", "/v0/backfilling/import-updates", `{"migration_id":7,"after_update_id":"","limit":2}`, &page)
	if page.Transactions == nil || len(page.Transactions) != 0 {
		t.Errorf("imports of an unknown migration: %v", page.Transactions)
	}
}

func TestSmallOperations(t *testing.T) {
	s := serve(t, world())
	if r := s.do("GET", "/api/scan/v0/feature-support", ""); r.status != 200 || r.body != "{}" {
		t.Errorf("feature-support = %d %s", r.status, r.body)
	}
	s.refused("POST", "/v0/state/acs/force", "", 400, "disabled")
}

// The list of migrations may be cached from before the last imports; the answer that
// calls them complete must not name an earlier one as the last.
func TestMigrationInfoNeverPairsCompleteImportsWithAnOldLastID(t *testing.T) {
	source := world()
	end := source.mark
	source.setMark(source.imports[0].Position())
	s := serve(t, source, func(c *Config) { c.WatermarkTTL = time.Hour })
	// Loads the list, but not the watermark.
	s.refused("POST", "/v0/backfilling/updates-before",
		`{"migration_id":9,"synchronizer_id":"x","before":"2026-07-02T00:00:00Z","count":1}`, 404, "No data")
	source.setMark(end)
	var info migrationInfo
	s.ok("POST", "/v0/backfilling/migration-info", `{"migration_id":1}`, &info)
	if last := source.imports[2].UpdateID; !info.ImportUpdatesComplete || info.LastImportUpdateID != last {
		t.Errorf("import_updates_complete %v with last id %s, want %s", info.ImportUpdatesComplete, info.LastImportUpdateID, last)
	}
}
