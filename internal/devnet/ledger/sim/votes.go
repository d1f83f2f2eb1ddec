package sim

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// Votes are those of the super-validators: on the price of the coin, and on requests, of which at most
// one is open.
type Votes struct {
	Core
	rounds *Rounds
	prices []*model.Contract // by super-validator
	open   *model.Contract   // nil without one
	asked  int64             // requests so far
	Closed []model.ClosedVote
}

const (
	// Every second round a super-validator changes its mind about the price, and every seventh, from
	// the third on, something is requested: votes are rare.
	roundsPerPriceVote = 2
	roundsPerRequest   = 7
	firstRequest       = 2
	// votingTicks is how long a request is open, in ticks.
	votingTicks = 4
)

// schedule queues what happens at the beginning of a round.
func (x *Votes) schedule(round int64) {
	if round%roundsPerPriceVote == 0 {
		sv := int(round/roundsPerPriceVote) % len(x.prices)
		x.Clock.Tasks = append(x.Clock.Tasks, func() { x.updatePrice(sv) })
	}
	switch {
	case x.open != nil:
		x.Clock.Tasks = append(x.Clock.Tasks, x.proceed)
	case round%roundsPerRequest == firstRequest:
		x.Clock.Tasks = append(x.Clock.Tasks, x.request)
	}
}

// Price is the median of the votes that have a price, the mean of the middle two if their number is
// even.
func (x *Votes) Price() model.Decimal {
	var prices []model.Decimal
	for _, c := range x.prices {
		if p := c.Payload.(model.PriceVote).Price; p > 0 {
			prices = append(prices, p)
		}
	}
	slices.Sort(prices)
	middle := len(prices) / 2
	if len(prices)%2 == 1 {
		return prices[middle]
	}
	return (prices[middle-1] + prices[middle]) / 2
}

// Threshold is the number of votes that decides among so many super-validators, of which a third may
// be faulty.
func Threshold(members int) int {
	faulty := (members - 1) / 3
	return (members + faulty + 2) / 2
}

// found creates the votes on the price. Only the founder has one.
func (x *Votes) found() {
	for i := range x.Names.SuperValidators.Len() {
		p := model.PriceVote{Sv: x.Names.SuperValidators.At(i), UpdatedAt: x.Clock.EffectiveAt}
		if i == 0 {
			p.Price = model.FirstPrice
		}
		x.prices = append(x.prices, x.Tx.Create(model.PriceVoteTemplate, p))
	}
}

var (
	updatePriceShape     = model.NewShape("sv", "voteCid", "amuletPrice")
	updatePriceDoneShape = model.NewShape("amuletPriceVote")
	requestVoteShape     = model.NewShape("requester", "action", "reason", "voteRequestTimeout", "targetEffectiveAt")
	castVoteShape        = model.NewShape("requestCid", "vote")
	voteDoneShape        = model.NewShape("voteRequest")
	closeVoteShape       = model.NewShape("requestCid", "amuletRulesCid", "sv")
	newRulesShape        = model.NewShape("newDsoRules")
)

// updatePrice has a super-validator vote for a price near that of the newest round.
func (x *Votes) updatePrice(i int) {
	a, old := x.Tx.Arena(), x.prices[i]
	p := old.Payload.(model.PriceVote)
	newest := x.rounds.open[len(x.rounds.open)-1].Price
	p.Price = max(model.One/20, newest+x.Random.DecimalBetween(0, model.One/50)-model.One/100)
	p.UpdatedAt = x.Clock.EffectiveAt
	at := x.Tx.Exercise(x.Rules.dso, "DsoRules_UpdateAmuletPriceVote",
		a.Record(updatePriceShape, model.PartyValue(p.Sv), model.ContractID(old.Number), model.Numeric(p.Price)), p.Sv)
	x.Tx.Archive(old)
	x.prices[i] = x.Tx.Create(model.PriceVoteTemplate, p)
	x.Tx.Finish(at, a.Record(updatePriceDoneShape, model.ContractID(x.prices[i].Number)))
}

