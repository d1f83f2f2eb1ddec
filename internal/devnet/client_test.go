package devnet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/scanapi"
)

// startLedger executes a ledger and serves it until the test ends.
func startLedger(t *testing.T, c sim.Config) (*ledger.Ledger, client) {
	t.Helper()
	if c.Dir == "" {
		c.Dir = t.TempDir()
	}
	l, err := ledger.New(context.Background(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l, serveScan(t, l)
}

// serveScan serves a ledger until the test ends.
func serveScan(t *testing.T, l *ledger.Ledger) client {
	t.Helper()
	srv := httptest.NewServer(scanapi.Handler(l))
	t.Cleanup(srv.Close)
	return client{t, srv.URL}
}

// client asks a served ledger.
type client struct {
	t   *testing.T
	url string
}

func (c client) do(method, path, body string) (int, []byte) {
	c.t.Helper()
	req, err := http.NewRequest(method, c.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		c.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return resp.StatusCode, answer
}

// ask sends a request that must succeed and decodes the answer into v.
func (c client) ask(method, path, body string, v any) {
	c.t.Helper()
	status, answer := c.do(method, path, body)
	if status != http.StatusOK {
		c.t.Fatalf("%s %s %s: status %d, %s", method, path, body, status, answer)
	}
	if err := json.Unmarshal(answer, v); err != nil {
		c.t.Fatalf("%s %s %s: %v in %.200s", method, path, body, err, answer)
	}
}

// list sends a request that must succeed and returns the list in the answer.
func (c client) list(method, path, body, key string) []json.RawMessage {
	c.t.Helper()
	status, answer := c.do(method, path, body)
	if status != http.StatusOK {
		c.t.Fatalf("%s %s %s: status %d, %s", method, path, body, status, answer)
	}
	if list, ok := elementsOf(answer, key); ok {
		return list
	}
	var page map[string]json.RawMessage
	if err := json.Unmarshal(answer, &page); err != nil {
		c.t.Fatalf("%s %s %s: %v in %.200s", method, path, body, err, answer)
	}
	var list []json.RawMessage
	if raw, ok := page[key]; ok {
		if err := json.Unmarshal(raw, &list); err != nil {
			c.t.Fatalf("%s %s %s: %v in %.200s", method, path, body, err, answer)
		}
	}
	return list
}

// item is an update as far as tests look into it.
type item struct {
	raw json.RawMessage

	UpdateID       string                     `json:"update_id"`
	MigrationID    int64                      `json:"migration_id"`
	RecordTime     string                     `json:"record_time"`
	SynchronizerID string                     `json:"synchronizer_id"`
	Offset         string                     `json:"offset"`
	RootEventIDs   []string                   `json:"root_event_ids"`
	EventsByID     map[string]json.RawMessage `json:"events_by_id"`
	Event          json.RawMessage            `json:"event"`
}

// event is a node of a transaction, or the event of a reassignment.
type event struct {
	raw json.RawMessage

	EventType       string          `json:"event_type"`
	EventID         string          `json:"event_id"`
	ContractID      string          `json:"contract_id"`
	TemplateID      string          `json:"template_id"`
	PackageName     string          `json:"package_name"`
	CreateArguments json.RawMessage `json:"create_arguments"`
	CreatedAt       string          `json:"created_at"`
	Signatories     []string        `json:"signatories"`
	Observers       []string        `json:"observers"`
	Choice          string          `json:"choice"`
	Argument        json.RawMessage `json:"choice_argument"`
	Result          json.RawMessage `json:"exercise_result"`
	Consuming       bool            `json:"consuming"`
	ActingParties   []string        `json:"acting_parties"`
	ChildEventIDs   []string        `json:"child_event_ids"`

	MigrationID  int64           `json:"migration_id"`
	Source       string          `json:"source_synchronizer"`
	Target       string          `json:"target_synchronizer"`
	UnassignID   string          `json:"unassign_id"`
	Counter      int64           `json:"reassignment_counter"`
	CreatedEvent json.RawMessage `json:"created_event"`
}

func (c client) items(method, path, body string) []item {
	c.t.Helper()
	list := c.list(method, path, body, "transactions")
	items := make([]item, len(list))
	for i, raw := range list {
		items[i] = decodeItem(c.t, raw)
	}
	return items
}

func decodeItem(t *testing.T, raw json.RawMessage) item {
	t.Helper()
	it, err := decode[item](raw)
	if err != nil {
		t.Fatalf("item %.200s: %v", raw, err)
	}
	it.raw = raw
	if it.Event != nil {
		it.MigrationID = decodeEvent(t, it.Event).MigrationID
	}
	return it
}

func decodeEvent(t *testing.T, raw json.RawMessage) event {
	t.Helper()
	e, err := decode[event](raw)
	if err != nil {
		t.Fatalf("event %.200s: %v", raw, err)
	}
	e.raw = raw
	return e
}

// allUpdates pages through the updates, oldest first.
func (c client) allUpdates(path, encoding string, pageSize int) []item {
	c.t.Helper()
	var all []item
	after := ""
	for {
		page := c.items("POST", path, fmt.Sprintf(`{"page_size":%d,"daml_value_encoding":%q%s}`, pageSize, encoding, after))
		all = append(all, page...)
		if len(page) < pageSize {
			return all
		}
		last := page[len(page)-1]
		after = fmt.Sprintf(`,"after":{"after_migration_id":%d,"after_record_time":%q}`, last.MigrationID, last.RecordTime)
	}
}

// imports pages through the import updates of a migration.
func (c client) imports(migrationID int64, limit int) []item {
	c.t.Helper()
	var all []item
	after := ""
	for {
		page := c.items("POST", "/v0/backfilling/import-updates",
			fmt.Sprintf(`{"migration_id":%d,"after_update_id":%q,"limit":%d}`, migrationID, after, limit))
		if len(page) == 0 {
			return all
		}
		all = append(all, page...)
		after = page[len(page)-1].UpdateID
	}
}

// eventItem is an element of /v0/events.
type eventItem struct {
	Update      json.RawMessage `json:"update"`
	Verdict     json.RawMessage `json:"verdict"`
	Traffic     json.RawMessage `json:"traffic_summary"`
	AppActivity json.RawMessage `json:"app_activity_records"`
}

// position returns where the event stands, from its update or else its verdict.
func (e *eventItem) position(t *testing.T) item {
	t.Helper()
	if e.Update != nil {
		return decodeItem(t, e.Update)
	}
	return decodeItem(t, e.Verdict)
}

func (c client) allEvents(encoding string, pageSize int) []eventItem {
	c.t.Helper()
	var all []eventItem
	after := ""
	for {
		page := c.list("POST", "/v0/events", fmt.Sprintf(`{"page_size":%d,"contract_value_encoding":%q%s}`, pageSize, encoding, after), "events")
		for _, raw := range page {
			e, err := decode[eventItem](raw)
			if err != nil {
				c.t.Fatalf("item %.200s: %v", raw, err)
			}
			all = append(all, e)
		}
		if len(page) < pageSize {
			return all
		}
		last := all[len(all)-1].position(c.t)
		after = fmt.Sprintf(`,"after":{"after_migration_id":%d,"after_record_time":%q}`, last.MigrationID, last.RecordTime)
	}
}
