package devnet

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/history"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

func TestRefusals(t *testing.T) {
	_, c := startLedger(t, sim.Config{Updates: 200, Seed: 21})
	names := model.NewNames(21, 200, 1)
	sync, dsoParty := names.Synchronizers[0], names.Parties[model.Dso]
	acs := func(members string) string {
		return `{"migration_id":0,"record_time":"2026-07-02T00:00:00Z",` + members + `}`
	}
	before := func(count string) string {
		return fmt.Sprintf(`{"migration_id":0,"synchronizer_id":%q,"before":"2030-01-01T00:00:00Z","count":%s}`, sync, count)
	}
	for _, tc := range []struct {
		name, method, path, body string
		status                   int
		text                     string // of the error, if it matters
	}{
		{"page of one", "POST", "/v2/updates", `{"page_size":1}`, 200, ""},
		{"largest page", "POST", "/v2/updates", `{"page_size":1000}`, 200, ""},
		{"page too large", "POST", "/v2/updates", `{"page_size":2000}`, 400, "Exceeded limit maximum (2000 > 1000)."},
		{"empty page", "POST", "/v2/updates", `{"page_size":0}`, 400, "Limit must be at least 1."},
		{"negative page", "POST", "/v1/updates", `{"page_size":-5}`, 400, "Limit must be at least 1."},
		{"no page size", "POST", "/v2/updates", `{}`, 400, ""},
		{"page size beyond 32 bits", "POST", "/v2/updates", `{"page_size":4294967297}`, 400, ""},
		{"no JSON", "POST", "/v2/updates", `page_size=1`, 400, ""},
		{"bad time", "POST", "/v2/updates", `{"page_size":1,"after":{"after_migration_id":0,"after_record_time":"yesterday"}}`, 400, ""},
		{"time without zone", "POST", "/v2/updates", `{"page_size":1,"after":{"after_migration_id":0,"after_record_time":"2026-07-01T00:00:00"}}`, 400, ""},
		{"half a cursor", "POST", "/v2/updates", `{"page_size":1,"after":{"after_migration_id":0}}`, 400, ""},
		{"unknown encoding", "POST", "/v2/updates", `{"page_size":1,"daml_value_encoding":"xml"}`, 400, ""},
		{"events too large", "POST", "/v0/events", `{"page_size":1001}`, 400, "Exceeded limit maximum (1001 > 1000)."},
		{"largest events page", "POST", "/api/scan/v0/events", `{"page_size":1000}`, 200, ""},
		{"unknown update", "GET", "/v2/updates/1220ff", "", 404, ""},
		{"unknown event", "GET", "/v0/events/1220ff", "", 404, ""},
		{"unknown encoding of one update", "GET", "/v2/updates/1220ff?contract_value_encoding=xml", "", 400, ""},
		{"unknown migration", "POST", "/v0/backfilling/migration-info", `{"migration_id":7}`, 404, "No data for migration 7"},
		{"migration without id", "POST", "/v0/backfilling/migration-info", `{}`, 400, ""},
		{"backfill", "POST", "/v0/backfilling/updates-before", before("1000"), 200, ""},
		{"backfill too large", "POST", "/v0/backfilling/updates-before", before("1001"), 400, "Exceeded limit maximum (1001 > 1000)."},
		{"backfill of nothing", "POST", "/v0/backfilling/updates-before", before("0"), 400, "Limit must be at least 1."},
		{"backfill of unknown migration", "POST", "/v0/backfilling/updates-before", `{"migration_id":9,"synchronizer_id":"x","before":"2030-01-01T00:00:00Z","count":1}`, 404, ""},
		{"backfill without time", "POST", "/v0/backfilling/updates-before", `{"migration_id":0,"synchronizer_id":"x","count":1}`, 400, ""},
		{"imports", "POST", "/v0/backfilling/import-updates", `{"migration_id":1,"after_update_id":"","limit":1}`, 200, ""},
		{"imports of unknown migration", "POST", "/v0/backfilling/import-updates", `{"migration_id":5,"after_update_id":"","limit":1}`, 200, ""},
		{"imports too large", "POST", "/v0/backfilling/import-updates", `{"migration_id":1,"after_update_id":"","limit":5000}`, 400, ""},
		{"status", "GET", "/v0/backfilling/status", "", 200, ""},
		{"snapshot without time", "GET", "/v0/state/acs/snapshot-timestamp?migration_id=0", "", 400, ""},
		{"snapshot before everything", "GET", "/v0/state/acs/snapshot-timestamp?migration_id=0&before=2020-01-01T00:00:00Z", "", 404, ""},
		{"version", "GET", "/api/scan/version", "", 200, ""},
		{"ready", "GET", "/readyz", "", 200, ""},
		{"live", "GET", "/api/scan/livez", "", 200, ""},
		{"v0 page of one", "POST", "/v0/updates", `{"page_size":1,"lossless":true}`, 200, ""},
		{"v0 page too large", "POST", "/v0/updates", `{"page_size":1001}`, 400, "Exceeded limit maximum (1001 > 1000)."},
		{"v0 half a cursor", "POST", "/v0/updates", `{"page_size":1,"after":{"after_record_time":"2026-07-01T00:00:00Z"}}`, 400, ""},
		{"v0 unknown update", "GET", "/v0/updates/1220ff", "", 404, ""},
		{"v0 lossless is a flag", "GET", "/v0/updates/1220ff?lossless=maybe", "", 400, ""},
		{"unknown hash", "GET", "/v2/updates/hash/ff", "", 404, ""},
		{"unknown encoding by hash", "GET", "/v2/updates/hash/ff?daml_value_encoding=xml", "", 400, ""},
		{"latest record time", "GET", "/v0/events/latest-record-time", "", 200, ""},
		{"acs", "POST", "/v2/state/acs", acs(`"page_size":1000`), 200, ""},
		{"acs without page size", "POST", "/v2/state/acs", acs(`"templates":[]`), 400, ""},
		{"acs page of nothing", "POST", "/v2/state/acs", acs(`"page_size":0`), 400, "Limit must be at least 1."},
		{"acs page too large", "POST", "/v1/state/acs", acs(`"page_size":1001`), 400, "Exceeded limit maximum (1001 > 1000)."},
		{"acs without time", "POST", "/v0/state/acs", `{"migration_id":0,"page_size":1}`, 400, ""},
		{"acs without migration", "POST", "/v2/state/acs", `{"record_time":"2026-07-02T00:00:00Z","page_size":1}`, 400, ""},
		{"acs between two snapshots", "POST", "/v2/state/acs", `{"migration_id":0,"record_time":"2026-07-02T00:00:01Z","page_size":1}`, 404, ""},
		{"acs at or before", "POST", "/v2/state/acs", `{"migration_id":0,"record_time":"2026-07-02T00:00:01Z","page_size":1,"record_time_match":"at_or_before"}`, 200, ""},
		{"acs before everything", "POST", "/v2/state/acs", `{"migration_id":0,"record_time":"2020-07-02T00:00:01Z","page_size":1,"record_time_match":"at_or_before"}`, 404, ""},
		{"acs unknown match", "POST", "/v2/state/acs", acs(`"page_size":1,"record_time_match":"about"`), 400, ""},
		{"acs unknown migration", "POST", "/v2/state/acs", `{"migration_id":7,"record_time":"2026-07-02T00:00:00Z","page_size":1}`, 404, ""},
		{"acs template of two parts", "POST", "/v2/state/acs", acs(`"page_size":1,"templates":["Splice.Amulet:Amulet"]`), 400, ""},
		{"acs template with an empty part", "POST", "/v2/state/acs", acs(`"page_size":1,"templates":["splice-amulet::Amulet"]`), 400, ""},
		{"acs too many parties", "POST", "/v2/state/acs", acs(`"page_size":1,"party_ids":` + manyTexts(1001)), 400, ""},
		{"acs foreign token", "POST", "/v2/state/acs", acs(`"page_size":1,"after":"cm93IDk5OTk5OTk"`), 400, ""},
		{"acs token of another kind", "POST", "/v2/state/acs", acs(`"page_size":1,"after":5`), 400, ""},
		{"acs token out of range", "POST", "/v1/state/acs", acs(`"page_size":1,"after":99999999`), 400, ""},
		{"acs token below range", "POST", "/v0/state/acs", acs(`"page_size":1,"after":0`), 400, ""},
		{"acs forced", "POST", "/v0/state/acs/force", "", 400, ""},
		{"holdings without owners", "POST", "/v2/holdings/state", acs(`"page_size":1,"owner_party_ids":[]`), 400, ""},
		{"holdings of too many", "POST", "/v1/holdings/state", acs(`"page_size":1,"owner_party_ids":` + manyTexts(1001)), 400, ""},
		{"holdings of a stranger", "POST", "/v0/holdings/state", acs(`"page_size":1,"owner_party_ids":["x"]`), 200, ""},
		{"summary without owners", "POST", "/v1/holdings/summary", acs(`"owner_party_ids":[]`), 400, ""},
		{"summary", "POST", "/v0/holdings/summary", acs(`"owner_party_ids":["x"],"as_of_round":3`), 200, ""},
		{"summary without snapshot", "POST", "/v0/holdings/summary", `{"migration_id":0,"record_time":"2020-07-02T00:00:00Z","owner_party_ids":["x"]}`, 404, ""},
		{"rounds without lists", "POST", "/v0/open-and-issuing-mining-rounds", `{}`, 400, ""},
		{"rounds with too many", "POST", "/v0/open-and-issuing-mining-rounds", `{"cached_issuing_round_contract_ids":[],"cached_open_mining_round_contract_ids":` + manyTexts(1001) + `}`, 400, ""},
		{"rules with a number", "POST", "/v0/ans-rules", `{"cached_ans_rules_contract_id":7}`, 400, ""},
		{"rules without a body", "POST", "/v0/amulet-rules", ``, 400, ""},
		{"names without page size", "GET", "/v0/ans-entries", "", 400, ""},
		{"names page of nothing", "GET", "/v0/ans-entries?page_size=0", "", 400, "Limit must be at least 1."},
		{"names page too large", "GET", "/v0/ans-entries?page_size=1001", "", 400, "Exceeded limit maximum (1001 > 1000)."},
		{"names page of letters", "GET", "/v0/ans-entries?page_size=ten", "", 400, ""},
		{"unknown name", "GET", "/v0/ans-entries/by-name/nobody.cns", "", 404, ""},
		{"name of a stranger", "GET", "/v0/ans-entries/by-party/nobody", "", 404, ""},
		{"name of the governance", "GET", "/v0/ans-entries/by-name/dso.cns", "", 200, ""},
		{"preapproval of a stranger", "GET", "/v0/transfer-preapprovals/by-party/nobody", "", 404, ""},
		{"counter of a stranger", "GET", "/v0/transfer-command-counter/nobody", "", 404, ""},
		{"command of a stranger", "GET", "/v0/transfer-command/status?sender=x&nonce=0", "", 404, ""},
		{"command without nonce", "GET", "/v0/transfer-command/status?sender=x", "", 400, ""},
		{"command without sender", "GET", "/v0/transfer-command/status?nonce=0", "", 400, ""},
		{"licenses of nothing", "GET", "/v0/admin/validator/licenses?limit=0", "", 400, ""},
		{"licenses too many", "GET", "/v0/admin/validator/licenses?limit=1001", "", 400, ""},
		{"licenses after letters", "GET", "/v0/admin/validator/licenses?after=x", "", 400, ""},
		{"faucets of nobody", "GET", "/v0/validators/validator-faucets", "", 400, ""},
		{"traffic of no member", "GET", "/v0/domains/" + sync + "/members/participant/traffic-status", "", 400, ""},
		{"traffic of a stranger", "GET", "/v0/domains/" + sync + "/members/PAR::x::1220/traffic-status", "", 404, ""},
		{"traffic elsewhere", "GET", "/v0/domains/x::1220/members/PAR::x::1220/traffic-status", "", 404, ""},
		{"host of a stranger", "GET", "/v0/domains/" + sync + "/parties/x/participant-id", "", 404, ""},
		{"host of the governance", "GET", "/v0/domains/" + sync + "/parties/" + dsoParty + "/participant-id", "", 500, ""},
		{"hosts of the governance", "GET", "/v1/domains/" + sync + "/parties/" + dsoParty + "/participant-id", "", 200, ""},
		{"identities elsewhere", "GET", "/v0/synchronizer-identities/x", "", 404, ""},
		{"bootstrapping elsewhere", "GET", "/v0/synchronizer-bootstrapping-transactions/x", "", 404, ""},
		{"rewards of no round", "GET", "/v0/internal/reward-accounting-process/rounds/x/activity-totals", "", 400, ""},
		{"root of no round", "GET", "/v0/internal/reward-accounting-process/rounds/-1/root-hash", "", 400, ""},
		{"rewards too early", "GET", "/v0/internal/reward-accounting-process/rounds/99999/activity-totals", "", 200, ""},
		{"batch of an unknown round", "GET", "/v0/internal/reward-accounting-process/rounds/99999/batches/ff", "", 404, ""},
		{"unknown operation", "GET", "/v3/updates", "", 404, ""},
		{"wrong method", "GET", "/v2/updates", "", 405, ""},
		{"wrong method on a snapshot", "POST", "/api/scan/v0/state/acs/snapshot-timestamp", "", 405, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			status, answer := c.do(tc.method, tc.path, tc.body)
			if status != tc.status {
				t.Fatalf("%s %s %s: status %d, %s, want %d", tc.method, tc.path, tc.body, status, answer, tc.status)
			}
			if status == 200 {
				return
			}
			var e struct {
				Error string `json:"error"`
			}
			if err := json.Unmarshal(answer, &e); err != nil || e.Error == "" || tc.text != "" && e.Error != tc.text {
				t.Errorf("%s %s %s: answer %s, want error %q", tc.method, tc.path, tc.body, answer, tc.text)
			}
		})
	}
}

