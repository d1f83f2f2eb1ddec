package devnet

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/scanapi"
)

func post(t testing.TB, h http.Handler, path, body string) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader(body)))
	if w.Code != http.StatusOK {
		t.Fatalf("%s: status %d, %s", path, w.Code, w.Body)
	}
	return w.Body.Bytes()
}

// expiry is a time some hours after the ledger's.
func (d *desk) expiry() string { return d.l.Now().Add(6 * time.Hour).Format(time.RFC3339Nano) }

// offer has a wallet offer coins.
func (d *desk) offer(install, sender, receiver, amount, tracking string) string {
	d.t.Helper()
	done := d.must([]string{d.operator, sender}, exercise(model.WalletInstallTemplate, install, "WalletAppInstall_CreateTransferOffer",
		"receiver", receiver, "amount", map[string]any{"amount": amount, "unit": "AmuletUnit"}, "description", "rent",
		"expiresAt", d.expiry(), "trackingId", tracking))
	return in(d.t, done[0], "transferOffer")
}

// TestOffers takes offers of coins through all they can become.
func TestOffers(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 51})
	alice, bob := d.party("alice", nil), d.party("bob", nil)
	wallet := d.onboard(alice)
	d.onboard(bob)
	d.batch(wallet, alice, operation("CO_Tap", map[string]any{"tapAmount": "100.5"}))
	if got := d.balance(alice); got != model.Coins(100)+model.One/2 {
		t.Fatalf("alice has %s after the tap", got)
	}
	offer := d.offer(wallet, alice, bob, "40.25", "t-1")
	accepted := in(t, d.must([]string{bob}, exercise(model.TransferOfferTemplate, offer, "TransferOffer_Accept"))[0], "acceptedTransferOffer")
	outcome := d.batch(wallet, alice, operation("CO_CompleteAcceptedTransfer", accepted))
	if in(t, outcome[0], "tag") != "COO_CompleteAcceptedTransfer" || in(t, outcome[0], "value", "_2", "trackingId") != "t-1" {
		t.Errorf("outcome is %s", outcome[0])
	}
	if d.balance(alice) != model.Coins(60)+model.One/4 || d.balance(bob) != model.Coins(40)+model.One/4 {
		t.Errorf("alice has %s, bob %s", d.balance(alice), d.balance(bob))
	}
	d.check()
	for _, end := range []struct {
		party, choice string
		members       []any
	}{
		{bob, "TransferOffer_Reject", nil},
		{alice, "TransferOffer_Withdraw", []any{"reason", "too late"}},
	} {
		offer := d.offer(wallet, alice, bob, "1", "t-"+end.choice)
		done := d.must([]string{end.party}, exercise(model.TransferOfferTemplate, offer, end.choice, end.members...))
		if in(t, done[0], "trackingInfo", "trackingId") != "t-"+end.choice {
			t.Errorf("%s gives %s", end.choice, done[0])
		}
		again := d.refused(d.submission([]string{end.party}, exercise(model.TransferOfferTemplate, offer, end.choice, end.members...)))
		if again.Code != choices.CodeContractNotFound {
			t.Errorf("%s again: %v", end.choice, again)
		}
	}
	// More than there is: the operation fails, the batch does not.
	offer = d.offer(wallet, alice, bob, "61", "t-9")
	accepted = in(t, d.must([]string{bob}, exercise(model.TransferOfferTemplate, offer, "TransferOffer_Accept"))[0], "acceptedTransferOffer")
	outcome = d.batch(wallet, alice, operation("CO_CompleteAcceptedTransfer", accepted), operation("CO_MergeTransferInputs", map[string]any{}))
	if in(t, outcome[0], "tag") != "COO_Error" || in(t, outcome[0], "value", "value", "missingAmount") != "0.7500000000" {
		t.Errorf("outcome is %s", outcome[0])
	}
	if in(t, outcome[1], "tag") != "COO_MergeTransferInputs" || d.balance(alice) != model.Coins(60)+model.One/4 {
		t.Errorf("outcome is %s, alice has %s", outcome[1], d.balance(alice))
	}
	d.must([]string{alice}, exercise(model.AcceptedOfferTemplate, accepted, "AcceptedTransferOffer_Abort", "reason", "no funds"))
	// Expired.
	offer = d.offer(wallet, alice, bob, "1", "t-10")
	if r := d.refused(d.submission([]string{bob}, exercise(model.TransferOfferTemplate, offer, "TransferOffer_Expire", "actor", bob))); r.Code != choices.CodeFailed {
		t.Errorf("expired too early: %v", r)
	}
	d.advance(7 * time.Hour)
	if r := d.refused(d.submission([]string{bob}, exercise(model.TransferOfferTemplate, offer, "TransferOffer_Accept"))); r.Code != choices.CodeFailed {
		t.Errorf("accepted after its expiry: %v", r)
	}
	d.must([]string{bob}, exercise(model.TransferOfferTemplate, offer, "TransferOffer_Expire", "actor", bob))
	d.finish()
}

