package devnet

// private is the part of the ledger that the governance party is no party to: wallet
// contracts and those of apps. Public history has the verdicts on its transactions
// only. It draws on random numbers and contract numbers of its own, so that public
// history is the same whether a participant's view is kept or not.
//
// The verdicts decide who takes part: each view of one becomes the nodes that have
// exactly its informees. What such a set of parties has open is acted upon when the
// same set comes together again.
type private struct {
	core
	users *users

	random random
	open   map[partySet][]*contract
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

func newPrivate(k core) *private {
	return &private{core: k, random: random{mix(k.config.Seed+golden) ^ mix(golden)},
		open: map[partySet][]*contract{}, requests: map[party][]*contract{}}
}

// privateNumbers is where the numbers of private contracts begin: ids of private and
// public contracts never collide.
const privateNumbers = 1 << 62

// executePrivate gives a transaction that was accepted its content.
func (x *private) executePrivate(v *verdict) {
	if x.users.isManaged(v.submitter) {
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
		if i == 0 && x.random.percent(25) {
			x.requestTraffic(v.submitter)
		}
		x.privateView(v.submitter, provider, other)
	}
}

// privateView executes what a submitter does with an app, if there is one, and
// another user.
func (x *private) privateView(submitter, provider, other party) {
	r, set := &x.random, setOf(submitter, provider, other)
	if open := x.open[set]; len(open) > 0 && r.percent(70) {
		c := takeAny(r, &open)
		x.setOpen(set, open)
		if c.active() { // else a command was faster
			x.actPrivately(c, submitter)
		}
		return
	}
	switch {
	case r.percent(65) || provider == noParty && other == submitter:
		x.sendNotice(notice{author: submitter, carrier: provider, reader: other, number: x.tx.entries, sentAt: x.clock.effectiveAt})
	case provider == noParty:
		x.tx.current.workflow = "wallet/transfer-offer"
		x.createPrivate(transferOfferTemplate, transferOffer{sender: submitter, receiver: other,
			amount: r.decimalBetween(one/10, coins(50)), description: transferReasons[r.below(len(transferReasons))],
			expiresAt: x.clock.effectiveAt + 3*x.clock.tick, number: x.tx.entries})
	default:
		x.tx.current.workflow = "harbor/quote"
		x.createPrivate(quoteTemplate, quote{carrier: provider, shipper: submitter, consignee: other,
			content: r.next(), price: r.decimalBetween(one, coins(900)), validUntil: x.clock.effectiveAt/86400e6 + 30})
	}
}

func (x *private) setOpen(set partySet, open []*contract) {
	if len(open) == 0 {
		delete(x.open, set)
		return
	}
	x.open[set] = open
}

// createPrivate is create for a contract that public history has no part in.
func (x *private) createPrivate(t *template, p payload) *contract {
	c := x.tx.addPrivate(t, p)
	signatories, observers := p.stakeholders(nil, nil)
	set := setOf(append(signatories, observers...)...)
	x.open[set] = append(x.open[set], c)
	return c
}

// addPrivate adds the creation of a contract to the tree.
func (x *transaction) addPrivate(t *template, p payload) *contract {
	c := &contract{private: true, number: x.newPrivateNumber(), template: t, version: x.version(),
		createdAt: x.clock.effectiveAt, payload: p, synchronizer: x.current.synchronizer, entry: uint32(x.current.number)}
	x.activate(c)
	x.attempt.note(c, true)
	x.current.nodes = append(x.current.nodes, node{contract: c, end: int32(len(x.current.nodes) + 1)})
	return c
}

// consumePrivate is consume for a private contract.
func (x *private) consumePrivate(c *contract, choice string, argument value, actor party) int {
	at := x.tx.exercise(c, choice, argument, actor)
	x.tx.current.nodes[at].consuming = true
	x.tx.deactivate(c)
	return at
}

func (x *transaction) newPrivateNumber() uint64 {
	if x.attempt != nil && x.attempt.reserved != 0 {
		return x.newContractNumber()
	}
	x.privateNumbers++
	return privateNumbers + x.privateNumbers
}

var (
	offerAcceptDoneShape  = newShape("acceptedTransferOffer")
	offerTrackedShape     = newShape("trackingInfo")
	offerReasonShape      = newShape("reason")
	quoteReviseShape      = newShape("price", "note")
	quoteAnswerShape      = newShape("by", "at")
	noticeDeliverShape    = newShape("receipt")
	privateReasons        = []string{"changed my mind", "too late", "duplicate \"order\"", "прошу отменить"}
	requestsBeforeSpent   = 3
	requestTrafficMinimum = 100_000
)

// actPrivately has the submitter, who is a party to it, act on an open contract.
func (x *private) actPrivately(c *contract, submitter party) {
	switch p := c.payload.(type) {
	case transferOffer:
		x.answerOffer(c, p, submitter)
	case acceptedOffer:
		x.tx.current.workflow = "wallet/transfer-offer"
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
func (x *private) answerOffer(c *contract, p transferOffer, submitter party) {
	x.tx.current.workflow = "wallet/transfer-offer"
	a := x.tx.arena()
	switch {
	case submitter == p.sender:
		x.endOffer(c, "TransferOffer_Withdraw", p, submitter)
	case x.random.percent(40):
		at := x.consumePrivate(c, "TransferOffer_Reject", a.record(emptyRecordShape), submitter)
		x.tx.finish(at, a.record(offerTrackedShape, p.tracking(a)))
	default:
		at := x.consumePrivate(c, "TransferOffer_Accept", a.record(emptyRecordShape), submitter)
		next := x.createPrivate(acceptedOfferTemplate, acceptedOffer{p})
		x.tx.finish(at, a.record(offerAcceptDoneShape, contractID(next.number)))
	}
}

// endOffer archives an offer by a choice that gives a reason.
func (x *private) endOffer(c *contract, choice string, p transferOffer, actor party) {
	a := x.tx.arena()
	reason := privateReasons[x.random.below(len(privateReasons))]
	at := x.consumePrivate(c, choice, a.record(offerReasonShape, text(reason)), actor)
	x.tx.finish(at, a.record(offerTrackedShape, p.tracking(a)))
}

// answerQuote revises a quote, looks at it or settles it.
func (x *private) answerQuote(c *contract, p quote, submitter party) {
	x.tx.current.workflow = "harbor/quote"
	a, r := x.tx.arena(), &x.random
	answer := a.record(quoteAnswerShape, partyValue(submitter), timestamp(x.clock.effectiveAt))
	switch r.below(4) {
	case 0:
		set := setOf(p.carrier, p.shipper, p.consignee)
		x.open[set] = append(x.open[set], c)
		x.tx.finish(x.tx.exercise(c, "Quote_Inspect", answer, submitter), boolean(true))
	case 1:
		p.price = r.decimalBetween(one, coins(900))
		at := x.consumePrivate(c, "Quote_Revise", a.record(quoteReviseShape, numeric(p.price), none()), submitter)
		next := x.createPrivate(quoteTemplate, p)
		x.tx.finish(at, contractID(next.number))
	default:
		x.tx.finish(x.consumePrivate(c, "Quote_Settle", answer, submitter), unit())
	}
}

// sendNotice creates a contract and archives it at once: what it says is history only.
func (x *private) sendNotice(p notice) {
	a := x.tx.arena()
	x.tx.current.workflow = "harbor/notice"
	c := x.tx.addPrivate(noticeTemplate, p)
	at := x.consumePrivate(c, "Notice_Deliver", a.record(noticeDeliverShape, boolean(p.number%2 == 0)), p.author)
	x.tx.finish(at, int64Value(int64(p.number)))
}

// requestTraffic has a user ask its wallet for traffic, or take back what it asked for.
func (x *private) requestTraffic(user party) {
	a, r, open := x.tx.arena(), &x.random, x.requests[user]
	x.tx.current.workflow = "wallet/buy-traffic"
	if len(open) == requestsBeforeSpent || len(open) > 0 && r.percent(40) {
		c := takeAny(r, &open)
		x.requests[user] = open
		p := c.payload.(trafficRequest)
		choice, argument := "BuyTrafficRequest_Expire", a.record(emptyRecordShape)
		if p.expiresAt > x.clock.effectiveAt {
			reason := privateReasons[r.below(len(privateReasons))]
			choice, argument = "BuyTrafficRequest_Cancel", a.record(offerReasonShape, text(reason))
		}
		at := x.consumePrivate(c, choice, argument, user)
		x.tx.finish(at, a.record(offerTrackedShape, a.record(requestTrackingShape, text(p.trackingID()), partyValue(user))))
		return
	}
	c := x.tx.addPrivate(trafficRequestTemplate, trafficRequest{user: user, bytes: int64(r.between(requestTrafficMinimum, 9*requestTrafficMinimum)),
		member: "PAR::" + x.names.participants[x.names.participantOf(user, 0)], synchronizer: x.names.synchronizers[0],
		migration: x.tx.migration, expiresAt: x.clock.effectiveAt + 2*x.clock.tick, number: x.tx.entries})
	x.requests[user] = append(open, c)
}
