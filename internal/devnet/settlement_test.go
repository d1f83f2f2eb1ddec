package devnet

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/internal/devnet/nodeapi"
)

// finalized is an allocation in a batch, which extra legs and funding may complete.
func finalized(id, owner string, extra []leg, next any) map[string]any {
	return map[string]any{"allocationCid": id, "extraTransferLegSides": sidesOf(owner, extra), "nextIterationFunding": next}
}

func (d *desk) settleBatch(executor string, legs []leg, allocations ...map[string]any) choices.Command {
	list := []map[string]any{}
	for _, l := range legs {
		list = append(list, map[string]any{"transferLegId": l.id, "sender": account(l.from), "receiver": account(l.to), "amount": l.amount, "instrumentId": "Amulet", "meta": noMeta})
	}
	return through(model.SettlementFactoryInterface, exercise(model.ExternalRulesTemplate, d.newest(model.ExternalRulesTemplate, nil), "SettlementFactory_SettleBatch",
		"settlement", settlementOf(executor), "transferLegs", list, "allocations", allocations, "actors", []string{executor}, "extraArgs", emptyExtraArgs))
}

// TestSettlements settles several transfers at once, once and in iterations, by the second version of the
// token standard.
func TestSettlements(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 74})
	alice, bob, venue := d.party("alice", nil), d.party("bob", nil), d.party("venue", nil)
	d.advance(2 * time.Second)
	d.tap(alice, 50)
	d.tap(bob, 10)
	has := func(what string, hers, his model.Decimal) {
		t.Helper()
		if a, b := d.balance(alice), d.balance(bob); a != hers || b != his {
			t.Errorf("%s: alice has %s and bob %s, want %s and %s", what, a, b, hers, his)
		}
	}
	allocated := func(owner string, legs []leg, next any) string {
		t.Helper()
		return in(t, d.must([]string{owner}, d.allocateLegs(venue, owner, legs, false, next, 10*time.Hour))[0], "output", "value", "allocationCid")
	}
	burned := func() model.Decimal {
		n, err := model.ParseDecimal(d.l.Supply().Burned)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	legs := []leg{{"a", alice, bob, "8"}, {"b", bob, alice, "3"}, {"c", alice, "", "1"}}
	hers, his := finalized(allocated(alice, legs, nil), alice, nil, nil), finalized(allocated(bob, legs, nil), bob, nil, nil)
	has("allocated", model.Coins(44), model.Coins(10))
	more := finalized(allocated(alice, []leg{{"d", alice, bob, "1"}}, nil), alice, nil, nil)
	otherAmount := slices.Clone(legs)
	otherAmount[0].amount = "7"
	for what, wrong := range map[string]choices.Command{
		"without one of two":      d.settleBatch(venue, legs, hers),
		"one too many":            d.settleBatch(venue, legs, hers, his, more),
		"one twice":               d.settleBatch(venue, legs, hers, hers, his),
		"another amount":          d.settleBatch(venue, otherAmount, hers, his),
		"a leg that nobody sends": d.settleBatch(venue, legs[:2], hers, his),
		"a leg twice":             d.settleBatch(venue, append(legs, legs[0]), hers, his),
		"of another settlement":   d.settleBatch(alice, legs, hers, his),
		"further legs":            d.settleBatch(venue, append(legs, leg{"x", alice, bob, "1"}), finalized(hers["allocationCid"].(string), alice, []leg{{"x", alice, bob, "1"}}, nil), his),
	} {
		by := venue
		if what == "of another settlement" {
			by = alice
		}
		t.Log(what, d.refused(d.submission([]string{by}, wrong)))
	}
	if r := d.refused(d.submission([]string{alice}, d.settleBatch(venue, legs, hers, his))); r.Context["error_id"] != "missing-authorization" {
		t.Errorf("settled by another than the executor: %v", r)
	}
	before := burned()
	d.must([]string{venue}, d.settleBatch(venue, legs, hers, his))
	has("settled", model.Coins(43), model.Coins(15))
	if got := burned() - before; got != model.Coins(1) {
		t.Errorf("%s were burned", got)
	}

	// Iterations: legs and the funding of the next one come with each settlement.
	funded, receiving := allocated(alice, nil, map[string]string{"Amulet": "10"}), allocated(bob, nil, map[string]string{})
	d.refused(d.submission([]string{alice}, d.allocateLegs(venue, alice, nil, false, nil, time.Hour))) // nothing to allocate
	first := []leg{{"a", alice, bob, "4"}}
	next := func(funds string) any { return map[string]string{"Amulet": funds} }
	iterate := func(legs []leg, funds string) choices.Command {
		return d.settleBatch(venue, legs, finalized(funded, alice, legs, next(funds)), finalized(receiving, bob, legs, map[string]string{}))
	}
	t.Log("more than is allocated", d.refused(d.submission([]string{venue}, iterate(first, "7"))))
	settle := func(command choices.Command) {
		t.Helper()
		done := d.must([]string{venue}, command)[0]
		funded = in(t, done, "allocationSettleResults", 0, "output", "value", "nextIterationAllocationCid")
		receiving = in(t, done, "allocationSettleResults", 1, "output", "value", "nextIterationAllocationCid")
	}
	settle(iterate(first, "5"))
	has("first iteration", model.Coins(34), model.Coins(19))
	d.advance(time.Hour)
	settle(iterate(nil, "5")) // to renew it
	payload := d.l.OfTemplate(model.AllocationV2Template, func(c *model.Contract) bool {
		return c.Payload.(model.AllocationV2).Next > 0
	})[0].Payload.(model.AllocationV2)
	if payload.Iterations != 2 || payload.CreatedAt >= d.l.Now().Add(-time.Hour).UnixMicro() || len(payload.Sides) != 0 {
		t.Errorf("the second iteration is %+v", payload)
	}
	end := through(model.AllocationV2Interface, exercise(model.AllocationV2Template, funded, "Allocation_Cancel", "actors", []string{venue}, "extraArgs", emptyExtraArgs))
	d.must([]string{venue}, end)
	has("cancelled", model.Coins(39), model.Coins(19))
	late := []leg{{"a", alice, bob, "4"}}
	hers, his = finalized(allocated(alice, late, nil), alice, nil, nil), finalized(allocated(bob, late, nil), bob, nil, nil)
	d.advance(10 * time.Hour)
	t.Log("too late", d.refused(d.submission([]string{venue}, d.settleBatch(venue, late, hers, his))))
	d.checkEvents()
	d.finish()
}