// TestPing has a party ask another one for a sign of life.
func TestPing(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 53})
	alice, bob := d.party("alice", nil), d.party("bob", nil)
	ping := d.must([]string{alice}, create(model.PingTemplate, "id", "1", "initiator", alice, "responder", bob))[0]
	respond := exercise(model.PingTemplate, in(t, ping), "Respond")
	if r := d.refused(d.submission([]string{alice}, respond)); r.Code == "" || r.Code == choices.CodeContractNotFound {
		t.Errorf("who pings answers: %v", r)
	}
	d.must([]string{bob}, respond)
	if r := d.refused(d.submission([]string{bob}, respond)); r.Code != choices.CodeContractNotFound {
		t.Errorf("answered twice: %v", r)
	}
	d.finish()
}

// TestTraffic has a user buy traffic by request, and the operator top up.
func TestTraffic(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 52})
	alice := d.party("alice", nil)
	wallet, own := d.onboard(alice), d.onboard(d.operator)
	member := d.l.View.Member()
	request := func(bytes int, tracking string) string {
		done := d.must([]string{d.operator, alice}, exercise(model.WalletInstallTemplate, wallet, "WalletAppInstall_CreateBuyTrafficRequest",
			"memberId", member, "synchronizerId", d.l.Names.Synchronizers[0], "migrationId", 1, "trafficAmount", bytes,
			"expiresAt", d.expiry(), "trackingId", tracking))
		return in(t, done[0], "buyTrafficRequest")
	}
	poor := request(1_000_000, "b-0")
	d.tap(alice, "10")
	if o := d.batch(wallet, alice, operation("CO_CompleteBuyTrafficRequest", map[string]any{"trafficRequestCid": poor})); in(t, o[0], "value", "tag") != "ITR_InsufficientFunds" {
		t.Errorf("without funds: %s", o[0])
	}
	d.tap(alice, 1000)
	if o := d.batch(wallet, alice, operation("CO_CompleteBuyTrafficRequest", map[string]any{"trafficRequestCid": request(100, "b-1")})); in(t, o[0], "value", "tag") != "ITR_InsufficientTopupAmount" {
		t.Errorf("too little: %s", o[0])
	}
	before := d.balance(alice)
	o := d.batch(wallet, alice, operation("CO_CompleteBuyTrafficRequest", map[string]any{"trafficRequestCid": poor}))
	if in(t, o[0], "tag") != "COO_CompleteBuyTrafficRequest" || in(t, o[0], "value", "_2", "trackingId") != "b-0" {
		t.Errorf("outcome is %s", o[0])
	}
	spent := before - d.balance(alice)
	var price model.Decimal
	for _, c := range d.l.OfTemplate(model.MemberTrafficTemplate, func(c *model.Contract) bool { return ledger.ContractIDOf(d.l, c) == in(t, o[0], "value", "_1") }) {
		if p := c.Payload.(model.MemberTraffic); p.AmuletSpent == spent && p.Purchased == 1_000_000 {
			price = p.UsdSpent
		}
	}
	if price < 59*model.One || price > 61*model.One {
		t.Errorf("%s coins were spent for traffic of %s USD", spent, price)
	}
	// The operator tops up; a second time only after the interval.
	top := func(state any) json.RawMessage {
		return d.batch(own, d.operator, operation("CO_BuyMemberTraffic", map[string]any{"trafficAmount": 300_000, "memberId": member,
			"synchronizerId": d.l.Names.Synchronizers[0], "migrationId": 1, "minTopupInterval": map[string]any{"microseconds": "600000000"},
			"topupStateCid": state}))[0]
	}
	if o := top(nil); in(t, o, "tag") != "COO_BuyMemberTraffic" {
		t.Fatalf("top-up: %s", o)
	}
	state := d.private(model.TopUpStateTemplate)
	if o := top(state); in(t, o, "value", "tag") != "ITR_Other" {
		t.Errorf("top-up too early: %s", o)
	}
	d.advance(11 * time.Minute)
	if o := top(state); in(t, o, "tag") != "COO_BuyMemberTraffic" || d.private(model.TopUpStateTemplate) == state {
		t.Errorf("second top-up: %s", o)
	}
	d.finish()
}

