package scan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/openapi/openapitest"
	"github.com/ledgerlake/ledgerlake/query/querytest"
	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	dso   = "DSO::1220aa"
	alice = "alice::1220bb"
	bob   = "bob::1220cc"
	sync1 = "global-domain::1220dd"

	coinTemplate = "6a3b:Splice.Amulet:Amulet"
	coinPackage  = "splice-amulet"
)

func at(text string) schemas.Micros {
	m, err := schemas.ParseTime(text)
	if err != nil {
		panic(err)
	}
	return m
}

// coin returns the create arguments of a coin in an encoding.
func coin(enc schemas.Encoding, owner string, amount int) []byte {
	if enc == schemas.CompactJSON {
		return fmt.Appendf(nil, `{"amount":{"createdAt":{"number":"7"},"initialAmount":"%d.0000000000","ratePerRound":{"rate":"0.0001902590"}},"dso":"%s","owner":"%s"}`, amount, dso, owner)
	}
	return fmt.Appendf(nil, `{"record":{"fields":[{"value":{"party":"%s"}},{"value":{"party":"%s"}},{"value":{"record":{"fields":[`+
		`{"value":{"numeric":"%d.0000000000"}},{"value":{"record":{"fields":[{"value":{"int64":"7"}}]}}},`+
		`{"value":{"record":{"fields":[{"value":{"numeric":"0.0001902590"}}]}}}]}}}]}}`, dso, owner, amount)
}

func created(updateID string, node int32, contract, owner string, enc schemas.Encoding, time schemas.Micros) schemas.Event {
	return schemas.Event{
		EventID: schemas.EventID(updateID, node), Node: node, Kind: schemas.Created, ContractID: contract,
		TemplateID: coinTemplate, PackageName: coinPackage, Argument: coin(enc, owner, int(node)+1),
		CreatedAt: time, Signatories: []string{dso, owner}, Observers: []string{},
	}
}

func transaction(migration int64, time schemas.Micros, id string, enc schemas.Encoding) *schemas.Update {
	archive := schemas.Event{
		EventID: schemas.EventID(id, 1), Node: 1, Kind: schemas.Exercised, ContractID: "00" + id, Consuming: true,
		TemplateID: coinTemplate, PackageName: coinPackage, Choice: "Archive", ActingParties: []string{dso},
		Argument: []byte(`{"record":{}}`), Result: []byte(`{"unit":{}}`), Children: []int32{},
	}
	if enc == schemas.CompactJSON {
		archive.Argument, archive.Result = []byte(`{}`), []byte(`{}`)
	}
	return &schemas.Update{
		Kind: schemas.Transaction, MigrationID: migration, SynchronizerID: sync1, RecordTime: time, UpdateID: id, Encoding: enc,
		EffectiveAt: time, RootEvents: []int32{0, 1}, Events: []schemas.Event{created(id, 0, "00"+id, alice, enc, time), archive},
	}
}

func verdict(migration int64, time schemas.Micros, id string) *schemas.Verdict {
	return &schemas.Verdict{
		UpdateID: id, MigrationID: migration, SynchronizerID: sync1, RecordTime: time, FinalizationTime: time + 1000,
		SubmittingParties: []string{alice}, SubmittingParticipantUID: "PAR::p::1220ee",
		Result: "VERDICT_RESULT_ACCEPTED", RoundNumber: -1, Views: []byte(`{"root_views":[0],"views":[]}`),
	}
}

