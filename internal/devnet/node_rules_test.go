package devnet

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
)

// shared is a ledger that many tests read and none advances.
type shared struct {
	config sim.Config
	once   sync.Once
	ledger *ledger.Ledger
	err    error
}

var (
	sharedNode = &shared{config: sim.Config{Updates: 1200, Seed: 11, SkipCompact: true, Node: &sim.NodeConfig{}}}
	// sharedState is long enough for everything to be on it.
	sharedState = &shared{config: sim.Config{Updates: 6000, Seed: 31, Days: 2}}
)

func TestMain(m *testing.M) {
	code := m.Run()
	for _, s := range []*shared{sharedNode, sharedState} {
		if s.ledger == nil {
			continue
		}
		if err := s.ledger.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func (s *shared) get(t *testing.T) *ledger.Ledger {
	t.Helper()
	s.once.Do(func() { s.ledger, s.err = ledger.New(context.Background(), s.config, nil) })
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.ledger
}

func readNode(t *testing.T, o nodeapi.NodeOptions) (*ledger.Ledger, nodeClient) {
	t.Helper()
	l := sharedNode.get(t)
	return l, serveNode(t, l, o)
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
		status, _, answer := c.do("POST", "/v2/updates"+tc.query, tc.body)
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