// private is the id of the only active contract of a template that public history does not have.
func (d *desk) private(tpl *model.Template) string {
	d.t.Helper()
	d.l.Mu.Lock()
	defer d.l.Mu.Unlock()
	found := ""
	for _, c := range d.l.Executor.Tx.ByNumber {
		if c.Template == tpl && !strings.HasSuffix(ledger.ContractIDOf(d.l, c), found+"!") {
			if found != "" {
				d.t.Fatalf("there are several %s", tpl.Name)
			}
			found = ledger.ContractIDOf(d.l, c)
		}
	}
	return found
}

// TestPreapprovals sends in one step, renews and cancels.
func TestPreapprovals(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 53})
	alice, bob := d.party("alice", nil), d.party("bob", nil)
	wallet := d.onboard(d.operator)
	d.tap(d.operator, 500)
	d.tap(alice, 70)
	proposal := in(t, d.must([]string{bob}, create(model.PreapprovalProposalTemplate, "receiver", bob, "provider", d.operator, "expectedDso", d.l.GovernanceParty()))[0])
	o := d.batch(wallet, d.operator, operation("CO_AcceptTransferPreapprovalProposal", map[string]any{
		"preapprovalProposalCid": proposal, "expiresAt": d.l.Now().Add(90 * 24 * time.Hour).Format(time.RFC3339Nano)}))
	approval := in(t, o[0], "value")
	disclosed := []choices.DisclosedContract{{ContractID: approval, Blob: d.blob(approval)}}
	send := d.submission([]string{alice}, exercise(model.PreapprovalTemplate, approval, "TransferPreapproval_Send", "context", d.payment(),
		"inputs", d.inputs(alice), "amount", "12.5", "sender", alice, "description", "lunch"))
	if r := d.refused(send); r.Code != choices.CodeContractNotFound {
		t.Errorf("undisclosed: %v", r)
	}
	send.Disclosed = disclosed
	done := d.mustSubmit(send)
	if d.balance(bob) != model.Coins(12)+model.One/2 || d.balance(alice) != model.Coins(57)+model.One/2 {
		t.Errorf("alice has %s, bob %s", d.balance(alice), d.balance(bob))
	}
	if text := d.nodeText(done.Offset); !containsAll(text, `"choice":"TransferPreapproval_Send"`, `"choice":"AmuletRules_Transfer"`, done.UpdateID, send.CommandID) {
		t.Errorf("the node's stream has %s", text)
	}
	send = d.submission([]string{alice}, exercise(model.PreapprovalTemplate, approval, "TransferPreapproval_SendV2",
		"context", map[string]any{"externalPartyConfigState": d.newest(model.ConfigStateTemplate, nil)},
		"inputs", d.inputs(alice), "amount", "7.5", "sender", alice, "description", "tip",
		"meta", map[string]any{"values": map[string]string{"a": "b", model.ReasonMetaKey: "gift", "z": "y"}}))
	send.Disclosed = disclosed
	done = d.mustSubmit(send)
	const said = `{"a":"b","splice.lfdecentralizedtrust.org/reason":"tip","z":"y"}` // a description takes the place of the reason
	if got := in(t, done.Results[0], "meta", "values", model.ReasonMetaKey); got != "tip" || strings.Count(d.nodeText(done.Offset), `"meta":{"values":`+said) != 2 {
		t.Errorf("the reason is %q: %s", got, d.nodeText(done.Offset))
	}
	if kinds := d.checkEvents(); kinds["leg0"] != 2 {
		t.Errorf("the event log has %v", kinds)
	}
	if d.balance(bob) != model.Coins(20) || d.balance(alice) != model.Coins(50) {
		t.Errorf("alice has %s, bob %s", d.balance(alice), d.balance(bob))
	}
	o = d.batch(wallet, d.operator, operation("CO_RenewTransferPreapproval", map[string]any{
		"previousApprovalCid": approval, "newExpiresAt": d.l.Now().Add(180 * 24 * time.Hour).Format(time.RFC3339Nano)}))
	renewed := in(t, o[0], "value")
	d.must([]string{bob}, exercise(model.PreapprovalTemplate, renewed, "TransferPreapproval_Cancel", "p", bob))
	d.finish()
}

