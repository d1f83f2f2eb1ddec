package devnet

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// activeAnswer is an element of the answers on active contracts.
type activeAnswer struct {
	event
	CreatedIn string `json:"created_in_update_id"`
}

// stateAnswer is a page of them.
type stateAnswer struct {
	RecordTime  string            `json:"record_time"`
	MigrationID int64             `json:"migration_id"`
	Events      []json.RawMessage `json:"created_events"`
	Next        json.RawMessage   `json:"next_page_token"`
}

// allActive pages through the active contracts. body are further members of the
// request, each with a comma in front.
func (c client) allActive(path, body string, migration int64, recordTime string, pageSize int) []activeAnswer {
	c.t.Helper()
	var all []activeAnswer
	after := ""
	for {
		var page stateAnswer
		c.ask("POST", path, fmt.Sprintf(`{"migration_id":%d,"record_time":%q,"page_size":%d%s%s}`,
			migration, recordTime, pageSize, body, after), &page)
		if page.RecordTime != recordTime || page.MigrationID != migration {
			c.t.Fatalf("%s answers for %s of migration %d", path, page.RecordTime, page.MigrationID)
		}
		for _, raw := range page.Events {
			var a activeAnswer
			if err := json.Unmarshal(raw, &a); err != nil {
				c.t.Fatal(err)
			}
			all = append(all, a)
		}
		if page.Next == nil {
			return all
		}
		after = `,"after":` + string(page.Next)
	}
}

// someSnapshots are instants of both migrations at which there is a snapshot.
func someSnapshots(t *testing.T, c client) (found [][2]string) {
	t.Helper()
	for _, before := range []string{"2026-07-02T10:00:00Z", "2026-07-03T23:59:59Z", "2026-07-06T12:00:00Z", "2027-01-01T00:00:00Z"} {
		for migration := range 2 {
			var at struct {
				RecordTime string `json:"record_time"`
			}
			path := fmt.Sprintf("/v0/state/acs/snapshot-timestamp?before=%s&migration_id=%d", before, migration)
			if status, raw := c.do("GET", path, ""); status == 200 {
				if err := json.Unmarshal(raw, &at); err != nil {
					t.Fatal(err)
				}
				found = append(found, [2]string{fmt.Sprint(migration), at.RecordTime})
			}
		}
	}
	slices.SortFunc(found, func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) })
	return slices.Compact(found)
}

// TestActiveContractsAreThoseOfTheHistory compares the contracts that are active at
// some instants with those that the history up to there leaves.
func TestActiveContractsAreThoseOfTheHistory(t *testing.T) {
	_, c := startLedger(t, sim.Config{Updates: 3000, Seed: 32})
	snapshots := someSnapshots(t, c)
	if len(snapshots) < 4 {
		t.Fatalf("snapshots are %v", snapshots)
	}
	updates := c.allUpdates("/v2/updates", "compact_json", 1000)
	created := createdIn(t, updates)
	for _, s := range snapshots {
		var migration int64
		if _, err := fmt.Sscan(s[0], &migration); err != nil {
			t.Fatal(err)
		}
		want := replayed(t, updates, migration, s[1]).ofTemplate("")
		for _, v := range []struct {
			path string
			page int
		}{{"/v2/state/acs", 1000}, {"/v1/state/acs", 377}, {"/v0/state/acs", 500}} {
			got := c.allActive(v.path, "", migration, s[1], v.page)
			compareActive(t, fmt.Sprint(v.path, s), got, want)
			for _, a := range got {
				where := created[a.ContractID]
				switch {
				case v.path == "/v0/state/acs" && where.migration == migration && a.EventID != "#"+where.event,
					v.path == "/v0/state/acs" && where.migration < migration && a.EventID != "#"+a.ContractID+":0",
					v.path != "/v0/state/acs" && where.migration == migration && !strings.HasPrefix(where.event, a.CreatedIn+":"),
					v.path != "/v0/state/acs" && where.migration < migration && a.CreatedIn != "":
					t.Fatalf("%s at %v: contract %s has %q, %q, was created as %+v", v.path, s, a.ContractID, a.EventID, a.CreatedIn, where)
				}
			}
		}
	}
	last := snapshots[len(snapshots)-1]
	r := replayed(t, updates, 1, last[1])
	filtersSelect(t, c, last[1], r.ofTemplate(""))
	holdingsAddUp(t, c, last[1], r)
}

