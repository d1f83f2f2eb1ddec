package devnet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
)

// submit executes one command and returns the events that the parties of the node see.
func (f flow) submit(actAs, commandID, command string) []nodeEvent {
	f.t.Helper()
	var done waited
	f.call("POST", "/v2/commands/submit-and-wait", fmt.Sprintf(`{"commandId":%q,"actAs":[%q],"commands":[%s]}`, commandID, actAs, command), &done)
	return f.streamed(done.Offset).Events
}

func exerciseText(template, contractID, choice, argument string) string {
	return fmt.Sprintf(`{"ExerciseCommand":{"templateId":%q,"contractId":%q,"choice":%q,"choiceArgument":%s}}`, template, contractID, choice, argument)
}

// createdOf returns the contract of a template that some events create.
func createdOf(t *testing.T, events []nodeEvent, entity string) nodeEvent {
	t.Helper()
	for _, e := range events {
		if e.Kind == "CreatedEvent" && strings.HasSuffix(e.TemplateID, ":"+entity) {
			return e
		}
	}
	t.Fatalf("no %s is created in %d events", entity, len(events))
	return nodeEvent{}
}

// active returns a contract of the governance party's, which scans hand out.
func (f flow) active(t *model.Template, keep func(*model.Contract) bool) string {
	f.t.Helper()
	found := f.ledger.OfTemplate(t, keep)
	if len(found) == 0 {
		f.t.Fatalf("no %s is active", t.Name)
	}
	return ledger.ContractIDOf(f.ledger, found[0].Contract)
}

// signAndExecute has an external party execute a command.
func (f flow) signAndExecute(key byte, party, commandID, command string) []nodeEvent {
	f.t.Helper()
	var prepared nodeapi.WirePrepared
	f.call("POST", "/v2/interactive-submission/prepare", fmt.Sprintf(`{"commandId":%q,"actAs":[%q],"commands":[%s]}`, commandID, party, command), &prepared)
	var done waited
	f.call("POST", "/v2/interactive-submission/executeAndWait", executeBody(prepared.Transaction, party, signatureBy(testKey(key), prepared.Hash)), &done)
	return f.streamed(done.Offset).Events
}

// onboardExternal has the node host a party that signs for itself.
func (f flow) onboardExternal(hint string, key byte) string {
	f.t.Helper()
	var topology topologyAnswer
	f.call("POST", "/v2/parties/external/generate-topology", generateBody(f.ledger, hint, publicOf(testKey(key))), &topology)
	var allocated struct {
		Party string `json:"partyId"`
	}
	f.call("POST", "/v2/parties/external/allocate", onboardBody(f.ledger, topology.Transactions, nil, signatureBy(testKey(key), topology.MultiHash)), &allocated)
	return allocated.Party
}

