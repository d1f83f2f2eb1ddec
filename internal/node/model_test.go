package node

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// model is a node that executes commands by counting them. It deduplicates by user, parties
// and command id, as nodes do, and refuses the choice "Refuse".
type model struct {
	t *testing.T

	mu          sync.Mutex
	end         int64
	executed    map[string]int // by command id
	last        map[string]completion
	completions []completion
	// before, if not nil, answers a request in place of the node.
	before func(w http.ResponseWriter, r *http.Request, body []byte) bool
}

// newModel serves a model until the test ends.
func newModel(t *testing.T) (*model, string) {
	t.Helper()
	m := &model{t: t, end: 10, executed: map[string]int{}, last: map[string]completion{}}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	return m, server.URL
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	m.mu.Lock()
	before := m.before
	m.mu.Unlock()
	if before != nil && before(w, r, body) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch r.URL.Path {
	case ledgerEndOperation:
		m.answer(w, map[string]any{"offset": m.end})
	case submitOperation:
		m.submit(w, body)
	case completionsOperation:
		m.list(w, body)
	case updatesOperation:
		var q struct {
			Begin int64 `json:"beginExclusive"`
		}
		m.decode(body, &q)
		m.answer(w, []any{map[string]any{"update": map[string]any{"Transaction": map[string]any{"value": transactionOf(q.Begin + 1)}}}})
	default:
		http.NotFound(w, r)
	}
}

func transactionOf(offset int64) map[string]any {
	return map[string]any{"updateId": fmt.Sprint("1220", offset), "offset": offset, "effectiveAt": "2026-07-01T00:00:00Z", "recordTime": "2026-07-01T00:00:00.000000Z", "events": []any{}}
}

func (m *model) submit(w http.ResponseWriter, body []byte) {
	var q struct {
		Commands commands `json:"commands"`
	}
	m.decode(body, &q)
	s := q.Commands
	if s.Commands[0].Exercise.Choice == "Refuse" {
		refuse(w, 404, CodeContractNotFound, 11, nil)
		return
	}
	change := fmt.Sprint(s.UserID, s.CommandID, slices.Sorted(slices.Values(s.ActAs)))
	if before, ok := m.last[change]; ok && s.Deduplication != nil && (s.Deduplication.Duration != nil || before.Offset > s.Deduplication.Offset.Value) {
		refuse(w, 409, CodeDuplicate, 10, map[string]string{"existing_submission_id": before.SubmissionID, "completion_offset": fmt.Sprint(before.Offset)})
		return
	}
	m.end++
	m.executed[s.CommandID]++
	done := completion{CommandID: s.CommandID, SubmissionID: s.SubmissionID, UpdateID: fmt.Sprint("1220", m.end), ActAs: s.ActAs, Offset: m.end}
	m.last[change] = done
	m.completions = append(m.completions, done)
	m.answer(w, map[string]any{"transaction": transactionOf(m.end)})
}

func (m *model) list(w http.ResponseWriter, body []byte) {
	var q struct {
		Begin int64 `json:"beginExclusive"`
	}
	m.decode(body, &q)
	list := []any{}
	for _, d := range m.completions {
		if d.Offset > q.Begin {
			list = append(list, map[string]any{"completionResponse": map[string]any{"Completion": map[string]any{"value": d}}})
		}
	}
	list = append(list, map[string]any{"completionResponse": map[string]any{"OffsetCheckpoint": map[string]any{"value": map[string]any{"offset": m.end}}}})
	m.answer(w, list)
}

func (m *model) decode(body []byte, into any) {
	if err := json.Unmarshal(body, into); err != nil {
		m.t.Errorf("the model cannot read %s: %v", body, err)
	}
}

func (m *model) answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body) // a client that is gone is told nothing
}

func refuse(w http.ResponseWriter, status int, code string, category int, context map[string]string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"code": code, "cause": "because of " + code, "errorCategory": category, "context": context, "grpcCodeValue": 5, "resources": []any{}})
}

// times is how often a command was executed.
func (m *model) times(commandID string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.executed[commandID]
}