type creation struct {
	migration int64
	event     string
}

// createdIn returns where each contract was created.
func createdIn(t *testing.T, updates []item) map[string]creation {
	t.Helper()
	created := map[string]creation{}
	for _, it := range updates {
		for id, raw := range it.EventsByID {
			if e := decodeEvent(t, raw); e.EventType == "created_event" {
				created[e.ContractID] = creation{it.MigrationID, id}
			}
		}
	}
	return created
}

func compareActive(t *testing.T, what string, got []activeAnswer, want []event) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d contracts, the history leaves %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if string(got[i].row()) != string(want[i].row()) {
			t.Errorf("%s: contract %d is %s, want %s", what, i, got[i].row(), want[i].row())
			return
		}
	}
}

func filtersSelect(t *testing.T, c client, at string, all []event) {
	t.Helper()
	party := all[len(all)/2].Signatories[0]
	for _, tc := range []struct {
		body string
		keep func(event) bool
	}{
		{`,"templates":["splice-amulet:Splice.Amulet:Amulet","harbor-logistics:Harbor.Trade.Shipment:Shipment"]`, func(e event) bool {
			return strings.HasSuffix(e.TemplateID, ":Splice.Amulet:Amulet") || strings.HasSuffix(e.TemplateID, ":Harbor.Trade.Shipment:Shipment")
		}},
		{fmt.Sprintf(`,"party_ids":["nobody",%q]`, party), func(e event) bool {
			return slices.Contains(e.Signatories, party) || slices.Contains(e.Observers, party)
		}},
		{fmt.Sprintf(`,"party_ids":[%q],"templates":["splice-amulet:Splice.Amulet:Amulet"]`, party), func(e event) bool {
			return strings.HasSuffix(e.TemplateID, ":Splice.Amulet:Amulet") && slices.Contains(e.Signatories, party)
		}},
		{`,"templates":["no:Such:Template"]`, func(event) bool { return false }},
	} {
		var want []event
		for _, e := range all {
			if tc.keep(e) {
				want = append(want, e)
			}
		}
		compareActive(t, tc.body, c.allActive("/v2/state/acs", tc.body, 1, at, 10), want)
	}
}

