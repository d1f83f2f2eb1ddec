package devnet

func addRequestChoices(all *choices) {
	user := byPayload(func(p trafficRequest) []party { return []party{p.user} })
	all.creations[trafficRequestTemplate] = func(e *execution, a argument) (payload, error) {
		p, err := requestOf(e, a.party("endUserParty"), a)
		if err != nil {
			return nil, err
		}
		return p, e.isDSO(a.party("dso"))
	}
	all.on(trafficRequestTemplate, "BuyTrafficRequest_Cancel", consuming(user, requestTracked))
	all.on(trafficRequestTemplate, "BuyTrafficRequest_Expire", consuming(user,
		func(e *execution, c *contract, arg argument) (value, error) {
			if p := c.payload.(trafficRequest); p.expiresAt > e.now() {
				return value{}, broken("the request expires at %s only", microsText(p.expiresAt))
			}
			return requestTracked(e, c, arg)
		}))
	all.on(trafficRequestTemplate, "BuyTrafficRequest_Complete", consuming(
		func(_ *execution, c *contract, arg argument) []party {
			return []party{c.payload.(trafficRequest).user, arg.party("walletProvider")}
		}, completeRequest))
	all.creations[topUpStateTemplate] = func(e *execution, a argument) (payload, error) {
		return topUpState{validator: a.party("validator"), member: a.text("memberId"), synchronizer: a.text("synchronizerId"),
			migration: a.int64("migrationId"), purchasedAt: a.time("lastPurchasedAt")}, e.isDSO(a.party("dso"))
	}
}

var (
	requestCompletedShape = newShape("purchasedTraffic", "trackingInfo", "senderChangeAmulet")
	createRequestShape    = newShape("buyTrafficRequest")
)

// requestOf reads a request that a user makes. It must not have expired.
func requestOf(e *execution, user party, a argument) (trafficRequest, error) {
	p := trafficRequest{user: user, bytes: a.int64("trafficAmount"), member: a.text("memberId"),
		synchronizer: a.text("synchronizerId"), migration: a.int64("migrationId"), expiresAt: a.time("expiresAt"),
		number: e.tx.current.number, tracked: a.text("trackingId")}
	switch {
	case p.bytes <= 0:
		return p, broken("trafficAmount must be positive, not %d", p.bytes)
	case p.tracked == "":
		return p, broken("trackingId is empty")
	case len(p.tracked) > maxTextLength:
		return p, broken("a text is longer than %d bytes", maxTextLength)
	}
	return p, e.later("expiry of the request at", p.expiresAt)
}

func requestTracked(e *execution, c *contract, _ argument) (value, error) {
	a := e.tx.arena()
	return a.record(offerTrackedShape, c.payload.(trafficRequest).tracking(a)), nil
}

// completeRequest buys what was asked for.
func completeRequest(e *execution, c *contract, arg argument) (value, error) {
	p := c.payload.(trafficRequest)
	if err := e.later("expiry of the request at", p.expiresAt); err != nil {
		return value{}, err
	}
	ctx, err := paymentContextOf(e, arg.record("context"))
	if err != nil {
		return value{}, err
	}
	got, err := buyTrafficBy(e, purchase{buyer: p.user, inputs: arg.list("inputs"), context: ctx, member: p.member,
		synchronizer: p.synchronizer, migration: p.migration, bytes: p.bytes})
	if err != nil {
		return value{}, err
	}
	a := e.tx.arena()
	return a.record(requestCompletedShape, contractID(got.traffic.number), p.tracking(a),
		optional(a, got.change != nil, idOf(got.change))), nil
}
