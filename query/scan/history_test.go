package scan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// travels is a world in which contract 0012200000000 of migration 0 is sent to another
// synchronizer and back, is carried over, and is archived in migration 1.
func travels() (m *memory, contract string) {
	m = world()
	first := m.items[0].Update
	contract = first.Events[0].ContractID
	first.Events[1].Consuming, first.Events[1].Choice = false, "Look"
	half := func(kind schemas.UpdateKind, time, id, source, target string, counter int64) {
		u := &schemas.Update{
			Kind: kind, MigrationID: 0, SynchronizerID: target, RecordTime: at(time), UpdateID: id, Encoding: schemas.CompactJSON,
			Reassignment: &schemas.Reassignment{Submitter: alice, SourceSynchronizer: source, TargetSynchronizer: target, UnassignID: "ab", Counter: counter, ContractID: contract},
		}
		if kind == schemas.Unassignment {
			u.SynchronizerID = source
		} else {
			u.Events = []schemas.Event{created(id, 0, contract, alice, schemas.CompactJSON, first.RecordTime)}
		}
		m.items = append(m.items, schemas.Item{Update: u})
	}
	half(schemas.Unassignment, "2026-07-01T02:00:00.5Z", "1220aa1", sync1, "other::1220ff", 1)
	half(schemas.Assignment, "2026-07-01T02:00:01.5Z", "1220aa2", sync1, "other::1220ff", 1)
	imported := m.imports[0]
	imported.UpdateID = contract
	imported.Events = []schemas.Event{created(contract, 0, contract, alice, schemas.CompactJSON, first.RecordTime)}
	m.imports = append([]schemas.Update{imported}, m.imports...)
	slices.SortFunc(m.imports, func(a, b schemas.Update) int { return strings.Compare(a.UpdateID, b.UpdateID) })
	last := m.items[len(m.items)-3].Update
	last.Events[1].ContractID = contract
	slices.SortStableFunc(m.items, func(a, b schemas.Item) int { return a.Position().Compare(b.Position()) })
	return m, contract
}

type step struct {
	Kind       string         `json:"kind"`
	Migration  int64          `json:"migration_id"`
	RecordTime string         `json:"record_time"`
	UpdateID   string         `json:"update_id"`
	Event      map[string]any `json:"event"`
}