// tokensV2 is tokenCommand by the second version of the token standard.
func (d *desk) tokensV2(sender, receiver map[string]any, amount string, meta map[string]any) choices.Command {
	owner, _ := sender["owner"].(string)
	ids, _ := d.coins(owner)
	now := d.l.Now()
	return through(model.TransferFactoryV2Interface, exercise(model.ExternalRulesTemplate, d.newest(model.ExternalRulesTemplate, nil), "TransferFactory_Transfer",
		"transfer", map[string]any{"sender": sender, "receiver": receiver, "amount": amount, "instrumentId": map[string]any{"admin": d.l.GovernanceParty(), "id": "Amulet"},
			"requestedAt": now.Format(time.RFC3339Nano), "executeBefore": now.Add(time.Hour).Format(time.RFC3339Nano), "inputHoldingCids": ids, "meta": meta},
		"actors", []string{owner}, "extraArgs", emptyExtraArgs))
}

// TestTransfersV2 transfers by the second version of the token standard: to oneself, by a preapproval and by
// offers, which have each of their ends.
func TestTransfersV2(t *testing.T) {
	d := newDesk(t, sim.Config{Seed: 75})
	alice, bob, carol := d.party("alice", nil), d.party("bob", nil), d.party("carol", nil)
	d.advance(2 * time.Second)
	d.tap(alice, 30)
	d.must([]string{bob, carol}, exercise(model.AmuletRulesTemplate, d.rules(), "AmuletRules_CreateTransferPreapproval", "context", d.payment(), "inputs", []any{},
		"receiver", bob, "provider", carol, "expiresAt", d.l.Now().Add(24*time.Hour).Format(time.RFC3339Nano), "expectedDso", d.l.GovernanceParty()))
	send := func(to, amount string) json.RawMessage {
		t.Helper()
		return d.must([]string{alice}, d.tokensV2(account(alice), account(to), amount, map[string]any{"values": map[string]string{model.ReasonMetaKey: "gift"}}))[0]
	}
	answer := func(by, id, choice string) choices.Submission {
		return d.submission([]string{by}, through(model.TransferInstructionV2Interface, exercise(model.TransferInstructionTemplate, id, choice, "actors", []string{by}, "extraArgs", emptyExtraArgs)))
	}
	send(alice, "5")
	if got := send(bob, "5"); in(t, got, "output", "tag") != "TransferInstructionResult_Completed" {
		t.Errorf("to one with a preapproval: %s", got)
	}
	for by, choice := range map[string]string{carol: "TransferInstruction_Accept", alice: "TransferInstruction_Withdraw"} {
		id := in(t, send(carol, "4"), "output", "value", "transferInstructionCid")
		d.refused(answer(bob, id, choice))
		d.mustSubmit(answer(by, id, choice))
	}
	d.mustSubmit(answer(carol, in(t, send(carol, "4"), "output", "value", "transferInstructionCid"), "TransferInstruction_Reject"))
	if a, b, c := d.balance(alice), d.balance(bob), d.balance(carol); a != model.Coins(21) || b != model.Coins(5) || c != model.Coins(4) {
		t.Errorf("alice has %s, bob %s and carol %s", a, b, c)
	}
	ofProvider := account(carol)
	ofProvider["provider"] = bob
	twice := d.tokensV2(account(alice), account(carol), "1", noMeta)
	twice.Argument = json.RawMessage(strings.Replace(string(twice.Argument), `"actors":["`+alice+`"]`, `"actors":["`+alice+`","`+bob+`"]`, 1))
	for what, wrong := range map[string]choices.Command{
		"an account of a provider": d.tokensV2(account(alice), ofProvider, "1", noMeta),
		"to be burned":             d.tokensV2(account(alice), account(""), "1", noMeta),
		"an account in metadata":   d.tokensV2(account(alice), account(carol), "1", map[string]any{"values": map[string]string{"cip-112/receiver.id": "x"}}),
		"an actor too many":        twice,
		"too much":                 d.tokensV2(account(alice), account(carol), "22", noMeta),
	} {
		t.Log(what, d.refused(d.submission([]string{alice, bob}, wrong)))
	}
	if kinds := d.checkEvents(); kinds["leg0"] != 4 || kinds[""] != 2 || kinds["holders released lock"] != 2 || kinds["lock"] != 3 {
		t.Errorf("the event log has %v", kinds)
	}
	d.finish()
}

