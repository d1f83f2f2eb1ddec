package views

import (
	"slices"
	"strconv"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// coinAllocationV1 shows the specification as it is, with the coin that is locked for it.
func coinAllocationV1(dst []byte, r record) []byte {
	spec := r.record("allocation")
	settlement, leg := spec.record("settlement"), spec.record("transferLeg")
	reference, instrument := settlement.record("settlementRef"), leg.record("instrumentId")
	dst = fill(dst, `{"allocation":{"settlement":{"allocateBefore":$,"executor":$,"meta":$,"requestedAt":$,"settleBefore":$,"settlementRef":{"cid":$,"id":$}},`,
		settlement.text("allocateBefore"), settlement.text("executor"), settlement.metadata("meta").without(), settlement.text("requestedAt"),
		settlement.text("settleBefore"), reference.optionalText("cid"), reference.text("id"))
	return fill(dst, `"transferLeg":{"amount":$,"instrumentId":{"admin":$,"id":$},"meta":$,"receiver":$,"sender":$},"transferLegId":$},"holdingCids":[$],"meta":$}`,
		leg.numeric("amount"), instrument.text("admin"), instrument.text("id"), leg.metadata("meta").without(),
		leg.text("receiver"), leg.text("sender"), spec.text("transferLegId"), r.text("lockedAmulet"), expiryMetadata(r))
}

// coinAllocationAsV2 shows an allocation of version 1, which authorizes the sending side of one leg, as
// one of version 2.
func coinAllocationAsV2(dst []byte, r record) []byte {
	spec := r.record("allocation")
	settlement, leg := spec.record("settlement"), spec.record("transferLeg")
	reference, instrument := settlement.record("settlementRef"), leg.record("instrumentId")
	meta, about := leg.metadata("meta"), settlement.metadata("meta")
	sender := leg.text("sender")
	executors := append([]string{settlement.text("executor").Text()}, about.parties(extraExecutorsKey)...)

	dst = fill(dst, `{"allocation":{"admin":$,"authorizer":$,"committed":false,"meta":{"values":{}},"nextIterationFunding":null,"settlementDeadline":$,"transferLegSides":[`,
		instrument.text("admin"), account(sender, meta, "sender"), settlement.text("settleBefore"))
	dst = fill(dst, `{"amount":$,"instrumentId":$,"meta":$,"otherside":$,"side":"SenderSide","transferLegId":$}]},"availableActions":`,
		leg.numeric("amount"), instrument.text("id"), meta.withoutAccounts(), account(leg.text("receiver"), meta, "receiver"), spec.text("transferLegId"))
	dst = appendActions(dst, actions{
		settle: append([]string{instrument.text("admin").Text()}, executors...), cancel: executors, withdraw: sender.Text(),
	})
	return fill(dst, `,"createdAt":$,"expiresAt":$,"holdingCids":[$],"meta":$,"numIterations":"0","originalAllocationCid":null,"settlement":{"cid":$,"executors":$,"id":$,"meta":$}}`,
		settlement.text("requestedAt"), r.optionalText("expiresAt"), r.text("lockedAmulet"), expiryMetadata(r),
		reference.optionalText("cid"), appendParties(nil, executors), reference.text("id"), about.without(extraExecutorsKey))
}

// expiryMetadata tells, in microseconds since 1970, when an allocation of version 1 expires before the
// deadline of its settlement.
func expiryMetadata(r record) jsonscan.Value {
	at := r.optionalText("expiresAt")
	if string(at) == string(none) {
		return jsonscan.Value(`{"values":{}}`)
	}
	micros, err := schemas.ParseTime(at.Text())
	r.expect(err == nil, "expiresAt", "time")
	return fill(nil, `{"values":{"`+standardKeys+`expiresAt":"$"}}`, strconv.AppendInt(nil, int64(micros), 10))
}

func coinAllocationV2(dst []byte, r record) []byte {
	settlement, spec := r.record("settlement"), r.record("allocation")
	admin, executors := spec.text("admin").Text(), texts(settlement.list("executors"))
	can := actions{settle: distinct(append([]string{admin}, executors...)), cancel: distinct(executors)}
	// Who committed to an allocation without a deadline never gets out of it alone.
	if !spec.flag("committed") || spec.At("settlementDeadline") != nil {
		if can.withdraw = spec.record("authorizer").optionalText("owner").Text(); can.withdraw == "" {
			can.withdraw = admin
		}
	}
	var holdings jsonscan.Value
	if r.At("lockedAmulet") != nil {
		holdings = r.text("lockedAmulet")
	}
	dst = appendActions(fill(dst, `{"allocation":$,"availableActions":`, spec.Value), can)
	return fill(dst, `,"createdAt":$,"expiresAt":$,"holdingCids":[$],"meta":{"values":{}},"numIterations":$,"originalAllocationCid":null,"settlement":$}`,
		r.text("createdAt"), r.text("expiresAt"), holdings, r.text("numIterations"), settlement.Value)
}

// actions are who may do what with an allocation: several act together.
type actions struct {
	settle, cancel []string
	withdraw       string // "" for nobody
}

// appendActions appends the map of actions, in the order of its keys.
func appendActions(dst []byte, a actions) []byte {
	dst = append(appendParties(append(dst, `[[{"tag":"AA_Settle","value":{}},[`...), a.settle), `]],`...)
	dst = append(appendParties(append(dst, `[{"tag":"AA_Cancel","value":{}},[`...), a.cancel), `]]`...)
	if a.withdraw != "" {
		dst = append(appendParties(append(dst, `,[{"tag":"AA_Withdraw","value":{}},[`...), []string{a.withdraw}), `]]`...)
	}
	return append(dst, ']')
}

func texts(list jsonscan.Value) (all []string) {
	for _, element := range list.Elements() {
		all = append(all, element.Text())
	}
	return all
}

// distinct sorts parties and leaves each once.
func distinct(parties []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(parties)))
}
