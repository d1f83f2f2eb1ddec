package scan

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	synchronizerA = "global-domain::1220aa"
	synchronizerB = "second-domain::1220bb"
)

// epoch is the record time at which generated history begins.
var epoch = schemas.MicrosOf(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC))

// upstream is a scan that serves generated history.
type upstream struct {
	*httptest.Server

	mu         sync.Mutex
	migrations []*migration
	incomplete bool
	// importsLoading makes migration-info say that import updates are not complete.
	importsLoading bool
	pageLimit      int
	unsupported    map[string]bool
	// intercept, when set, may answer a request itself and then returns true.
	intercept func(w http.ResponseWriter, r *http.Request, operation string) bool
	// change, when set, may change the items of an answer.
	change func(operation string, request *wireRequest, items []schemas.Item) []schemas.Item

	requests atomic.Int64
}

// countingTransport notes how many requests are in flight at most, from the sending of
// the request to the closing of the answer.
type countingTransport struct {
	now, most atomic.Int64
}

func (c *countingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	for now := c.now.Add(1); ; {
		most := c.most.Load()
		if now <= most || c.most.CompareAndSwap(most, now) {
			break
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		c.now.Add(-1)
		return nil, err
	}
	resp.Body = &countedBody{resp.Body, c}
	return resp, nil
}

type countedBody struct {
	io.ReadCloser
	transport *countingTransport
}

func (b *countedBody) Close() error {
	b.transport.now.Add(-1)
	return b.ReadCloser.Close()
}

type migration struct {
	id       int64
	previous int64 // -1 for none
	imports  []schemas.Item
	items    []schemas.Item
}

// wireRequest has the members of all requests.
type wireRequest struct {
	MigrationID   int64      `json:"migration_id"`
	PageSize      int        `json:"page_size"`
	After         *pageAfter `json:"after"`
	Encoding      string     `json:"daml_value_encoding"`
	Synchronizer  string     `json:"synchronizer_id"`
	Before        string     `json:"before"`
	AtOrAfter     string     `json:"at_or_after"`
	Count         int        `json:"count"`
	AfterUpdateID string     `json:"after_update_id"`
	Limit         int        `json:"limit"`
}

func newUpstream(t testing.TB, migrations ...*migration) *upstream {
	t.Helper()
	u := &upstream{migrations: migrations, unsupported: map[string]bool{}, pageLimit: MaxPageItems}
	u.Server = httptest.NewServer(u)
	t.Cleanup(u.Close)
	return u
}

// set changes the upstream while it is serving.
func (u *upstream) set(change func(u *upstream)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	change(u)
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.requests.Add(1)
	operation, found := strings.CutPrefix(r.URL.Path, "/api/scan")
	u.mu.Lock()
	intercept, missing, incomplete := u.intercept, u.unsupported[operation], u.incomplete
	u.mu.Unlock()
	if intercept != nil && intercept(w, r, r.URL.Path) {
		return
	}
	gated := operation == eventsOperation || operation == updatesOperation
	switch {
	case !found || missing:
		refuse(w, http.StatusNotFound, "no such path")
	case gated && incomplete:
		refuse(w, http.StatusServiceUnavailable, "not yet replicated all data")
	default:
		u.serve(w, r, operation)
	}
}

func refuse(w http.ResponseWriter, status int, reason string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":%q}`, reason)
}

func (u *upstream) serve(w http.ResponseWriter, r *http.Request, operation string) {
	var q wireRequest
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if size := max(q.PageSize, q.Count, q.Limit); size > u.pageLimit || size < 1 && operation != migrationInfoOperation {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("Exceeded limit maximum (%d > %d).", size, u.pageLimit))
		return
	}
	var items []schemas.Item
	switch operation {
	case migrationInfoOperation:
		u.info(w, q.MigrationID)
		return
	case eventsOperation:
		items = u.after(&q, func(it schemas.Item) (schemas.Item, bool) { return it, true })
	case updatesOperation:
		items = u.after(&q, onlyUpdate)
	case updatesBeforeOperation:
		items = u.before(&q)
	case importUpdatesOperation:
		for _, m := range u.migrations {
			for _, it := range m.imports {
				if m.id == q.MigrationID && it.Update.UpdateID > q.AfterUpdateID && len(items) < q.Limit {
					items = append(items, it)
				}
			}
		}
	default:
		refuse(w, http.StatusNotFound, "no such operation")
		return
	}
	if u.change != nil {
		items = u.change(operation, &q, items)
	}
	page := renderPage(operation, items)
	w.Header().Set("Content-Length", strconv.Itoa(len(page)))
	w.Write(page)
}