// blob is the serialized form of a contract.
func (d *desk) blob(id string) string {
	n, ok := d.l.Names.IDs.ContractNumber(id)
	if !ok {
		d.t.Fatalf("%s is no contract", id)
	}
	return string(model.AppendBlob(nil, &d.l.Names.IDs, n))
}

// tokens transfers by the token standard.
func (d *desk) tokens(sender, receiver, amount string) json.RawMessage {
	d.t.Helper()
	return d.must([]string{sender}, d.tokenCommand(sender, receiver, amount))[0]
}

func (d *desk) tokenCommand(sender, receiver, amount string) choices.Command {
	ids, _ := d.coins(sender)
	now := d.l.Now()
	c := exercise(model.ExternalRulesTemplate, d.newest(model.ExternalRulesTemplate, nil), "TransferFactory_Transfer", "expectedAdmin", d.l.GovernanceParty(),
		"transfer", map[string]any{"sender": sender, "receiver": receiver, "amount": amount,
			"instrumentId": map[string]any{"admin": d.l.GovernanceParty(), "id": "Amulet"}, "requestedAt": now.Format(time.RFC3339Nano),
			"executeBefore": now.Add(time.Hour).Format(time.RFC3339Nano), "inputHoldingCids": ids, "meta": map[string]any{"values": map[string]any{}}},
		"extraArgs", emptyExtraArgs)
	c.TemplateID = "#" + model.InterfaceNames[model.TransferFactoryInterface][0] + ":" + model.InterfaceNames[model.TransferFactoryInterface][1]
	return c
}

var emptyExtraArgs = map[string]any{"context": map[string]any{"values": map[string]any{}}, "meta": map[string]any{"values": map[string]any{}}}

