package scan

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestSnapshotRule(t *testing.T) {
	held := func(first, last string) history.Migration {
		return history.Migration{ID: 1, Synchronizers: []history.SynchronizerRange{{SynchronizerID: sync1, Min: at(first), Max: at(last)}}}
	}
	end := schemas.Position{MigrationID: 2}
	cases := []struct {
		name      string
		m         history.Migration
		contracts schemas.Position
		first     string // "" for no snapshot
		last      string
	}{
		{"a day", held("2026-07-01T01:30:00Z", "2026-07-02T00:10:00Z"), end, "2026-07-01T03:00:00Z", "2026-07-02T00:00:00Z"},
		{"begins on a boundary", held("2026-07-01T03:00:00Z", "2026-07-01T07:00:00Z"), end, "2026-07-01T06:00:00Z", "2026-07-01T06:00:00Z"},
		{"begins within the hour of a boundary", held("2026-07-01T03:10:00Z", "2026-07-01T07:00:00Z"), end, "2026-07-01T06:00:00Z", "2026-07-01T06:00:00Z"},
		{"ends on a boundary", held("2026-07-01T01:00:00Z", "2026-07-01T06:00:00Z"), end, "2026-07-01T03:00:00Z", "2026-07-01T03:00:00Z"},
		{"ends just after one", held("2026-07-01T01:00:00Z", "2026-07-01T06:00:00.000001Z"), end, "2026-07-01T03:00:00Z", "2026-07-01T06:00:00Z"},
		{"too short", held("2026-07-01T01:00:00Z", "2026-07-01T03:00:00Z"), end, "", ""},
		{"lifetimes lag", held("2026-07-01T01:00:00Z", "2026-07-01T23:00:00Z"), schemas.Position{MigrationID: 1, RecordTime: at("2026-07-01T07:00:00Z")}, "2026-07-01T03:00:00Z", "2026-07-01T06:00:00Z"},
		{"lifetimes are in an earlier migration", held("2026-07-01T01:00:00Z", "2026-07-01T23:00:00Z"), schemas.Position{MigrationID: 0, RecordTime: schemas.MaxMicros}, "", ""},
		{"imports only", history.Migration{ID: 1, Imports: 5}, end, "", ""},
		{"before 1970", held("1969-12-31T22:30:00Z", "1970-01-01T07:00:00Z"), end, "1970-01-01T00:00:00Z", "1970-01-01T06:00:00Z"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := snapshotsOf(c.m, c.contracts)
			first, okFirst := s.after(schemas.MinMicros + 1e12)
			last, okLast := s.atOrBefore(schemas.MaxMicros)
			if c.first == "" {
				if okFirst || okLast {
					t.Errorf("snapshots %s to %s, want none", first, last)
				}
				return
			}
			if !okFirst || !okLast || first != at(c.first) || last != at(c.last) || !s.has(first) || !s.has(last) || s.has(first+1) || s.has(last+snapshotPeriod) {
				t.Errorf("snapshots %s to %s, want %s to %s", first, last, c.first, c.last)
			}
		})
	}
}