// onlyUpdate is what /v2/updates shows of an item.
func onlyUpdate(it schemas.Item) (schemas.Item, bool) {
	return schemas.Item{Update: it.Update}, it.Update != nil
}

func (u *upstream) after(q *wireRequest, show func(schemas.Item) (schemas.Item, bool)) []schemas.Item {
	after := schemas.Start
	if q.After != nil {
		at, err := schemas.ParseTime(q.After.RecordTime)
		if err != nil {
			panic(err)
		}
		after = schemas.Position{MigrationID: q.After.MigrationID, RecordTime: at, UpdateID: afterAllIDs}
	}
	var items []schemas.Item
	for _, m := range u.migrations {
		from, _ := slices.BinarySearchFunc(m.items, after, func(it schemas.Item, p schemas.Position) int { return it.Position().Compare(p) })
		for _, it := range m.items[from:] {
			if len(items) == q.PageSize {
				return items
			}
			if shown, ok := show(it); ok {
				items = append(items, shown)
			}
		}
	}
	return items
}

func (u *upstream) before(q *wireRequest) []schemas.Item {
	before, err1 := schemas.ParseTime(q.Before)
	from, err2 := schemas.ParseTime(q.AtOrAfter)
	if err := errors.Join(err1, err2); err != nil {
		panic(err)
	}
	var items []schemas.Item
	for _, m := range u.migrations {
		for _, it := range slices.Backward(m.items) {
			p := it.Position()
			if it.Update != nil && m.id == q.MigrationID && it.Update.SynchronizerID == q.Synchronizer &&
				p.RecordTime >= from && p.RecordTime < before && len(items) < q.Count {
				items = append(items, schemas.Item{Update: it.Update})
			}
		}
	}
	return items
}

func (u *upstream) info(w http.ResponseWriter, id int64) {
	for _, m := range u.migrations {
		if m.id != id {
			continue
		}
		ranges := map[string]*[2]schemas.Micros{}
		for _, it := range m.items {
			if it.Update == nil {
				continue
			}
			r := ranges[it.Update.SynchronizerID]
			if r == nil {
				r = &[2]schemas.Micros{it.Update.RecordTime}
				ranges[it.Update.SynchronizerID] = r
			}
			r[1] = it.Update.RecordTime
		}
		answer := map[string]any{"complete": !u.incomplete, "import_updates_complete": !u.importsLoading}
		var list []any
		for s, r := range ranges {
			list = append(list, map[string]string{"synchronizer_id": s, "min": r[0].String(), "max": r[1].String()})
		}
		answer["record_time_range"] = list
		if m.previous >= 0 {
			answer["previous_migration_id"] = m.previous
		}
		if len(m.imports) > 0 {
			answer["last_import_update_id"] = m.imports[len(m.imports)-1].Update.UpdateID
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			panic(err)
		}
		return
	}
	refuse(w, http.StatusNotFound, fmt.Sprintf("No data for migration %d", id))
}

func renderPage(operation string, items []schemas.Item) []byte {
	page := []byte(`{"transactions":[`)
	if operation == eventsOperation {
		page = []byte(`{"events":[`)
	}
	for i := range items {
		if i > 0 {
			page = append(page, ',')
		}
		if operation == eventsOperation {
			page = schemas.AppendItem(page, &items[i])
		} else {
			page = schemas.AppendUpdate(page, items[i].Update, schemas.UpdateForm{WithOffset: operation != updatesOperation})
		}
	}
	return append(page, `]}`...)
}

// hexID makes ids that are spread evenly.
func hexID(r *rand.Rand, prefix string, digits int) string {
	b := []byte(prefix)
	for range digits {
		b = append(b, "0123456789abcdef"[r.IntN(16)])
	}
	return string(b)
}

func created(r *rand.Rand, updateID string, node int32, at schemas.Micros) schemas.Event {
	return schemas.Event{
		EventID: schemas.EventID(updateID, node), Node: node, Kind: schemas.Created, ContractID: hexID(r, "00", 136),
		TemplateID: "pkg:Splice.Amulet:Amulet", PackageName: "splice-amulet", CreatedAt: at,
		Argument:    fmt.Appendf(nil, `{"record":{"fields":[{"value":{"party":"alice::1220"}},{"value":{"numeric":"%d.0000000000"}}]}}`, r.IntN(1e6)),
		Signatories: []string{"DSO::1220dd"}, Observers: []string{},
	}
}

