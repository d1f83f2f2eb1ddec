package devnet

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// appContext is what apps take payments in.
func (d *desk) appContext() map[string]any {
	return map[string]any{"amuletRules": d.rules(), "openMiningRound": d.openRound()}
}

// TestAppPayments takes payments that an app asks for through all that they can become.
func TestAppPayments(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 70})
	alice, shop, maker := d.party("alice", nil), d.party("shop", nil), d.party("maker", nil)
	wallet := d.onboard(alice)
	d.tap(alice, 100)
	request := func(unit string, amounts ...string) string {
		shares := []any{}
		for i, amount := range amounts {
			shares = append(shares, map[string]any{"receiver": []string{shop, maker}[i], "amount": map[string]any{"amount": amount, "unit": unit}})
		}
		return in(t, d.must([]string{alice, shop, maker}, create(model.PaymentRequestTemplate, "sender", alice, "receiverAmounts", shares,
			"provider", shop, "dso", d.l.GovernanceParty(), "expiresAt", d.expiry(), "description", "two \"hats\""))[0])
	}
	pay := func(request string) json.RawMessage {
		return d.batch(wallet, alice, operation("CO_AppPayment", request), operation("CO_MergeTransferInputs", map[string]any{}))[0]
	}
	paid := func(unit string, amounts ...string) string {
		return in(t, pay(request(unit, amounts...)), "value")
	}
	has := func(what string, want ...model.Decimal) {
		t.Helper()
		for i, p := range []string{alice, shop, maker} {
			if got := d.balance(p); got != want[i] {
				t.Errorf("%s: %s has %s, want %s", what, model.Hint(p), got, want[i])
			}
		}
	}
	accepted := paid("AmuletUnit", "10", "2.5")
	has("paid", model.Coins(87)+model.One/2, 0, 0)
	if r := d.refused(d.submission([]string{alice}, exercise(model.AcceptedPaymentTemplate, accepted, "AcceptedAppPayment_Expire", "context", d.appContext()))); r.Code != choices.CodeFailed {
		t.Errorf("taken back at once: %v", r)
	}
	if r := d.refused(d.submission([]string{alice}, exercise(model.AcceptedPaymentTemplate, accepted, "AcceptedAppPayment_Collect", "context", d.appContext()))); r.Context["error_id"] != "missing-authorization" {
		t.Errorf("collected by the sender: %v", r)
	}
	got := d.must([]string{shop}, exercise(model.AcceptedPaymentTemplate, accepted, "AcceptedAppPayment_Collect", "context", d.appContext()))[0]
	if in(t, got, "receiverAmulets", 0, "_1") != shop || in(t, got, "receiverAmulets", 1, "_1") != maker {
		t.Errorf("collected are %s", got)
	}
	has("collected", model.Coins(87)+model.One/2, model.Coins(10), model.Coins(2)+model.One/2)

	open := d.openRound()
	price := d.l.OfTemplate(model.OpenRoundTemplate, func(c *model.Contract) bool { return ledger.ContractIDOf(d.l, c) == open })[0].Payload.(model.OpenRound).Price
	accepted = paid("USDUnit", "1")
	has("paid in dollars", model.Coins(87)+model.One/2-model.One.Over(price), model.Coins(10), model.Coins(2)+model.One/2)
	d.must([]string{shop}, exercise(model.AcceptedPaymentTemplate, accepted, "AcceptedAppPayment_Reject", "context", d.appContext()))
	has("not taken", model.Coins(87)+model.One/2, model.Coins(10), model.Coins(2)+model.One/2)

	if o := pay(request("AmuletUnit", "1000")); in(t, o, "tag") != "COO_Error" || in(t, o, "value", "value", "missingAmount") != "912.5000000000" {
		t.Errorf("without funds: %s", o)
	}
	d.must([]string{alice}, exercise(model.PaymentRequestTemplate, request("AmuletUnit", "1"), "AppPaymentRequest_Reject"))
	d.must([]string{d.operator, alice}, exercise(model.WalletInstallTemplate, wallet, "WalletAppInstall_AppPaymentRequest_Reject", "cid", request("AmuletUnit", "1")))
	d.must([]string{shop}, exercise(model.PaymentRequestTemplate, request("AmuletUnit", "1"), "AppPaymentRequest_Withdraw"))
	early, accepted := request("AmuletUnit", "1"), paid("AmuletUnit", "3")
	expire := d.submission([]string{d.operator, alice}, exercise(model.WalletInstallTemplate, wallet, "WalletAppInstall_AppPaymentRequest_Expire", "cid", early))
	if r := d.refused(expire); r.Code != choices.CodeFailed {
		t.Errorf("expired too early: %v", r)
	}
	d.advance(25 * time.Hour)
	d.mustSubmit(expire)
	d.must([]string{alice}, exercise(model.AcceptedPaymentTemplate, accepted, "AcceptedAppPayment_Expire", "context", d.appContext()))
	has("taken back", model.Coins(87)+model.One/2, model.Coins(10), model.Coins(2)+model.One/2)
	if r := d.refused(d.submission([]string{shop}, create(model.PaymentRequestTemplate, "sender", alice, "receiverAmounts", []any{map[string]any{"receiver": shop,
		"amount": map[string]any{"amount": "1", "unit": "AmuletUnit"}}}, "provider", shop, "dso", d.l.GovernanceParty(), "expiresAt", d.expiry(), "description", ""))); r.Context["error_id"] != "missing-authorization" {
		t.Errorf("asked for without consent: %v", r)
	}
	d.finish()
}