func TestCompactIsRefusedWhenSkipped(t *testing.T) {
	_, c := startLedger(t, sim.Config{Updates: 20, Seed: 22, SkipCompact: true})
	if status, answer := c.do("POST", "/v2/updates", `{"page_size":1}`); status != 501 {
		t.Errorf("status %d, %s, want 501", status, answer)
	}
	if status, answer := c.do("POST", "/v2/updates", `{"page_size":1,"contract_value_encoding":"protobuf_json"}`); status != 200 {
		t.Errorf("status %d, %s, want 200", status, answer)
	}
}

// info is the answer of migration-info.
type info struct {
	Previous *int64 `json:"previous_migration_id"`
	Ranges   []struct {
		Synchronizer string `json:"synchronizer_id"`
		Min, Max     string
	} `json:"record_time_range"`
	LastImport      string `json:"last_import_update_id"`
	Complete        bool   `json:"complete"`
	ImportsComplete bool   `json:"import_updates_complete"`
}

// TestBackfillCoversEverything walks back from the newest migration the way a
// backfill does and finds each update once, as /v1/updates gives it.
func TestBackfillCoversEverything(t *testing.T) {
	_, c := startLedger(t, sim.Config{Updates: 2500, Seed: 23, SkipCompact: true})
	want := map[string]string{}
	last := item{MigrationID: -1}
	for _, it := range c.allUpdates("/v1/updates", "protobuf_json", 333) {
		if it.MigrationID < last.MigrationID || it.MigrationID == last.MigrationID && it.RecordTime <= last.RecordTime {
			t.Errorf("update %s at %s follows %s", it.UpdateID, it.RecordTime, last.RecordTime)
		}
		if it.Offset != "000000000000000001" {
			t.Errorf("update %s has offset %q", it.UpdateID, it.Offset)
		}
		last = it
		want[it.UpdateID] = string(it.raw)
	}
	if len(want) != 2500 {
		t.Fatalf("%d updates, want 2500", len(want))
	}
	migration := int64(1)
	for {
		var i info
		c.ask("POST", "/v0/backfilling/migration-info", fmt.Sprintf(`{"migration_id":%d}`, migration), &i)
		if !i.Complete || !i.ImportsComplete || len(i.Ranges) != 2 {
			t.Errorf("migration %d: %+v", migration, i)
		}
		for _, r := range i.Ranges {
			backfill(t, c, migration, r.Synchronizer, r.Min, r.Max, want)
		}
		if i.Previous == nil {
			break
		}
		imports := c.imports(migration, 1000)
		if got := imports[len(imports)-1].UpdateID; got != i.LastImport {
			t.Errorf("last import is %s, migration-info says %s", got, i.LastImport)
		}
		migration = *i.Previous
	}
	if migration != 0 || len(want) > 0 {
		t.Errorf("at migration %d the backfill has not seen %d updates", migration, len(want))
	}
}

