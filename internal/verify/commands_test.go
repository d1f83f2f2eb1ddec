package verify_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/verify"
)

// wallets submits commands to a simulated network.
type wallets struct {
	t        *testing.T
	ledger   *devnet.Ledger
	operator string
	commands int
}

// ask asks the network's scan and returns a text of the answer.
func (w *wallets) ask(method, path, body string, at ...string) string {
	w.t.Helper()
	answer := httptest.NewRecorder()
	w.ledger.Handler().ServeHTTP(answer, httptest.NewRequest(method, path, strings.NewReader(body)))
	return w.text(answer.Body.Bytes(), at...)
}

// text reads a text out of JSON; "*" goes into the last element of a list.
func (w *wallets) text(raw []byte, at ...string) string {
	w.t.Helper()
	for _, key := range at {
		var members map[string]json.RawMessage
		var list []json.RawMessage
		if key == "*" {
			if err := json.Unmarshal(raw, &list); err != nil || len(list) == 0 {
				w.t.Fatalf("%s is no list: %v", raw, err)
			}
			raw = list[len(list)-1]
			continue
		}
		if err := json.Unmarshal(raw, &members); err != nil || members[key] == nil {
			w.t.Fatalf("%.300s has no %s: %v", raw, key, err)
		}
		raw = members[key]
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		w.t.Fatalf("%.300s is no text: %v", raw, err)
	}
	return s
}

func (w *wallets) rules(path, member string) string {
	return w.ask("POST", path, "{}", member, "contract", "contract_id")
}

// context is a payment context in JSON, with the round that is open at the end of history.
func (w *wallets) context() string {
	round := w.ask("GET", "/v0/dso", "", "latest_mining_round", "contract", "contract_id")
	return fmt.Sprintf(`{"amuletRules":%q,"context":{"openMiningRound":%q,"issuingMiningRounds":[],"validatorRights":[]}}`,
		w.rules("/v0/amulet-rules", "amulet_rules_update"), round)
}

// submit executes one command and returns its result.
func (w *wallets) submit(actAs []string, c devnet.Command, readAs ...string) json.RawMessage {
	w.t.Helper()
	w.commands++
	done, err := w.ledger.Submit(w.t.Context(), devnet.Submission{CommandID: fmt.Sprint("c-", w.commands), ActAs: actAs, ReadAs: readAs,
		Commands: []devnet.Command{c}})
	if err != nil {
		w.t.Fatalf("%s %s: %v", c.TemplateID, c.Choice, err)
	}
	return done.Results[0]
}

func (w *wallets) create(actAs []string, template, arguments string, values ...any) string {
	w.t.Helper()
	return w.text(w.submit(actAs, devnet.Command{TemplateID: template, CreateArguments: fmt.Appendf(nil, arguments, values...)}))
}

func (w *wallets) exercise(actAs []string, template, id, choice, argument string, values ...any) json.RawMessage {
	w.t.Helper()
	return w.submit(actAs, devnet.Command{TemplateID: template, ContractID: id, Choice: choice, Argument: fmt.Appendf(nil, argument, values...)})
}

const (
	installTemplate     = "#splice-wallet:Splice.Wallet.Install:WalletAppInstall"
	offerTemplate       = "#splice-wallet:Splice.Wallet.TransferOffer:TransferOffer"
	proposalTemplate    = "#splice-wallet:Splice.Wallet.TransferPreapproval:TransferPreapprovalProposal"
	setupTemplate       = "#splice-amulet:Splice.AmuletRules:ExternalPartySetupProposal"
	factoryTemplate     = "#splice-amulet:Splice.ExternalPartyAmuletRules:ExternalPartyAmuletRules"
	instructionTemplate = "#splice-amulet:Splice.AmuletTransferInstruction:AmuletTransferInstruction"
	nameRulesTemplate   = "#splice-amulet-name-service:Splice.Ans:AnsRules"
	noExtraArgs         = `{"context":{"values":{}},"meta":{"values":{}}}`
)