// world is a history of two migrations: in migration 0 an update every half hour for a
// day with a verdict each and a verdict alone in between; then three imports; then ten
// updates of migration 1. Half of the updates are stored in each encoding.
func world() *memory {
	m := &memory{}
	add := func(migration int64, from schemas.Micros, n int) {
		for i := range n {
			t := from + schemas.Micros(i)*1800*1e6
			id := fmt.Sprintf("1220%02d%04d", migration, i)
			u := transaction(migration, t, id, []schemas.Encoding{schemas.ProtobufJSON, schemas.CompactJSON}[i%2])
			m.items = append(m.items, schemas.Item{Update: u, Verdict: verdict(migration, t, id), Traffic: &schemas.TrafficSummary{TotalCost: 5, Envelopes: []byte(`[]`)}})
			if i < n-1 {
				m.items = append(m.items, schemas.Item{Verdict: verdict(migration, t+1e6, id+"ff")})
			}
		}
	}
	add(0, at("2026-07-01T01:30:00.000001Z"), 48)
	for i := range 3 {
		id := fmt.Sprintf("00import%d", i)
		u := schemas.Update{
			Kind: schemas.Transaction, MigrationID: 1, SynchronizerID: sync1, RecordTime: schemas.MinMicros, UpdateID: id,
			WorkflowID: "canton-network-acs-import-" + id, Encoding: schemas.CompactJSON, EffectiveAt: at("2026-07-01T02:00:00Z"),
			RootEvents: []int32{0}, Events: []schemas.Event{created(id, 0, id, bob, schemas.CompactJSON, at("2026-07-01T02:00:00Z"))},
		}
		m.imports = append(m.imports, u)
	}
	// Record times go back at the migration.
	add(1, at("2026-07-02T00:10:00Z"), 10)
	for i := range 30 {
		owner := []string{alice, bob}[i%2]
		id := fmt.Sprintf("00c%03d", i)
		t := at("2026-07-01T01:30:00.000001Z") + schemas.Micros(i)*600*1e6
		m.contracts = append(m.contracts, lifetime{
			ActiveContract: history.ActiveContract{
				Event: created("x", 0, id, owner, []schemas.Encoding{schemas.ProtobufJSON, schemas.CompactJSON}[i%2], t-t%7_000_000), Encoding: []schemas.Encoding{schemas.ProtobufJSON, schemas.CompactJSON}[i%2],
				CreatedIn: "1220000000",
			},
			from: t, to: t + 5*3600*1e6,
		})
	}
	slices.SortFunc(m.contracts, compareLifetimes)
	m.setMark(m.items[len(m.items)-1].Position())
	return m
}

func compareLifetimes(a, b lifetime) int {
	return cmp.Or(cmp.Compare(a.Event.CreatedAt, b.Event.CreatedAt), strings.Compare(a.Event.ContractID, b.Event.ContractID))
}

// served is a running scan over a fake source.
type served struct {
	t      *testing.T
	url    string
	source *memory
	health *health
	bulk   *shelf
	// document is what answers are checked against.
	document *openapitest.Document
}

var testKey = []byte("a key for tests, 32 bytes long..")

func serve(t *testing.T, source *memory, change ...func(*Config)) *served {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	s := &served{t: t, source: source, health: &health{backfilled: true}, bulk: &shelf{}}
	cfg := Config{
		Source: source, Health: s.health, Log: log, Bulk: s.bulk, PublicURL: "https://scan.example.com/", TokenKey: testKey,
		WatermarkTTL: time.Nanosecond, NodeID: "scan-1", Version: "1.2.3", CommitTime: time.Unix(1780000000, 0),
	}
	for _, c := range change {
		c(&cfg)
	}
	s.document = documentIn(t, cfg.Naming)
	api, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := querytest.Serve(t, query.Config{Log: log, Mounts: []query.Mount{api.Mount()}})
	s.url = server.URL
	t.Cleanup(func() {
		server.Stop()
		source.mu.Lock()
		defer source.mu.Unlock()
		if source.violation != nil {
			t.Errorf("the source was asked for %v", source.violation)
		}
	})
	return s
}

type reply struct {
	status int
	header http.Header
	body   string
}

func (s *served) do(method, path, body string, headers ...string) reply {
	s.t.Helper()
	req, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	resp, err := s.document.Transport(s.t, transport).RoundTrip(req)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatalf("%s %s: reading the answer: %v", method, path, err)
	}
	return reply{resp.StatusCode, resp.Header, string(text)}
}

// ok expects 200 and decodes the answer.
func (s *served) ok(method, path, body string, into any) string {
	s.t.Helper()
	r := s.do(method, path, body)
	if r.status != 200 {
		s.t.Fatalf("%s %s %s = %d %s", method, path, body, r.status, r.body)
	}
	if err := json.Unmarshal([]byte(r.body), into); err != nil {
		s.t.Fatalf("%s %s: %v in %s", method, path, err, r.body)
	}
	return r.body
}

// refused expects an error answer.
func (s *served) refused(method, path, body string, status int, text string) {
	s.t.Helper()
	r := s.do(method, path, body)
	var e struct {
		Error string `json:"error"`
	}
	if err := json.Unmarshal([]byte(r.body), &e); r.status != status || err != nil || !strings.Contains(e.Error, text) {
		s.t.Errorf("%s %s %s = %d %s, want %d with %q", method, path, body, r.status, r.body, status, text)
	}
}

func quiet(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError + 1}))
}