// allocate has a sender allocate coins to a leg of a settlement that some party executes.
func (d *desk) allocate(executor, sender, receiver, amount string, within time.Duration) choices.Command {
	ids, _ := d.coins(sender)
	now, at := d.l.Now(), func(t time.Time) string { return t.Format(time.RFC3339Nano) }
	noMeta := map[string]any{"values": map[string]any{}}
	c := exercise(model.ExternalRulesTemplate, d.newest(model.ExternalRulesTemplate, nil), "AllocationFactory_Allocate", "expectedAdmin", d.l.GovernanceParty(),
		"allocation", map[string]any{"transferLegId": "leg-1",
			"settlement": map[string]any{"executor": executor, "settlementRef": map[string]any{"id": "deal", "cid": nil}, "requestedAt": at(now),
				"allocateBefore": at(now.Add(within / 2)), "settleBefore": at(now.Add(within)), "meta": noMeta},
			"transferLeg": map[string]any{"sender": sender, "receiver": receiver, "amount": amount,
				"instrumentId": map[string]any{"admin": d.l.GovernanceParty(), "id": "Amulet"}, "meta": noMeta}},
		"requestedAt", at(now), "inputHoldingCids", ids, "extraArgs", emptyExtraArgs)
	c.TemplateID = "#" + model.InterfaceNames[model.AllocationFactoryInterface][0] + ":" + model.InterfaceNames[model.AllocationFactoryInterface][1]
	return c
}