// backfill takes the updates of one synchronizer out of want, newest first.
func backfill(t *testing.T, c client, migration int64, synchronizer, first, newest string, want map[string]string) {
	t.Helper()
	before, seen := "9999-01-01T00:00:00Z", 0
	for {
		page := c.items("POST", "/api/scan/v0/backfilling/updates-before",
			fmt.Sprintf(`{"migration_id":%d,"synchronizer_id":%q,"before":%q,"count":100}`, migration, synchronizer, before))
		if len(page) == 0 {
			break
		}
		if seen == 0 && page[0].RecordTime != newest {
			t.Errorf("newest update of %s is at %s, migration-info says %s", synchronizer, page[0].RecordTime, newest)
		}
		for _, it := range page {
			if it.RecordTime >= before || it.MigrationID != migration {
				t.Errorf("update %s of migration %d at %s is not before %s", it.UpdateID, it.MigrationID, it.RecordTime, before)
			}
			if want[it.UpdateID] != string(it.raw) {
				t.Errorf("update %s differs from what /v1/updates gives, or comes twice", it.UpdateID)
			}
			delete(want, it.UpdateID)
			before = it.RecordTime
			seen++
		}
	}
	if before != first {
		t.Errorf("oldest update of %s is at %s, migration-info says %s", synchronizer, before, first)
	}
	if first == newest {
		return
	}
	bounded := c.items("POST", "/v0/backfilling/updates-before", fmt.Sprintf(
		`{"migration_id":%d,"synchronizer_id":%q,"before":%q,"at_or_after":%q,"count":1000}`, migration, synchronizer, newest, first))
	if n := len(bounded); n != min(seen-1, 1000) || seen <= 1000 && bounded[n-1].RecordTime != first {
		t.Errorf("at_or_after %s and before %s give %d of %d updates", first, newest, len(bounded), seen)
	}
}

