package devnet

import (
	"strconv"
)

func addTrafficChoices(all *choices) {
	all.on(amuletRulesTemplate, "AmuletRules_BuyMemberTraffic", nonconsuming(byArgument("provider"),
		func(e *execution, _ *contract, arg argument) (value, error) {
			if err := e.expectsDSO(arg); err != nil {
				return value{}, err
			}
			ctx, err := transferContextOf(e, arg.record("context"))
			if err != nil {
				return value{}, err
			}
			p := purchase{buyer: arg.party("provider"), inputs: arg.list("inputs"), context: ctx, member: arg.text("memberId"),
				synchronizer: arg.text("synchronizerId"), migration: arg.int64("migrationId"), bytes: arg.int64("trafficAmount")}
			_, result, err := settlePurchase(e, p)
			return result, err
		}))
}

// purchase is a purchase of traffic that a command asks for.
type purchase struct {
	buyer                party
	inputs               []value
	context              transferContext
	member, synchronizer string
	migration            int64
	bytes                int64
}

// purchased is what came of it.
type purchased struct{ traffic, change *contract }

// trafficCost is the price of traffic in coins of the round that is set.
func trafficCost(e *execution, bytes int64) decimal {
	return decimal(bytes * 1e4).times(trafficPrice).over(e.rounds.openRound().price)
}

// maxTrafficBytes keeps costs within what can be counted.
const maxTrafficBytes = 1e11

func checkPurchase(e *execution, p purchase) error {
	switch {
	case p.synchronizer != e.names.synchronizers[0]:
		return &invalidTransfer{broken("Unknown synchronizer %.255s", p.synchronizer).with("error_id", errorUnknownSynchronizer).
			with("synchronizerId", p.synchronizer),
			func(a *arena) value {
				return a.variant("ITR_UnknownSynchronizer", a.record(unknownSynchronizerShape, text(p.synchronizer)))
			}}
	case p.bytes < minTopUp:
		return &invalidTransfer{broken("Insufficient top-up amount: %d bytes requested, at least %d are sold", p.bytes, minTopUp).
			with("error_id", errorTopUpTooSmall).with("requestedTopupAmount", strconv.FormatInt(p.bytes, 10)).
			with("minTopupAmount", strconv.Itoa(minTopUp)),
			func(a *arena) value {
				return a.variant("ITR_InsufficientTopupAmount", a.record(topUpTooSmallShape, int64Value(p.bytes), int64Value(minTopUp)))
			}}
	case p.bytes > maxTrafficBytes:
		return broken("%d bytes of traffic are more than are sold at once", p.bytes)
	case p.migration != e.tx.migration:
		return broken("migration %d is not the one in use, %d", p.migration, e.tx.migration)
	case e.validators.participantNamed(p.member) < 0 && !e.validators.isMediator(p.member):
		return broken("the network knows no member %.255s", p.member)
	}
	return nil
}

var (
	unknownSynchronizerShape = newShape("synchronizerId")
	topUpTooSmallShape       = newShape("requestedTopupAmount", "minTopupAmount")
)

// settlePurchase pays for traffic within the node that is open, and returns its result.
func settlePurchase(e *execution, p purchase) (purchased, value, error) {
	if err := checkPurchase(e, p); err != nil {
		return purchased{}, value{}, err
	}
	defer e.at(p.context.round)()
	cost := trafficCost(e, p.bytes)
	s, err := settleOrder(e, order{sender: p.buyer, provider: p.buyer, inputs: p.inputs, context: p.context,
		outputs: []output{{receiver: p.buyer, amount: cost}}})
	if err != nil {
		return purchased{}, value{}, err
	}
	e.bank.burn(e.bank.spend(s.created[0]))
	c := e.tx.create(memberTrafficTemplate, memberTraffic{member: p.member, synchronizer: p.synchronizer, migration: p.migration,
		purchased: p.bytes, purchases: 1, amuletSpent: cost, usdSpent: cost.times(e.rounds.openRound().price)})
	e.tx.create(validatorRewardTemplate, validatorReward{p.buyer, cost, e.rounds.openRound().number})
	fields := []value{e.rounds.roundValue(), e.payments.summary(s), numeric(cost), contractID(c.number), e.payments.changeID(s)}
	return purchased{c, s.change}, e.tx.arena().record(buyTrafficDoneShape, e.tx.withMeta(fields, none())...), nil
}

// buyTrafficBy exercises AmuletRules_BuyMemberTraffic as a part of another choice.
func buyTrafficBy(e *execution, p purchase) (purchased, error) {
	if err := e.authorized([]party{p.buyer}, "exercising AmuletRules_BuyMemberTraffic"); err != nil {
		return purchased{}, err
	}
	at := e.tx.exercise(e.rules.amulet, "AmuletRules_BuyMemberTraffic", e.tx.arena().record(buyTrafficShape,
		value{kind: kindList, elems: p.inputs}, p.context.given, partyValue(p.buyer), text(p.member), text(p.synchronizer),
		int64Value(p.migration), int64Value(p.bytes), e.tx.expectedDSO()), p.buyer)
	got, result, err := settlePurchase(e, p)
	if err != nil {
		return purchased{}, err
	}
	e.tx.finish(at, result)
	return got, nil
}