// TestAllocations takes coins that are allocated to a settlement through all that can become
// of them.
func TestAllocations(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 71})
	alice, bob, venue := d.party("alice", nil), d.party("bob", nil), d.party("venue", nil)
	wallet := d.onboard(alice)
	d.advance(2 * time.Second)
	d.tap(alice, 50)
	allocated := func(amount string, within time.Duration) string {
		done := d.must([]string{alice}, d.allocate(venue, alice, bob, amount, within))[0]
		if in(t, done, "output", "tag") != "AllocationInstructionResult_Completed" {
			t.Fatalf("allocated is %s", done)
		}
		return in(t, done, "output", "value", "allocationCid")
	}
	on := func(actAs []string, id, choice string) choices.Submission {
		return d.submission(actAs, exercise(model.AllocationTemplate, id, choice, "extraArgs", emptyExtraArgs))
	}
	all := []string{venue, alice, bob}
	id := allocated("8", time.Hour)
	if d.balance(alice) != model.Coins(42) {
		t.Errorf("alice has %s", d.balance(alice))
	}
	if r := d.refused(on([]string{venue}, id, "Allocation_ExecuteTransfer")); r.Context["error_id"] != "missing-authorization" {
		t.Errorf("settled by the executor alone: %v", r)
	}
	d.mustSubmit(on(all, id, "Allocation_ExecuteTransfer"))
	d.mustSubmit(on(all, allocated("5", time.Hour), "Allocation_Cancel"))
	id = allocated("5", time.Hour)
	d.must([]string{d.operator, alice}, exercise(model.WalletInstallTemplate, wallet, "WalletAppInstall_Allocation_Withdraw", "allocationCid", id,
		"withdrawArg", map[string]any{"extraArgs": emptyExtraArgs}))
	if d.balance(alice) != model.Coins(42) || d.balance(bob) != model.Coins(8) {
		t.Errorf("alice has %s, bob %s", d.balance(alice), d.balance(bob))
	}
	c := d.allocate(venue, alice, bob, "1", time.Hour)
	d.must([]string{d.operator, alice}, exercise(model.WalletInstallTemplate, wallet, "WalletAppInstall_AllocationFactory_Allocate",
		"allocationFactory", c.ContractID, "allocateArg", c.Argument))
	late := allocated("2", time.Hour)
	d.advance(time.Hour)
	if r := d.refused(on(all, late, "Allocation_ExecuteTransfer")); r.Code != choices.CodeFailed {
		t.Errorf("settled too late: %v", r)
	}
	d.advance(d.l.Config.Tick())
	if d.balance(alice) != model.Coins(42) || len(d.l.OfTemplate(model.AllocationTemplate, nil)) != 0 {
		t.Errorf("after the time for it alice has %s", d.balance(alice))
	}
	for what, wrong := range map[string]choices.Command{
		"too much":              d.allocate(venue, alice, bob, "43", time.Hour),
		"nothing":               d.allocate(venue, alice, bob, "0", time.Hour),
		"in the past":           d.allocate(venue, alice, bob, "1", -time.Hour),
		"very far ahead":        d.allocate(venue, alice, bob, "1", 91*24*time.Hour),
		"of somebody else":      d.allocate(venue, bob, alice, "1", time.Hour),
		"without coins at hand": d.allocate(venue, venue, alice, "1", time.Hour),
	} {
		as := alice
		if what == "without coins at hand" {
			as = venue
		}
		d.refused(d.submission([]string{as}, wrong))
	}
	d.finish()
}

