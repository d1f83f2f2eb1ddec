package devnet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
)

// shared is a ledger that many tests read and none advances.
var shared struct {
	once   sync.Once
	ledger *ledger.Ledger
	err    error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.ledger != nil {
		if err := shared.ledger.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func readNode(t *testing.T, o nodeapi.NodeOptions) (*ledger.Ledger, nodeClient) {
	t.Helper()
	shared.once.Do(func() {
		shared.ledger, shared.err = ledger.New(context.Background(), sim.Config{Updates: 1200, Seed: 11, SkipCompact: true, Node: &sim.NodeConfig{}}, nil)
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.ledger, serveNode(t, shared.ledger, o)
}

// TestNodeRefusals asks the same by list and by websocket.
func TestNodeRefusals(t *testing.T) {
	_, c := readNode(t, nodeapi.NodeOptions{PrunedOffset: 100})
	end := c.ledgerEnd()
	template := func(id string) string {
		return fmt.Sprintf(`{"includeReassignments":{"filtersForAnyParty":{"cumulative":[{"identifierFilter":{"TemplateFilter":{"value":{"templateId":%q}}}}]}}}`, id)
	}
	iface := func(id string) string {
		return strings.NewReplacer("Template", "Interface", "template", "interface").Replace(template(id))
	}
	const updates, contracts = "/v2/updates", "/v2/state/active-contracts"
	for _, tc := range []struct {
		name, path, body string
		status           int
		code             string // "" for a text
	}{
		{"no JSON", updates, `{`, 400, ""},
		{"an offset that is no number", updates, `{"beginExclusive":"x"}`, 400, ""},
		{"an offset with a fraction", updates, `{"beginExclusive":1.5}`, 400, ""},
		{"no format", updates, `{"beginExclusive":100}`, 400, "INVALID_ARGUMENT"},
		{"filter and format", updates, `{"beginExclusive":100,"filter":{},"updateFormat":` + everything + `}`, 400, "INVALID_ARGUMENT"},
		{"verbose and format", updates, `{"beginExclusive":100,"verbose":true,"updateFormat":` + everything + `}`, 400, "INVALID_ARGUMENT"},
		{"no filters", updates, updatesBody(100, 0, `{"includeReassignments":{}}`), 400, "INVALID_ARGUMENT"},
		{"no shape", updates, updatesBody(100, 0, `{"includeTransactions":{"eventFormat":`+anyParty+`}}`), 400, "INVALID_ARGUMENT"},
		{"the unspecified shape", updates, updatesBody(100, 0, `{"includeTransactions":{"eventFormat":`+anyParty+`,"transactionShape":"TRANSACTION_SHAPE_UNSPECIFIED"}}`), 400, "INVALID_ARGUMENT"},
		{"negative begin", updates, updatesBody(-1, 0, everything), 400, "INVALID_ARGUMENT"},
		{"begin after the end", updates, updatesBody(end+1, 0, everything), 400, "OFFSET_AFTER_LEDGER_END"},
		{"end after the end", updates, updatesBody(100, end+1, everything), 400, "OFFSET_AFTER_LEDGER_END"},
		{"end before begin", updates, updatesBody(200, 199, everything), 400, "INVALID_ARGUMENT"},
		{"pruned", updates, updatesBody(99, 0, everything), 400, "PARTICIPANT_PRUNED_DATA_ACCESSED"},
		{"descending without end", updates, `{"beginExclusive":100,"descendingOrder":true,"updateFormat":` + everything + `}`, 400, "INVALID_ARGUMENT"},
		{"a party without fingerprint", updates, updatesBody(100, 0, `{"includeReassignments":{"filtersByParty":{"alice":{}}}}`), 400, "INVALID_ARGUMENT"},
		{"an unknown filter", updates, updatesBody(100, 0, strings.Replace(template("a:b:c"), "TemplateFilter", "ColourFilter", 1)), 400, ""},
		{"a template that is no identifier", updates, updatesBody(100, 0, template("a:b")), 400, "INVALID_ARGUMENT"},
		{"an unknown package name", updates, updatesBody(100, 0, template("#nothing:A:B")), 404, "PACKAGE_NAMES_NOT_FOUND"},
		{"an unknown template by name", updates, updatesBody(100, 0, template("#splice-amulet:Splice.Amulet:Coin")), 404, "NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME"},
		{"an unknown template by id", updates, updatesBody(100, 0, template("00:Splice.Amulet:Amulet")), 404, "TEMPLATES_OR_INTERFACES_NOT_FOUND"},
		{"an unknown interface", updates, updatesBody(100, 0, iface("#harbor-api:Harbor.Api.Tracked:Other")), 404, "TEMPLATES_OR_INTERFACES_NOT_FOUND"},
		{"contracts without offset", contracts, `{"eventFormat":` + anyParty + `}`, 400, ""},
		{"contracts without format", contracts, `{"activeAtOffset":100}`, 400, "INVALID_ARGUMENT"},
		{"contracts of a pruned offset", contracts, `{"activeAtOffset":99,"eventFormat":` + anyParty + `}`, 400, "PARTICIPANT_PRUNED_DATA_ACCESSED"},
		{"contracts after the end", contracts, fmt.Sprintf(`{"activeAtOffset":%d,"eventFormat":%s}`, end+1, anyParty), 400, "OFFSET_AFTER_LEDGER_END"},
		{"a token of another request", contracts, `{"activeAtOffset":100,"streamContinuationToken":"MSAw","eventFormat":` + anyParty + `}`, 400, "INVALID_ARGUMENT"},
	} {
		status, header, answer := c.do("POST", tc.path, tc.body)
		if status != tc.status {
			t.Errorf("%s: status %d, want %d: %s", tc.name, status, tc.status, answer)
			continue
		}
		want := tc.code
		if want == "" {
			want = "INVALID_ARGUMENT"
			if !strings.HasPrefix(header.Get("Content-Type"), "text/plain") {
				t.Errorf("%s: answer is %s, want a text", tc.name, header.Get("Content-Type"))
			}
		} else if e := c.decodeError(answer); e.Code != want || e.Status() != status {
			t.Errorf("%s: error %+v, want %s", tc.name, e, want)
		}
		if e := c.failure(tc.path, tc.body); e.Code != want {
			t.Errorf("%s: websocket ends with %+v, want %s", tc.name, e, want)
		}
	}
	if status, _, answer := c.do("POST", updates, `{"beginExclusive":100,"filter":{"filtersForAnyParty":{}}}`); status != 400 {
		t.Errorf("legacy filter on the new operation: status %d, %s", status, answer)
	}
	if _, _, answer := c.do("GET", "/v2/state/latest-pruned-offsets", ""); !strings.Contains(string(answer), `"participantPrunedUpToInclusive":100`) {
		t.Errorf("pruned offsets are %s", answer)
	}
	if _, err := nodeapi.NodeHandler((&ledger.Ledger{}), nodeapi.NodeOptions{}); err == nil {
		t.Error("a ledger without a view serves a node")
	}
	if _, err := ledger.New(t.Context(), sim.Config{Updates: 1, Node: &sim.NodeConfig{Participant: "nobody"}}, nil); err == nil {
		t.Error("an unknown participant was accepted")
	}
}

func TestNodeListLimits(t *testing.T) {
	_, c := readNode(t, nodeapi.NodeOptions{ListLimit: 30, ListIdle: 20 * time.Millisecond})
	end := c.ledgerEnd()
	all := decodeNodeUpdates(t, c.frames("/v2/updates", updatesBody(0, end, everything)))
	upTo := func(n int) string { return updatesBody(0, all[n-1].Value.Offset, everything) }
	for _, tc := range []struct {
		name, query, body string
		status, count     int
	}{
		{"as many as allowed", "", upTo(30), 200, 30},
		{"one too many", "", upTo(31), 413, 0},
		{"limited", "?limit=7", upTo(31), 200, 7},
		{"limited to what is allowed", "?limit=30", upTo(300), 200, 30},
		{"a limit above what is allowed", "?limit=31", upTo(31), 413, 0},
		{"such a limit, but few elements", "?limit=31", upTo(5), 200, 5},
		{"none", "?limit=0", upTo(5), 200, 0},
		{"a negative limit", "?limit=-1", upTo(5), 400, 0},
		{"a limit that is no number", "?limit=x", upTo(5), 400, 0},
		{"a negative wait", "?stream_idle_timeout_ms=-1", upTo(5), 400, 0},
		{"a wait that is no number", "?stream_idle_timeout_ms=1.5", upTo(5), 400, 0},
		{"open-ended near the end", "?stream_idle_timeout_ms=1", updatesBody(all[len(all)-4].Value.Offset, 0, everything), 200, 3},
		{"open-ended with the default wait", "", updatesBody(end, 0, everything), 200, 0},
		{"legacy", "?limit=3", `{"beginExclusive":0,"filter":{"filtersForAnyParty":{}},"verbose":true}`, 200, 3},
	} {
		path := "/v2/updates"
		if tc.name == "legacy" {
			path += "/flats"
		}
		status, _, answer := c.do("POST", path+tc.query, tc.body)
		var list []json.RawMessage
		switch {
		case status != tc.status:
			t.Errorf("%s: status %d, want %d: %.200s", tc.name, status, tc.status, answer)
		case status == 413:
			if e := c.decodeError(answer); e.Code != "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED" || e.Category != 2 || e.GRPC != 10 {
				t.Errorf("%s: error %+v", tc.name, e)
			}
		case status == 200:
			if err := json.Unmarshal(answer, &list); err != nil || len(list) != tc.count {
				t.Errorf("%s: %d elements, want %d: %v", tc.name, len(list), tc.count, err)
			}
		}
	}
}

// TestNodeDescends compares both directions.
func TestNodeDescends(t *testing.T) {
	_, c := readNode(t, nodeapi.NodeOptions{ListLimit: 5000})
	end := c.ledgerEnd()
	for _, format := range []string{everything, acsDeltas} {
		up := c.list("/v2/updates", updatesBody(50, end-9, format))
		down := c.list("/v2/updates", strings.Replace(updatesBody(50, end-9, format), "{", `{"descendingOrder":true,`, 1))
		slices.Reverse(down)
		if !slices.EqualFunc(withoutCheckpoints(up), withoutCheckpoints(down), equalRaw) || len(up) < 100 {
			t.Errorf("%d updates upwards, %d downwards, or others", len(up), len(down))
		}
	}
}

func equalRaw(a, b json.RawMessage) bool { return string(a) == string(b) }

func withoutCheckpoints(list []json.RawMessage) []json.RawMessage {
	return slices.DeleteFunc(slices.Clone(list), func(e json.RawMessage) bool {
		return strings.HasPrefix(string(e), `{"update":{"OffsetCheckpoint"`)
	})
}

// TestNodeResumesAnywhere begins at offsets of updates, at gaps and at checkpoints.
func TestNodeResumesAnywhere(t *testing.T) {
	_, c := readNode(t, nodeapi.NodeOptions{ListLimit: 5000, CheckpointEvery: 7})
	end := c.ledgerEnd()
	all := decodeNodeUpdates(t, c.frames("/v2/updates", updatesBody(0, end, everything)))
	checkpoints := 0
	for begin := int64(0); begin <= end; begin += 1 + end/40 {
		rest := all[slices.IndexFunc(append(all, nodeUpdate{Value: nodeValue{Offset: end + 1}}), func(u nodeUpdate) bool { return u.Value.Offset > begin }):]
		list := c.list("/v2/updates", updatesBody(begin, end, everything))
		kept := withoutCheckpoints(list)
		checkpoints += len(list) - len(kept)
		if len(kept) != len(rest) {
			t.Fatalf("%d updates after offset %d, want %d", len(kept), begin, len(rest))
		}
		for i := range rest {
			if string(kept[i]) != string(rest[i].frame) {
				t.Fatalf("update %d after offset %d differs", i, begin)
			}
		}
	}
	if checkpoints < 40 {
		t.Errorf("%d checkpoints", checkpoints)
	}
}

// TestNodeCheckpoints: each is as far as the updates before it, or farther, but not as
// far as the next.
func TestNodeCheckpoints(t *testing.T) {
	_, c := readNode(t, nodeapi.NodeOptions{CheckpointEvery: 5, CheckpointDelay: 20 * time.Millisecond})
	end := c.ledgerEnd()
	offset, updates, checkpoints := int64(0), 0, 0
	for _, f := range c.frames("/v2/updates", updatesBody(0, end, everything)) {
		u := decodeNodeUpdate(t, f)
		if u.Kind != "OffsetCheckpoint" {
			if updates++; u.Value.Offset <= offset {
				t.Fatalf("update at %d after %d", u.Value.Offset, offset)
			}
		} else if checkpoints++; u.Value.Offset < offset || len(u.Value.Times) != 2 {
			t.Fatalf("checkpoint %s after %d", f, offset)
		}
		offset = u.Value.Offset
	}
	if checkpoints < updates/5 || checkpoints > updates/5+20 {
		t.Errorf("%d checkpoints among %d updates", checkpoints, updates)
	}
	conn := c.dial("/v2/updates", updatesBody(end, 0, acsDeltas))
	for range 3 {
		frame, err := c.frame(conn)
		if err != nil {
			t.Fatal(err)
		}
		if u := decodeNodeUpdate(t, frame); u.Kind != "OffsetCheckpoint" || u.Value.Offset != end {
			t.Fatalf("idle stream at %d sends %s", end, frame)
		}
	}
}

// activeSet is what a client knows of active contracts: their created events by id.
type activeSet map[string]string

// apply follows updates; contracts in flight are in none of the sets.
func (s activeSet) apply(t *testing.T, updates []nodeUpdate) {
	t.Helper()
	for i := range updates {
		for _, e := range updates[i].Events {
			switch {
			case e.Kind == "CreatedEvent" && e.ACSDelta, e.Kind == "JsAssignmentEvent":
				if _, ok := s[e.ContractID]; ok {
					t.Fatalf("contract %s activated twice", e.ContractID)
				}
				s[e.ContractID] = fmt.Sprintf("%d %s %d %s", e.Offset, updates[i].Value.SynchronizerID, e.Counter, e.CreateArgument)
			case e.Kind == "ArchivedEvent", e.Kind == "JsUnassignedEvent", e.Kind == "ExercisedEvent" && e.Consuming && e.ACSDelta:
				if _, ok := s[e.ContractID]; !ok {
					t.Fatalf("contract %s ended without having begun", e.ContractID)
				}
				delete(s, e.ContractID)
			}
		}
	}
}

// contractsAt reads the active contracts at an offset.
func contractsAt(t *testing.T, frames [][]byte) (set activeSet, inFlight int) {
	t.Helper()
	set = activeSet{}
	for _, f := range frames {
		var element struct {
			Entry json.RawMessage `json:"contractEntry"`
		}
		if err := json.Unmarshal(f, &element); err != nil {
			t.Fatal(err)
		}
		kind, body := single(t, element.Entry)
		var entry struct {
			Created        json.RawMessage `json:"createdEvent"`
			SynchronizerID string          `json:"synchronizerId"`
			Counter        int64           `json:"reassignmentCounter"`
			Unassigned     json.RawMessage `json:"unassignedEvent"`
		}
		var e nodeEvent
		decodeStrictly(t, body, &entry)
		decodeStrictly(t, entry.Created, &e)
		if kind == "JsIncompleteUnassigned" {
			var left nodeEvent
			if decodeStrictly(t, entry.Unassigned, &left); left.ContractID != e.ContractID || left.ReassignmentID == "" {
				t.Errorf("in flight: %s", f)
			}
			inFlight++
			continue
		}
		set[e.ContractID] = fmt.Sprintf("%d %s %d %s", e.Offset, entry.SynchronizerID, entry.Counter, e.CreateArgument)
	}
	return set, inFlight
}

// TestNodeContractsFollowUpdates: the contracts at N and the updates after N give the
// contracts at M, in both shapes.
func TestNodeContractsFollowUpdates(t *testing.T) {
	for _, participant := range []string{"", "Super-Validator-1"} {
		_, c := startNode(t, sim.Config{Updates: 1000, Seed: 12, SkipCompact: true, Node: &sim.NodeConfig{Participant: participant}}, nodeapi.NodeOptions{})
		end := c.ledgerEnd()
		read := func(at int64) (activeSet, int) {
			return contractsAt(t, c.frames("/v2/state/active-contracts", fmt.Sprintf(`{"activeAtOffset":%d,"eventFormat":%s}`, at, anyParty)))
		}
		if first, _ := read(0); len(first) != 0 {
			t.Errorf("%d contracts before the beginning", len(first))
		}
		flights := 0
		for _, format := range []string{everything, acsDeltas} {
			set := activeSet{}
			for from, step := int64(0), end/9; from < end; from += step {
				to := min(from+step, end)
				set.apply(t, decodeNodeUpdates(t, c.frames("/v2/updates", updatesBody(from, to, format))))
				got, inFlight := read(to)
				flights += inFlight
				if !maps.Equal(got, set) {
					t.Errorf("%s: %d contracts at offset %d, %d by following the updates, or others", participant, len(got), to, len(set))
				}
			}
			if len(set) < 50 {
				t.Errorf("only %d contracts at the end", len(set))
			}
		}
		for at := end / 4; participant != "" && flights == 0 && at < end; at += end / 200 {
			_, flights = read(at)
		}
		if participant != "" && flights == 0 {
			t.Error("no contract in flight anywhere")
		}
	}
}

// TestNodeContractsContinue resumes a listing behind each of its elements.
func TestNodeContractsContinue(t *testing.T) {
	_, c := readNode(t, nodeapi.NodeOptions{ListLimit: 5000})
	body := fmt.Sprintf(`{"activeAtOffset":%d,"eventFormat":%s}`, c.ledgerEnd()/2, anyParty)
	all := c.list("/v2/state/active-contracts", body)
	for i := 0; i < len(all); i += 1 + len(all)/20 {
		var element struct {
			Token string `json:"streamContinuationToken"`
		}
		if err := json.Unmarshal(all[i], &element); err != nil {
			t.Fatal(err)
		}
		rest := c.list("/v2/state/active-contracts", strings.Replace(body, "{", fmt.Sprintf(`{"streamContinuationToken":%q,`, element.Token), 1))
		if !slices.EqualFunc(rest, all[i+1:], equalRaw) {
			t.Errorf("%d elements after element %d of %d, or others", len(rest), i, len(all))
		}
	}
}

// TestNodeFilters cuts by party, template and shape, and computes the same from
// everything.
func TestNodeFilters(t *testing.T) {
	l, c := readNode(t, nodeapi.NodeOptions{})
	end := c.ledgerEnd()
	all := decodeNodeUpdates(t, c.frames("/v2/updates", updatesBody(0, end, everything)))
	user := busiestUser(t, l, all)
	effects := func(events string) string {
		return `{"includeTransactions":{"eventFormat":` + events + `,"transactionShape":"TRANSACTION_SHAPE_LEDGER_EFFECTS"}}`
	}
	byTemplate := func(kind, id string) string {
		return fmt.Sprintf(`{"cumulative":[{"identifierFilter":{"TemplateFilter":{"value":{%q:%q}}}}]}`, kind, id)
	}
	isAmulet := func(e *nodeEvent) bool { return strings.HasSuffix(e.TemplateID, ":Splice.Amulet:Amulet") }
	oldAmulet := l.Names.TemplateIDs[model.AmuletTemplate.Number][0]
	for _, tc := range []struct {
		name, format string
		wants        func(e *nodeEvent) bool
		party        string // "" for any
		blob         bool
	}{
		{"wildcard without blob", effects(`{"filtersForAnyParty":{}}`), func(*nodeEvent) bool { return true }, "", false},
		{"template by name", effects(`{"filtersForAnyParty":` + byTemplate("templateId", "#splice-amulet:Splice.Amulet:Amulet") + `}`), isAmulet, "", false},
		{"template by package id", effects(`{"filtersForAnyParty":` + byTemplate("templateId", oldAmulet) + `}`), func(e *nodeEvent) bool { return e.TemplateID == oldAmulet }, "", false},
		{"one party", effects(fmt.Sprintf(`{"filtersByParty":{%q:%s}}`, user, wildcard)), func(*nodeEvent) bool { return true }, user, true},
		{"one party and template", effects(fmt.Sprintf(`{"filtersByParty":{%q:%s}}`, user, byTemplate("templateId", "#splice-amulet:Splice.Amulet:Amulet"))), isAmulet, user, false},
		{"a party of another node", effects(`{"filtersByParty":{"carol::1220ab":{}}}`), func(*nodeEvent) bool { return false }, "carol::1220ab", false},
		{"an interface", effects(`{"filtersForAnyParty":{"cumulative":[{"identifierFilter":{"InterfaceFilter":{"value":{"interfaceId":"#harbor-api:Harbor.Api.Tracked:Tracked","includeInterfaceView":true}}}}]}}`), func(*nodeEvent) bool { return false }, "", false},
	} {
		got := decodeNodeUpdates(t, c.frames("/v2/updates", updatesBody(0, end, tc.format)))
		want := filterModel(all, tc.wants, tc.party, tc.blob)
		if len(got) != len(want) {
			t.Errorf("%s: %d updates, want %d", tc.name, len(got), len(want))
			continue
		}
		for i := range got {
			if g, w := modelText(&got[i]), modelText(&want[i]); g != w {
				t.Errorf("%s: update %d is\n%.600s\nwant\n%.600s", tc.name, i, g, w)
				break
			}
		}
	}
	topology := decodeNodeUpdates(t, c.frames("/v2/updates", updatesBody(0, end,
		fmt.Sprintf(`{"includeTopologyEvents":{"includeParticipantAuthorizationEvents":{"parties":[%q]}}}`, user))))
	if len(topology) != 1 || !strings.Contains(string(topology[0].frame), user) || !strings.Contains(string(topology[0].frame), "ParticipantAuthorizationAdded") {
		t.Errorf("%d topology transactions of %s", len(topology), user)
	}
}

// busiestUser is the party that sees most.
func busiestUser(t *testing.T, l *ledger.Ledger, all []nodeUpdate) string {
	t.Helper()
	count := map[string]int{}
	for _, u := range all {
		for _, e := range u.Events {
			for _, w := range e.Witnesses {
				if strings.HasPrefix(w, "user") {
					count[w]++
				}
			}
		}
	}
	best := ""
	for p, n := range count {
		if best == "" || n > count[best] {
			best = p
		}
	}
	if count[best] < 20 {
		t.Fatalf("the busiest user of %s sees %d events", l.View.Uid(), count[best])
	}
	return best
}

// filterModel cuts transactions the long way.
func filterModel(all []nodeUpdate, wants func(*nodeEvent) bool, party string, blob bool) (cut []nodeUpdate) {
	stakes := map[string][]string{}
	for _, u := range all {
		for _, e := range u.Events {
			if len(e.Signatories) > 0 {
				stakes[e.ContractID] = slices.Concat(e.Signatories, e.Observers)
			}
		}
		if u.Kind != "Transaction" {
			continue
		}
		events := u.Events
		u.Events = nil
		for _, e := range events {
			if !wants(&e) || party != "" && !slices.Contains(e.Witnesses, party) {
				continue
			}
			if party != "" {
				e.Witnesses = []string{party}
				e.ACSDelta = e.ACSDelta && slices.Contains(stakes[e.ContractID], party)
			}
			if !blob {
				e.Blob = nil
			}
			u.Events = append(u.Events, e)
		}
		if len(u.Events) > 0 {
			cut = append(cut, u)
		}
	}
	return cut
}

// modelText is an update without what depends on who submitted it.
func modelText(u *nodeUpdate) string {
	u.Value.CommandID, u.Value.PaidTrafficCost, u.Value.Events = nil, nil, nil
	raw, err := json.Marshal(struct {
		Value  nodeValue
		Events []nodeEvent
	}{u.Value, u.Events})
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// TestNodeTellsTheSubmitterOnly: others do not learn command and cost.
func TestNodeTellsTheSubmitterOnly(t *testing.T) {
	l, c := readNode(t, nodeapi.NodeOptions{})
	told := 0
	for _, p := range l.View.Parties {
		name := l.Names.Parties[p]
		format := fmt.Sprintf(`{"includeTransactions":{"eventFormat":{"filtersByParty":{%q:{}}},"transactionShape":"TRANSACTION_SHAPE_LEDGER_EFFECTS"}}`, name)
		for _, u := range decodeNodeUpdates(t, c.frames("/v2/updates", updatesBody(0, c.ledgerEnd(), format))) {
			if u.Value.CommandID != nil {
				told++
			} else if u.Value.PaidTrafficCost != nil {
				t.Errorf("update %s has a cost, but no command", u.Value.UpdateID)
			}
		}
	}
	total := 0
	for _, u := range decodeNodeUpdates(t, c.frames("/v2/updates", updatesBody(0, c.ledgerEnd(), everything))) {
		if u.Value.CommandID != nil && u.Kind == "Transaction" {
			total++
		}
	}
	if told != total || total == 0 {
		t.Errorf("%d commands told to single parties, %d in all", told, total)
	}
}

// TestNodeFollowsTheLedger streams while the ledger goes on.
func TestNodeFollowsTheLedger(t *testing.T) {
	l, c := startNode(t, sim.Config{Updates: 300, Seed: 13, SkipCompact: true, Node: &sim.NodeConfig{Participant: "Super-Validator-1"}},
		nodeapi.NodeOptions{CheckpointDelay: time.Hour})
	conn := c.dial("/v2/updates", updatesBody(0, 0, everything))
	done := make(chan error, 1)
	go func() {
		var err error
		for range 10 {
			err = errors.Join(err, l.Advance(context.Background(), 20))
		}
		done <- err
	}()
	var frames [][]byte
	for advanced := false; ; {
		frame, err := frameWithin(conn, time.Second)
		if errors.Is(err, errNoFrame) {
			t.Fatal("the stream stopped")
		}
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, frame)
		if !advanced {
			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
				advanced = true
			default:
			}
		}
		// The last update of a run is a transaction, which a super-validator sees.
		if u := decodeNodeUpdate(t, frame); advanced && u.Value.Offset == c.ledgerEnd() {
			break
		}
	}
	updates := decodeNodeUpdates(t, frames)
	if got := digestsOf(t, updates, 0); !maps.Equal(got, l.NodeDigests().Tables) {
		t.Errorf("streamed %v, the node says %v", got, l.NodeDigests().Tables)
	}
}

func TestNodeAuthorization(t *testing.T) {
	l, _ := readNode(t, nodeapi.NodeOptions{})
	mine := l.Names.Parties[l.View.Parties[0]]
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	auth := &nodeapi.NodeAuth{Secret: []byte("secret"), Audience: "node", Now: func() time.Time { return now }, Users: map[string][]ledger.Right{
		"indexer": {{Kind: "CanReadAsAnyParty"}}, "mine": {{Kind: "CanActAs", Party: mine}}, "nothing": nil,
	}}
	c := serveNode(t, l, nodeapi.NodeOptions{Auth: auth, ListLimit: 5000})
	token := func(a *nodeapi.NodeAuth, user string, expires time.Time) string {
		text, err := a.Token(user, expires)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	byMe := fmt.Sprintf(`{"includeReassignments":{"filtersByParty":{%q:{}}}}`, mine)
	topologyOfAll := `{"includeTopologyEvents":{"includeParticipantAuthorizationEvents":{}}}`
	for _, tc := range []struct {
		name, token, format string
		status              int
	}{
		{"no token", "", everything, 401},
		{"garbage", "x.y.z", everything, 401},
		{"another secret", token(&nodeapi.NodeAuth{Secret: []byte("other"), Audience: "node"}, "indexer", time.Time{}), everything, 401},
		{"another audience", token(&nodeapi.NodeAuth{Secret: auth.Secret, Audience: "x"}, "indexer", time.Time{}), everything, 401},
		{"an unknown user", token(auth, "somebody", time.Time{}), everything, 401},
		{"expired", token(auth, "indexer", now.Add(-time.Second)), everything, 401},
		{"reads all", token(auth, "indexer", now.Add(time.Hour)), everything, 200},
		{"reads all without expiry", token(auth, "indexer", time.Time{}), everything, 200},
		{"reads own", token(auth, "mine", time.Time{}), byMe, 200},
		{"own is not all", token(auth, "mine", time.Time{}), everything, 403},
		{"own topology is not all", token(auth, "mine", time.Time{}), topologyOfAll, 403},
		{"no rights", token(auth, "nothing", time.Time{}), byMe, 403},
	} {
		c.token = tc.token
		body := updatesBody(0, c.serverEnd(l), tc.format)
		status, _, answer := c.do("POST", "/v2/updates", body)
		if status != tc.status {
			t.Errorf("%s: status %d, want %d: %.200s", tc.name, status, tc.status, answer)
		}
		switch tc.status {
		case 401:
			_, resp, err := websocket.Dial(t.Context(), c.url+"/v2/updates", &websocket.DialOptions{Subprotocols: []string{"daml.ws.auth", "jwt.token." + tc.token}})
			if err == nil || resp == nil || resp.StatusCode != 401 {
				t.Errorf("%s: websocket opens: %v", tc.name, err)
			}
			if status, _, _ := c.do("GET", "/v2/state/ledger-end", ""); status != 401 {
				t.Errorf("%s: ledger end with status %d", tc.name, status)
			}
		case 403:
			if e := c.failure("/v2/updates", body); e.Code != "PERMISSION_DENIED" {
				t.Errorf("%s: websocket ends with %+v", tc.name, e)
			}
		default:
			if n := len(c.frames("/v2/updates", body)); tc.format == everything && n == 0 {
				t.Errorf("%s: websocket gives nothing", tc.name)
			}
		}
	}
	c.token = ""
	for _, path := range []string{"/v2/version", "/livez", "/readyz"} {
		if status, _, _ := c.do("GET", path, ""); status != 200 {
			t.Errorf("%s needs a token", path)
		}
	}
}

// serverEnd is the ledger end without asking the node.
func (c nodeClient) serverEnd(l *ledger.Ledger) int64 { return l.NodeDigests().LedgerEnd }

func TestNodeTokenExpiresWhileStreaming(t *testing.T) {
	l, _ := readNode(t, nodeapi.NodeOptions{})
	auth := &nodeapi.NodeAuth{Secret: []byte("secret"), Scope: "daml_ledger_api", Users: map[string][]ledger.Right{"indexer": {{Kind: "CanReadAsAnyParty"}}}}
	c := serveNode(t, l, nodeapi.NodeOptions{Auth: auth, CheckpointDelay: 50 * time.Millisecond})
	var err error
	if c.token, err = auth.Token("indexer", time.Now().Add(2*time.Second)); err != nil {
		t.Fatal(err)
	}
	conn := c.dial("/v2/updates", updatesBody(c.serverEnd(l), 0, everything))
	for checkpoints := 0; ; checkpoints++ {
		frame, err := c.frame(conn)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(frame), "OffsetCheckpoint") {
			continue
		}
		if e := c.decodeError(frame); e.Code != "STALE_STREAM_AUTHORIZATION" || checkpoints == 0 {
			t.Errorf("after %d checkpoints: %+v", checkpoints, e)
		}
		break
	}
	if _, err := c.frame(conn); websocket.CloseStatus(err) != websocket.StatusInternalError {
		t.Errorf("after the error: %v", err)
	}
}

func TestNodeTakesOneRequestPerSocket(t *testing.T) {
	_, c := readNode(t, nodeapi.NodeOptions{CheckpointDelay: time.Hour})
	conn := c.dial("/v2/updates", updatesBody(c.ledgerEnd(), 0, everything))
	if err := conn.Write(t.Context(), websocket.MessageText, []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.frame(conn); websocket.CloseStatus(err) != websocket.StatusProtocolError {
		t.Errorf("after a second request: %v", err)
	}
}

func TestNodeDescribesItself(t *testing.T) {
	l, c := readNode(t, nodeapi.NodeOptions{})
	party := l.Names.Parties[l.View.Parties[0]]
	for path, want := range map[string]string{
		"/v2/parties/participant-id":                       `{"participantId":"` + l.View.Uid() + `"}`,
		"/v2/version":                                      `"offsetCheckpoint":{"maxOffsetCheckpointEmissionDelay":{"nanos":0,"seconds":1`,
		"/v2/state/ledger-end":                             fmt.Sprintf(`{"offset":%d}`, l.NodeDigests().LedgerEnd),
		"/v2/state/connected-synchronizers?party=" + party: `"permission":"PARTICIPANT_PERMISSION_SUBMISSION"`,
		"/v2/state/connected-synchronizers":                `{"connectedSynchronizers":[{"synchronizerAlias":"global","synchronizerId":"global-domain::`,
		"/devnet/node-digests":                             `"stream":"node:PAR::participant-validator-`,
	} {
		status, _, answer := c.do(http.MethodGet, path, "")
		if status != 200 || !strings.Contains(string(answer), want) {
			t.Errorf("%s: status %d, %s, want %s", path, status, answer, want)
		}
	}
}