// TestNodeSetsUpAnExternalParty goes from a key to a transfer that the party orders: the
// operator pays for its preapproval, the party accepts, and orders a transfer.
func TestNodeSetsUpAnExternalParty(t *testing.T) {
	f := startFlow(t, nodeapi.NodeOptions{})
	ada := f.onboardExternal("ada", 21)
	var done waited
	f.call("POST", "/v2/commands/submit-and-wait", strings.Replace(f.install("operator", f.operator, "wallet"), fmt.Sprintf("%q,%q", f.operator, f.operator), fmt.Sprintf("%q", f.operator), 1), &done)
	install := createdOf(t, f.streamed(done.Offset).Events, "WalletAppInstall").ContractID

	now := f.ledger.Now().UnixMicro()
	round := f.active(model.OpenRoundTemplate, func(c *model.Contract) bool {
		p := c.Payload.(model.OpenRound)
		return p.OpensAt <= now
	})
	context := fmt.Sprintf(`{"amuletRules":%q,"context":{"openMiningRound":%q,"issuingMiningRounds":[],"validatorRights":[],"featuredAppRight":null}}`,
		f.active(model.AmuletRulesTemplate, nil), round)
	expires := f.ledger.Now().Add(30 * 24 * time.Hour).Format(time.RFC3339)
	batch := fmt.Sprintf(`{"context":%s,"inputs":[],"operations":[{"tag":"CO_Tap","value":{"tapAmount":"500.0"}},{"tag":"CO_CreateExternalPartySetupProposal","value":{"externalParty":%q,"preapprovalExpiresAt":%q}}]}`, context, ada, expires)
	events := f.submit(f.operator, "propose", exerciseText("#splice-wallet:Splice.Wallet.Install:WalletAppInstall", install, "WalletAppInstall_ExecuteBatch", batch))
	proposal := createdOf(t, events, "ExternalPartySetupProposal").ContractID

	events = f.signAndExecute(21, ada, "accept", exerciseText("#splice-amulet:Splice.AmuletRules:ExternalPartySetupProposal", proposal, "ExternalPartySetupProposal_Accept", `{}`))
	approval := createdOf(t, events, "TransferPreapproval")
	createdOf(t, events, "ValidatorRight")
	var terms struct{ Receiver, Provider, ExpiresAt string }
	if err := json.Unmarshal(approval.CreateArgument, &terms); err != nil || terms.Receiver != ada || terms.Provider != f.operator {
		t.Errorf("the preapproval is %s, %v", approval.CreateArgument, err)
	}

	var prepared nodeapi.WirePrepared
	order := fmt.Sprintf(`{"sender":%q,"receiver":%q,"delegate":%q,"amount":"5.0","expiresAt":%q,"nonce":"0","description":null,"expectedDso":%q}`, ada, ada, f.operator, expires, f.dso)
	f.call("POST", "/v2/interactive-submission/prepare", fmt.Sprintf(`{"commandId":"order","actAs":[%q],"commands":[%s]}`, ada,
		exerciseText("#splice-amulet:Splice.ExternalPartyAmuletRules:ExternalPartyAmuletRules", f.active(model.ExternalRulesTemplate, nil), "ExternalPartyAmuletRules_CreateTransferCommand", order)), &prepared)
	f.call("POST", "/v2/interactive-submission/executeAndWait", executeBody(prepared.Transaction, ada, signatureBy(testKey(21), prepared.Hash)), &done)
	events = f.streamed(done.Offset).Events
	if id := createdOf(t, events, "TransferCommand").ContractID; !bytes.Contains(prepared.Transaction, []byte(id)) {
		t.Errorf("command %s was not prepared", id)
	}
}

// TestNodeRefusesWhatIsNoLongerSigned changes the ledger between preparing and executing.
func TestNodeRefusesWhatIsNoLongerSigned(t *testing.T) {
	f := startFlow(t, nodeapi.NodeOptions{})
	ada := f.onboardExternal("ada", 22)
	events := f.signAndExecute(22, ada, "propose", fmt.Sprintf(`{"CreateCommand":{"templateId":"#splice-wallet:Splice.Wallet.TransferPreapproval:TransferPreapprovalProposal","createArguments":{"receiver":%q,"provider":%q,"expectedDso":%q}}}`, ada, f.operator, f.dso))
	proposal := createdOf(t, events, "TransferPreapprovalProposal").ContractID
	archive := exerciseText("#splice-wallet:Splice.Wallet.TransferPreapproval:TransferPreapprovalProposal", proposal, "Archive", `{}`)
	var first nodeapi.WirePrepared
	f.call("POST", "/v2/interactive-submission/prepare", fmt.Sprintf(`{"commandId":"first","actAs":[%q],"commands":[%s]}`, ada, archive), &first)
	f.signAndExecute(22, ada, "second", archive)
	end := f.ledgerEnd()
	f.refuses(refusal{"an archived contract", "POST", "/v2/interactive-submission/executeAndWait", executeBody(first.Transaction, ada, signatureBy(testKey(22), first.Hash)), 404, "CONTRACT_NOT_FOUND"})
	f.refuses(refusal{"preparing for an archived contract", "POST", "/v2/interactive-submission/prepare", fmt.Sprintf(`{"commandId":"third","actAs":[%q],"commands":[%s]}`, ada, archive), 404, "CONTRACT_NOT_FOUND"})
	if f.ledgerEnd() != end {
		t.Error("a refused transaction has moved the ledger")
	}
}

