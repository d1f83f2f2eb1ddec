package sim

import "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"

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

	Random model.Random
	open   map[partySet][]*model.Contract
	// requests are the open traffic requests of a user, to which nobody else is a party.
	requests map[model.Party][]*model.Contract
}

// partySet is a set of up to three parties: ascending, the rest noParty.
type partySet [3]model.Party

func setOf(parties ...model.Party) partySet {
	set := partySet{model.NoParty, model.NoParty, model.NoParty}
	n := 0
	for _, p := range parties {
		if p == model.NoParty || set[0] == p || set[1] == p || set[2] == p {
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
	return &private{Core: k, Random: model.Random{State: model.Mix(k.Config.Seed+model.Golden) ^ model.Mix(model.Golden)},
		open: map[partySet][]*model.Contract{}, requests: map[model.Party][]*model.Contract{}}
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
		provider, other := model.NoParty, v.Submitter
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
func (x *private) privateView(submitter, provider, other model.Party) {
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
	case r.Percent(65) || provider == model.NoParty && other == submitter:
		x.sendNotice(model.Notice{Author: submitter, Carrier: provider, Reader: other, Number: x.Tx.Entries, SentAt: x.Clock.EffectiveAt})
	case provider == model.NoParty:
		x.Tx.Current.Workflow = "wallet/transfer-offer"
		x.createPrivate(model.TransferOfferTemplate, model.TransferOffer{Sender: submitter, Receiver: other,
			Amount: r.DecimalBetween(model.One/10, model.Coins(50)), Description: transferReasons[r.Below(len(transferReasons))],
			ExpiresAt: x.Clock.EffectiveAt + 3*x.Clock.tick, Number: x.Tx.Entries})
	default:
		x.Tx.Current.Workflow = "harbor/quote"
		x.createPrivate(model.QuoteTemplate, model.Quote{Carrier: provider, Shipper: submitter, Consignee: other,
			Content: r.Next(), Price: r.DecimalBetween(model.One, model.Coins(900)), ValidUntil: x.Clock.EffectiveAt/86400e6 + 30})
	}
}

func (x *private) setOpen(set partySet, open []*model.Contract) {
	if len(open) == 0 {
		delete(x.open, set)
		return
	}
	x.open[set] = open
}

// createPrivate is create for a contract that public history has no part in.
func (x *private) createPrivate(t *model.Template, p model.Payload) *model.Contract {
	c := x.Tx.AddPrivate(t, p)
	signatories, observers := p.Stakeholders(nil, nil)
	set := setOf(append(signatories, observers...)...)
	x.open[set] = append(x.open[set], c)
	return c
}

// consumePrivate is consume for a private contract.
func (x *private) consumePrivate(c *model.Contract, choice string, argument model.Value, actor model.Party) int {
	at := x.Tx.Exercise(c, choice, argument, actor)
	x.Tx.Current.Nodes[at].Consuming = true
	x.Tx.Deactivate(c)
	return at
}

var (
	OfferAcceptDoneShape  = model.NewShape("acceptedTransferOffer")
	OfferTrackedShape     = model.NewShape("trackingInfo")
	OfferReasonShape      = model.NewShape("reason")
	quoteReviseShape      = model.NewShape("price", "note")
	quoteAnswerShape      = model.NewShape("by", "at")
	noticeDeliverShape    = model.NewShape("receipt")
	privateReasons        = []string{"changed my mind", "too late", "duplicate \"order\"", "прошу отменить"}
	requestsBeforeSpent   = 3
	requestTrafficMinimum = 100_000
)

// actPrivately has the submitter, who is a party to it, act on an open contract.
func (x *private) actPrivately(c *model.Contract, submitter model.Party) {
	switch p := c.Payload.(type) {
	case model.TransferOffer:
		x.answerOffer(c, p, submitter)
	case model.AcceptedOffer:
		x.Tx.Current.Workflow = "wallet/transfer-offer"
		choice := "AcceptedTransferOffer_Withdraw"
		if submitter == p.Sender {
			choice = "AcceptedTransferOffer_Abort"
		}
		x.endOffer(c, choice, p.TransferOffer, submitter)
	case model.Quote:
		x.answerQuote(c, p, submitter)
	}
}

// answerOffer has the sender withdraw an offer, or the receiver accept or reject it.
func (x *private) answerOffer(c *model.Contract, p model.TransferOffer, submitter model.Party) {
	x.Tx.Current.Workflow = "wallet/transfer-offer"
	a := x.Tx.Arena()
	switch {
	case submitter == p.Sender:
		x.endOffer(c, "TransferOffer_Withdraw", p, submitter)
	case x.Random.Percent(40):
		at := x.consumePrivate(c, "TransferOffer_Reject", a.Record(model.EmptyRecordShape), submitter)
		x.Tx.Finish(at, a.Record(OfferTrackedShape, p.Tracking(a)))
	default:
		at := x.consumePrivate(c, "TransferOffer_Accept", a.Record(model.EmptyRecordShape), submitter)
		next := x.createPrivate(model.AcceptedOfferTemplate, model.AcceptedOffer{TransferOffer: p})
		x.Tx.Finish(at, a.Record(OfferAcceptDoneShape, model.ContractID(next.Number)))
	}
}

// endOffer archives an offer by a choice that gives a reason.
func (x *private) endOffer(c *model.Contract, choice string, p model.TransferOffer, actor model.Party) {
	a := x.Tx.Arena()
	reason := privateReasons[x.Random.Below(len(privateReasons))]
	at := x.consumePrivate(c, choice, a.Record(OfferReasonShape, model.Text(reason)), actor)
	x.Tx.Finish(at, a.Record(OfferTrackedShape, p.Tracking(a)))
}

// answerQuote revises a quote, looks at it or settles it.
func (x *private) answerQuote(c *model.Contract, p model.Quote, submitter model.Party) {
	x.Tx.Current.Workflow = "harbor/quote"
	a, r := x.Tx.Arena(), &x.Random
	answer := a.Record(quoteAnswerShape, model.PartyValue(submitter), model.Timestamp(x.Clock.EffectiveAt))
	switch r.Below(4) {
	case 0:
		set := setOf(p.Carrier, p.Shipper, p.Consignee)
		x.open[set] = append(x.open[set], c)
		x.Tx.Finish(x.Tx.Exercise(c, "Quote_Inspect", answer, submitter), model.Boolean(true))
	case 1:
		p.Price = r.DecimalBetween(model.One, model.Coins(900))
		at := x.consumePrivate(c, "Quote_Revise", a.Record(quoteReviseShape, model.Numeric(p.Price), model.None()), submitter)
		next := x.createPrivate(model.QuoteTemplate, p)
		x.Tx.Finish(at, model.ContractID(next.Number))
	default:
		x.Tx.Finish(x.consumePrivate(c, "Quote_Settle", answer, submitter), model.Unit())
	}
}

// sendNotice creates a contract and archives it at once: what it says is history only.
func (x *private) sendNotice(p model.Notice) {
	a := x.Tx.Arena()
	x.Tx.Current.Workflow = "harbor/notice"
	c := x.Tx.AddPrivate(model.NoticeTemplate, p)
	at := x.consumePrivate(c, "Notice_Deliver", a.Record(noticeDeliverShape, model.Boolean(p.Number%2 == 0)), p.Author)
	x.Tx.Finish(at, model.Int64Value(int64(p.Number)))
}

// requestTraffic has a user ask its wallet for traffic, or take back what it asked for.
func (x *private) requestTraffic(user model.Party) {
	a, r, open := x.Tx.Arena(), &x.Random, x.requests[user]
	x.Tx.Current.Workflow = "wallet/buy-traffic"
	if len(open) == requestsBeforeSpent || len(open) > 0 && r.Percent(40) {
		c := takeAny(r, &open)
		x.requests[user] = open
		p := c.Payload.(model.TrafficRequest)
		choice, argument := "BuyTrafficRequest_Expire", a.Record(model.EmptyRecordShape)
		if p.ExpiresAt > x.Clock.EffectiveAt {
			reason := privateReasons[r.Below(len(privateReasons))]
			choice, argument = "BuyTrafficRequest_Cancel", a.Record(OfferReasonShape, model.Text(reason))
		}
		at := x.consumePrivate(c, choice, argument, user)
		x.Tx.Finish(at, a.Record(OfferTrackedShape, a.Record(model.RequestTrackingShape, model.Text(p.TrackingID()), model.PartyValue(user))))
		return
	}
	c := x.Tx.AddPrivate(model.TrafficRequestTemplate, model.TrafficRequest{User: user, Bytes: int64(r.Between(requestTrafficMinimum, 9*requestTrafficMinimum)),
		Member: "PAR::" + x.Names.Participants[x.Names.ParticipantOf(user, 0)], Synchronizer: x.Names.Synchronizers[0],
		Migration: x.Tx.Migration, ExpiresAt: x.Clock.EffectiveAt + 2*x.Clock.tick, Number: x.Tx.Entries})
	x.requests[user] = append(open, c)
}
