package choices

import (
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

func addTrafficChoices(all *choices) {
	all.on(model.AmuletRulesTemplate, "AmuletRules_BuyMemberTraffic", nonconsuming(byArgument("provider"),
		func(e *Execution, _ *model.Contract, arg model.Argument) model.Value {
			e.expectsDSO(arg)
			ctx := transferContextOf(e, arg.Record("context"))
			p := purchase{buyer: arg.Party("provider"), inputs: arg.List("inputs"), context: ctx, MemberTraffic: trafficOf(arg)}
			_, result := settlePurchase(e, p)
			return result
		}))
}

// purchase is a purchase of traffic that a command asks for.
type purchase struct {
	buyer               model.Party
	inputs              []model.Value
	context             transferContext
	model.MemberTraffic // what is ordered
}

// trafficOf reads what is ordered from the fields that all orders of traffic have.
func trafficOf(v model.Argument) model.MemberTraffic {
	return model.MemberTraffic{Member: v.Text("memberId"), Synchronizer: v.Text("synchronizerId"),
		Migration: v.Int64("migrationId"), Purchased: v.Int64("trafficAmount")}
}

// purchased is what came of it.
type purchased struct{ traffic, change *model.Contract }

// maxTrafficBytes keeps costs within what can be counted.
const maxTrafficBytes = 1e11

func checkPurchase(e *Execution, p purchase) {
	if p.Synchronizer != e.Names.Synchronizers[0] {
		panic(broken("Unknown synchronizer %.255s", p.Synchronizer).with("error_id", errorUnknownSynchronizer).
			with("synchronizerId", p.Synchronizer).asInvalid(func(a *model.Arena) model.Value {
			return a.Variant("ITR_UnknownSynchronizer", a.Record(unknownSynchronizerShape, model.Text(p.Synchronizer)))
		}))
	}
	if p.Purchased < model.MinTopUp {
		panic(broken("Insufficient top-up amount: %d bytes requested, at least %d are sold", p.Purchased, model.MinTopUp).
			with("error_id", errorTopUpTooSmall).with("requestedTopupAmount", strconv.FormatInt(p.Purchased, 10)).
			with("minTopupAmount", strconv.Itoa(model.MinTopUp)).asInvalid(func(a *model.Arena) model.Value {
			return a.Variant("ITR_InsufficientTopupAmount", a.Record(topUpTooSmallShape, model.Int64Value(p.Purchased), model.Int64Value(model.MinTopUp)))
		}))
	}
	require(p.Purchased <= maxTrafficBytes, "%d bytes of traffic are more than are sold at once", p.Purchased)
	require(p.Migration == e.Tx.Migration, "migration %d is not the one in use, %d", p.Migration, e.Tx.Migration)
	require(e.Validators.ParticipantNamed(p.Member) >= 0 || e.Validators.IsMediator(p.Member), "the network does not know member %.255s", p.Member)
}

var (
	unknownSynchronizerShape = model.NewShape("synchronizerId")
	topUpTooSmallShape       = model.NewShape("requestedTopupAmount", "minTopupAmount")
)

// settlePurchase pays for traffic within the node that is open, and returns its result.
func settlePurchase(e *Execution, p purchase) (purchased, model.Value) {
	checkPurchase(e, p)
	defer e.at(p.context.round)()
	s := settleOrder(e, order{sender: p.buyer, provider: p.buyer, inputs: p.inputs, context: p.context,
		outputs: []sim.Output{{Receiver: p.buyer, Amount: e.Validators.TrafficCost(p.Purchased)}}})
	c, result := e.Validators.CompletePurchase(s, p.MemberTraffic)
	return purchased{c, s.Change}, result
}

// buyTrafficBy exercises AmuletRules_BuyMemberTraffic as a part of another choice.
func buyTrafficBy(e *Execution, p purchase) purchased {
	e.authorized([]model.Party{p.buyer}, "exercising AmuletRules_BuyMemberTraffic")
	at := e.Validators.BeginPurchase(p.buyer, model.Value{Kind: model.KindList, Elems: p.inputs}, p.context.given, p.MemberTraffic)
	got, result := settlePurchase(e, p)
	e.Tx.Finish(at, result)
	return got
}