// coinAmount is what checkEvents reads of a coin.
type coinAmount struct {
	Amount struct {
		Text string `json:"initialAmount"`
	} `json:"amount"`
}

// checkEvents compares the event log with what happened to the coins since the first command: the legs
// of an event add up to what its coins do, and each coin that a choice of the token standard creates
// or archives is in an event. It returns how many events there are with each reason or leg.
func (d *desk) checkEvents() map[string]int {
	d.t.Helper()
	c := serveNode(d.t, d.l, nodeapi.NodeOptions{})
	worth, kinds := map[string]model.Decimal{}, map[string]int{}
	number := func(text string) model.Decimal {
		n, err := model.ParseDecimal(text)
		if err != nil {
			d.t.Fatal(err)
		}
		return n
	}
	for _, u := range decodeNodeUpdates(d.t, c.frames("/v2/updates", updatesBody(d.first, c.ledgerEnd(), everything))) {
		changed := map[string]bool{}
		for i := range u.Events {
			e := &u.Events[i]
			if !strings.HasSuffix(e.TemplateID, "Amulet:Amulet") && !strings.HasSuffix(e.TemplateID, "Amulet:LockedAmulet") {
				continue
			}
			if e.Consuming {
				changed[e.ContractID] = true
			}
			if e.CreateArgument == nil {
				continue
			}
			changed[e.ContractID] = true
			var coin struct {
				coinAmount
				Amulet coinAmount `json:"amulet"`
			}
			if err := json.Unmarshal(e.CreateArgument, &coin); err != nil {
				d.t.Fatal(err)
			}
			worth[e.ContractID] = number(coin.Amount.Text + coin.Amulet.Amount.Text)
		}
		for i := range u.Events {
			if e := &u.Events[i]; e.Choice == "EventLog_HoldingsChange" {
				d.checkEvent(e, worth, changed, number, kinds)
			}
		}
		if len(changed) > 0 && strings.Contains(u.Events[0].InterfaceID, "Splice.Api.Token.") {
			d.t.Errorf("%s does not report %v", u.Events[0].Choice, changed)
		}
	}
	return kinds
}

func (d *desk) checkEvent(e *nodeEvent, worth map[string]model.Decimal, changed map[string]bool, number func(string) model.Decimal, kinds map[string]int) {
	d.t.Helper()
	var arg struct {
		Account struct{ Owner string }
		In      []string `json:"inputHoldingCids"`
		Out     []string `json:"outputHoldingCids"`
		Legs    []struct {
			Amount, Side string
			Leg          string `json:"transferLegId"`
		} `json:"transferLegSides"`
		Extra struct {
			Meta struct{ Values map[string]string }
		} `json:"extraArgs"`
	}
	if err := json.Unmarshal(e.Argument, &arg); err != nil {
		d.t.Fatal(err)
	}
	sum := model.Decimal(0)
	for _, id := range arg.In {
		sum -= worth[id]
		delete(changed, id)
	}
	for _, id := range arg.Out {
		sum += worth[id]
		delete(changed, id)
	}
	for _, l := range arg.Legs {
		kinds[l.Leg]++
		if l.Side == "SenderSide" {
			sum += number(l.Amount)
		} else {
			sum -= number(l.Amount)
		}
	}
	if reason := arg.Extra.Meta.Values[model.ReasonMetaKey]; reason != "" {
		kinds[reason]++
	}
	if sum != 0 || !slices.Contains(e.Witnesses, arg.Account.Owner) {
		d.t.Errorf("an event is off by %s, seen by %v: %s", sum, e.Witnesses, e.Argument)
	}
}