func TestContractHistory(t *testing.T) {
	m, contract := travels()
	for _, size := range []int{1, 2, 1000} {
		s := serve(t, m, func(c *Config) { c.ChunkBytes = int64(size) })
		var steps []step
		after := ""
		for {
			var page struct {
				ContractID string  `json:"contract_id"`
				History    []step  `json:"history"`
				Token      *string `json:"next_page_token"`
			}
			s.ok("GET", fmt.Sprintf("/v0/contracts/%s?page_size=%d%s", contract, size, after), "", &page)
			if page.ContractID != contract || len(page.History) > size {
				t.Errorf("%d steps of contract %s", len(page.History), page.ContractID)
			}
			steps = append(steps, page.History...)
			if page.Token == nil {
				break
			}
			after = "&after=" + *page.Token
		}
		var got []string
		for _, s := range steps {
			got = append(got, fmt.Sprintf("%s in %d by %.10s", s.Kind, s.Migration, s.UpdateID))
		}
		want := []string{
			"created in 0 by 1220000000", "exercised in 0 by 1220000000", "unassignment in 0 by 1220aa1", "assignment in 0 by 1220aa2",
			"imported in 1 by 0012200000", "archived in 1 by 1220010009",
		}
		if !slices.Equal(got, want) {
			t.Errorf("in pages of %d:\n%s\nwant\n%s", size, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if steps[0].Event["event_type"] != "created_event" || steps[2].Event["contract_id"] != contract ||
			steps[3].Event["created_event"] == nil || steps[4].RecordTime != schemas.MinMicros.String() {
			t.Errorf("steps %+v", steps)
		}
	}
}

// Pages to which nothing can be added have a tag, and are not sent to who has them.
func TestFinalPagesOfAContractAreTagged(t *testing.T) {
	m, contract := travels()
	for _, chunk := range []int64{1, 1 << 20} {
		s := serve(t, m, func(c *Config) { c.ChunkBytes = chunk })
		for _, size := range []int{2, 5, 6, 1000} { // a token follows, or the archival is the end
			path := fmt.Sprintf("/v0/contracts/%s?page_size=%d", contract, size)
			r := s.do("GET", path, "")
			tag := r.header.Get("ETag")
			if r.status != 200 || tag == "" {
				t.Errorf("%s: %d with tag %s", path, r.status, tag)
			}
			if again := s.do("GET", path, "", "If-None-Match", tag); again.status != 304 || again.body != "" {
				t.Errorf("%s with its tag: %d %s", path, again.status, again.body)
			}
		}
	}
	for i := range m.items {
		if u := m.items[i].Update; u != nil && u.MigrationID == 1 && !u.IsImport() {
			u.Events = slices.DeleteFunc(u.Events, func(e schemas.Event) bool { return e.ContractID == contract })
		}
	}
	s := serve(t, m)
	if r := s.do("GET", "/v0/contracts/"+contract, ""); r.status != 200 || r.header.Get("ETag") != "" {
		t.Errorf("of a contract that is active: %d with tag %s", r.status, r.header.Get("ETag"))
	}
	if r := s.do("GET", "/v0/contracts/"+contract+"?page_size=4", ""); r.status != 200 || r.header.Get("ETag") == "" {
		t.Errorf("of a page before its last: %d without a tag", r.status)
	}
}

func TestContractHistoryRefuses(t *testing.T) {
	m, contract := travels()
	s := serve(t, m)
	var page struct {
		Token string `json:"next_page_token"`
	}
	s.ok("GET", "/v0/contracts/"+contract+"?page_size=2", "", &page)
	other := m.items[len(m.items)-1].Update.Events[0].ContractID
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/v0/contracts/nothing":                                      {404, "Contract nothing not found"},
		"/v0/contracts/" + contract + "?page_size=0":                 {400, "at least 1"},
		"/v0/contracts/" + contract + "?page_size=1001":              {400, "Exceeded"},
		"/v0/contracts/" + contract + "?page_size=x":                 {400, "integer"},
		"/v0/contracts/" + contract + "?contract_value_encoding=xml": {400, "one of"},
		"/v0/contracts/" + contract + "?daml_value_encoding=xml":     {400, "one of"},
		"/v0/contracts/" + contract + "?after=x":                     {400, "Invalid after token"},
		"/v0/contracts/" + other + "?after=" + page.Token:            {400, "Invalid after token"},
		"/v0/contracts/" + contract + "?after=" + page.Token[1:]:     {400, "Invalid after token"},
		"/v0/contracts/" + strings.Repeat("0", 5000):                 {400, "too long"},
	} {
		s.refused("GET", path, "", want.status, want.text)
	}
}

// Updates of v0 come with imports, each migration's before its history, and a cursor can
// stand anywhere.
func TestUpdatesWithImports(t *testing.T) {
	m := world()
	var want []string
	for _, u := range m.everything() {
		want = append(want, u.UpdateID)
	}
	type item struct {
		UpdateID   string                     `json:"update_id"`
		Migration  int64                      `json:"migration_id"`
		RecordTime string                     `json:"record_time"`
		Offset     string                     `json:"offset"`
		Roots      []string                   `json:"root_event_ids"`
		Events     map[string]json.RawMessage `json:"events_by_id"`
	}
	for _, size := range []int{1, 7, 1000} {
		s := serve(t, m, func(c *Config) { c.ChunkBytes = 3000 })
		var got []string
		after, offset := "", ""
		for {
			var page struct {
				Transactions []item `json:"transactions"`
			}
			s.ok("POST", "/v0/updates", fmt.Sprintf(`{"page_size":%d,"lossless":true%s}`, size, after), &page)
			for _, it := range page.Transactions {
				got = append(got, it.UpdateID)
				if it.Offset < offset || len(it.Offset) != 18 {
					t.Errorf("offset %s after %s", it.Offset, offset)
				}
				offset = it.Offset
				for id, event := range it.Events {
					if !strings.HasPrefix(id, "#"+it.UpdateID+":") || !strings.Contains(string(event), `"event_id":"`+id+`"`) || !strings.Contains(string(event), `"record":{`) {
						t.Errorf("event %s: %s", id, event)
					}
				}
				for _, id := range it.Roots {
					if it.Events[id] == nil {
						t.Errorf("root %s is no event of update %s", id, it.UpdateID)
					}
				}
			}
			if len(page.Transactions) < size {
				break
			}
			last := page.Transactions[len(page.Transactions)-1]
			after = fmt.Sprintf(`,"after":{"after_migration_id":%d,"after_record_time":%q,"after_update_id":%q}`, last.Migration, last.RecordTime, last.UpdateID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("in pages of %d: %v\nwant %v", size, got, want)
		}
	}
	s := serve(t, m)
	var page struct {
		Transactions []item `json:"transactions"`
	}
	// Without the id of an update a cursor stands after all import updates.
	s.ok("POST", "/v0/updates", `{"page_size":1,"after":{"after_migration_id":1,"after_record_time":"0001-01-01T00:00:00Z"}}`, &page)
	if len(page.Transactions) != 1 || page.Transactions[0].UpdateID != "1220010000" {
		t.Errorf("after the imports: %+v", page.Transactions)
	}
	s.refused("POST", "/v0/updates", `{"page_size":1,"lossless":"yes"}`, 400, "true or false")
	s.refused("POST", "/v0/updates", `{"page_size":1,"after":{"after_migration_id":1,"after_record_time":"0001-01-01T00:00:00Z","after_update_id":7}}`, 400, "string")
	s.refused("GET", "/v0/updates/1220000000?lossless=1", "", 400, "true or false")
	compact := s.do("GET", "/v0/updates/1220000000", "")
	lossless := s.do("GET", "/v0/updates/1220000000?lossless=true", "")
	if compact.status != 200 || lossless.status != 200 || strings.Contains(compact.body, `"record"`) || !strings.Contains(lossless.body, `"record"`) {
		t.Errorf("compact %s\nlossless %s", compact.body, lossless.body)
	}
}

func TestUpdateByHash(t *testing.T) {
	m := world()
	u := m.items[2].Update
	u.ExternalTransactionHash = "1220abcdef"
	s := serve(t, m)
	byID := s.do("GET", "/v2/updates/"+u.UpdateID+"?contract_value_encoding=protobuf_json", "")
	for _, hash := range []string{"1220abcdef", "1220ABCDEF"} {
		r := s.do("GET", "/v2/updates/hash/"+hash+"?daml_value_encoding=protobuf_json", "")
		if r.status != 200 || r.body != byID.body || !strings.Contains(r.body, `"external_transaction_hash":"1220abcdef"`) {
			t.Errorf("by hash %s: %d %s", hash, r.status, r.body)
		}
	}
	s.refused("GET", "/v2/updates/hash/1220abcdee", "", 404, "not found")
	s.refused("GET", "/v2/updates/hash/xyz", "", 400, "hexadecimal")
	s.refused("GET", "/v2/updates/hash/122", "", 400, "hexadecimal")
	s.refused("GET", "/v2/updates/hash/1220abcdef?contract_value_encoding=x", "", 400, "one of")
	s.refused("GET", "/v2/updates/hash/"+strings.Repeat("ab", 3000), "", 400, "hexadecimal")
}

func TestPartyUpdates(t *testing.T) {
	m := world()
	var want []string
	for _, it := range m.items {
		if it.Update != nil {
			want = append(want, it.Update.UpdateID)
		}
	}
	s := serve(t, m)
	ids := func(party, body string) (ids []string) {
		var page struct {
			Transactions []struct {
				UpdateID string `json:"update_id"`
			} `json:"transactions"`
		}
		s.ok("POST", "/v0/parties/"+party+"/updates", body, &page)
		for _, u := range page.Transactions {
			ids = append(ids, u.UpdateID)
		}
		return ids
	}
	if got := ids(alice, `{"page_size":1000}`); !slices.Equal(got, want) {
		t.Errorf("all: %v, want %v", got, want)
	}
	if got := ids("alice%3A%3A1220bb", `{"page_size":2,"after":{"after_migration_id":0,"after_record_time":"2026-07-02T00:30:00.000001Z"}}`); !slices.Equal(got, want[47:49]) {
		t.Errorf("from the last of migration 0: %v, want %v", got, want[47:49])
	}
	if got := ids("nobody::12", `{"page_size":10}`); got != nil {
		t.Errorf("of nobody: %v", got)
	}
	// Lifetimes lag behind: nothing above them is given.
	m.mu.Lock()
	m.lifetimes = schemas.EndOf(0, at("2026-07-01T02:30:00Z"))
	m.mu.Unlock()
	if got := ids(alice, `{"page_size":10}`); !slices.Equal(got, want[:2]) {
		t.Errorf("with lagging lifetimes: %v, want %v", got, want[:2])
	}
	path := "/v0/parties/" + alice + "/updates"
	s.refused("POST", path, `{}`, 400, "page_size is required")
	s.refused("POST", path, `{"page_size":1001}`, 400, "Exceeded")
	s.refused("POST", path, `{"page_size":1,"after":[]}`, 400, "object")
	s.refused("POST", path, `{"page_size":1,"contract_value_encoding":"xml"}`, 400, "one of")
	s.refused("POST", "/v0/parties/"+strings.Repeat("p", 5000)+"/updates", `{"page_size":1}`, 400, "too long")
	s.health.set(false, nil)
	s.refused("POST", path, `{"page_size":1}`, 503, "not yet replicated")
}