// request has one of the super-validators, in turn, ask for the next change, and vote for it: by turns
// another weight of somebody's rewards, and other rules of the coin.
func (x *Votes) request() {
	a, n := x.Tx.Arena(), x.Names.SuperValidators.Len()
	sv := x.Names.SuperValidators.At(int(x.asked) % n)
	p := model.VoteRequest{Names: x.Names, Number: x.asked, Requester: sv, Before: x.Clock.EffectiveAt + votingTicks*x.Clock.tick,
		Votes: []model.Vote{{Sv: sv, Accept: true, At: x.Clock.EffectiveAt}}}
	if x.asked%2 == 0 {
		p.Action = model.RewardWeight{Sv: x.Names.SuperValidators.At(int(x.asked/2) % n), Weight: model.SvRewardWeight + 500*(1+x.asked%5)}
	} else {
		base := x.Rules.Amulet.Payload.(model.AmuletRules)
		next := base
		next.MarkerAmount = model.One - base.MarkerAmount // the default, or none, which means the same
		p.Action = model.CoinConfig{New: next, Base: base}
	}
	x.asked++
	at := x.Tx.Exercise(x.Rules.dso, "DsoRules_RequestVote", a.Record(requestVoteShape, model.PartyValue(sv), p.ActionValue(a, x.Tx.Version()),
		p.Reason(a), p.Timeout(a), model.None()), sv)
	x.open = x.Tx.Create(model.VoteRequestTemplate, p)
	x.Tx.Finish(at, a.Record(voteDoneShape, model.ContractID(x.open.Number)))
}

// proceed has the open request closed if it is decided or over, or else one more vote cast. Of three
// requests all vote for the first, against the second, and not at all on the third, but for one.
func (x *Votes) proceed() {
	if x.open == nil {
		return
	}
	p, n := x.open.Payload.(model.VoteRequest), x.Names.SuperValidators.Len()
	accepts, rejects := p.Count()
	plan := p.Number % 3
	switch {
	case accepts >= Threshold(n):
		x.close(model.Accepted)
	case rejects > n-Threshold(n):
		x.close(model.Rejected)
	case x.Clock.EffectiveAt > p.Before:
		x.close(model.Expired)
	case plan < 2 || len(p.Votes) < 2:
		next := x.Names.SuperValidators.At((x.Names.SuperValidators.Index(p.Requester) + len(p.Votes)) % n)
		x.cast(model.Vote{Sv: next, Accept: plan != 1, At: x.Clock.EffectiveAt})
	}
}

// cast replaces the open request by one with another vote.
func (x *Votes) cast(v model.Vote) {
	a, old := x.Tx.Arena(), x.open
	at := x.Tx.Exercise(x.Rules.dso, "DsoRules_CastVote", a.Record(castVoteShape, model.ContractID(old.Number), v.Value(a)), v.Sv)
	x.Tx.Archive(old)
	x.open = x.Tx.Create(model.VoteRequestTemplate, old.Payload.(model.VoteRequest).With(v, old.Number))
	x.Tx.Finish(at, a.Record(voteDoneShape, model.ContractID(x.open.Number)))
}

// close ends the open request, and does what was accepted.
func (x *Votes) close(outcome model.Outcome) {
	a, old := x.Tx.Arena(), x.open
	p := old.Payload.(model.VoteRequest)
	closed := model.ClosedVote{VoteRequest: p, Version: old.Version, CompletedAt: x.Clock.EffectiveAt, Outcome: outcome}
	_, aboutCoin := p.Action.(model.CoinConfig)
	at := x.Tx.Exercise(x.Rules.dso, "DsoRules_CloseVoteRequest", a.Record(closeVoteShape, model.ContractID(old.Number),
		model.Optional(a, aboutCoin, model.ContractID(x.Rules.Amulet.Number)), a.Some(model.PartyValue(p.Requester))), p.Requester)
	x.Tx.Archive(old)
	if outcome == model.Accepted {
		x.execute(p.Action)
	}
	x.Tx.Finish(at, closed.Result(a))
	x.open, x.Closed = nil, append(x.Closed, closed)
}

// execute does what was accepted.
func (x *Votes) execute(action model.VotedAction) {
	switch action := action.(type) {
	case model.CoinConfig:
		x.replaceConfig(action)
	case model.RewardWeight:
		a := x.Tx.Arena()
		rules := x.Rules.dso.Payload.(model.DsoRules).WithWeight(action)
		at := x.Tx.Consume(x.Rules.dso, "DsoRules_UpdateSvRewardWeight", action.Argument(a), model.Dso)
		x.Rules.dso = x.Tx.Create(model.DsoRulesTemplate, rules)
		x.Tx.Finish(at, a.Record(newRulesShape, model.ContractID(x.Rules.dso.Number)))
	}
}