// item generates what happened at one record time: mostly a transaction with its
// verdict, now and then a reassignment, a private or a rejected transaction.
func item(r *rand.Rand, migrationID int64, at schemas.Micros) schemas.Item {
	id := hexID(r, "1220", 64)
	verdict := &schemas.Verdict{
		UpdateID: id, MigrationID: migrationID, SynchronizerID: synchronizerA, RecordTime: at, FinalizationTime: at + 5,
		SubmittingParties: []string{"alice::1220"}, Result: "VERDICT_RESULT_ACCEPTED", RoundNumber: int64(r.IntN(100)),
		Views: []byte(`{"root_views":[0],"views":[]}`),
	}
	switch kind := r.IntN(20); {
	case kind < 3:
		verdict.Result = "VERDICT_RESULT_REJECTED"
		return schemas.Item{Verdict: verdict}
	case kind == 3:
		return schemas.Item{Update: &schemas.Update{
			Kind: schemas.Unassignment, MigrationID: migrationID, SynchronizerID: synchronizerA, RecordTime: at, UpdateID: id,
			Encoding: schemas.ProtobufJSON, Reassignment: &schemas.Reassignment{
				Submitter: "alice::1220", SourceSynchronizer: synchronizerA, TargetSynchronizer: synchronizerB,
				UnassignID: id, Counter: 1, ContractID: hexID(r, "00", 136),
			},
		}}
	}
	u := &schemas.Update{
		Kind: schemas.Transaction, MigrationID: migrationID, SynchronizerID: synchronizerA, RecordTime: at, UpdateID: id,
		Encoding: schemas.ProtobufJSON, EffectiveAt: at - 1000, RootEvents: []int32{0},
	}
	if r.IntN(5) == 0 {
		u.SynchronizerID, verdict.SynchronizerID = synchronizerB, synchronizerB
	}
	u.Events = []schemas.Event{{
		EventID: schemas.EventID(id, 0), Kind: schemas.Exercised, ContractID: hexID(r, "00", 136),
		TemplateID: "pkg:Splice.AmuletRules:AmuletRules", PackageName: "splice-amulet", Choice: "AmuletRules_Transfer",
		Argument: []byte(`{"record":{"fields":[]}}`), Result: []byte(`{"unit":{}}`), ActingParties: []string{"alice::1220"}, Children: []int32{},
	}}
	for n := range r.Int32N(4) {
		u.Events = append(u.Events, created(r, id, n+1, u.EffectiveAt))
		u.Events[0].Children = append(u.Events[0].Children, n+1)
	}
	it := schemas.Item{Update: u, Verdict: verdict}
	if r.IntN(2) == 0 {
		it.Traffic = &schemas.TrafficSummary{TotalCost: 12, Envelopes: []byte(`[{"traffic_cost":12,"view_ids":[0]}]`)}
	}
	return it
}

// generate makes a migration with history that is dense, sparse and empty by turns.
func generate(id, previous int64, imports, items int) *migration {
	r := rand.New(rand.NewPCG(uint64(id), uint64(items)))
	m := &migration{id: id, previous: previous}
	for i := range imports {
		m.imports = append(m.imports, importUpdate(r, id, hexID(r, "00", 100), i))
	}
	slices.SortFunc(m.imports, func(a, b schemas.Item) int { return a.Position().Compare(b.Position()) })
	at := epoch + schemas.Micros(id)*schemas.Micros(30*time.Hour/time.Microsecond)
	for len(m.items) < items {
		at += 1 + schemas.Micros(r.IntN(2000)) // bursts
		if len(m.items)/500%2 == 1 {
			at += schemas.Micros(r.IntN(2_000_000)) // a thousand times sparser
		}
		if r.IntN(1500) == 0 {
			at += schemas.Micros(4 * time.Hour / time.Microsecond)
		}
		m.items = append(m.items, item(r, id, at))
	}
	return m
}

func importUpdate(r *rand.Rand, migrationID int64, contractID string, n int) schemas.Item {
	e := created(r, contractID, 0, epoch-schemas.Micros(n))
	e.ContractID = contractID
	return schemas.Item{Update: &schemas.Update{
		Kind: schemas.Transaction, MigrationID: migrationID, SynchronizerID: synchronizerA, RecordTime: schemas.MinMicros,
		UpdateID: contractID, Encoding: schemas.ProtobufJSON, EffectiveAt: epoch, RootEvents: []int32{0},
		WorkflowID: "canton-network-acs-import-" + contractID, Events: []schemas.Event{e},
	}}
}

// lines renders what a correct ingest hands over, one line an item.
func (u *upstream) lines(source Source) []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var lines []string
	for _, m := range u.migrations {
		for _, it := range slices.Concat(m.imports, m.items) {
			if source != Events && it.Update == nil {
				continue
			}
			if source != Events {
				it = schemas.Item{Update: it.Update}
			}
			lines = append(lines, string(schemas.AppendItem(nil, &it)))
		}
	}
	return lines
}