func TestSnapshotTimes(t *testing.T) {
	s := serve(t, world()) // migration 0: 01:30 to 01:00 the day after; migration 1: 00:10 to 04:40
	cases := []struct {
		path, want string // "" for 404
	}{
		{"snapshot-timestamp?before=2026-07-01T06:00:00Z&migration_id=0", "2026-07-01T06:00:00.000000Z"},
		{"snapshot-timestamp?before=2026-07-01T05:59:59.999999Z&migration_id=0", "2026-07-01T03:00:00.000000Z"},
		{"snapshot-timestamp?before=2030-01-01T00:00:00Z&migration_id=0", "2026-07-02T00:00:00.000000Z"},
		{"snapshot-timestamp?before=2026-07-01T02:00:00Z&migration_id=0", ""},
		{"snapshot-timestamp?before=2030-01-01T00:00:00Z&migration_id=1", "2026-07-02T03:00:00.000000Z"},
		{"snapshot-timestamp?before=2030-01-01T00:00:00Z&migration_id=5", ""},
		{"snapshot-timestamp-after?after=2026-07-01T00:00:00Z&migration_id=0", "2026-07-01T03:00:00.000000Z"},
		{"snapshot-timestamp-after?after=2026-07-01T03:00:00Z&migration_id=0", "2026-07-01T06:00:00.000000Z"},
		{"snapshot-timestamp-after?after=2026-07-02T00:00:00Z&migration_id=0", "2026-07-02T03:00:00.000000Z"},
		{"snapshot-timestamp-after?after=2026-07-02T03:00:00Z&migration_id=0", ""},
		{"snapshot-timestamp-after?after=2026-07-01T00:00:00Z&migration_id=2", ""},
	}
	for _, c := range cases {
		path := "/v0/state/acs/" + c.path
		if c.want == "" {
			s.refused("GET", path, "", 404, "No snapshots found")
			continue
		}
		var got recordTimeAnswer
		if s.ok("GET", path, "", &got); got.RecordTime != c.want {
			t.Errorf("%s: %s, want %s", path, got.RecordTime, c.want)
		}
	}
}

type acsAnswer struct {
	RecordTime  string `json:"record_time"`
	MigrationID int64  `json:"migration_id"`
	Events      []struct {
		ContractID string          `json:"contract_id"`
		Arguments  json.RawMessage `json:"create_arguments"`
		CreatedIn  string          `json:"created_in_update_id"`
	} `json:"created_events"`
	Token *string `json:"next_page_token"`
}

// contracts walks an active set; members are those of the request apart from page_size
// and after.
func (s *served) contracts(size int, members string) (ids []string, pages []acsAnswer) {
	s.t.Helper()
	after := ""
	for {
		var page acsAnswer
		s.ok("POST", "/v2/state/acs", fmt.Sprintf(`{%s,"page_size":%d%s}`, members, size, after), &page)
		pages = append(pages, page)
		for _, e := range page.Events {
			ids = append(ids, e.ContractID)
		}
		if page.Token == nil {
			return ids, pages
		}
		if len(page.Events) != size {
			s.t.Errorf("a page of %d contracts out of %d has a token", len(page.Events), size)
		}
		after = `,"after":"` + *page.Token + `"`
	}
}

// activeAt says what the set must be.
func activeAt(m *memory, migration int64, when schemas.Micros, keep func(*lifetime) bool) (ids []string) {
	for i := range m.contracts {
		if l := &m.contracts[i]; l.migration == migration && l.from <= when && when < l.to && keep(l) {
			ids = append(ids, l.Event.ContractID)
		}
	}
	return ids
}

