package scan

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
)

var _ Source = struct {
	*history.Reader
	*history.State
	*history.Rounds
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
		Success *struct {
			ID     string
			Ports  map[string]int
			Active bool
		} `json:"success"`
		NotInitialized *struct{} `json:"not_initialized"`
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

func TestSmallOperations(t *testing.T) {
	s := serve(t, world())
	if r := s.do("GET", "/api/scan/v0/feature-support", ""); r.status != 200 || r.body != "{}" {
		t.Errorf("feature-support = %d %s", r.status, r.body)
	}
	s.refused("POST", "/v0/state/acs/force", "", 400, "disabled")
}
