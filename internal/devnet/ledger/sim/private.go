package sim

import (
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// private is the part of the ledger that the governance party is no party to: wallet
// contracts and those of apps. Public history has the verdicts on its transactions
// only. It draws on random numbers and contract numbers of its own, so that public
// history is the same whether a participant's view is kept or not.
//
// The verdicts decide who takes part: each view of one becomes the nodes that have
// exactly its informees. What such a set of parties has open is acted upon when the
// same set comes together again.
type private struct {
	Core
	users *users

	Random Random
	open   map[partySet][]*Contract
	// requests are the open traffic requests of a user, to which nobody else is a party.
	requests map[Party][]*Contract
}

// partySet is a set of up to three parties: ascending, the rest noParty.
type partySet [3]Party

func setOf(parties ...Party) partySet {
	set := partySet{NoParty, NoParty, NoParty}
	n := 0
	for _, p := range parties {
		if p == NoParty || set[0] == p || set[1] == p || set[2] == p {
			continue
		}
		at := n
		for ; at > 0 && set[at-1] > p; at-- {
			set[at] = set[at-1]
		}
		set[at] = p
		n++
	}
	return set
}

func newPrivate(k Core) *private {
	return &private{Core: k, Random: Random{Mix(k.Config.Seed+Golden) ^ Mix(Golden)},
		open: map[partySet][]*Contract{}, requests: map[Party][]*Contract{}}
}

// privateNumbers is where the numbers of private contracts begin: ids of private and
// public contracts never collide.
const privateNumbers = 1 << 62

// executePrivate gives a transaction that was accepted its content.
func (x *private) executePrivate(v *Verdict) {
	if x.users.isManaged(v.Submitter) {
		return
	}
	for i := range v.Views {
		w := &v.Views[i]
		provider, other := NoParty, v.Submitter
		for _, p := range w.Informees {
			switch {
			case x.Names.Providers.Has(p):
				provider = p
			case p != v.Submitter:
				other = p
			}
		}
		if i == 0 && x.Random.Percent(25) {
			x.requestTraffic(v.Submitter)
		}
		x.privateView(v.Submitter, provider, other)
	}
}

// privateView executes what a submitter does with an app, if there is one, and
// another user.
func (x *private) privateView(submitter, provider, other Party) {
	r, set := &x.Random, setOf(submitter, provider, other)
	if open := x.open[set]; len(open) > 0 && r.Percent(70) {
		c := takeAny(r, &open)
		x.setOpen(set, open)
		if c.Active() { // else a command was faster
			x.actPrivately(c, submitter)
		}
		return
	}
	switch {
	case r.Percent(65) || provider == NoParty && other == submitter:
		x.sendNotice(Notice{Author: submitter, Carrier: provider, Reader: other, Number: x.Tx.Entries, SentAt: x.Clock.EffectiveAt})
	case provider == NoParty:
		x.Tx.Current.Workflow = "wallet/transfer-offer"
		x.createPrivate(TransferOfferTemplate, TransferOffer{Sender: submitter, Receiver: other,
			Amount: r.DecimalBetween(One/10, Coins(50)), Description: transferReasons[r.Below(len(transferReasons))],
			ExpiresAt: x.Clock.EffectiveAt + 3*x.Clock.tick, Number: x.Tx.Entries})
	default:
		x.Tx.Current.Workflow = "harbor/quote"
		x.createPrivate(QuoteTemplate, Quote{Carrier: provider, Shipper: submitter, Consignee: other,
			Content: r.Next(), Price: r.DecimalBetween(One, Coins(900)), ValidUntil: x.Clock.EffectiveAt/86400e6 + 30})
	}
}

func (x *private) setOpen(set partySet, open []*Contract) {
	if len(open) == 0 {
		delete(x.open, set)
		return
	}
	x.open[set] = open
}

// createPrivate is create for a contract that public history has no part in.
func (x *private) createPrivate(t *Template, p Payload) *Contract {
	c := x.Tx.AddPrivate(t, p)
	signatories, observers := p.Stakeholders(nil, nil)
	set := setOf(append(signatories, observers...)...)
	x.open[set] = append(x.open[set], c)
	return c
}

// AddPrivate adds the creation of a contract to the tree.
func (x *transaction) AddPrivate(t *Template, p Payload) *Contract {
	c := &Contract{Private: true, Number: x.newPrivateNumber(), Template: t, Version: x.Version(),
		CreatedAt: x.clock.EffectiveAt, Payload: p, Synchronizer: x.Current.Synchronizer, Entry: uint32(x.Current.Number)}
	x.Activate(c)
	x.Attempt.note(c, true)
	x.Current.Nodes = append(x.Current.Nodes, Node{Contract: c, End: int32(len(x.Current.Nodes) + 1)})
	return c
}

// consumePrivate is consume for a private contract.
func (x *private) consumePrivate(c *Contract, choice string, argument Value, actor Party) int {
	at := x.Tx.Exercise(c, choice, argument, actor)
	x.Tx.Current.Nodes[at].Consuming = true
	x.Tx.Deactivate(c)
	return at
}

func (x *transaction) newPrivateNumber() uint64 {
	if x.Attempt != nil && x.Attempt.Reserved != 0 {
		return x.newContractNumber()
	}
	x.PrivateNumbers++
	return privateNumbers + x.PrivateNumbers
}

var (
	OfferAcceptDoneShape  = NewShape("acceptedTransferOffer")
	OfferTrackedShape     = NewShape("trackingInfo")
	OfferReasonShape      = NewShape("reason")
	quoteReviseShape      = NewShape("price", "note")
	quoteAnswerShape      = NewShape("by", "at")
	noticeDeliverShape    = NewShape("receipt")
	privateReasons        = []string{"changed my mind", "too late", "duplicate \"order\"", "прошу отменить"}
	requestsBeforeSpent   = 3
	requestTrafficMinimum = 100_000
)

// actPrivately has the submitter, who is a party to it, act on an open contract.
func (x *private) actPrivately(c *Contract, submitter Party) {
	switch p := c.Payload.(type) {
	case TransferOffer:
		x.answerOffer(c, p, submitter)
	case AcceptedOffer:
		x.Tx.Current.Workflow = "wallet/transfer-offer"
		choice := "AcceptedTransferOffer_Withdraw"
		if submitter == p.Sender {
			choice = "AcceptedTransferOffer_Abort"
		}
		x.endOffer(c, choice, p.TransferOffer, submitter)
	case Quote:
		x.answerQuote(c, p, submitter)
	}
}

// answerOffer has the sender withdraw an offer, or the receiver accept or reject it.
func (x *private) answerOffer(c *Contract, p TransferOffer, submitter Party) {
	x.Tx.Current.Workflow = "wallet/transfer-offer"
	a := x.Tx.Arena()
	switch {
	case submitter == p.Sender:
		x.endOffer(c, "TransferOffer_Withdraw", p, submitter)
	case x.Random.Percent(40):
		at := x.consumePrivate(c, "TransferOffer_Reject", a.Record(EmptyRecordShape), submitter)
		x.Tx.Finish(at, a.Record(OfferTrackedShape, p.Tracking(a)))
	default:
		at := x.consumePrivate(c, "TransferOffer_Accept", a.Record(EmptyRecordShape), submitter)
		next := x.createPrivate(AcceptedOfferTemplate, AcceptedOffer{p})
		x.Tx.Finish(at, a.Record(OfferAcceptDoneShape, ContractID(next.Number)))
	}
}

// endOffer archives an offer by a choice that gives a reason.
func (x *private) endOffer(c *Contract, choice string, p TransferOffer, actor Party) {
	a := x.Tx.Arena()
	reason := privateReasons[x.Random.Below(len(privateReasons))]
	at := x.consumePrivate(c, choice, a.Record(OfferReasonShape, Text(reason)), actor)
	x.Tx.Finish(at, a.Record(OfferTrackedShape, p.Tracking(a)))
}

// answerQuote revises a quote, looks at it or settles it.
func (x *private) answerQuote(c *Contract, p Quote, submitter Party) {
	x.Tx.Current.Workflow = "harbor/quote"
	a, r := x.Tx.Arena(), &x.Random
	answer := a.Record(quoteAnswerShape, PartyValue(submitter), Timestamp(x.Clock.EffectiveAt))
	switch r.Below(4) {
	case 0:
		set := setOf(p.Carrier, p.Shipper, p.Consignee)
		x.open[set] = append(x.open[set], c)
		x.Tx.Finish(x.Tx.Exercise(c, "Quote_Inspect", answer, submitter), Boolean(true))
	case 1:
		p.Price = r.DecimalBetween(One, Coins(900))
		at := x.consumePrivate(c, "Quote_Revise", a.Record(quoteReviseShape, Numeric(p.Price), None()), submitter)
		next := x.createPrivate(QuoteTemplate, p)
		x.Tx.Finish(at, ContractID(next.Number))
	default:
		x.Tx.Finish(x.consumePrivate(c, "Quote_Settle", answer, submitter), Unit())
	}
}

// sendNotice creates a contract and archives it at once: what it says is history only.
func (x *private) sendNotice(p Notice) {
	a := x.Tx.Arena()
	x.Tx.Current.Workflow = "harbor/notice"
	c := x.Tx.AddPrivate(NoticeTemplate, p)
	at := x.consumePrivate(c, "Notice_Deliver", a.Record(noticeDeliverShape, Boolean(p.Number%2 == 0)), p.Author)
	x.Tx.Finish(at, Int64Value(int64(p.Number)))
}

// requestTraffic has a user ask its wallet for traffic, or take back what it asked for.
func (x *private) requestTraffic(user Party) {
	a, r, open := x.Tx.Arena(), &x.Random, x.requests[user]
	x.Tx.Current.Workflow = "wallet/buy-traffic"
	if len(open) == requestsBeforeSpent || len(open) > 0 && r.Percent(40) {
		c := takeAny(r, &open)
		x.requests[user] = open
		p := c.Payload.(TrafficRequest)
		choice, argument := "BuyTrafficRequest_Expire", a.Record(EmptyRecordShape)
		if p.ExpiresAt > x.Clock.EffectiveAt {
			reason := privateReasons[r.Below(len(privateReasons))]
			choice, argument = "BuyTrafficRequest_Cancel", a.Record(OfferReasonShape, Text(reason))
		}
		at := x.consumePrivate(c, choice, argument, user)
		x.Tx.Finish(at, a.Record(OfferTrackedShape, a.Record(RequestTrackingShape, Text(p.TrackingID()), PartyValue(user))))
		return
	}
	c := x.Tx.AddPrivate(TrafficRequestTemplate, TrafficRequest{User: user, Bytes: int64(r.Between(requestTrafficMinimum, 9*requestTrafficMinimum)),
		Member: "PAR::" + x.Names.Participants[x.Names.ParticipantOf(user, 0)], Synchronizer: x.Names.Synchronizers[0],
		Migration: x.Tx.Migration, ExpiresAt: x.Clock.EffectiveAt + 2*x.Clock.tick, Number: x.Tx.Entries})
	x.requests[user] = append(open, c)
}
