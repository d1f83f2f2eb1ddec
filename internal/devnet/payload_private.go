package devnet

import "strconv"

var (
	transferOfferShape  = newShape("sender", "receiver", "dso", "amount", "description", "expiresAt", "trackingId")
	acceptedOfferShape  = newShape("sender", "receiver", "dso", "amount", "expiresAt", "trackingId")
	trafficRequestShape = newShape("dso", "endUserParty", "expiresAt", "trackingId", "trafficAmount", "memberId", "synchronizerId", "migrationId")
	quoteShape          = newShape("carrier", "shipper", "consignee", "origin", "destination", "price", "validUntil", "labels")
	noticeShape         = newShape("author", "carrier", "reader", "subject", "sentAt")
)

// transferOffer is a wallet's offer of coins, outside the token standard.
type transferOffer struct {
	sender, receiver party
	amount           decimal
	inUSD            bool
	description      string
	expiresAt        int64
	number           uint64 // of the entry that made the offer
	tracked          string // as what the sender tracks it; derived from number when empty
}

func (p transferOffer) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, p.sender), append(obs, p.receiver)
}

func (p transferOffer) arguments(a *arena, _ uint8) value {
	return a.record(transferOfferShape, partyValue(p.sender), partyValue(p.receiver), partyValue(dso),
		p.amountValue(a), text(p.description), timestamp(p.expiresAt), text(p.trackingID()))
}

func (p transferOffer) amountValue(a *arena) value {
	unit := "AmuletUnit"
	if p.inUSD {
		unit = "USDUnit"
	}
	return a.record(paymentAmountShape, numeric(p.amount), enum(unit))
}

func (p transferOffer) trackingID() string {
	if p.tracked != "" {
		return p.tracked
	}
	return trackingID("offer", p.number)
}

// tracking is how results name the offer.
func (p transferOffer) tracking(a *arena) value {
	return a.record(offerTrackingShape, text(p.trackingID()), partyValue(p.sender), partyValue(p.receiver))
}

// acceptedOffer is an offer that waits for the sender's wallet to pay.
type acceptedOffer struct{ transferOffer }

func (p acceptedOffer) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, p.sender, p.receiver), obs
}

func (p acceptedOffer) arguments(a *arena, _ uint8) value {
	return a.record(acceptedOfferShape, partyValue(p.sender), partyValue(p.receiver), partyValue(dso),
		p.amountValue(a), timestamp(p.expiresAt), text(p.trackingID()))
}

// trafficRequest is a user's order to its wallet to buy traffic.
type trafficRequest struct {
	user                 party
	bytes                int64
	member, synchronizer string
	migration            int64
	expiresAt            int64
	number               uint64
	tracked              string // as what the user tracks it; derived from number when empty
}

func (p trafficRequest) stakeholders(sig, obs []party) ([]party, []party) {
	return append(sig, p.user), obs
}

func (p trafficRequest) trackingID() string {
	if p.tracked != "" {
		return p.tracked
	}
	return trackingID("traffic", p.number)
}

func (p trafficRequest) arguments(a *arena, _ uint8) value {
	return a.record(trafficRequestShape, partyValue(dso), partyValue(p.user), timestamp(p.expiresAt),
		text(p.trackingID()), int64Value(p.bytes), text(p.member), text(p.synchronizer), int64Value(p.migration))
}

// quote is what a carrier asks of a shipper; only its parties know of it.
type quote struct {
	carrier, shipper, consignee party
	content                     uint64
	price                       decimal
	validUntil                  int64 // day
}

func (p quote) stakeholders(sig, obs []party) ([]party, []party) {
	sig = append(sig, p.carrier, p.shipper)
	if p.consignee != p.shipper {
		obs = append(obs, p.consignee)
	}
	return sig, obs
}

func (p quote) arguments(a *arena, _ uint8) value {
	r := &random{p.content}
	return a.record(quoteShape, partyValue(p.carrier), partyValue(p.shipper), partyValue(p.consignee),
		text(harborPorts[r.below(len(harborPorts))]), text(harborPorts[r.below(len(harborPorts))]),
		numeric(p.price), date(p.validUntil), labels(a, r))
}

// notice is a message; the contract does not outlive its transaction.
type notice struct {
	author, carrier, reader party // carrier may be noParty
	number                  uint64
	sentAt                  int64
}

func (p notice) stakeholders(sig, obs []party) ([]party, []party) {
	sig = append(sig, p.author)
	if p.carrier != noParty {
		sig = append(sig, p.carrier)
	}
	if p.reader != p.author {
		obs = append(obs, p.reader)
	}
	return sig, obs
}

func (p notice) arguments(a *arena, _ uint8) value {
	r := &random{mix(p.number)}
	return a.record(noticeShape, partyValue(p.author), optionalParty(a, p.carrier), partyValue(p.reader),
		text(cargoWords[r.below(len(cargoWords))]), timestamp(p.sentAt))
}

// trackingID is how the wallet refers to what a user asked for in entry n.
func trackingID(kind string, n uint64) string { return kind + "-" + strconv.FormatUint(n, 10) }

var offerTrackingShape = newShape("trackingId", "sender", "receiver")

var requestTrackingShape = newShape("trackingId", "endUserParty")

// tracking is how results name the request.
func (p trafficRequest) tracking(a *arena) value {
	return a.record(requestTrackingShape, text(p.trackingID()), partyValue(p.user))
}