// holdingsAddUp compares the holdings of some owners with their coins.
func holdingsAddUp(t *testing.T, c client, at string, r *replay) {
	t.Helper()
	var coins []event
	owners := map[string]bool{}
	for _, e := range r.ofTemplate("Splice.Amulet:Amulet") {
		owner := member(t, e.CreateArguments, "owner")
		if len(owners) < 5 {
			owners[owner] = true
		}
	}
	var list []string
	for owner := range owners {
		list = append(list, owner)
	}
	slices.Sort(list)
	names, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	totals := map[string][2]model.Decimal{}
	for _, e := range r.ofTemplate("") {
		kind, path := 0, []string{}
		switch {
		case strings.HasSuffix(e.TemplateID, ":Splice.Amulet:Amulet"):
		case strings.HasSuffix(e.TemplateID, ":Splice.Amulet:LockedAmulet"):
			kind, path = 1, []string{"amulet"}
		default:
			continue
		}
		owner := member(t, e.CreateArguments, append(path, "owner")...)
		if !owners[owner] {
			continue
		}
		coins = append(coins, e)
		sum := totals[owner]
		sum[kind] += mustDecimal(t, member(t, e.CreateArguments, append(path, "amount", "initialAmount")...))
		totals[owner] = sum
	}
	body := fmt.Sprintf(`,"owner_party_ids":%s`, names)
	compareActive(t, "holdings", c.allActive("/v2/holdings/state", body, 1, at, 3), coins)
	for _, path := range []string{"/v1/holdings/summary", "/v0/holdings/summary"} {
		var answer struct {
			Round     *int64              `json:"computed_as_of_round"`
			Summaries []map[string]string `json:"summaries"`
		}
		c.ask("POST", path, fmt.Sprintf(`{"migration_id":1,"record_time":%q%s}`, at, body), &answer)
		if len(answer.Summaries) != len(list) || (answer.Round != nil) != (path == "/v0/holdings/summary") {
			t.Fatalf("%s: %+v", path, answer)
		}
		for i, s := range answer.Summaries {
			sum := totals[list[i]]
			if s["party_id"] != list[i] || s["total_unlocked_coin"] != sum[0].String() || s["total_locked_coin"] != sum[1].String() ||
				s["total_coin_holdings"] != (sum[0]+sum[1]).String() {
				t.Errorf("%s: %v, want %v for %s", path, s, sum, list[i])
			}
			if answer.Round == nil {
				continue
			}
			fees := mustDecimal(t, s["accumulated_holding_fees_unlocked"])
			if fees <= 0 || mustDecimal(t, s["total_available_coin"]) != sum[0]-fees ||
				mustDecimal(t, s["accumulated_holding_fees_total"]) != fees+mustDecimal(t, s["accumulated_holding_fees_locked"]) {
				t.Errorf("%s: fees of %v are wrong", path, s)
			}
		}
	}
}

func mustDecimal(t *testing.T, text string) model.Decimal {
	t.Helper()
	whole, fraction, _ := strings.Cut(text, ".")
	d, err := strconv.ParseInt(whole+fraction, 10, 64)
	if err != nil || len(fraction) != 10 {
		t.Fatalf("%q is no decimal: %v", text, err)
	}
	return model.Decimal(d)
}

// TestPastOfAnAdvancedLedger executes again what was executed in several runs.
func TestPastOfAnAdvancedLedger(t *testing.T) {
	l, c := startLedger(t, sim.Config{Updates: 800, Seed: 33})
	for _, n := range []int{1, 7, 300} {
		if err := l.Advance(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	snapshots := someSnapshots(t, c)
	last := snapshots[len(snapshots)-1]
	updates := c.allUpdates("/v2/updates", "compact_json", 1000)
	compareActive(t, "advanced", c.allActive("/v2/state/acs", "", 1, last[1], 1000), replayed(t, updates, 1, last[1]).ofTemplate(""))
	if s, err := l.ExecuteAgain(t.Context(), 1, 1108); err != nil || len(s.Active) != int(l.Digests().Counts.ActiveContracts) {
		t.Errorf("executed again, %d contracts are active (%v), the ledger has %d", len(s.Active), err, l.Digests().Counts.ActiveContracts)
	}
}

// TestStateWhileAdvancing asks about present and past while the ledger goes on.
func TestStateWhileAdvancing(t *testing.T) {
	l, c := startLedger(t, sim.Config{Updates: 400, Seed: 37})
	snapshots := someSnapshots(t, c)
	last := snapshots[len(snapshots)-1]
	want := c.allActive("/v2/state/acs", "", 1, last[1], 1000)
	done := make(chan error, 1)
	go func() {
		var err error
		for range 15 {
			err = errors.Join(err, l.Advance(t.Context(), 20))
		}
		done <- err
	}()
	for live := true; live; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			live = false
		default:
			for _, path := range []string{"/v0/dso", "/v0/featured-apps", "/v0/ans-entries?page_size=1000", "/v0/closed-rounds",
				"/v0/admin/validator/licenses", "/v0/events/latest-record-time"} {
				var answer map[string]any
				c.ask("GET", path, "", &answer)
			}
			got := c.allActive("/v2/state/acs", "", 1, last[1], 1000)
			if len(got) != len(want) {
				t.Fatalf("%d contracts at %v, there were %d", len(got), last, len(want))
			}
		}
	}
}

