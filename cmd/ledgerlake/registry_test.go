package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/devnet/devnettest"
)

// tokenWorld is a network in which tokens wait for what comes next.
type tokenWorld struct {
	ledger *devnet.Ledger
	// approved has a preapproval, whose provider is a featured app, as executor is.
	dso, alice, approved, executor string
	// pending and stale are instructions; the coin of the latter is gone.
	pending, stale, allocation string
	// sends and receives are allocations of the second version, of which the latter needs no coin.
	sends, receives string
}

func newTokenWorld(t *testing.T) *tokenWorld {
	t.Helper()
	ledger, err := devnet.New(t.Context(), devnet.Config{Updates: 400, Seed: 23, Days: 1, Dir: t.TempDir(), Node: &devnet.NodeConfig{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	c := devnettest.New(t, ledger)
	w := &tokenWorld{ledger: ledger, dso: ledger.GovernanceParty(), alice: c.Party("alice"), approved: c.Party("bob"), executor: c.Party("venue")}
	alices, own := c.Install(w.alice), c.Install(c.Operator)
	proposal := c.Create([]string{w.approved}, devnettest.ProposalTemplate, `{"receiver":%q,"provider":%q,"expectedDso":%q}`, w.approved, c.Operator, w.dso)
	c.Batch(own, c.Operator, devnettest.CoinInput(c.Tap(own, c.Operator, "400")), `[{"tag":"CO_AcceptTransferPreapprovalProposal","value":{"preapprovalProposalCid":%q,"expiresAt":%q}}]`,
		proposal, c.At(90*24*time.Hour))
	for _, provider := range []string{c.Operator, w.executor} {
		c.Exercise([]string{provider}, devnettest.RulesTemplate, c.Rules("/v0/amulet-rules", "amulet_rules_update"), "AmuletRules_DevNet_FeatureApp", `{"provider":%q}`, provider)
	}
	offer := func(within time.Duration) string {
		return c.Text(c.TransferTokens(alices, w.alice, w.executor, within), "output", "value", "transferInstructionCid")
	}
	w.stale, w.pending = offer(time.Minute), offer(time.Hour)
	w.allocation = c.Allocate(alices, w.alice, w.approved, w.executor)
	w.sends, w.receives = w.allocateV2(c, "SenderSide", fmt.Sprintf("%q", c.Tap(alices, w.alice, "9"))), w.allocateV2(c, "ReceiverSide", "")
	c.Pass(2 * time.Minute)
	answer := httptest.NewRecorder()
	ledger.Handler().ServeHTTP(answer, httptest.NewRequest("POST", "/registry/transfer-instruction/v1/"+w.stale+"/choice-contexts/accept", strings.NewReader("{}")))
	for _, d := range parse[struct {
		Disclosed []struct{ TemplateID, ContractID string } `json:"disclosedContracts"`
	}](t, answer.Body.Bytes()).Disclosed {
		if strings.HasSuffix(d.TemplateID, ":LockedAmulet") {
			c.Exercise([]string{w.alice}, "#splice-amulet:Splice.Amulet:LockedAmulet", d.ContractID, "LockedAmulet_OwnerExpireLockV2", `{}`)
			return w
		}
	}
	t.Fatalf("the coin of instruction %s is not disclosed: %s", w.stale, answer.Body)
	return nil
}

// allocateV2 allocates one side of a transfer by the second version of the token standard.
func (w *tokenWorld) allocateV2(c *devnettest.Commands, side, inputs string) string {
	c.T.Helper()
	return c.Text(c.Exercise([]string{w.alice}, "#splice-api-token-allocation-instruction-v2:Splice.Api.Token.AllocationInstructionV2:AllocationFactory", c.ExternalRules(), "AllocationFactory_Allocate",
		`{"settlement":{"executors":[%q],"id":"deal","cid":null,"meta":{"values":{}}},"allocation":{"admin":%q,"authorizer":{"owner":%q,"provider":null,"id":""},"transferLegSides":[
			{"transferLegId":"leg","side":%q,"otherside":{"owner":%q,"provider":null,"id":""},"amount":"3","instrumentId":"Amulet","meta":{"values":{}}}],
			"settlementDeadline":null,"nextIterationFunding":null,"committed":false,"meta":{"values":{}}},
			"requestedAt":%q,"inputHoldingCids":[%s],"actors":[%q],"extraArgs":`+devnettest.NoExtraArgs+`}`,
		w.executor, w.dso, w.alice, side, w.approved, c.At(0), inputs, w.alice), "output", "value", "allocationCid")
}

// operations are requests to the registry for whatever there is to ask.
func (w *tokenWorld) operations() []string {
	list := []string{
		"GET /registry/metadata/v1/info", "GET /registry/metadata/v1/instruments", "GET /registry/metadata/v1/instruments/Amulet",
		"GET /registry/metadata/v1/instruments/Gold",
	}
	dso, alice := w.dso, w.alice
	instrument := fmt.Sprintf(`"instrumentId":{"admin":"%s","id":"Amulet"}`, dso)
	account := func(owner string) string { return fmt.Sprintf(`{"owner":"%s","provider":null,"id":""}`, owner) }
	const special = `{"owner":null,"provider":null,"id":"cip-112/burn"}`
	transfer := func(v, from, to, instrument, more string) {
		list = append(list, fmt.Sprintf(`POST /registry/transfer-instruction/%s/transfer-factory {"choiceArguments":{"transfer":{"sender":%s,"receiver":%s,%s}}%s}`, v, from, to, instrument, more))
	}
	for _, bob := range []string{w.approved, w.executor} {
		transfer("v1", `"`+alice+`"`, `"`+bob+`"`, instrument, "")
		transfer("v2", account(alice), account(bob), instrument, `,"excludeDebugFields":true`)
	}
	transfer("v1", `"`+alice+`"`, `"`+alice+`"`, instrument, `,"excludeDebugFields":true`)
	transfer("v2", account(alice), account(alice), instrument, "")
	transfer("v1", `"`+alice+`"`, `"`+dso+`"`, `"instrumentId":{"admin":"`+dso+`","id":"Gold"}`, "")
	transfer("v1", `"`+alice+`"`, `7`, instrument, "")
	transfer("v1", account(alice), account(alice), instrument, "")
	transfer("v2", account(alice), special, instrument, "")
	allocate := "POST /registry/allocation-instruction/%s/allocation-factory {\"choiceArguments\":{\"allocation\":{%s}}}"
	list = append(list,
		fmt.Sprintf(allocate, "v1", fmt.Sprintf(`"transferLeg":{"sender":"%s","receiver":"%s",%s}`, alice, dso, instrument)),
		fmt.Sprintf(allocate, "v1", ``), fmt.Sprintf(allocate, "v2", `"admin":"`+dso+`","authorizer":`+account(alice)),
		fmt.Sprintf(allocate, "v2", `"admin":"`+dso+`","authorizer":`+special), fmt.Sprintf(allocate, "v2", `"admin":"`+alice+`","authorizer":`+account(alice)),
		"POST /registry/allocation-instruction/v2/00ab/choice-contexts/accept {}", "POST /registry/allocation-instruction/v2/00ab/choice-contexts/withdraw {}",
	)
	for _, id := range []string{"00ab", w.stale, w.pending, w.allocation, w.sends, w.receives} {
		for _, v := range []string{"v1", "v2"} {
			for _, choice := range []string{"accept", "reject", "withdraw"} {
				list = append(list, fmt.Sprintf(`POST /registry/transfer-instruction/%s/%s/choice-contexts/%s {"meta":{"a":"b"}}`, v, id, choice))
			}
			for _, choice := range []string{"execute-transfer", "withdraw", "cancel"} {
				list = append(list, fmt.Sprintf(`POST /registry/allocations/%s/%s/choice-contexts/%s {}`, v, id, choice))
			}
		}
	}
	leg := fmt.Sprintf(`{"transferLegId":"l","sender":%s,"receiver":%s}`, account(alice), account(dso))
	settle := `POST /registry/allocation/v2/settlement-factory {"choiceArguments":{"transferLegs":[%s],"allocations":[%s]}}`
	return append(list,
		fmt.Sprintf(settle, leg, ""), fmt.Sprintf(settle, leg, `{"allocationCid":"00ab"}`), fmt.Sprintf(settle, leg, `{"allocationCid":"`+w.allocation+`"},{"allocationCid":"`+w.sends+`"},{"allocationCid":"`+w.receives+`"}`),
		fmt.Sprintf(settle, strings.TrimSuffix(strings.Repeat(leg+",", 101), ","), ""), `POST /registry/allocation/v2/settlement-factory {}`,
	)
}

// byContract orders the disclosed contracts of an answer, which have no order.
func byContract(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = byContract(member)
		}
		if list, ok := v["disclosedContracts"].([]any); ok {
			slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	case []any:
		for i := range v {
			v[i] = byContract(v[i])
		}
	}
	return v
}

// TestRegistryEqualsTheUpstreams asks the registries of a network and of us the same. The first time
// we may have to ask the network for blobs, after that for nothing.
func TestRegistryEqualsTheUpstreams(t *testing.T) {
	t.Parallel()
	needEngine(t)
	world := newTokenWorld(t)
	network := httptest.NewServer(world.ledger.Handler())
	t.Cleanup(network.Close)
	target, err := url.Parse(network.URL)
	if err != nil {
		t.Fatal(err)
	}
	var passedOn atomic.Int64
	through := httputil.NewSingleHostReverseProxy(target)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/registry/") {
			passedOn.Add(1)
		}
		through.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	data := filepath.Join(t.TempDir(), "data")
	mustRun(t, "ingest", "--once", "--data", data, "--scan-url", network.URL)
	ours := waitForURL(t, start(t, "serve", "--data", data, "--listen", "127.0.0.1:0", "--scan-url", proxy.URL+"/api/scan", "--naming", "network"))
	passed, statuses := int64(0), map[int]int{}
	for _, operation := range world.operations() {
		wantStatus, want := answer(t, network.URL, operation)
		for range 2 {
			passed = passedOn.Load()
			status, got := answer(t, ours, operation)
			if status != wantStatus {
				t.Errorf("%s: %d %s, the upstream says %d %s", operation, status, got, wantStatus, want)
				break
			}
			if status != http.StatusOK {
				continue
			}
			g, err1 := json.Marshal(byContract(parse[any](t, got)))
			w, err2 := json.Marshal(byContract(parse[any](t, want)))
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			if string(g) != string(w) {
				t.Errorf("%s:\n got %s\nwant %s", operation, g, w)
			}
		}
		statuses[wantStatus]++
		if passedOn.Load() != passed {
			t.Errorf("%s: the second request was passed on as well", operation)
		}
	}
	t.Logf("statuses %v, %d requests passed on", statuses, passedOn.Load())
	if statuses[200] < 20 || statuses[400] < 5 || statuses[404] < 5 || passedOn.Load() == 0 {
		t.Errorf("statuses %v, %d requests passed on: the requests do not show what they are to show", statuses, passedOn.Load())
	}
}