// TestTokenOffers takes offers of the token standard through their states.
func TestTokenOffers(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 54})
	alice, bob := d.party("alice", nil), d.party("bob", nil)
	d.tap(alice, 30)
	d.tap(alice, 30)
	answer := func(party, id, choice string) json.RawMessage {
		return d.must([]string{party}, exercise(model.TransferInstructionTemplate, id, choice, "extraArgs", emptyExtraArgs))[0]
	}
	pending := func(amount string) string {
		r := d.tokens(alice, bob, amount)
		if in(t, r, "output", "tag") != "TransferInstructionResult_Pending" {
			t.Fatalf("offer gives %s", r)
		}
		return in(t, r, "output", "value", "transferInstructionCid")
	}
	id := pending("10")
	if d.balance(alice) != model.Coins(50) || d.balance(bob) != 0 {
		t.Errorf("alice has %s", d.balance(alice))
	}
	answer(bob, id, "TransferInstruction_Accept")
	if d.balance(alice) != model.Coins(50) || d.balance(bob) != model.Coins(10) {
		t.Errorf("alice has %s, bob %s", d.balance(alice), d.balance(bob))
	}
	answer(bob, pending("5"), "TransferInstruction_Reject")
	answer(alice, pending("6"), "TransferInstruction_Withdraw")
	if d.balance(alice) != model.Coins(50) || d.balance(bob) != model.Coins(10) {
		t.Errorf("alice has %s, bob %s", d.balance(alice), d.balance(bob))
	}
	id = pending("7")
	if r := d.refused(d.submission([]string{bob}, exercise(model.TransferInstructionTemplate, id, "TransferInstruction_Withdraw", "extraArgs", emptyExtraArgs))); r.Context["error_id"] != "missing-authorization" {
		t.Errorf("bob withdraws: %v", r)
	}
	d.advance(2 * time.Hour)
	if r := d.refused(d.submission([]string{bob}, exercise(model.TransferInstructionTemplate, id, "TransferInstruction_Accept", "extraArgs", emptyExtraArgs))); r.Code != choices.CodeFailed {
		t.Errorf("accepted too late: %v", r)
	}
	answer(alice, id, "TransferInstruction_Withdraw")
	ids, sum := d.coins(alice)
	r := d.tokens(alice, alice, sum.String())
	if after, left := d.coins(alice); in(t, r, "output", "tag") != "TransferInstructionResult_Completed" || len(ids) < 2 || len(after) != 1 || left != sum {
		t.Errorf("the merge of %d coins leaves %d, %s", len(ids), len(after), r)
	}
	d.finish()
}

// edited is a choice argument with another value for a field of one of its records.
func edited(t *testing.T, argument json.RawMessage, record, field string, value any) json.RawMessage {
	t.Helper()
	var members map[string]any
	if err := json.Unmarshal(argument, &members); err != nil {
		t.Fatal(err)
	}
	members[record].(map[string]any)[field] = value
	b, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestOverdueTokenOffers lets offers of the token standard expire: the governance party ends
// them, also those whose coins the sender has unlocked before it did.
func TestOverdueTokenOffers(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 64})
	alice, bob := d.party("alice", nil), d.party("bob", nil)
	offer := func(amount string, within time.Duration) string {
		d.tap(alice, amount)
		command := d.tokenCommand(alice, bob, amount)
		command.Argument = edited(t, command.Argument, "transfer", "executeBefore", d.l.Now().Add(within).Format(time.RFC3339Nano))
		return in(t, d.must([]string{alice}, command)[0], "output", "value", "transferInstructionCid")
	}
	d.advance(2 * time.Second) // what contracts see as now may be ahead of record time until then
	first := offer("3", 30*time.Millisecond)
	locked := d.newest(model.LockedAmuletTemplate, nil)
	late := d.submission([]string{bob}, exercise(model.TransferInstructionTemplate, first, "TransferInstruction_Accept", "extraArgs", emptyExtraArgs))
	d.tap(bob, 1)
	d.tap(bob, 1)
	if r := d.refused(late); r.Code != choices.CodeFailed {
		t.Errorf("accepted too late: %v", r)
	}
	d.must([]string{alice}, exercise(model.LockedAmuletTemplate, locked, "LockedAmulet_OwnerExpireLockV2"))
	for range 3 {
		offer("1", time.Minute)
	}
	end := d.l.Store.LedgerEnd(d.l.View)
	d.advance(time.Minute + d.l.Config.Tick())
	if n := len(d.l.OfTemplate(model.TransferInstructionTemplate, func(c *model.Contract) bool {
		return d.l.Names.Name(c.Payload.(model.TransferInstruction).Transfer.Sender) == alice
	})); n > 0 {
		t.Errorf("%d offers are left", n)
	}
	if d.balance(alice) != model.Coins(6) || d.balance(bob) != model.Coins(2) {
		t.Errorf("alice has %s, bob %s", d.balance(alice), d.balance(bob))
	}
	text := ""
	for at := end + 1; at <= d.l.Store.LedgerEnd(d.l.View); at++ {
		text += d.nodeText(at)
	}
	if !containsAll(text, "TransferInstruction_Update", "LockedAmulet_OwnerExpireLockV2", first) {
		t.Errorf("the node does not tell of the expiry: %.600s", text)
	}
	d.finish()
}

