package indexer

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

const (
	stateSync     = "global-domain::1220aa"
	stateDSO      = "DSO::1220bb"
	entryName     = "splice-amulet-name-service:Splice.Ans:AnsEntry"
	preapprovalOf = "splice-amulet:Splice.AmuletRules:TransferPreapproval"
	commandName   = "splice-amulet:Splice.ExternalPartyAmuletRules:TransferCommand"
)

// stateHistory makes one update a minute, from schematest.FirstTime on.
type stateHistory struct{ items []schemas.Item }

func (h *stateHistory) time() schemas.Micros {
	return schematest.FirstTime + schemas.Micros(len(h.items)+1)*60*1e6
}

func (h *stateHistory) add(e schemas.Event) schemas.Micros {
	t := h.time()
	e.CreatedAt = t - 1000
	u := &schemas.Update{
		Kind: schemas.Transaction, SynchronizerID: stateSync, RecordTime: t, UpdateID: fmt.Sprintf("1220%04d", len(h.items)),
		EffectiveAt: t, Encoding: schemas.CompactJSON, RootEvents: []int32{0}, Events: []schemas.Event{e},
	}
	u.Events[0].EventID = schemas.EventID(u.UpdateID, 0)
	n := int64(len(h.items))
	h.items = append(h.items, schemas.Item{
		Update: u, Traffic: &schemas.TrafficSummary{TotalCost: 10, Envelopes: []byte(`[]`)},
		AppActivity: &schemas.AppActivity{RoundNumber: 3 + n/4, Records: []byte(`[]`)},
		Verdict: &schemas.Verdict{
			UpdateID: u.UpdateID, SynchronizerID: stateSync, RecordTime: t, FinalizationTime: t, SubmittingParties: []string{},
			SubmittingParticipantUID: fmt.Sprintf("p%d::1220", n%2), Result: "VERDICT_RESULT_ACCEPTED", RoundNumber: -1, Views: []byte(`{}`),
		},
	})
	return t
}

func (h *stateHistory) create(template, id, argument string, signatories, observers []string) {
	pkg, name := template[:len(template)-len(afterColon(template))-1], afterColon(template)
	h.add(schemas.Event{
		Kind: schemas.Created, ContractID: id, TemplateID: "6a3b:" + name, PackageName: pkg, Argument: []byte(argument),
		Signatories: signatories, Observers: observers,
	})
}

func afterColon(name string) string {
	for i := range name {
		if name[i] == ':' {
			return name[i+1:]
		}
	}
	return name
}

func (h *stateHistory) archive(template, id string) schemas.Micros {
	return h.add(schemas.Event{
		Kind: schemas.Exercised, ContractID: id, TemplateID: "6a3b:" + afterColon(template), Choice: "Archive", Consuming: true,
		Argument: []byte(`{}`), Result: []byte(`{}`), ActingParties: []string{stateDSO}, Children: []int32{},
	})
}

func found(contracts []history.StateContract) []string {
	ids := []string{}
	for _, c := range contracts {
		ids = append(ids, c.Event.ContractID)
	}
	return ids
}

