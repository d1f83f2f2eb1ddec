package scan

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// large is a world with so many contracts that a dump has several pieces.
func large(n int) *memory {
	m := world()
	first := m.contracts[0]
	m.contracts = m.contracts[:0]
	for i := range n {
		l := first
		l.to = schemas.MaxMicros
		l.Event.ContractID = fmt.Sprintf("00%06d", i)
		l.Event.CreatedAt = first.Event.CreatedAt + schemas.Micros(i/3)
		m.contracts = append(m.contracts, l)
	}
	return m
}

const dumpPath = "/v0/state/acs/dump?migration_id=0&record_time=2026-07-01T06:00:00Z"

// dumped reads a dump and returns the ids of its contracts and its last line.
func dumped(t *testing.T, body io.Reader) (ids []string, end string) {
	t.Helper()
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			ContractID string `json:"contract_id"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("line %q: %v", lines.Text(), err)
		}
		if line.ContractID == "" {
			if end != "" {
				t.Errorf("two last lines: %s and %s", end, lines.Text())
			}
			end = lines.Text()
			continue
		}
		ids = append(ids, line.ContractID)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return ids, end
}

func TestDump(t *testing.T) {
	m := large(25_000)
	s := serve(t, m)
	want := activeAt(m, 0, at("2026-07-01T06:00:00Z"), func(*lifetime) bool { return true })
	for coding, open := range map[string]func(io.Reader) (io.Reader, error){
		"":     func(r io.Reader) (io.Reader, error) { return r, nil },
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
	} {
		r := s.do("GET", dumpPath, "", "Accept-Encoding", coding)
		if r.status != 200 || r.header.Get("Content-Encoding") != coding || !strings.HasPrefix(r.header.Get("Content-Type"), "application/x-ndjson") {
			t.Fatalf("%q: %d %v", coding, r.status, r.header)
		}
		plain, err := open(strings.NewReader(r.body))
		if err != nil {
			t.Fatal(err)
		}
		ids, end := dumped(t, plain)
		if !slices.Equal(ids, want) {
			t.Errorf("%q: %d contracts, want %d in order", coding, len(ids), len(want))
		}
		if wantEnd := fmt.Sprintf(`{"contracts":%d,"migration_id":0,"record_time":"2026-07-01T06:00:00.000000Z"}`, len(want)); end != wantEnd {
			t.Errorf("%q ends with %s, want %s", coding, end, wantEnd)
		}
	}
	small := serve(t, world())
	for query, keep := range map[string]func(*lifetime) bool{
		"&party_ids=" + bob + "&party_ids=nobody":             func(l *lifetime) bool { return slices.Contains(l.Event.Signatories, bob) },
		"&templates=app-coin:App.Coin:Coin":                   func(*lifetime) bool { return true },
		"&templates=a:b:c&templates=a:b:d":                    func(*lifetime) bool { return false },
		"&record_time_match=at_or_before&party_ids=nobody::1": func(*lifetime) bool { return false },
	} {
		ids, _ := dumped(t, strings.NewReader(small.do("GET", dumpPath+query, "").body))
		if want := activeAt(small.source, 0, at("2026-07-01T06:00:00Z"), keep); !slices.Equal(ids, want) {
			t.Errorf("%s: %v, want %v", query, ids, want)
		}
	}
}

func TestDumpRefuses(t *testing.T) {
	s := serve(t, world())
	path := "/v0/state/acs/dump?"
	for query, want := range map[string]struct {
		status int
		text   string
	}{
		"record_time=2026-07-01T06:00:00Z":                                                       {400, "migration_id is required"},
		"migration_id=0":                                                                         {400, "record_time is required"},
		"migration_id=x&record_time=2026-07-01T06:00:00Z":                                        {400, "integer"},
		"migration_id=0&record_time=yesterday":                                                   {400, "record_time"},
		"migration_id=0&at=2026-07-01T06:00:00Z&record_time=x":                                   {400, "exclude"},
		"migration_id=0&record_time=2026-07-01T06:00:00Z&templates=x":                            {400, "PACKAGE_NAME"},
		"migration_id=0&record_time=2026-07-01T06:00:00Z&record_time_match=no":                   {400, "one of"},
		"migration_id=0&record_time=2026-07-01T05:00:00Z":                                        {404, "No snapshot"},
		"migration_id=7&at=2026-07-01T05:00:00Z":                                                 {404, "No data"},
		"migration_id=0&record_time=2026-07-01T06:00:00Z" + strings.Repeat("&party_ids=p", 1001): {400, "1001 elements"},
	} {
		s.refused("GET", path+query, "", want.status, want.text)
	}
}

// A dump whose source fails on the way is cut: it has no last line, and the transfer no
// proper end.
func TestCutDumpShows(t *testing.T) {
	m := large(80_000)
	s := serve(t, m)
	m.setFail(errors.New("host x is down"))
	s.refused("GET", dumpPath, "", 500, "unexpected")
	m.setFail(nil)
	resp, err := http.Get(s.url + dumpPath)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	head := make([]byte, 1<<16)
	if _, err := io.ReadFull(resp.Body, head); err != nil {
		t.Fatal(err)
	}
	m.setFail(errors.New("host x is down"))
	rest, err := io.ReadAll(resp.Body)
	if err == nil || bytes.Contains(rest, []byte(`{"contracts":`)) {
		t.Errorf("a dump that failed on the way ends with %v and %d bytes", err, len(rest))
	}
}

func TestDumpTag(t *testing.T) {
	s := serve(t, world())
	first := s.do("GET", dumpPath, "")
	tag := first.header.Get("ETag")
	if again := s.do("GET", dumpPath, "", "If-None-Match", tag); tag == "" || again.status != 304 || again.body != "" {
		t.Errorf("with tag %s: %d %q", tag, again.status, again.body)
	}
	for _, other := range []string{strings.Replace(dumpPath, "06:00", "03:00", 1), dumpPath + "&party_ids=x"} {
		if r := s.do("GET", other, "", "If-None-Match", tag); r.status != 200 || r.header.Get("ETag") == tag {
			t.Errorf("%s: %d with tag %s", other, r.status, r.header.Get("ETag"))
		}
	}
}