// TestNodeKnowsWhoMayExecute has the rights that signed transactions take.
func TestNodeKnowsWhoMayExecute(t *testing.T) {
	f := startFlow(t, nodeapi.NodeOptions{})
	ada := f.onboardExternal("ada", 23)
	auth := &nodeapi.NodeAuth{Secret: []byte("secret"), Users: map[string][]ledger.Right{
		"reader": {{Kind: "CanReadAs", Party: ada}}, "executor": {{Kind: "CanExecuteAs", Party: ada}}, "actor": {{Kind: "CanActAs", Party: ada}},
		"any": {{Kind: "CanExecuteAsAnyParty"}}, "stranger": {{Kind: "CanExecuteAs", Party: f.operator}},
	}}
	server := serveNode(t, f.ledger, nodeapi.NodeOptions{Auth: auth})
	as := func(user string) nodeClient { return server.as(auth, user) }
	for user, may := range map[string]bool{"reader": false, "executor": true, "actor": true, "any": true, "stranger": false, nodeapi.AdminUser: false} {
		var prepared nodeapi.WirePrepared
		as("reader").call("POST", "/v2/interactive-submission/prepare", f.prepareBody(ada, user), &prepared)
		body := executeBody(prepared.Transaction, ada, signatureBy(testKey(23), prepared.Hash))
		if !may {
			as(user).refuses(refusal{user, "POST", "/v2/interactive-submission/executeAndWait", body, 403, "PERMISSION_DENIED"})
			continue
		}
		var done waited
		as(user).call("POST", "/v2/interactive-submission/executeAndWait", body, &done)
	}
}

// TestNodeTransfersTokens taps, offers tokens by the choices of the token standard, which are
// named by interface, and has the receiver accept.
func TestNodeTransfersTokens(t *testing.T) {
	const instruction = "#splice-api-token-transfer-instruction-v1:Splice.Api.Token.TransferInstructionV1:"
	f := startFlow(t, nodeapi.NodeOptions{})
	alice, bob := f.addParty("alice"), f.addParty("bob")
	now := f.ledger.Now().UnixMicro()
	round := f.active(model.OpenRoundTemplate, func(c *model.Contract) bool { return c.Payload.(model.OpenRound).OpensAt <= now })
	coin := createdOf(t, f.submit(alice, "tap", exerciseText("#splice-amulet:Splice.AmuletRules:AmuletRules", f.active(model.AmuletRulesTemplate, nil),
		"AmuletRules_DevNet_Tap", fmt.Sprintf(`{"receiver":%q,"amount":12.5,"openRound":%q}`, alice, round))), "Amulet").ContractID
	transfer := fmt.Sprintf(`{"expectedAdmin":%q,"transfer":{"sender":%q,"receiver":%q,"amount":"5.0","instrumentId":{"admin":%q,"id":"Amulet"},
		"requestedAt":%q,"executeBefore":%q,"inputHoldingCids":[%q],"meta":{"values":{"splice.lfdecentralizedtrust.org/reason":"rent"}}},"extraArgs":{"context":{"values":{}},"meta":{"values":{}}}}`,
		f.dso, alice, bob, f.dso, f.ledger.Now().Add(-time.Second).Format(time.RFC3339), f.ledger.Now().Add(time.Hour).Format(time.RFC3339), coin)
	events := f.submit(alice, "offer", exerciseText(instruction+"TransferFactory", f.active(model.ExternalRulesTemplate, nil), "TransferFactory_Transfer", transfer))
	offered := createdOf(t, events, "AmuletTransferInstruction")
	if locked := createdOf(t, events, "LockedAmulet"); !strings.Contains(string(locked.CreateArgument), `"initialAmount":"5.0000000000"`) {
		t.Errorf("locked is %s", locked.CreateArgument)
	}
	accept := exerciseText(instruction+"TransferInstruction", offered.ContractID, "TransferInstruction_Accept", `{"extraArgs":{"context":{"values":{}},"meta":{"values":{}}}}`)
	status, _, answer := f.do("POST", "/v2/commands/submit-and-wait", fmt.Sprintf(`{"commandId":"steal","actAs":[%q],"commands":[%s]}`, alice, accept))
	if e := f.decodeError(answer); status != 400 || e.Context["error_id"] != "missing-authorization" {
		t.Errorf("the sender accepts: status %d, %+v", status, e)
	}
	events = f.submit(bob, "accept", accept)
	if got := createdOf(t, events, "Amulet"); !strings.Contains(string(got.CreateArgument), bob) || !strings.Contains(string(got.CreateArgument), `"5.0000000000"`) {
		t.Errorf("the receiver gets %s", got.CreateArgument)
	}
	f.refuses(refusal{"accepting again", "POST", "/v2/commands/submit-and-wait", fmt.Sprintf(`{"commandId":"again","actAs":[%q],"commands":[%s]}`, bob, accept), 404, "CONTRACT_NOT_FOUND"})
	var ended contractEventsAnswer
	f.call("POST", "/v2/events/events-by-contract-id", fmt.Sprintf(`{"contractId":%q,"eventFormat":{"filtersByParty":{%q:{}}}}`, offered.ContractID, bob), &ended)
	if ended.Created == nil || ended.Archived == nil {
		t.Errorf("the offer has events %+v", ended)
	}
}
