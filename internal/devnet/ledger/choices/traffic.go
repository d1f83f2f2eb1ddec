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
			p := purchase{buyer: arg.Party("provider"), inputs: arg.List("inputs"), context: ctx, member: arg.Text("memberId"),
				synchronizer: arg.Text("synchronizerId"), migration: arg.Int64("migrationId"), bytes: arg.Int64("trafficAmount")}
			_, result := settlePurchase(e, p)
			return result
		}))
}

// purchase is a purchase of traffic that a command asks for.
type purchase struct {
	buyer                model.Party
	inputs               []model.Value
	context              transferContext
	member, synchronizer string
	migration            int64
	bytes                int64
}

// purchased is what came of it.
type purchased struct{ traffic, change *model.Contract }

// maxTrafficBytes keeps costs within what can be counted.
const maxTrafficBytes = 1e11

func checkPurchase(e *Execution, p purchase) {
	if p.synchronizer != e.Names.Synchronizers[0] {
		panic(broken("Unknown synchronizer %.255s", p.synchronizer).with("error_id", errorUnknownSynchronizer).
			with("synchronizerId", p.synchronizer).asInvalid(func(a *model.Arena) model.Value {
			return a.Variant("ITR_UnknownSynchronizer", a.Record(unknownSynchronizerShape, model.Text(p.synchronizer)))
		}))
	}
	if p.bytes < model.MinTopUp {
		panic(broken("Insufficient top-up amount: %d bytes requested, at least %d are sold", p.bytes, model.MinTopUp).
			with("error_id", errorTopUpTooSmall).with("requestedTopupAmount", strconv.FormatInt(p.bytes, 10)).
			with("minTopupAmount", strconv.Itoa(model.MinTopUp)).asInvalid(func(a *model.Arena) model.Value {
			return a.Variant("ITR_InsufficientTopupAmount", a.Record(topUpTooSmallShape, model.Int64Value(p.bytes), model.Int64Value(model.MinTopUp)))
		}))
	}
	require(p.bytes <= maxTrafficBytes, "%d bytes of traffic are more than are sold at once", p.bytes)
	require(p.migration == e.Tx.Migration, "migration %d is not the one in use, %d", p.migration, e.Tx.Migration)
	require(e.Validators.ParticipantNamed(p.member) >= 0 || e.Validators.IsMediator(p.member), "the network knows no member %.255s", p.member)
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
		outputs: []sim.Output{{Receiver: p.buyer, Amount: e.Validators.TrafficCost(p.bytes)}}})
	c, result := e.Validators.CompletePurchase(s, model.MemberTraffic{
		Member: p.member, Synchronizer: p.synchronizer, Migration: p.migration, Purchased: p.bytes})
	return purchased{c, s.Change}, result
}

// buyTrafficBy exercises AmuletRules_BuyMemberTraffic as a part of another choice.
func buyTrafficBy(e *Execution, p purchase) purchased {
	e.authorized([]model.Party{p.buyer}, "exercising AmuletRules_BuyMemberTraffic")
	at := e.Tx.Exercise(e.Rules.Amulet, "AmuletRules_BuyMemberTraffic", e.Tx.Arena().Record(sim.BuyTrafficShape,
		model.Value{Kind: model.KindList, Elems: p.inputs}, p.context.given, model.PartyValue(p.buyer), model.Text(p.member), model.Text(p.synchronizer),
		model.Int64Value(p.migration), model.Int64Value(p.bytes), e.Tx.ExpectedDSO()), p.buyer)
	got, result := settlePurchase(e, p)
	e.Tx.Finish(at, result)
	return got
}
