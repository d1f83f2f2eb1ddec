package devnet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
)

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
	byInterface := func(id string) string {
		return fmt.Sprintf(`{"filtersForAnyParty":{"cumulative":[{"identifierFilter":{"InterfaceFilter":{"value":{"interfaceId":%q}}}}]}}`, id)
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
		{"an interface that nothing implements", effects(byInterface("#harbor-api:Harbor.Api.Tracked:Tracked")), func(*nodeEvent) bool { return false }, "", false},
		{"an interface", effects(byInterface("#splice-api-token-holding-v1:Splice.Api.Token.HoldingV1:Holding")), func(e *nodeEvent) bool {
			return isAmulet(e) || strings.HasSuffix(e.TemplateID, ":Splice.Amulet:LockedAmulet")
		}, "", false},
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
		frame, err := frameWithin(conn, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, frame)
		u := decodeNodeUpdate(t, frame)
		if u.Value.Offset < c.ledgerEnd() {
			continue
		}
		if !advanced {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			advanced = true
		}
		// The last update of a run is a transaction, which a super-validator sees.
		if u.Value.Offset == c.ledgerEnd() {
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
	token := func(a *nodeapi.NodeAuth, user string, expires time.Time) string { return mint(t, a, user, expires) }
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
	c.token = mint(t, auth, "indexer", time.Now().Add(2*time.Second))
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
		"/devnet/node-digests":                             `"stream":"node:participant-validator-`,
	} {
		status, _, answer := c.do(http.MethodGet, path, "")
		if status != 200 || !strings.Contains(string(answer), want) {
			t.Errorf("%s: status %d, %s, want %s", path, status, answer, want)
		}
	}
}