// TestOverdueDust lets coins that are worth less than they cost to hold be used up, locked
// ones once their lock is over.
func TestOverdueDust(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 65})
	alice := d.party("alice", nil)
	coin := d.tap(alice, 1)
	until := d.l.Now().Add(time.Duration(300) * d.l.Config.Tick())
	d.must([]string{alice}, exercise(model.AmuletRulesTemplate, d.rules(), "AmuletRules_Transfer", "transfer", map[string]any{"sender": alice, "provider": alice,
		"inputs": []any{operation("InputAmulet", coin)}, "outputs": []any{
			map[string]any{"receiver": alice, "receiverFeeRatio": "0", "amount": "0.001"},
			map[string]any{"receiver": alice, "receiverFeeRatio": "0", "amount": "0.001", "lock": map[string]any{
				"holders": []string{alice}, "expiresAt": until.Format(time.RFC3339Nano)}},
		}}, "context", d.context()))
	d.advance(20 * d.l.Config.Tick())
	locked := func() int {
		return len(d.l.OfTemplate(model.LockedAmuletTemplate, func(c *model.Contract) bool { return d.l.Names.Name(c.Payload.(model.LockedAmulet).Owner) == alice }))
	}
	if ids, sum := d.coins(alice); len(ids) != 1 || sum != model.One*998/1000 || locked() != 1 {
		t.Errorf("alice has %d coins worth %s and %d locked ones", len(ids), sum, locked())
	}
	d.advance(290 * d.l.Config.Tick())
	if locked() != 0 || d.balance(alice) != model.One*998/1000 {
		t.Errorf("alice has %s and %d locked coins", d.balance(alice), locked())
	}
	d.finish()
}

// TestDelegateSends leaves a transfer command to its delegate.
func TestDelegateSends(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 67, DelegatesSend: true})
	ext, bob := d.party("ext", bytes.Repeat([]byte{9}, 32)), d.party("bob", nil)
	wallet := d.onboard(d.operator)
	d.tap(d.operator, 300)
	d.tap(ext, 20)
	year := d.l.Now().Add(300 * 24 * time.Hour).Format(time.RFC3339Nano)
	proposal := d.batch(wallet, d.operator, operation("CO_CreateExternalPartySetupProposal", map[string]any{"externalParty": bob, "preapprovalExpiresAt": year}))
	approval := in(t, d.must([]string{bob}, exercise(model.SetupProposalTemplate, in(t, proposal[0], "value"), "ExternalPartySetupProposal_Accept"))[0], "transferPreapprovalCid")
	command := in(t, d.must([]string{ext}, exercise(model.ExternalRulesTemplate, d.newest(model.ExternalRulesTemplate, nil), "ExternalPartyAmuletRules_CreateTransferCommand",
		"sender", ext, "receiver", bob, "delegate", d.operator, "amount", "4", "expiresAt", d.expiry(), "nonce", 0, "expectedDso", d.l.GovernanceParty()))[0], "transferCommandCid")
	d.advance(time.Hour)
	if d.balance(bob) != 0 {
		t.Fatalf("bob has %s before the delegate has sent anything", d.balance(bob))
	}
	counter := d.newest(model.CommandCounterTemplate, func(c *model.Contract) bool { return d.l.Names.Name(c.Payload.(model.CommandCounter).Sender) == ext })
	s := d.submission([]string{d.operator}, exercise(model.TransferCommandTemplate, command, "TransferCommand_Send", "context", d.payment(),
		"inputs", d.inputs(ext), "transferPreapprovalCidO", approval, "transferCounterCid", counter))
	s.ReadAs = []string{ext}
	d.mustSubmit(s)
	if d.balance(bob) != model.Coins(4) || d.balance(ext) != model.Coins(16) {
		t.Errorf("bob has %s, ext %s", d.balance(bob), d.balance(ext))
	}
	if all := scanapi.CommandsOf(d.l, ext, 0); len(all) != 1 || all[0].Status != sim.CommandSent {
		t.Errorf("the status of the command is %+v", all)
	}
	d.finish()
}
