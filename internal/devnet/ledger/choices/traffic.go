package choices

import (
	"strconv"

	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

func addTrafficChoices(all *choices) {
	all.on(AmuletRulesTemplate, "AmuletRules_BuyMemberTraffic", nonconsuming(byArgument("provider"),
		func(e *Execution, _ *Contract, arg Argument) (Value, error) {
			if err := e.expectsDSO(arg); err != nil {
				return Value{}, err
			}
			ctx, err := transferContextOf(e, arg.Record("context"))
			if err != nil {
				return Value{}, err
			}
			p := purchase{buyer: arg.Party("provider"), inputs: arg.List("inputs"), context: ctx, member: arg.Text("memberId"),
				synchronizer: arg.Text("synchronizerId"), migration: arg.Int64("migrationId"), bytes: arg.Int64("trafficAmount")}
			_, result, err := settlePurchase(e, p)
			return result, err
		}))
}

// purchase is a purchase of traffic that a command asks for.
type purchase struct {
	buyer                Party
	inputs               []Value
	context              transferContext
	member, synchronizer string
	migration            int64
	bytes                int64
}

// purchased is what came of it.
type purchased struct{ traffic, change *Contract }

// trafficCost is the price of traffic in coins of the round that is set.
func trafficCost(e *Execution, bytes int64) Decimal {
	return Decimal(bytes * 1e4).Times(TrafficPrice).Over(e.rounds.OpenRound().Price)
}

// maxTrafficBytes keeps costs within what can be counted.
const maxTrafficBytes = 1e11

func checkPurchase(e *Execution, p purchase) error {
	switch {
	case p.synchronizer != e.Names.Synchronizers[0]:
		return &invalidTransfer{broken("Unknown synchronizer %.255s", p.synchronizer).with("error_id", errorUnknownSynchronizer).
			with("synchronizerId", p.synchronizer),
			func(a *Arena) Value {
				return a.Variant("ITR_UnknownSynchronizer", a.Record(unknownSynchronizerShape, Text(p.synchronizer)))
			}}
	case p.bytes < MinTopUp:
		return &invalidTransfer{broken("Insufficient top-up amount: %d bytes requested, at least %d are sold", p.bytes, MinTopUp).
			with("error_id", errorTopUpTooSmall).with("requestedTopupAmount", strconv.FormatInt(p.bytes, 10)).
			with("minTopupAmount", strconv.Itoa(MinTopUp)),
			func(a *Arena) Value {
				return a.Variant("ITR_InsufficientTopupAmount", a.Record(topUpTooSmallShape, Int64Value(p.bytes), Int64Value(MinTopUp)))
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
	unknownSynchronizerShape = NewShape("synchronizerId")
	topUpTooSmallShape       = NewShape("requestedTopupAmount", "minTopupAmount")
)

// settlePurchase pays for traffic within the node that is open, and returns its result.
func settlePurchase(e *Execution, p purchase) (purchased, Value, error) {
	if err := checkPurchase(e, p); err != nil {
		return purchased{}, Value{}, err
	}
	defer e.at(p.context.round)()
	cost := trafficCost(e, p.bytes)
	s, err := settleOrder(e, order{sender: p.buyer, provider: p.buyer, inputs: p.inputs, context: p.context,
		outputs: []Output{{Receiver: p.buyer, Amount: cost}}})
	if err != nil {
		return purchased{}, Value{}, err
	}
	e.bank.Burn(e.bank.Spend(s.Created[0]))
	c := e.Tx.Create(MemberTrafficTemplate, MemberTraffic{Member: p.member, Synchronizer: p.synchronizer, Migration: p.migration,
		Purchased: p.bytes, Purchases: 1, AmuletSpent: cost, UsdSpent: cost.Times(e.rounds.OpenRound().Price)})
	e.Tx.Create(ValidatorRewardTemplate, ValidatorReward{p.buyer, cost, e.rounds.OpenRound().Number})
	fields := []Value{e.rounds.RoundValue(), e.payments.Summary(s), Numeric(cost), ContractID(c.Number), e.payments.ChangeID(s)}
	return purchased{c, s.Change}, e.Tx.Arena().Record(BuyTrafficDoneShape, e.Tx.WithMeta(fields, None())...), nil
}

// buyTrafficBy exercises AmuletRules_BuyMemberTraffic as a part of another choice.
func buyTrafficBy(e *Execution, p purchase) (purchased, error) {
	if err := e.authorized([]Party{p.buyer}, "exercising AmuletRules_BuyMemberTraffic"); err != nil {
		return purchased{}, err
	}
	at := e.Tx.Exercise(e.Rules.Amulet, "AmuletRules_BuyMemberTraffic", e.Tx.Arena().Record(BuyTrafficShape,
		Value{Kind: KindList, Elems: p.inputs}, p.context.given, PartyValue(p.buyer), Text(p.member), Text(p.synchronizer),
		Int64Value(p.migration), Int64Value(p.bytes), e.Tx.ExpectedDSO()), p.buyer)
	got, result, err := settlePurchase(e, p)
	if err != nil {
		return purchased{}, err
	}
	e.Tx.Finish(at, result)
	return got, nil
}
