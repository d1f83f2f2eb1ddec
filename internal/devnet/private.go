package devnet

import "strconv"

// private is the part of the ledger that the governance party is no party to: wallet
// contracts and those of apps. Public history has the verdicts on its transactions
// only. It draws on random numbers and contract numbers of its own, so that public
// history is the same whether a participant's view is kept or not.
//
// The verdicts decide who takes part: each view of one becomes the nodes that have
// exactly its informees. What such a set of parties has open is acted upon when the
// same set comes together again.
type private struct {
	random  random
	numbers uint64
	open    map[partySet][]*contract
	// requests are the open traffic requests of a user, to which nobody else is a party.
	requests map[party][]*contract
}

// partySet is a set of up to three parties: ascending, the rest noParty.
type partySet [3]party

func setOf(parties ...party) partySet {
	set := partySet{noParty, noParty, noParty}
	n := 0
	for _, p := range parties {
		if p == noParty || set[0] == p || set[1] == p || set[2] == p {
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

func newPrivate(seed uint64) private {
	return private{random: random{mix(seed+golden) ^ mix(golden)},
		open: map[partySet][]*contract{}, requests: map[party][]*contract{}}
}

// privateNumbers is where the numbers of private contracts begin: ids of private and
// public contracts never collide.
const privateNumbers = 1 << 62

// executePrivate gives a transaction that was accepted its content.
func (x *executor) executePrivate(v *verdict) {
	if x.isManaged(v.submitter) {
		return
	}
	for i := range v.views {
		w := &v.views[i]
		provider, other := noParty, v.submitter
		for _, p := range w.informees {
			switch {
			case x.names.providers.has(p):
				provider = p
			case p != v.submitter:
				other = p
			}
		}
		if i == 0 && x.private.random.percent(25) {
			x.requestTraffic(v.submitter)
		}
		x.privateView(v.submitter, provider, other)
	}
}

// privateView executes what a submitter does with an app, if there is one, and
// another user.
func (x *executor) privateView(submitter, provider, other party) {
	r, set := &x.private.random, setOf(submitter, provider, other)
	if open := x.private.open[set]; len(open) > 0 && r.percent(70) {
		c := takeAny(r, &open)
		x.setOpen(set, open)
		if c.active() { // else a command was faster
			x.actPrivately(c, submitter)
		}
		return
	}
	switch {
	case r.percent(65) || provider == noParty && other == submitter:
		x.sendNotice(notice{author: submitter, carrier: provider, reader: other, number: x.entries, sentAt: x.effectiveAt})
	case provider == noParty:
		x.current.workflow = "wallet/transfer-offer"
		x.createPrivate(transferOfferTemplate, transferOffer{sender: submitter, receiver: other,
			amount: r.decimalBetween(one/10, coins(50)), description: transferReasons[r.below(len(transferReasons))],
			expiresAt: x.effectiveAt + 3*x.tick, number: x.entries})
	default:
		x.current.workflow = "harbor/quote"
		x.createPrivate(quoteTemplate, quote{carrier: provider, shipper: submitter, consignee: other,
			content: r.next(), price: r.decimalBetween(one, coins(900)), validUntil: x.effectiveAt/86400e6 + 30})
	}
}

func (x *executor) setOpen(set partySet, open []*contract) {
	if len(open) == 0 {
		delete(x.private.open, set)
		return
	}
	x.private.open[set] = open
}

// createPrivate is create for a contract that public history has no part in.
func (x *executor) createPrivate(t *template, p payload) *contract {
	c := x.addPrivate(t, p)
	signatories, observers := p.stakeholders(nil, nil)
	set := setOf(append(signatories, observers...)...)
	x.private.open[set] = append(x.private.open[set], c)
	return c
}

// addPrivate adds the creation of a contract to the tree.
func (x *executor) addPrivate(t *template, p payload) *contract {
	c := &contract{private: true, number: x.newPrivateNumber(), template: t, version: x.version(),
		createdAt: x.effectiveAt, payload: p, synchronizer: x.current.synchronizer, entry: uint32(x.current.number)}
	x.activate(c)
	if x.command != nil {
		x.command.effects = append(x.command.effects, effect{c, true})
	}
	x.current.nodes = append(x.current.nodes, node{contract: c, end: int32(len(x.current.nodes) + 1)})
	return c
}

// consumePrivate is consume for a private contract.
func (x *executor) consumePrivate(c *contract, choice string, argument value, actor party) int {
	at := x.exercise(c, choice, argument, actor)
	x.current.nodes[at].consuming = true
	x.deactivate(c)
	return at
}

func (x *executor) newPrivateNumber() uint64 {
	if x.command != nil && x.command.reserved != 0 {
		return x.newContractNumber()
	}
	x.private.numbers++
	return privateNumbers + x.private.numbers
}

var (
	offerAcceptDoneShape  = newShape("acceptedTransferOffer")
	offerTrackedShape     = newShape("trackingInfo")
	offerTrackingShape    = newShape("trackingId", "sender", "receiver")
	offerReasonShape      = newShape("reason")
	requestTrackingShape  = newShape("trackingId", "endUserParty")
	quoteReviseShape      = newShape("price", "note")
	quoteAnswerShape      = newShape("by", "at")
	noticeDeliverShape    = newShape("receipt")
	privateReasons        = []string{"changed my mind", "too late", "duplicate \"order\"", "прошу отменить"}
	requestsBeforeSpent   = 3
	requestTrafficMinimum = 100_000
)

// actPrivately has the submitter, who is a party to it, act on an open contract.
func (x *executor) actPrivately(c *contract, submitter party) {
	switch p := c.payload.(type) {
	case transferOffer:
		x.answerOffer(c, p, submitter)
	case acceptedOffer:
		x.current.workflow = "wallet/transfer-offer"
		choice := "AcceptedTransferOffer_Withdraw"
		if submitter == p.sender {
			choice = "AcceptedTransferOffer_Abort"
		}
		x.endOffer(c, choice, p.transferOffer, submitter)
	case quote:
		x.answerQuote(c, p, submitter)
	}
}

// answerOffer has the sender withdraw an offer, or the receiver accept or reject it.
func (x *executor) answerOffer(c *contract, p transferOffer, submitter party) {
	x.current.workflow = "wallet/transfer-offer"
	a := x.arena()
	switch {
	case submitter == p.sender:
		x.endOffer(c, "TransferOffer_Withdraw", p, submitter)
	case x.private.random.percent(40):
		at := x.consumePrivate(c, "TransferOffer_Reject", a.record(emptyRecordShape), submitter)
		x.finish(at, a.record(offerTrackedShape, p.tracking(a)))
	default:
		at := x.consumePrivate(c, "TransferOffer_Accept", a.record(emptyRecordShape), submitter)
		next := x.createPrivate(acceptedOfferTemplate, acceptedOffer{p})
		x.finish(at, a.record(offerAcceptDoneShape, contractID(next.number)))
	}
}

// endOffer archives an offer by a choice that gives a reason.
func (x *executor) endOffer(c *contract, choice string, p transferOffer, actor party) {
	a := x.arena()
	reason := privateReasons[x.private.random.below(len(privateReasons))]
	at := x.consumePrivate(c, choice, a.record(offerReasonShape, text(reason)), actor)
	x.finish(at, a.record(offerTrackedShape, p.tracking(a)))
}

// answerQuote revises a quote, looks at it or settles it.
func (x *executor) answerQuote(c *contract, p quote, submitter party) {
	x.current.workflow = "harbor/quote"
	a, r := x.arena(), &x.private.random
	answer := a.record(quoteAnswerShape, partyValue(submitter), timestamp(x.effectiveAt))
	switch r.below(4) {
	case 0:
		set := setOf(p.carrier, p.shipper, p.consignee)
		x.private.open[set] = append(x.private.open[set], c)
		x.finish(x.exercise(c, "Quote_Inspect", answer, submitter), boolean(true))
	case 1:
		p.price = r.decimalBetween(one, coins(900))
		at := x.consumePrivate(c, "Quote_Revise", a.record(quoteReviseShape, numeric(p.price), none()), submitter)
		next := x.createPrivate(quoteTemplate, p)
		x.finish(at, contractID(next.number))
	default:
		x.finish(x.consumePrivate(c, "Quote_Settle", answer, submitter), unit())
	}
}

// sendNotice creates a contract and archives it at once: what it says is history only.
func (x *executor) sendNotice(p notice) {
	a := x.arena()
	x.current.workflow = "harbor/notice"
	c := x.addPrivate(noticeTemplate, p)
	at := x.consumePrivate(c, "Notice_Deliver", a.record(noticeDeliverShape, boolean(p.number%2 == 0)), p.author)
	x.finish(at, int64Value(int64(p.number)))
}

// requestTraffic has a user ask its wallet for traffic, or take back what it asked for.
func (x *executor) requestTraffic(user party) {
	a, r, open := x.arena(), &x.private.random, x.private.requests[user]
	x.current.workflow = "wallet/buy-traffic"
	if len(open) == requestsBeforeSpent || len(open) > 0 && r.percent(40) {
		c := takeAny(r, &open)
		x.private.requests[user] = open
		p := c.payload.(trafficRequest)
		choice, argument := "BuyTrafficRequest_Expire", a.record(emptyRecordShape)
		if p.expiresAt > x.effectiveAt {
			reason := privateReasons[r.below(len(privateReasons))]
			choice, argument = "BuyTrafficRequest_Cancel", a.record(offerReasonShape, text(reason))
		}
		at := x.consumePrivate(c, choice, argument, user)
		x.finish(at, a.record(offerTrackedShape, a.record(requestTrackingShape, text(p.trackingID()), partyValue(user))))
		return
	}
	c := x.addPrivate(trafficRequestTemplate, trafficRequest{user: user, bytes: int64(r.between(requestTrafficMinimum, 9*requestTrafficMinimum)),
		member: "PAR::" + x.names.participants[x.names.participantOf(user, 0)], synchronizer: x.names.synchronizers[0],
		migration: x.migration, expiresAt: x.effectiveAt + 2*x.tick, number: x.entries})
	x.private.requests[user] = append(open, c)
}

// trackingID is how the wallet refers to what a user asked for in entry n.
func trackingID(kind string, n uint64) string { return kind + "-" + strconv.FormatUint(n, 10) }
