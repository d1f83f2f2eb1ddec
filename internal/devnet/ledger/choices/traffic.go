package choices

import (
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

func addTrafficChoices(all *choices) {
	all.on(model.AmuletRulesTemplate, "AmuletRules_BuyMemberTraffic", nonconsuming(byArgument("provider"),
		func(e *Execution, _ *model.Contract, arg model.Argument) (model.Value, error) {
			if err := e.expectsDSO(arg); err != nil {
				return model.Value{}, err
			}
			ctx, err := transferContextOf(e, arg.Record("context"))
			if err != nil {
				return model.Value{}, err
			}
			p := purchase{buyer: arg.Party("provider"), inputs: arg.List("inputs"), context: ctx, member: arg.Text("memberId"),
				synchronizer: arg.Text("synchronizerId"), migration: arg.Int64("migrationId"), bytes: arg.Int64("trafficAmount")}
			_, result, err := settlePurchase(e, p)
			return result, err
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

// trafficCost is the price of traffic in coins of the round that is set.
func trafficCost(e *Execution, bytes int64) model.Decimal {
	return model.Decimal(bytes * 1e4).Times(model.TrafficPrice).Over(e.rounds.OpenRound().Price)
}

// maxTrafficBytes keeps costs within what can be counted.
const maxTrafficBytes = 1e11

func checkPurchase(e *Execution, p purchase) error {
	switch {
	case p.synchronizer != e.Names.Synchronizers[0]:
		return &invalidTransfer{broken("Unknown synchronizer %.255s", p.synchronizer).with("error_id", errorUnknownSynchronizer).
			with("synchronizerId", p.synchronizer),
			func(a *model.Arena) model.Value {
				return a.Variant("ITR_UnknownSynchronizer", a.Record(unknownSynchronizerShape, model.Text(p.synchronizer)))
			}}
	case p.bytes < model.MinTopUp:
		return &invalidTransfer{broken("Insufficient top-up amount: %d bytes requested, at least %d are sold", p.bytes, model.MinTopUp).
			with("error_id", errorTopUpTooSmall).with("requestedTopupAmount", strconv.FormatInt(p.bytes, 10)).
			with("minTopupAmount", strconv.Itoa(model.MinTopUp)),
			func(a *model.Arena) model.Value {
				return a.Variant("ITR_InsufficientTopupAmount", a.Record(topUpTooSmallShape, model.Int64Value(p.bytes), model.Int64Value(model.MinTopUp)))
			}}
	case p.bytes > maxTrafficBytes:
		return broken("%d bytes of traffic are more than are sold at once", p.bytes)
	case p.migration != e.Tx.Migration:
		return broken("migration %d is not the one in use, %d", p.migration, e.Tx.Migration)
	case e.validators.ParticipantNamed(p.member) < 0 && !e.validators.IsMediator(p.member):
		return broken("the network knows no member %.255s", p.member)
	}
	return nil
}

var (
	unknownSynchronizerShape = model.NewShape("synchronizerId")
	topUpTooSmallShape       = model.NewShape("requestedTopupAmount", "minTopupAmount")
)

// settlePurchase pays for traffic within the node that is open, and returns its result.
func settlePurchase(e *Execution, p purchase) (purchased, model.Value, error) {
	if err := checkPurchase(e, p); err != nil {
		return purchased{}, model.Value{}, err
	}
	defer e.at(p.context.round)()
	cost := trafficCost(e, p.bytes)
	s, err := settleOrder(e, order{sender: p.buyer, provider: p.buyer, inputs: p.inputs, context: p.context,
		outputs: []sim.Output{{Receiver: p.buyer, Amount: cost}}})
	if err != nil {
		return purchased{}, model.Value{}, err
	}
	e.bank.Burn(e.bank.Spend(s.Created[0]))
	c := e.Tx.Create(model.MemberTrafficTemplate, model.MemberTraffic{Member: p.member, Synchronizer: p.synchronizer, Migration: p.migration,
		Purchased: p.bytes, Purchases: 1, AmuletSpent: cost, UsdSpent: cost.Times(e.rounds.OpenRound().Price)})
	e.Tx.Create(model.ValidatorRewardTemplate, model.ValidatorReward{User: p.buyer, Amount: cost, Round: e.rounds.OpenRound().Number})
	fields := []model.Value{e.rounds.RoundValue(), e.payments.Summary(s), model.Numeric(cost), model.ContractID(c.Number), e.payments.ChangeID(s)}
	return purchased{c, s.Change}, e.Tx.Arena().Record(sim.BuyTrafficDoneShape, e.Tx.WithMeta(fields, model.None())...), nil
}

// buyTrafficBy exercises AmuletRules_BuyMemberTraffic as a part of another choice.
func buyTrafficBy(e *Execution, p purchase) (purchased, error) {
	if err := e.authorized([]model.Party{p.buyer}, "exercising AmuletRules_BuyMemberTraffic"); err != nil {
		return purchased{}, err
	}
	at := e.Tx.Exercise(e.Rules.Amulet, "AmuletRules_BuyMemberTraffic", e.Tx.Arena().Record(sim.BuyTrafficShape,
		model.Value{Kind: model.KindList, Elems: p.inputs}, p.context.given, model.PartyValue(p.buyer), model.Text(p.member), model.Text(p.synchronizer),
		model.Int64Value(p.migration), model.Int64Value(p.bytes), e.Tx.ExpectedDSO()), p.buyer)
	got, result, err := settlePurchase(e, p)
	if err != nil {
		return purchased{}, err
	}
	e.Tx.Finish(at, result)
	return got, nil
}