func TestActiveContracts(t *testing.T) {
	m := world()
	other := lifetime{migration: 0, from: at("2026-07-01T02:00:00Z"), to: schemas.MaxMicros}
	other.Encoding = schemas.ProtobufJSON
	other.Event = created("x", 0, "00other", alice, schemas.ProtobufJSON, at("2026-07-01T09:00:00Z"))
	other.Event.TemplateID, other.Event.PackageName = "ab:Other.Module:Thing", "other"
	m.contracts = append(m.contracts, other)
	all := func(*lifetime) bool { return true }
	isCoin := func(l *lifetime) bool { return l.Event.PackageName == coinPackage }
	ofAlice := func(l *lifetime) bool { return slices.Contains(l.Event.Signatories, alice) }
	cases := []struct {
		name, members string
		at            string
		keep          func(*lifetime) bool
	}{
		{"exact", `"migration_id":0,"record_time":"2026-07-01T06:00:00Z"`, "2026-07-01T06:00:00Z", all},
		{"exact by name", `"migration_id":0,"record_time":"2026-07-01T03:00:00Z","record_time_match":"exact"`, "2026-07-01T03:00:00Z", all},
		{"at or before", `"migration_id":0,"record_time":"2026-07-01T05:00:00Z","record_time_match":"at_or_before"`, "2026-07-01T03:00:00Z", all},
		{"any instant", `"migration_id":0,"at":"2026-07-01T04:11:12.345678Z"`, "2026-07-01T04:11:12.345678Z", all},
		{"of a party", `"migration_id":0,"record_time":"2026-07-01T06:00:00Z","party_ids":["` + alice + `","nobody::12"]`, "2026-07-01T06:00:00Z", ofAlice},
		{"of a template", `"migration_id":0,"record_time":"2026-07-01T06:00:00Z","templates":["splice-amulet:Splice.Amulet:Amulet"]`, "2026-07-01T06:00:00Z", isCoin},
		{"of a template in neutral spelling", `"migration_id":0,"record_time":"2026-07-01T06:00:00Z","templates":["app-coin:App.Coin:Coin"]`, "2026-07-01T06:00:00Z", isCoin},
		{"of both", `"migration_id":0,"record_time":"2026-07-01T06:00:00Z","templates":["other:Other.Module:Thing"],"party_ids":["` + bob + `"]`, "2026-07-01T06:00:00Z", func(*lifetime) bool { return false }},
		{"a migration without contracts", `"migration_id":1,"at":"2026-07-02T01:00:00Z"`, "2026-07-02T01:00:00Z", all},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			migration := int64(0)
			if strings.Contains(c.members, `"migration_id":1`) {
				migration = 1
			}
			want := activeAt(m, migration, at(c.at), c.keep)
			for _, chunk := range []int64{1, 1 << 20} {
				s := serve(t, m, func(cfg *Config) { cfg.ChunkBytes = chunk })
				for _, size := range []int{1, 3, len(want), 1000} {
					if size == 0 {
						continue
					}
					got, pages := s.contracts(size, c.members)
					if !slices.Equal(got, want) {
						t.Errorf("in pages of %d: %v\nwant %v", size, got, want)
					}
					for _, p := range pages {
						if p.RecordTime != at(c.at).String() || p.MigrationID != migration || p.Events == nil {
							t.Errorf("a page says migration %d, record time %s", p.MigrationID, p.RecordTime)
						}
						for _, e := range p.Events {
							if e.ContractID != "00other" && !strings.HasPrefix(string(e.Arguments), `{"amount":`) || e.CreatedIn == "" && e.ContractID != "00other" {
								t.Errorf("contract %s: %s created in %q", e.ContractID, e.Arguments, e.CreatedIn)
							}
						}
					}
				}
			}
		})
	}
}

func TestActiveContractsNotKnown(t *testing.T) {
	m := world()
	s := serve(t, m)
	for members, text := range map[string]string{
		`"migration_id":0,"record_time":"2026-07-01T05:00:00Z"`:                                    "No snapshot at",
		`"migration_id":0,"record_time":"2026-07-01T00:00:00Z"`:                                    "No snapshot at",
		`"migration_id":0,"record_time":"2026-07-01T02:00:00Z","record_time_match":"at_or_before"`: "No snapshot at or before",
		`"migration_id":4,"record_time":"2026-07-01T06:00:00Z","record_time_match":"at_or_before"`: "No snapshot at or before",
		`"migration_id":4,"at":"2026-07-01T06:00:00Z"`:                                             "No data for migration 4",
		`"migration_id":1,"at":"2027-07-01T06:00:00Z"`:                                             "not available yet",
		`"migration_id":1,"record_time":"2026-07-02T06:00:00Z","record_time_match":"exact"`:        "No snapshot at",
	} {
		s.refused("POST", "/v2/state/acs", `{`+members+`,"page_size":5}`, 404, text)
	}
}