// TestStateOfTheNetwork reads the state through all of its indexes, before and after
// housekeeping has moved what has ended.
func TestStateOfTheNetwork(t *testing.T) {
	f := newFixture(t)
	h := &stateHistory{}
	for i, name := range []string{"alice.cns", "alba.cns", "it's\\a\ttest", "100%"} {
		user := []string{"alice::1220", "bob::1220"}[i%2]
		h.create(entryName, fmt.Sprintf("00e%d", i), fmt.Sprintf(`{"name":%q,"user":%q}`, name, user), []string{stateDSO, user}, []string{"o" + user})
	}
	h.create(preapprovalOf, "00p0", `{"receiver":"alice::1220"}`, []string{stateDSO, "alice::1220"}, nil)
	h.create(commandName, "00c0", `{"sender":"alice::1220","nonce":"7"}`, []string{stateDSO, "alice::1220"}, nil)
	h.create(commandName, "00c1", `{"sender":"alice::1220","nonce":"8"}`, []string{stateDSO, "alice::1220"}, nil)
	beforeEnd := h.time() - 1
	ended := h.archive(entryName, "00e1")
	h.archive(commandName, "00c0")
	through := schemas.Position{RecordTime: h.time() - 60*1e6}

	w := NewWriter(f.db, schemas.ScanStream, f.log)
	for _, b := range batches(h.items, 2) {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	l := NewLifetimes(f.db, schemas.ScanStream, time.Millisecond, f.log)
	if err := l.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	reader := f.reader.WithSide()
	entries := func(change func(*history.StateQuery)) history.StateQuery {
		q := history.StateQuery{At: through.RecordTime, Templates: []string{"x:y:z", entryName}, Limit: 10}
		change(&q)
		return q
	}
	for range 2 {
		for name, c := range map[string]struct {
			query history.StateQuery
			want  []string
		}{
			"all":                        {entries(func(*history.StateQuery) {}), []string{"00e0", "00e2", "00e3"}},
			"one at a time":              {entries(func(q *history.StateQuery) { q.Limit = 1 }), []string{"00e0"}},
			"before the end of one":      {entries(func(q *history.StateQuery) { q.At = beforeEnd }), []string{"00e0", "00e1", "00e2", "00e3"}},
			"at the end of one":          {entries(func(q *history.StateQuery) { q.At = ended }), []string{"00e0", "00e2", "00e3"}},
			"of a signatory":             {entries(func(q *history.StateQuery) { q.Signatory = "bob::1220" }), []string{"00e3"}},
			"of an observer":             {entries(func(q *history.StateQuery) { q.Observer = "oalice::1220" }), []string{"00e0", "00e2"}},
			"a signatory is no observer": {entries(func(q *history.StateQuery) { q.Observer = "alice::1220" }), []string{}},
			"by key":                     {entries(func(q *history.StateQuery) { q.Key = "alice.cns" }), []string{"00e0"}},
			"by an odd key":              {entries(func(q *history.StateQuery) { q.Key = "it's\\a\ttest" }), []string{"00e2"}},
			"by a key with a wild card":  {entries(func(q *history.StateQuery) { q.Key = "100%" }), []string{"00e3"}},
			"by the beginning of keys":   {entries(func(q *history.StateQuery) { q.KeyPrefix = "al" }), []string{"00e0"}},
			"a prefix is no pattern":     {entries(func(q *history.StateQuery) { q.KeyPrefix = "%" }), []string{}},
			"by id":                      {entries(func(q *history.StateQuery) { q.ContractID = "00e2" }), []string{"00e2"}},
			"after one": {entries(func(q *history.StateQuery) {
				q.AfterCreatedAt, q.AfterContractID = schematest.FirstTime+60*1e6-1000, "00e0"
			}), []string{"00e2", "00e3"}},
			"of another migration": {entries(func(q *history.StateQuery) { q.MigrationID = 1 }), []string{}},
			"of no template":       {entries(func(q *history.StateQuery) { q.Templates = []string{} }), []string{}},
			"of another template":  {entries(func(q *history.StateQuery) { q.Templates, q.Key = []string{preapprovalOf}, "alice::1220" }), []string{"00p0"}},
		} {
			got, err := reader.State().StateContracts(t.Context(), c.query)
			if err != nil || !slices.Equal(found(got), c.want) {
				t.Errorf("%s: %q, %v; want %q", name, found(got), err, c.want)
			}
			for i := range got {
				if got[i].SynchronizerID != stateSync {
					t.Errorf("%s: synchronizer %q", name, got[i].SynchronizerID)
				}
			}
		}
		newest, err := reader.State().StateContractsNewest(t.Context(), entries(func(*history.StateQuery) {}), schematest.FirstTime+3*60*1e6)
		if err != nil || !slices.Equal(found(newest), []string{"00e2", "00e0"}) {
			t.Errorf("newest %q, %v", found(newest), err)
		}
		commands := history.StateQuery{At: through.RecordTime, Templates: []string{commandName}, Key: "alice::1220 7", Limit: 10}
		since, err := reader.State().StateContractsSince(t.Context(), commands, schematest.FirstTime)
		if err != nil || !slices.Equal(found(since), []string{"00c0"}) || since[0].ArchivedAt != through.RecordTime {
			t.Errorf("since the start %+v, %v", since, err)
		}
		if since, err = reader.State().StateContractsSince(t.Context(), commands, through.RecordTime); err != nil || len(since) != 0 {
			t.Errorf("since the end %q, %v", found(since), err)
		}
		if err := l.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSumsOverVerdicts adds up traffic and looks for rounds within a day and across days,
// also where the sums that parts keep are used.
func TestSumsOverVerdicts(t *testing.T) {
	f := newFixture(t)
	h := &stateHistory{}
	for i := range 20 {
		h.create(entryName, fmt.Sprintf("00e%d", i), `{"name":"x"}`, []string{stateDSO}, nil)
	}
	// The second half is of the next day, in the next migration.
	for i := range h.items[10:] {
		it := &h.items[10+i]
		it.Update.MigrationID, it.Verdict.MigrationID = 1, 1
		it.Update.RecordTime += 24 * 3600 * 1e6
		it.Verdict.RecordTime = it.Update.RecordTime
	}
	h.items[3].Traffic, h.items[0].AppActivity = nil, nil
	w := NewWriter(f.db, schemas.ScanStream, f.log)
	for _, b := range batches(h.items, 4) {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	position := func(i int) schemas.Position { return h.items[i].Position() }
	for _, c := range []struct {
		through     int
		members     []string
		cost        int64
		first, last int64
		ok          bool
	}{
		{0, []string{"p0::1220"}, 10, 0, 0, false},
		{9, []string{"p0::1220"}, 50, 3, 5, true},
		{9, []string{"p1::1220"}, 40, 3, 5, true},
		{9, []string{"p0::1220", "p1::1220"}, 90, 3, 5, true},
		{10, []string{"p0::1220"}, 60, 3, 5, true},
		{19, []string{"p0::1220", "PAR::p0::1220"}, 100, 3, 7, true},
		{19, []string{"nobody"}, 0, 3, 7, true},
	} {
		cost, err := f.reader.State().TrafficCost(t.Context(), position(c.through), stateSync, c.members)
		if err != nil || cost != c.cost {
			t.Errorf("traffic of %q through %s: %d, %v; want %d", c.members, position(c.through), cost, err, c.cost)
		}
		first, last, ok, err := f.reader.State().ActivityRounds(t.Context(), position(c.through))
		if err != nil || first != c.first || last != c.last || ok != c.ok {
			t.Errorf("rounds through %s: %d to %d, %v, %v; want %d to %d, %v", position(c.through), first, last, ok, err, c.first, c.last, c.ok)
		}
	}
	if cost, err := f.reader.State().TrafficCost(t.Context(), position(19), "other::1220", []string{"p0::1220"}); err != nil || cost != 0 {
		t.Errorf("on another synchronizer: %d, %v", cost, err)
	}
	if _, _, ok, err := f.reader.State().ActivityRounds(t.Context(), schemas.Start); ok || err != nil {
		t.Errorf("rounds of nothing: %v, %v", ok, err)
	}
}

func TestFactsByVersion(t *testing.T) {
	f := newFixture(t)
	key := facts.Of(facts.Participants, "s::1220", "it's/a\ttest")
	if _, err := f.reader.State().LatestFact(t.Context(), key); !errors.Is(err, schemas.ErrNotFound) {
		t.Fatalf("before the first: %v", err)
	}
	previous := ""
	for i, body := range []string{`{"participant_id":"a"}`, `{"participant_id":"b"}`, ``, `{"participant_id":"a"}`} {
		fact := facts.Fact{Key: key, ValidFrom: schemas.Micros(1e15 + i), FetchedAt: schemas.Micros(1e15 + i + 5), Upstream: "http://u", Body: []byte(body)}
		for range 2 { // the second is dropped
			if err := KeepFact(t.Context(), f.db, schemas.ScanStream, fact, previous); err != nil {
				t.Fatal(err)
			}
		}
		previous = fact.SHA256()
		got, err := f.reader.State().LatestFact(t.Context(), key)
		if err != nil || string(got.Body) != body || got.Key != key || got.ValidFrom != fact.ValidFrom || got.FetchedAt != fact.FetchedAt || got.Upstream != "http://u" {
			t.Errorf("version %d: %+v, %v", i, got, err)
		}
		if _, err := f.reader.State().Fact(t.Context(), key); errors.Is(err, schemas.ErrNotFound) != (body == "") {
			t.Errorf("version %d as a fact: %v", i, err)
		}
	}
	if n := indexertest.Texts(t, f.dsn, "SELECT toString(count()) FROM network_facts"); n[0] != "4" {
		t.Errorf("%s rows, want 4", n)
	}
	if _, err := f.reader.State().LatestFact(t.Context(), facts.Of(facts.Participants, "s::1220", "other")); !errors.Is(err, schemas.ErrNotFound) {
		t.Errorf("another key: %v", err)
	}
}