// TestSubscriptions takes a subscription with an app through all that can become of it.
func TestSubscriptions(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 72})
	alice, shop := d.party("alice", nil), d.party("shop", nil)
	wallet := d.onboard(alice)
	d.tap(alice, 100)
	const day = 24 * time.Hour
	micros := func(d time.Duration) map[string]any { return map[string]any{"microseconds": d.Microseconds()} }
	arguments := func(interval, duration time.Duration) []any {
		return []any{"subscriptionData", map[string]any{"sender": alice, "receiver": shop, "provider": shop, "dso": d.l.GovernanceParty(), "description": "news"},
			"payData", map[string]any{"paymentAmount": map[string]any{"amount": "4", "unit": "AmuletUnit"}, "paymentInterval": micros(interval), "paymentDuration": micros(duration)}}
	}
	both := []string{alice, shop}
	request := func() string {
		return in(t, d.must(both, create(model.SubscriptionRequestTemplate, arguments(30*day, 2*day)...))[0])
	}
	on := func(actAs []string, tpl *model.Template, id, choice string, members ...any) choices.Submission {
		return d.submission(actAs, exercise(tpl, id, choice, members...))
	}
	pay := func(tag, id string) string { return in(t, d.batch(wallet, alice, operation(tag, id))[0], "value") }
	take := func(tpl *model.Template, id, choice string) json.RawMessage {
		return d.mustSubmit(on([]string{shop}, tpl, id, choice, "transferContext", d.appContext())).Results[0]
	}
	has := func(what string, hers, theirs model.Decimal) {
		t.Helper()
		if d.balance(alice) != hers || d.balance(shop) != theirs {
			t.Errorf("%s: alice has %s, the shop %s", what, d.balance(alice), d.balance(shop))
		}
	}
	d.must([]string{alice}, exercise(model.SubscriptionRequestTemplate, request(), "SubscriptionRequest_Reject"))
	d.must([]string{shop}, exercise(model.SubscriptionRequestTemplate, request(), "SubscriptionRequest_Withdraw"))
	first := pay("CO_SubscriptionAcceptAndMakeInitialPayment", request())
	has("paid", model.Coins(96), 0)
	take(model.InitialPaymentTemplate, first, "SubscriptionInitialPayment_Reject")
	has("returned", model.Coins(100), 0)
	idle := in(t, take(model.InitialPaymentTemplate, pay("CO_SubscriptionAcceptAndMakeInitialPayment", request()), "SubscriptionInitialPayment_Collect"), "subscriptionState")
	has("collected", model.Coins(96), model.Coins(4))
	early := on([]string{d.operator, alice}, model.WalletInstallTemplate, wallet, "WalletAppInstall_ExecuteBatch", "context", d.payment(), "inputs", d.inputs(alice),
		"operations", []any{operation("CO_SubscriptionMakePayment", idle)})
	if r := d.refused(early); r.Code != choices.CodeFailed {
		t.Errorf("paid too early: %v", r)
	}
	if r := d.refused(on([]string{shop}, model.SubscriptionIdleTemplate, idle, "SubscriptionIdleState_ExpireSubscription", "actor", shop)); r.Code != choices.CodeFailed {
		t.Errorf("ended too early: %v", r)
	}
	d.advance(29 * day)
	idle = in(t, take(model.RenewalPaymentTemplate, pay("CO_SubscriptionMakePayment", idle), "SubscriptionPayment_Collect"), "subscriptionState")
	has("collected again", model.Coins(92), model.Coins(8))
	d.advance(30 * day)
	late := pay("CO_SubscriptionMakePayment", idle)
	if r := d.refused(on([]string{alice}, model.RenewalPaymentTemplate, late, "SubscriptionPayment_Expire", "actor", alice, "transferContext", d.appContext())); r.Code != choices.CodeFailed {
		t.Errorf("taken back too early: %v", r)
	}
	d.advance(25 * time.Hour)
	idle = in(t, d.mustSubmit(on([]string{alice}, model.RenewalPaymentTemplate, late, "SubscriptionPayment_Expire", "actor", alice, "transferContext", d.appContext())).Results[0], "subscriptionState")
	has("taken back", model.Coins(92), model.Coins(8))
	if r := d.refused(on([]string{d.operator}, model.SubscriptionIdleTemplate, idle, "SubscriptionIdleState_ExpireSubscription", "actor", d.operator)); r.Code == "" {
		t.Errorf("ended by somebody else: %v", r)
	}
	d.advance(day)
	d.mustSubmit(on([]string{shop}, model.SubscriptionIdleTemplate, idle, "SubscriptionIdleState_ExpireSubscription", "actor", shop))
	for _, c := range d.l.Executor.Tx.ByNumber {
		if _, ok := c.Payload.(interface{ IsPrivate() bool }); ok && c.Private && c.Template != model.TerminatedTemplate {
			t.Errorf("%s is left of the subscription", c.Template.Name)
		}
	}
	for what, wrong := range map[string][]any{"no time between payments": arguments(0, 0), "paid earlier than the last time": arguments(day, 2*day), "once in a long time": arguments(11*365*day, day)} {
		if r := d.refused(d.submission(both, create(model.SubscriptionRequestTemplate, wrong...))); r.Code != choices.CodeFailed {
			t.Errorf("%s: %v", what, r)
		}
	}
	d.finish()
}

// TestNamePaymentWhoseCoinIsUnlocked has a simulated user take back the coin of a payment for a
// name once its lock has expired. The network then leaves the payment alone.
func TestNamePaymentWhoseCoinIsUnlocked(t *testing.T) {
	d := newDesk(t, sim.Config{Updates: 800, Seed: 15})
	unlocked := 0
	for _, c := range d.l.OfTemplate(model.InitialPaymentTemplate, nil) {
		p := c.Payload.(model.SubscriptionPayment)
		d.advance(time.Duration(p.Lifetime) * time.Microsecond)
		id := string(d.l.Names.IDs.AppendContractID(nil, p.Locked))
		_, err := d.l.Submit(t.Context(), choices.Submission{CommandID: id, ActAs: []string{d.l.Names.Name(p.User)}, Commands: []choices.Command{{
			TemplateID: "#splice-amulet:Splice.Amulet:LockedAmulet", ContractID: id, Choice: "LockedAmulet_OwnerExpireLockV2"}}})
		if err == nil {
			unlocked++
		}
	}
	if unlocked == 0 {
		t.Fatal("no payment for a name waits")
	}
	if err := d.l.Advance(t.Context(), 400); err != nil {
		t.Error(err)
	}
}