// TestEncodingsAgree compares the two encodings of every update but for the values.
func TestEncodingsAgree(t *testing.T) {
	_, c := startLedger(t, sim.Config{Updates: 800, Seed: 24})
	compact, protobuf := c.allUpdates("/v2/updates", "compact_json", 500), c.allUpdates("/v2/updates", "protobuf_json", 499)
	if len(compact) != len(protobuf) {
		t.Fatalf("%d and %d updates", len(compact), len(protobuf))
	}
	for i := range compact {
		if a, b := withoutValues(t, compact[i].raw), withoutValues(t, protobuf[i].raw); a != b {
			t.Errorf("update %d differs: %s and %s", i, a, b)
		}
	}
}

func withoutValues(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	var strip func(v any)
	strip = func(v any) {
		if m, ok := v.(map[string]any); ok {
			for _, key := range []string{"create_arguments", "choice_argument", "exercise_result"} {
				delete(m, key)
			}
			for _, member := range m {
				strip(member)
			}
		}
	}
	strip(v)
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestEvents checks the order of events, their lookup, and which parts they have.
func TestEvents(t *testing.T) {
	_, c := startLedger(t, sim.Config{Updates: 1500, Seed: 25})
	events := c.allEvents("compact_json", 400)
	last := item{MigrationID: -1}
	var updates, alone, rejected, reassignments int
	for i := range events {
		e := &events[i]
		at := e.position(t)
		if at.MigrationID < last.MigrationID || at.MigrationID == last.MigrationID && at.RecordTime <= last.RecordTime {
			t.Errorf("event %s at %s follows %s", at.UpdateID, at.RecordTime, last.RecordTime)
		}
		last = at
		var v struct {
			UpdateID   string `json:"update_id"`
			RecordTime string `json:"record_time"`
			Result     string `json:"verdict_result"`
		}
		if e.Verdict != nil {
			if err := json.Unmarshal(e.Verdict, &v); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case e.Update == nil:
			alone++
			if v.Result == "VERDICT_RESULT_REJECTED" {
				rejected++
			}
		case at.Event != nil:
			reassignments++
			if e.Verdict != nil {
				t.Errorf("reassignment %s has a verdict", at.UpdateID)
			}
		case v.UpdateID != at.UpdateID || v.RecordTime != at.RecordTime || v.Result != "VERDICT_RESULT_ACCEPTED":
			t.Errorf("update %s at %s has verdict %+v", at.UpdateID, at.RecordTime, v)
		}
		if e.Update != nil {
			updates++
		}
		if i%50 == 0 {
			compareLookups(t, c, at, e)
		}
	}
	if updates != 1500 || alone < 1500/5 || rejected < 20 || reassignments < 2 {
		t.Errorf("%d updates, %d verdicts alone, %d rejected, %d reassignments", updates, alone, rejected, reassignments)
	}
}

// compareLookups asks for an event and its update by id.
func compareLookups(t *testing.T, c client, at item, e *eventItem) {
	t.Helper()
	var alone eventItem
	c.ask("GET", "/v0/events/"+at.UpdateID, "", &alone)
	if string(alone.Update) != string(e.Update) || string(alone.Verdict) != string(e.Verdict) || string(alone.Traffic) != string(e.Traffic) {
		t.Errorf("event %s by id differs from the page", at.UpdateID)
	}
	status, update := c.do("GET", "/api/scan/v2/updates/"+at.UpdateID+"?daml_value_encoding=compact_json", "")
	if want := 404; e.Update == nil && status != want {
		t.Errorf("update %s by id: status %d, want %d", at.UpdateID, status, want)
	}
	if e.Update != nil && string(update) != string(e.Update) {
		t.Errorf("update %s by id: status %d, differs from the event", at.UpdateID, status)
	}
}

// TestEventCap checks that nothing beyond the last update or the last verdict of
// the newest migration is an event yet.
func TestEventCap(t *testing.T) {
	n := &model.Names{IDs: model.NewIDSpaces(1), Synchronizers: []string{"a"}}
	for _, tc := range []struct {
		name  string
		kinds []sim.UpdateKind
		want  int
	}{
		{"nothing", nil, 0},
		{"update without verdicts", []sim.UpdateKind{sim.AssignmentUpdate}, 0},
		{"verdicts only", []sim.UpdateKind{sim.VerdictOnly, sim.VerdictOnly}, 0},
		{"transaction", []sim.UpdateKind{sim.TransactionUpdate}, 1},
		{"verdict after the last update", []sim.UpdateKind{sim.TransactionUpdate, sim.VerdictOnly}, 1},
		{"reassignment after the last verdict", []sim.UpdateKind{sim.TransactionUpdate, sim.VerdictOnly, sim.AssignmentUpdate}, 2},
		{"transaction at the end", []sim.UpdateKind{sim.VerdictOnly, sim.AssignmentUpdate, sim.TransactionUpdate}, 3},
	} {
		s := &history.Store{Names: n, Grown: make(chan struct{})}
		s.StartMigration()
		for i, kind := range tc.kinds {
			s.Publish(&history.Rendered{Entries: []history.Entry{{Time: int64(10 + i), Kind: kind}}})
		}
		if got := s.VisibleEvents(); got != tc.want {
			t.Errorf("%s: %d events visible, want %d", tc.name, got, tc.want)
		}
		s.StartMigration()
		if got := s.VisibleEvents(); got != len(tc.kinds) {
			t.Errorf("%s: %d events visible once the migration is over, want %d", tc.name, got, len(tc.kinds))
		}
	}
}

// TestSnapshotTimestamps compares with the record times that are served.
func TestSnapshotTimestamps(t *testing.T) {
	_, c := startLedger(t, sim.Config{Updates: 400, Seed: 26})
	snapshot := func(operation, parameter, at string, migration int) string {
		var v struct {
			RecordTime string `json:"record_time"`
		}
		c.ask("GET", fmt.Sprintf("/v0/state/acs/%s?migration_id=%d&%s=%s", operation, migration, parameter, at), "", &v)
		return v.RecordTime
	}
	var times []string
	for at := "2020-01-01T00:00:00Z"; len(times) < 80; {
		status, _ := c.do("GET", "/v0/state/acs/snapshot-timestamp-after?migration_id=0&after="+at, "")
		if status == 404 {
			break
		}
		at = snapshot("snapshot-timestamp-after", "after", at, 0)
		times = append(times, at)
	}
	if len(times) < 55 || !slices.IsSorted(times) || times[0] != "2026-07-01T03:00:00.000000Z" {
		t.Fatalf("snapshots are at %v", times)
	}
	if got := snapshot("snapshot-timestamp", "before", times[7], 0); got != times[7] {
		t.Errorf("snapshot at or before %s is %s", times[7], got)
	}
	if got := snapshot("snapshot-timestamp", "before", "2026-07-02T02:59:59.999999Z", 0); got != "2026-07-02T00:00:00.000000Z" {
		t.Errorf("snapshot before 03:00 is %s", got)
	}
	if got := snapshot("snapshot-timestamp", "before", "2030-01-01T00:00:00Z", 1); got != times[len(times)-1] {
		t.Errorf("newest snapshot is %s, want %s", got, times[len(times)-1])
	}
}
