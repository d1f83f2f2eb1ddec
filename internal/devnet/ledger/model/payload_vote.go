package model

import (
	"cmp"
	"slices"
	"strconv"
)

var (
	priceVoteShape     = NewShape("dso", "sv", "amuletPrice", "lastUpdatedAt")
	voteRequestShape   = NewShape("dso", "requester", "action", "reason", "voteBefore", "votes", "trackingCid", "targetEffectiveAt")
	voteShape          = NewShape("sv", "accept", "reason", "optCastAt")
	reasonShape        = NewShape("url", "body")
	dsoActionShape     = NewShape("dsoAction")
	coinActionShape    = NewShape("amuletRulesAction")
	rewardWeightShape  = NewShape("svParty", "newRewardWeight")
	setCoinConfigShape = NewShape("newConfig", "baseConfig")
	closedVoteShape    = NewShape("request", "completedAt", "offboardedVoters", "abstainingSvs", "outcome")
	acceptedShape      = NewShape("effectiveAt")
)

// PriceVote is what a super-validator thinks that a coin costs.
type PriceVote struct {
	onlyDSO
	Sv        Party
	Price     Decimal // in USD, 0 for no vote
	UpdatedAt int64
}

func (p PriceVote) Arguments(a *Arena, _ uint8) Value {
	return a.Record(priceVoteShape, PartyValue(Dso), PartyValue(p.Sv), Optional(a, p.Price > 0, Numeric(p.Price)), Timestamp(p.UpdatedAt))
}

// VoteRequest asks the super-validators whether something is to be done. Each vote makes a new contract.
type VoteRequest struct {
	onlyDSO
	Names     *Names
	Number    int64 // of the requests of the network, from 0
	Requester Party
	Action    VotedAction
	Before    int64  // the end of voting, µs
	Votes     []Vote // in the order in which they were cast
	Tracking  uint64 // the first contract of the request, 0 for that one
}

// Vote is that of one super-validator.
type Vote struct {
	Sv     Party
	Accept bool
	At     int64
}

// VotedAction is what is voted on.
type VotedAction interface {
	action(a *Arena, version uint8) Value
}

// RewardWeight changes what a super-validator gets of the rewards.
type RewardWeight struct {
	Sv     Party
	Weight int64
}

// Argument is that of the choice which does it.
func (w RewardWeight) Argument(a *Arena) Value {
	return a.Record(rewardWeightShape, PartyValue(w.Sv), Int64Value(w.Weight))
}

func (w RewardWeight) action(a *Arena, _ uint8) Value {
	return a.Variant("ARC_DsoRules", a.Record(dsoActionShape, a.Variant("SRARC_UpdateSvRewardWeight", w.Argument(a))))
}

// CoinConfig changes the rules of the coin.
type CoinConfig struct{ New, Base AmuletRules }

// Argument is that of the choice which does it, by the versions of the new and the old rules.
func (c CoinConfig) Argument(a *Arena, version, base uint8) Value {
	return a.Record(setCoinConfigShape, c.New.Config(a, version), c.Base.Config(a, base))
}

func (c CoinConfig) action(a *Arena, version uint8) Value {
	return a.Variant("ARC_AmuletRules", a.Record(coinActionShape, a.Variant("CRARC_SetConfig", c.Argument(a, version, version))))
}

func (p VoteRequest) Arguments(a *Arena, version uint8) Value {
	votes := slices.SortedFunc(slices.Values(p.Votes), func(v, w Vote) int { return cmp.Compare(p.Names.SvName(v.Sv), p.Names.SvName(w.Sv)) })
	var entries []Value
	for _, v := range votes {
		entries = append(entries, Text(p.Names.SvName(v.Sv)), v.Value(a))
	}
	return a.Record(voteRequestShape, PartyValue(Dso), Text(p.Names.SvName(p.Requester)), p.ActionValue(a, version), p.Reason(a), Timestamp(p.Before),
		a.GenMap(entries...), Optional(a, p.Tracking != 0, ContractID(p.Tracking)), None())
}

// ActionValue is what is voted on.
func (p VoteRequest) ActionValue(a *Arena, version uint8) Value { return p.Action.action(a, version) }

// Timeout is for how long, Reason why.
func (p VoteRequest) Timeout(a *Arena) Value { return a.Some(relTime(a, p.Before-p.Votes[0].At)) }
func (p VoteRequest) Reason(a *Arena) Value {
	number := strconv.FormatInt(p.Number, 10)
	return a.Record(reasonShape, Text("https://votes.devnet.example/"+number), Text("Proposal "+number))
}

// Value is the vote as the argument of casting it and as an element of the request.
func (v Vote) Value(a *Arena) Value {
	return a.Record(voteShape, PartyValue(v.Sv), Boolean(v.Accept), a.Record(reasonShape, Text(""), Text("")), a.Some(Timestamp(v.At)))
}

// With is the request after a vote. first is the contract to which it is cast.
func (p VoteRequest) With(v Vote, first uint64) VoteRequest {
	p.Votes = append(slices.Clone(p.Votes), v)
	p.Tracking = cmp.Or(p.Tracking, first)
	return p
}

// Count counts the votes for and against.
func (p VoteRequest) Count() (accepts, rejects int) {
	for _, v := range p.Votes {
		if v.Accept {
			accepts++
		}
	}
	return accepts, len(p.Votes) - accepts
}

// Outcome is how a vote ended.
type Outcome string

// The outcomes that happen.
const (
	Accepted Outcome = "VRO_Accepted"
	Rejected Outcome = "VRO_Rejected"
	Expired  Outcome = "VRO_Expired"
)

// ClosedVote is the end of a request, whose contract was of a package version.
type ClosedVote struct {
	VoteRequest
	Version     uint8
	CompletedAt int64
	Outcome     Outcome
}

// Result is that of closing it.
func (c ClosedVote) Result(a *Arena) Value {
	var abstaining []Value
	for i := range c.Names.SuperValidators.Len() {
		sv := c.Names.SuperValidators.At(i)
		if !slices.ContainsFunc(c.Votes, func(v Vote) bool { return v.Sv == sv }) {
			abstaining = append(abstaining, Text(c.Names.Name(sv)))
		}
	}
	outcome := a.Variant(string(c.Outcome), Unit())
	if c.Outcome == Accepted {
		outcome = a.Variant(string(Accepted), a.Record(acceptedShape, Timestamp(c.CompletedAt)))
	}
	return a.Record(closedVoteShape, c.Arguments(a, c.Version), Timestamp(c.CompletedAt), a.List(), a.List(abstaining...), outcome)
}
