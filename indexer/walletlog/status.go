package walletlog

import (
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// end is how a choice ends an offer or a request.
type end struct {
	kind, status, failure string
}

// ends by choice.
var ends = map[string]end{
	template.TransferOfferReject:           {store.TrackedOffer, store.TrackedFailed, store.FailedRejected},
	template.TransferOfferWithdraw:         {store.TrackedOffer, store.TrackedFailed, store.FailedWithdrawn},
	template.TransferOfferExpire:           {store.TrackedOffer, store.TrackedFailed, store.FailedExpired},
	template.AcceptedTransferOfferAbort:    {store.TrackedOffer, store.TrackedFailed, store.FailedWithdrawn},
	"AcceptedTransferOffer_Withdraw":       {store.TrackedOffer, store.TrackedFailed, store.FailedWithdrawn},
	template.AcceptedTransferOfferExpire:   {store.TrackedOffer, store.TrackedFailed, store.FailedExpired},
	template.AcceptedTransferOfferComplete: {store.TrackedOffer, store.TrackedCompleted, ""},
	template.BuyTrafficRequestCancel:       {store.TrackedTraffic, store.TrackedFailed, store.FailedRejected},
	template.BuyTrafficRequestExpire:       {store.TrackedTraffic, store.TrackedFailed, store.FailedExpired},
	"BuyTrafficRequest_Complete":           {store.TrackedTraffic, store.TrackedCompleted, ""},
}

// statuses are the steps of offers and requests in an update. The contracts tell of their
// creation and acceptance, whichever choice made them.
func (t *tree) statuses() (list []store.WalletStatus) {
	for i := range t.Events {
		e := &t.Events[i]
		if e.PackageName != template.WalletPackage || e.Local == nil {
			continue
		}
		s, ok := t.step(e)
		if !ok || s.TrackingID == "" || !s.setParties(e) {
			continue
		}
		for _, party := range s.parties {
			row := s.WalletStatus
			row.Party, row.Step = party, int32(len(list))
			list = append(list, row)
		}
	}
	return list
}

// tracked is a step with the parties in whose logs it is.
type tracked struct {
	store.WalletStatus
	parties []string
}

// step returns what an event means; ok is false if it means nothing.
func (t *tree) step(e *schemas.Event) (s tracked, ok bool) {
	s.Offset, s.UpdateID, s.EffectiveAt = t.Local.Offset, t.UpdateID, t.EffectiveAt
	if e.Kind == schemas.Created {
		s.ContractID = e.ContractID
		switch {
		case is(e, template.TransferOffer):
			s.Kind, s.Status = store.TrackedOffer, store.TrackedCreated
		case is(e, template.AcceptedTransferOffer):
			s.Kind, s.Status = store.TrackedOffer, store.TrackedAccepted
		case is(e, template.BuyTrafficRequest):
			s.Kind, s.Status = store.TrackedTraffic, store.TrackedCreated
		default:
			return s, false
		}
		s.identify(t.argument(e))
		return s, true
	}
	end, ok := ends[e.Choice]
	if !ok {
		return s, false
	}
	s.Kind, s.Status, s.Failure = end.kind, end.status, end.failure
	result := t.result(e)
	s.identify(result.At("trackingInfo"))
	switch {
	case s.Status == store.TrackedFailed:
		s.Reason = t.argument(e).At("reason").Text()
	case s.Kind == store.TrackedOffer:
		s.ContractID = firstCoin(result.At("transferResult", "createdAmulets"))
	}
	return s, true
}

// identify reads whose offer or request it is.
func (s *tracked) identify(v jsonscan.Value) {
	s.TrackingID = v.At("trackingId").Text()
	s.Sender, s.Receiver = v.At("sender").Text(), v.At("receiver").Text()
	if s.Kind == store.TrackedTraffic {
		s.Sender = v.At("endUserParty").Text()
	}
}

// setParties finds the parties of the node that are sender or receiver; ok is false without
// any.
func (s *tracked) setParties(e *schemas.Event) (ok bool) {
	for _, party := range []string{s.Sender, s.Receiver} {
		if party != "" && slices.Contains(e.Local.Witnesses, party) && !slices.Contains(s.parties, party) {
			s.parties = append(s.parties, party)
		}
	}
	return len(s.parties) > 0
}

// firstCoin is the id of the first coin that a transfer created, "" without any.
func firstCoin(created jsonscan.Value) string {
	for _, c := range created.Elements() {
		if tag, id := c.Variant(); tag == "TransferResultAmulet" {
			return id.Text()
		}
	}
	return ""
}