func TestTokensBelongToTheirRequest(t *testing.T) {
	m := world()
	s := serve(t, m)
	base := `"migration_id":0,"record_time":"2026-07-01T06:00:00Z","party_ids":["` + alice + `","` + bob + `"]`
	ask := func(members, token string) reply {
		return s.do("POST", "/v2/state/acs", `{`+members+`,"page_size":4,"after":"`+token+`"}`)
	}
	var first acsAnswer
	s.ok("POST", "/v2/state/acs", `{`+base+`,"page_size":3}`, &first)
	if first.Token == nil {
		t.Fatal("no token")
	}
	token := *first.Token
	if r := ask(base, token); r.status != 200 {
		t.Fatalf("the token is refused with another page size: %d %s", r.status, r.body)
	}
	// Order of filters means nothing, and null is absent.
	same := `"migration_id":0,"record_time":"2026-07-01T08:00:00+02:00","record_time_match":"exact","templates":null,"party_ids":["` + bob + `","` + alice + `","` + bob + `"]`
	if r := ask(same, token); r.status != 200 {
		t.Errorf("the token is refused for the same request in other words: %s", r.body)
	}
	for name, members := range map[string]string{
		"another time":    strings.Replace(base, "06:00", "03:00", 1),
		"another match":   base + `,"record_time_match":"at_or_before"`,
		"another instant": strings.Replace(base, "record_time", "at", 1),
		"fewer parties":   `"migration_id":0,"record_time":"2026-07-01T06:00:00Z","party_ids":["` + alice + `"]`,
		"a template":      base + `,"templates":["a:b:c"]`,
		"migration":       strings.Replace(base, `"migration_id":0`, `"migration_id":1`, 1),
	} {
		if r := ask(members, token); r.status != 400 {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	for i := range len(token) {
		altered := []byte(token)
		altered[i] ^= 1
		if altered[i] == '"' || altered[i] == '\\' {
			continue
		}
		if r := ask(base, string(altered)); r.status != 400 {
			t.Errorf("the token with byte %d altered gives %d", i, r.status)
		}
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"cut": token[:len(token)-4], "longer": token + "AAAA", "empty payload": base64.RawURLEncoding.EncodeToString(raw[:16]),
		"payload only": base64.RawURLEncoding.EncodeToString(raw[16:]), "padded": token + "=", "words": "not a token", "long": strings.Repeat("A", 20_000),
	} {
		if r := ask(base, bad); r.status != 400 {
			t.Errorf("%s: %d %s", name, r.status, r.body)
		}
	}
	// Another server with the same key goes on; one with another key does not.
	again := serve(t, m)
	if r := again.do("POST", "/v2/state/acs", `{`+base+`,"page_size":3,"after":"`+token+`"}`); r.status != 200 {
		t.Errorf("after a restart the token gives %d", r.status)
	}
	foreign := serve(t, m, func(c *Config) { c.TokenKey = []byte("another key of 16 bytes or more") })
	if r := foreign.do("POST", "/v2/state/acs", `{`+base+`,"page_size":3,"after":"`+token+`"}`); r.status != 400 {
		t.Errorf("under another key the token gives %d", r.status)
	}
}

func TestTokenKeepsItsSnapshot(t *testing.T) {
	m := world()
	full := m.mark
	m.setMark(schemas.EndOf(0, at("2026-07-01T04:00:00Z")))
	s := serve(t, m)
	members := `"migration_id":0,"record_time":"2026-07-01T23:00:00Z","record_time_match":"at_or_before"`
	var first acsAnswer
	s.ok("POST", "/v2/state/acs", `{`+members+`,"page_size":3}`, &first)
	if first.RecordTime != "2026-07-01T03:00:00.000000Z" || first.Token == nil {
		t.Fatalf("first page at %s, token %v", first.RecordTime, first.Token)
	}
	m.setMark(full) // by now there are newer snapshots
	var second acsAnswer
	s.ok("POST", "/v2/state/acs", `{`+members+`,"page_size":1000,"after":"`+*first.Token+`"}`, &second)
	var got []string
	for _, e := range append(first.Events, second.Events...) {
		got = append(got, e.ContractID)
	}
	want := activeAt(m, 0, at("2026-07-01T03:00:00Z"), func(*lifetime) bool { return true })
	if second.RecordTime != first.RecordTime || !slices.Equal(got, want) {
		t.Errorf("at %s: %v, want %v", second.RecordTime, got, want)
	}
}