// batch executes operations in the wallet of a party, with the coins that are named, and
// returns the value of the last outcome.
func (w *wallets) batch(install, party, inputs, operations string, values ...any) json.RawMessage {
	w.t.Helper()
	result := w.exercise([]string{w.operator, party}, installTemplate, install, "WalletAppInstall_ExecuteBatch",
		`{"context":%s,"inputs":%s,"operations":%s}`, w.context(), inputs, fmt.Sprintf(operations, values...))
	var outcomes struct {
		Outcomes []struct {
			Tag   string
			Value json.RawMessage
		}
	}
	if err := json.Unmarshal(result, &outcomes); err != nil || len(outcomes.Outcomes) == 0 {
		w.t.Fatalf("%s: %v", result, err)
	}
	last := outcomes.Outcomes[len(outcomes.Outcomes)-1]
	if last.Tag == "COO_Error" {
		w.t.Fatalf("operation failed: %s", result)
	}
	return last.Value
}

func coinInput(id string) string { return fmt.Sprintf(`[{"tag":"InputAmulet","value":%q}]`, id) }

// live has two users and the operator do what wallets do.
func (w *wallets) live() {
	party := func(hint string) string {
		a, err := w.ledger.AllocateParty(w.t.Context(), hint, nil)
		if err != nil {
			w.t.Fatal(err)
		}
		return a.Party
	}
	at := func(d time.Duration) string { return w.ledger.Now().Add(d).Format(time.RFC3339Nano) }
	dso, alice, bob := w.ledger.GovernanceParty(), party("alice"), party("bob")
	install := func(p string) string {
		return w.create([]string{p, w.operator}, installTemplate,
			`{"dsoParty":%q,"validatorParty":%q,"endUserName":"u","endUserParty":%q}`, dso, w.operator, p)
	}
	tap := func(wallet, p, amount string) string {
		return w.text(w.batch(wallet, p, "[]", `[{"tag":"CO_Tap","value":{"tapAmount":%q}}]`, amount))
	}
	hers, own := install(alice), install(w.operator)

	// An offer that is completed, together with a merge.
	offer := w.text(w.exercise([]string{w.operator, alice}, installTemplate, hers, "WalletAppInstall_CreateTransferOffer",
		`{"receiver":%q,"amount":{"amount":"4","unit":"USDUnit"},"description":"","expiresAt":%q,"trackingId":"t"}`, bob, at(time.Hour)), "transferOffer")
	accepted := w.text(w.exercise([]string{bob}, offerTemplate, offer, "TransferOffer_Accept", `{}`), "acceptedTransferOffer")
	coin := tap(hers, alice, "500")
	w.batch(hers, alice, coinInput(coin), `[{"tag":"CO_CompleteAcceptedTransfer","value":%q},{"tag":"CO_MergeTransferInputs","value":{}}]`, accepted)

	// Preapprovals, both ways, which burn what they cost.
	proposal := w.create([]string{bob}, proposalTemplate, `{"receiver":%q,"provider":%q,"expectedDso":%q}`, bob, w.operator, dso)
	w.batch(own, w.operator, coinInput(tap(own, w.operator, "400")), `[{"tag":"CO_AcceptTransferPreapprovalProposal","value":{"preapprovalProposalCid":%q,"expiresAt":%q}}]`,
		proposal, at(90*24*time.Hour))
	setup := w.text(w.batch(own, w.operator, coinInput(tap(own, w.operator, "400")), `[{"tag":"CO_CreateExternalPartySetupProposal","value":{"externalParty":%q,"preapprovalExpiresAt":%q}}]`,
		alice, at(60*24*time.Hour)))
	approval := w.text(w.exercise([]string{alice}, setupTemplate, setup, "ExternalPartySetupProposal_Accept", `{}`), "transferPreapprovalCid")
	w.batch(own, w.operator, coinInput(tap(own, w.operator, "50")), `[{"tag":"CO_TransferPreapprovalSend","value":{"transferPreapprovalCid":%q,"amount":"3","providerFeaturedAppRightCid":null,"description":null}}]`, approval)
	w.batch(own, w.operator, coinInput(tap(own, w.operator, "400")), `[{"tag":"CO_RenewTransferPreapproval","value":{"previousApprovalCid":%q,"newExpiresAt":%q}}]`,
		approval, at(80*24*time.Hour))

	// Traffic.
	w.batch(own, w.operator, "[]", `[{"tag":"CO_BuyMemberTraffic","value":{"trafficAmount":"250000","memberId":%q,"synchronizerId":%q,"migrationId":"1","minTopupInterval":{"microseconds":"1"},"topupStateCid":null}}]`,
		w.ledger.NodeDigests().ParticipantID, w.ask("GET", "/v0/dso", "", "amulet_rules", "domain_id"))

	// The token standard: at once to bob, who has a preapproval, and by an offer to carol.
	factory, carol := w.rules("/v0/external-party-amulet-rules", "external_party_amulet_rules_update"), party("carol")
	transfer := func(to string) json.RawMessage {
		return w.exercise([]string{alice}, factoryTemplate, factory, "TransferFactory_Transfer",
			`{"expectedAdmin":%q,"transfer":{"sender":%q,"receiver":%q,"amount":"7","instrumentId":{"admin":%q,"id":"Amulet"},"requestedAt":%q,"executeBefore":%q,"inputHoldingCids":[%q],"meta":{"values":{}}},"extraArgs":`+noExtraArgs+`}`,
			dso, alice, to, dso, at(0), at(time.Hour), tap(hers, alice, "20"))
	}
	transfer(bob)
	for _, choice := range []string{"TransferInstruction_Accept", "TransferInstruction_Reject"} {
		instruction := w.text(transfer(carol), "output", "value", "transferInstructionCid")
		w.exercise([]string{carol}, instructionTemplate, instruction, choice, `{"extraArgs":`+noExtraArgs+`}`)
	}

	// Two who want the same name: one gets it, the other her money back.
	his := install(bob)
	for _, p := range []struct{ wallet, party string }{{hers, alice}, {his, bob}} {
		request := w.text(w.exercise([]string{p.party}, nameRulesTemplate, w.rules("/v0/ans-rules", "ans_rules_update"), "AnsRules_RequestEntry",
			`{"name":"alice.unverified.cns","url":"","description":"","user":%q}`, p.party), "requestCid")
		w.batch(p.wallet, p.party, coinInput(tap(p.wallet, p.party, "100")), `[{"tag":"CO_SubscriptionAcceptAndMakeInitialPayment","value":%q}]`, request)
	}
	if err := w.ledger.AdvanceTime(w.t.Context(), time.Second); err != nil {
		w.t.Fatal(err)
	}
	if err := w.ledger.Advance(w.t.Context(), 20); err != nil {
		w.t.Fatal(err)
	}
}

// TestCommandsHaveNoFindings verifies a history with commands, as the network has it and as
// the node has it.
func TestCommandsHaveNoFindings(t *testing.T) {
	n := startNode(t, 800, "", false)
	operator := strings.TrimPrefix(n.ledger.NodeDigests().ParticipantID, "PAR::participant-")
	(&wallets{t: t, ledger: n.ledger, operator: operator}).live()
	public := newFixture(t)
	public.write(t, served(t, n.ledger), 150)
	r := public.verify(t, verify.Config{})
	if !r.OK() {
		t.Errorf("the public history:\n%s", findings(r))
	}
	if got, want := r.Supply, n.ledger.Supply(); got.Burned.String() != want.Burned || got.Circulating.String() != want.Circulating || got.Unexplained.String() != "0.0000000000" {
		t.Errorf("supply is %+v, the network has %+v", got, want)
	}
	f := newFixture(t)
	f.ingestNode(t, n)
	if r := f.verify(t, verify.Config{}); !r.OK() {
		t.Errorf("the node's stream:\n%s", findings(r))
	}
}
