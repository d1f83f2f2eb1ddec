package views

import (
	"slices"

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
	return fill(dst, `"transferLeg":{"amount":$,"instrumentId":{"admin":$,"id":$},"meta":$,"receiver":$,"sender":$},"transferLegId":$},"holdingCids":[$],"meta":{"values":{}}}`,
		leg.numeric("amount"), instrument.text("admin"), instrument.text("id"), leg.metadata("meta").without(),
		leg.text("receiver"), leg.text("sender"), spec.text("transferLegId"), r.text("lockedAmulet"))
}

// coinAllocationAsV2 shows an allocation of version 1, which authorizes the sending side of one leg, as
// one of version 2.
func coinAllocationAsV2(dst []byte, r record) []byte {
	spec := r.record("allocation")
	settlement, leg := spec.record("settlement"), spec.record("transferLeg")
	reference, instrument := settlement.record("settlementRef"), leg.record("instrumentId")
	meta, about := leg.metadata("meta"), settlement.metadata("meta")
	sender, deadline := leg.text("sender"), settlement.text("settleBefore")
	executors := append([]string{settlement.text("executor").Text()}, about.parties(extraExecutorsKey)...)

	dst = fill(dst, `{"allocation":{"admin":$,"authorizer":$,"committed":false,"meta":{"values":{}},"nextIterationFunding":null,"settlementDeadline":$,"transferLegSides":[`,
		instrument.text("admin"), account(sender, meta, "sender"), deadline)
	dst = fill(dst, `{"amount":$,"instrumentId":$,"meta":$,"otherside":$,"side":"SenderSide","transferLegId":$}]},"availableActions":`,
		leg.numeric("amount"), instrument.text("id"), meta.withoutAccounts(), account(leg.text("receiver"), meta, "receiver"), spec.text("transferLegId"))
	dst = appendActions(dst, actions{
		settle: append([]string{instrument.text("admin").Text()}, executors...), cancel: executors, withdraw: sender.Text(),
	})
	return fill(dst, `,"createdAt":$,"expiresAt":$,"holdingCids":[$],"meta":{"values":{}},"numIterations":"0","originalAllocationCid":null,"settlement":{"cid":$,"executors":$,"id":$,"meta":$}}`,
		settlement.text("requestedAt"), deadline, r.text("lockedAmulet"), reference.optionalText("cid"), appendParties(nil, executors), reference.text("id"), about.without(extraExecutorsKey))
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