// TestUpdatesOfVersion0 compares the first version of the updates with the later ones.
func TestUpdatesOfVersion0(t *testing.T) {
	_, c := startLedger(t, sim.Config{Updates: 500, Seed: 34})
	for _, tc := range []struct{ lossless, encoding string }{{"true", "protobuf_json"}, {"false", "compact_json"}} {
		var v0 []item
		after := ""
		for {
			page := c.items("POST", "/v0/updates", fmt.Sprintf(`{"page_size":1000,"lossless":%s%s}`, tc.lossless, after))
			v0 = append(v0, page...)
			if len(page) < 1000 {
				break
			}
			last := page[len(page)-1]
			after = fmt.Sprintf(`,"after":{"after_migration_id":%d,"after_record_time":%q}`, last.MigrationID, last.RecordTime)
		}
		imports := c.imports(1, 1000)
		v1 := c.allUpdates("/v1/updates", tc.encoding, 1000)
		first := slices.IndexFunc(v1, func(it item) bool { return it.MigrationID == 1 })
		if len(imports) == 0 || len(v0) != len(v1)+len(imports) {
			t.Fatalf("%d updates of version 0, %d of version 1, %d imports", len(v0), len(v1), len(imports))
		}
		offset := ""
		for i, it := range slices.Concat(v1[:first], imports, v1[first:]) {
			got := v0[i]
			if got.UpdateID != it.UpdateID || len(got.EventsByID) != len(it.EventsByID) || got.RecordTime != it.RecordTime {
				t.Fatalf("update %d is %s, want %s", i, got.raw, it.raw)
			}
			for id := range got.EventsByID {
				if _, ok := it.EventsByID[strings.TrimPrefix(id, "#")]; !ok || id[0] != '#' {
					t.Fatalf("event id %s, want one of %s", id, it.raw)
				}
			}
			isImport := i >= first && i < first+len(imports)
			if !isImport && got.Offset <= offset || len(got.Offset) != 18 {
				t.Errorf("offset %s follows %s", got.Offset, offset)
			}
			if !isImport {
				offset = got.Offset
				continue
			}
			if tc.lossless == "true" && strings.ReplaceAll(string(got.raw), `"#`, `"`) != string(it.raw) {
				t.Errorf("import is %s, want %s", got.raw, it.raw)
			}
		}
		for _, i := range []int{0, first, first + 1, len(v0) - 1} {
			status, alone := c.do("GET", "/v0/updates/"+v0[i].UpdateID+"?lossless="+tc.lossless, "")
			if status != 200 || string(alone) != string(v0[i].raw) {
				t.Errorf("update %s alone: status %d, %.300s, want %.300s", v0[i].UpdateID, status, alone, v0[i].raw)
			}
		}
	}
}

// TestLookupByHash finds each transaction with an external hash by it.
func TestLookupByHash(t *testing.T) {
	_, c := startLedger(t, sim.Config{Updates: 800, Seed: 35})
	found := 0
	for _, it := range c.allUpdates("/v2/updates", "compact_json", 1000) {
		var u struct {
			Hash string `json:"external_transaction_hash"`
		}
		if err := json.Unmarshal(it.raw, &u); err != nil {
			t.Fatal(err)
		}
		if u.Hash == "" {
			continue
		}
		found++
		status, alone := c.do("GET", "/v2/updates/hash/"+u.Hash, "")
		if status != 200 || string(alone) != string(it.raw) {
			t.Errorf("hash %s: status %d, %.200s", u.Hash, status, alone)
		}
	}
	if found == 0 || found > 400 {
		t.Errorf("%d of 800 updates have a hash", found)
	}
	for _, hash := range []string{"00", strings.Repeat("ab", 32), strings.Repeat("zz", 32)} {
		if status, answer := c.do("GET", "/v2/updates/hash/"+hash, ""); status != 404 {
			t.Errorf("hash %s: status %d, %s", hash, status, answer)
		}
	}
}
