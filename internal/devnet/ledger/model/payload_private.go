package model

import (
	"cmp"
	"strconv"
)

var (
	transferOfferShape  = NewShape("sender", "receiver", "dso", "amount", "description", "expiresAt", "trackingId")
	acceptedOfferShape  = NewShape("sender", "receiver", "dso", "amount", "expiresAt", "trackingId")
	trafficRequestShape = NewShape("dso", "endUserParty", "expiresAt", "trackingId", "trafficAmount", "memberId", "synchronizerId", "migrationId")
	quoteShape          = NewShape("carrier", "shipper", "consignee", "origin", "destination", "price", "validUntil", "labels")
	noticeShape         = NewShape("author", "carrier", "reader", "subject", "sentAt")
)

// TransferOffer is a wallet's offer of coins, outside the token standard.
type TransferOffer struct {
	Sender, Receiver Party
	Amount           Decimal
	InUSD            bool
	Description      string
	ExpiresAt        int64
	Number           uint64 // of the entry that made the offer
	Tracked          string // as what the sender tracks it; derived from number when empty
}

func (p TransferOffer) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.Sender), append(obs, p.Receiver)
}

func (p TransferOffer) Arguments(a *Arena, _ uint8) Value {
	return a.Record(transferOfferShape, PartyValue(p.Sender), PartyValue(p.Receiver), PartyValue(Dso),
		paymentAmount(a, p.Amount, p.InUSD), Text(p.Description), Timestamp(p.ExpiresAt), Text(p.trackingID()))
}

func (p TransferOffer) trackingID() string {
	return cmp.Or(p.Tracked, "offer-"+strconv.FormatUint(p.Number, 10))
}

// Tracking is how results name the offer.
func (p TransferOffer) Tracking(a *Arena) Value {
	return a.Record(offerTrackingShape, Text(p.trackingID()), PartyValue(p.Sender), PartyValue(p.Receiver))
}

// AcceptedOffer is an offer that waits for the sender's wallet to pay.
type AcceptedOffer struct{ TransferOffer }

func (p AcceptedOffer) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.Sender, p.Receiver), obs
}

func (p AcceptedOffer) Arguments(a *Arena, _ uint8) Value {
	return a.Record(acceptedOfferShape, PartyValue(p.Sender), PartyValue(p.Receiver), PartyValue(Dso),
		paymentAmount(a, p.Amount, p.InUSD), Timestamp(p.ExpiresAt), Text(p.trackingID()))
}

// TrafficRequest is a user's order to its wallet to buy traffic.
type TrafficRequest struct {
	User                 Party
	Bytes                int64
	Member, Synchronizer string
	Migration            int64
	ExpiresAt            int64
	Number               uint64
	Tracked              string // as what the user tracks it; derived from number when empty
}

func (p TrafficRequest) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	return append(sig, p.User), obs
}

// TrackingID is the id under which the user tracks the request.
func (p TrafficRequest) TrackingID() string {
	return cmp.Or(p.Tracked, "traffic-"+strconv.FormatUint(p.Number, 10))
}

func (p TrafficRequest) Arguments(a *Arena, _ uint8) Value {
	return a.Record(trafficRequestShape, PartyValue(Dso), PartyValue(p.User), Timestamp(p.ExpiresAt),
		Text(p.TrackingID()), Int64Value(p.Bytes), Text(p.Member), Text(p.Synchronizer), Int64Value(p.Migration))
}

// Quote is what a carrier asks of a shipper; only its parties know of it.
type Quote struct {
	Carrier, Shipper, Consignee Party
	Content                     uint64
	Price                       Decimal
	ValidUntil                  int64 // day
}

func (p Quote) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	sig = append(sig, p.Carrier, p.Shipper)
	if p.Consignee != p.Shipper {
		obs = append(obs, p.Consignee)
	}
	return sig, obs
}

func (p Quote) Arguments(a *Arena, _ uint8) Value {
	r := &Random{p.Content}
	return a.Record(quoteShape, PartyValue(p.Carrier), PartyValue(p.Shipper), PartyValue(p.Consignee),
		Text(harborPorts[r.Below(len(harborPorts))]), Text(harborPorts[r.Below(len(harborPorts))]),
		Numeric(p.Price), Date(p.ValidUntil), Labels(a, r))
}

// Notice is a message; the contract does not outlive its transaction.
type Notice struct {
	Author, Carrier, Reader Party // carrier may be noParty
	Number                  uint64
	SentAt                  int64
}

func (p Notice) Stakeholders(sig, obs []Party) ([]Party, []Party) {
	sig = append(sig, p.Author)
	if p.Carrier != NoParty {
		sig = append(sig, p.Carrier)
	}
	if p.Reader != p.Author {
		obs = append(obs, p.Reader)
	}
	return sig, obs
}

func (p Notice) Arguments(a *Arena, _ uint8) Value {
	r := &Random{Mix(p.Number)}
	return a.Record(noticeShape, PartyValue(p.Author), optionalParty(a, p.Carrier), PartyValue(p.Reader),
		Text(cargoWords[r.Below(len(cargoWords))]), Timestamp(p.SentAt))
}

var offerTrackingShape = NewShape("trackingId", "sender", "receiver")

var RequestTrackingShape = NewShape("trackingId", "endUserParty")

// Tracking is how results name the request.
func (p TrafficRequest) Tracking(a *Arena) Value {
	return a.Record(RequestTrackingShape, Text(p.TrackingID()), PartyValue(p.User))
}
