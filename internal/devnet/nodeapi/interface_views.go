package nodeapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// implements are the interfaces of each template.
var implements = map[*model.Template][]model.InterfaceName{
	model.AmuletTemplate:              {model.HoldingInterface, model.HoldingV2Interface},
	model.LockedAmuletTemplate:        {model.HoldingInterface, model.HoldingV2Interface},
	model.TransferInstructionTemplate: {model.TransferInstructionInterface, model.TransferInstructionV2Interface},
	model.AllocationTemplate:          {model.AllocationInterface, model.AllocationV2Interface},
	model.AllocationV2Template:        {model.AllocationV2Interface},
	model.ExternalRulesTemplate: {model.TransferFactoryInterface, model.TransferFactoryV2Interface, model.AllocationFactoryInterface,
		model.AllocationFactoryV2Interface, model.SettlementFactoryInterface, model.EventLogInterface},
	model.AmuletRulesTemplate:      {model.EventLogInterface},
	model.ConfigStateTemplate:      {model.EventLogInterface},
	model.FeaturedAppRightTemplate: {model.FeaturedAppRightInterface, model.FeaturedAppRightV2Interface},
	model.ActivityMarkerTemplate:   {model.ActivityMarkerInterface, model.ActivityMarkerV2Interface},
	model.RewardCouponTemplate:     {model.RewardCouponInterface},
	model.DealTemplate:             {model.AllocationRequestInterface},
}

// implementing are the indexes of the flags of all versions of the templates that implement an
// interface.
func implementing(i model.InterfaceName) (at []int) {
	for t, all := range implements {
		if slices.Contains(all, i) {
			for version := range model.Versions {
				at = append(at, t.Number*model.Versions+version)
			}
		}
	}
	return at
}

// distinctInterfaces leaves each interface once, by Module:Entity.
func distinctInterfaces(list []model.InterfaceName) []model.InterfaceName {
	slices.SortFunc(list, func(a, b model.InterfaceName) int {
		return strings.Compare(model.InterfaceNames[a][1], model.InterfaceNames[b][1])
	})
	return slices.Compact(list)
}

// implemented appends the member implementedInterfaces, with a comma before it.
func (c *cutter) implemented(dst []byte, list []model.InterfaceName) []byte {
	dst = append(dst, `,"implementedInterfaces":[`...)
	for _, i := range list {
		dst = append(model.AppendPlain(dst, c.names.Interfaces[i]), ',')
	}
	return model.Closing(dst, ']')
}

// interfaceViews appends the member interfaceViews, with a comma before it, of a contract whose created
// event begins with some text.
func (c *cutter) interfaceViews(dst []byte, list []model.InterfaceName, event []byte) []byte {
	_, text, _ := bytes.Cut(event, []byte(`"createArgument":`))
	text = text[:bytes.LastIndex(text, []byte(`,"createdAt":"`))]
	var argument fields
	if err := json.Unmarshal(text, &argument); err != nil {
		panic(fmt.Sprintf("reading a create argument of our own: %v: %s", err, text))
	}
	dst = append(dst, `,"interfaceViews":[`...)
	for _, i := range list {
		value, err := json.Marshal(viewBy(i, argument))
		if err != nil {
			panic(fmt.Sprintf("writing a view: %v", err)) // maps and texts are always written
		}
		dst = model.AppendPlain(append(dst, `{"interfaceId":`...), c.names.Interfaces[i])
		dst = append(append(append(dst, `,"viewStatus":{"code":0,"message":""},"viewValue":`...), value...), "},"...)
	}
	return model.Closing(dst, ']')
}

// fields is a record.
type fields map[string]any

func (f fields) record(label string) fields {
	inner, _ := f[label].(map[string]any) // none in an absent one
	return inner
}

func (f fields) text(label string) string { return f[label].(string) }

var noMetadata = fields{"values": fields{}}

// viewBy is what an interface shows of a contract that implements it.
func viewBy(i model.InterfaceName, a fields) any {
	switch i {
	case model.HoldingInterface:
		return holdingOf(a)
	case model.HoldingV2Interface:
		view := holdingOf(a)
		view["account"] = accountOf(view["owner"], "account", nil)
		delete(view, "owner")
		return view
	case model.TransferInstructionInterface:
		return fields{"originalInstructionCid": nil, "transfer": a["transfer"], "status": constructor("TransferPendingReceiverAcceptance"), "meta": noMetadata}
	case model.TransferInstructionV2Interface:
		return instructionOf(a.record("transfer"))
	case model.AllocationInterface: // none expires before its deadline here
		return fields{"allocation": a["allocation"], "holdingCids": []any{a["lockedAmulet"]}, "meta": noMetadata}
	case model.AllocationV2Interface:
		if a["settlement"] != nil {
			return allocationV2Of(a)
		}
		return allocationOf(a.record("allocation"), a["lockedAmulet"])
	case model.AllocationRequestInterface:
		return fields{"transferLegs": a["transferLegs"], "meta": noMetadata, "settlement": fields{"executor": a["venue"], "settlementRef": fields{"id": "Deal", "cid": nil},
			"requestedAt": a["createdAt"], "allocateBefore": a["prepareUntil"], "settleBefore": a["settleBefore"], "meta": noMetadata}}
	case model.FeaturedAppRightInterface, model.FeaturedAppRightV2Interface:
		return fields{"dso": a["dso"], "provider": a["provider"]}
	case model.ActivityMarkerInterface, model.ActivityMarkerV2Interface:
		return fields{"dso": a["dso"], "provider": a["provider"], "beneficiary": a["beneficiary"], "weight": a["weight"]}
	case model.RewardCouponInterface:
		return fields{"dso": a["dso"], "provider": a["provider"], "beneficiary": a["beneficiary"], "amount": a["amount"],
			"expiresAt": a["expiresAt"], "meta": noMetadata, "maxNumNewBeneficiaries": "20"}
	}
	return fields{"admin": a["dso"], "meta": noMetadata} // factories and logs
}

// constructor is one without content, of a variant that has others with content.
func constructor(name string) fields { return fields{"tag": name, "value": fields{}} }

// holdingOf is the first version's view of a coin, locked or not.
func holdingOf(a fields) fields {
	var lock any
	if l := a.record("lock"); l != nil {
		lock = fields{"holders": l["holders"], "expiresAt": l["expiresAt"], "expiresAfter": nil, "context": l["optContext"]}
		a = a.record("amulet")
	}
	amount := a.record("amount")
	whole, fraction, _ := strings.Cut(amount.record("ratePerRound").text("rate"), ".")
	if fraction = strings.TrimRight(fraction, "0"); fraction == "" {
		fraction = "0"
	}
	const prefix = "amulet.splice.lfdecentralizedtrust.org/"
	return fields{"owner": a["owner"], "instrumentId": fields{"admin": a["dso"], "id": model.InstrumentAmuletInPayload}, "amount": amount["initialAmount"], "lock": lock,
		"meta": fields{"values": fields{prefix + "created-in-round": amount.record("createdAt")["number"], prefix + "rate-per-round": whole + "." + fraction}}}
}

// accountOf is the account of an owner, of which metadata about a field may say more.
func accountOf(owner any, field string, meta fields) fields {
	account := fields{"owner": owner, "provider": nil, "id": ""}
	values := meta.record("values")
	if id, ok := values["cip-112/"+field+".id"]; ok {
		account["id"] = id
	}
	if provider, ok := values["cip-112/"+field+".provider"]; ok {
		account["provider"] = provider
	}
	return account
}

// metadataOf is metadata without what the second version of the standard says in other ways.
func metadataOf(meta fields, but ...string) fields {
	rest := maps.Clone(meta.record("values"))
	for _, key := range but {
		delete(rest, "cip-112/"+key)
	}
	return fields{"values": rest}
}

// legMetadata is that of a transfer between accounts.
func legMetadata(meta fields) fields {
	return metadataOf(meta, "sender.id", "sender.provider", "receiver.id", "receiver.provider")
}

func instructionOf(t fields) fields {
	meta := t.record("meta")
	upgraded := fields{"sender": accountOf(t["sender"], "sender", meta), "receiver": accountOf(t["receiver"], "receiver", meta), "meta": legMetadata(meta)}
	for _, same := range []string{"amount", "instrumentId", "requestedAt", "executeBefore", "inputHoldingCids"} {
		upgraded[same] = t[same]
	}
	return fields{"originalInstructionCid": nil, "transfer": upgraded, "expiresAt": t["executeBefore"], "meta": noMetadata, "availableActions": []any{
		actionBy("TIA_Accept", t["receiver"]), actionBy("TIA_Reject", t["receiver"]), actionBy("TIA_Withdraw", t["sender"]),
	}}
}

// actionBy is an entry of a map from actions to the sets of parties that may take them together.
func actionBy(name string, parties ...any) []any {
	return []any{constructor(name), []any{parties}}
}

// allocationV2Of is the view of an allocation of the second version.
func allocationV2Of(a fields) fields {
	settlement, spec := a.record("settlement"), a.record("allocation")
	executors := settlement["executors"].([]any)
	holdings := []any{}
	if locked := a["lockedAmulet"]; locked != nil {
		holdings = append(holdings, locked)
	}
	sorted := slices.SortedFunc(slices.Values(executors), func(x, y any) int { return strings.Compare(x.(string), y.(string)) })
	settlers := slices.SortedFunc(slices.Values(append([]any{spec["admin"]}, executors...)), func(x, y any) int { return strings.Compare(x.(string), y.(string)) })
	actions := []any{actionBy("AA_Settle", slices.Compact(settlers)...), actionBy("AA_Cancel", slices.Compact(sorted)...)}
	if spec["committed"] != true || spec["settlementDeadline"] != nil {
		actions = append(actions, actionBy("AA_Withdraw", spec.record("authorizer")["owner"]))
	}
	return fields{"originalAllocationCid": nil, "settlement": settlement, "allocation": spec, "holdingCids": holdings, "createdAt": a["createdAt"],
		"numIterations": a["numIterations"], "expiresAt": a["expiresAt"], "meta": noMetadata, "availableActions": actions}
}

// allocationOf is the second version's view of an allocation of the first.
func allocationOf(a fields, locked any) fields {
	settlement, leg := a.record("settlement"), a.record("transferLeg")
	reference, instrument, meta := settlement.record("settlementRef"), leg.record("instrumentId"), leg.record("meta")
	executors := []any{settlement["executor"]}
	if more, ok := settlement.record("meta").record("values")["cip-112/extra-executors"].(string); ok {
		for _, p := range strings.Split(more, ",") {
			executors = append(executors, p)
		}
	}
	side := fields{"transferLegId": a["transferLegId"], "side": "SenderSide", "otherside": accountOf(leg["receiver"], "receiver", meta),
		"amount": leg["amount"], "instrumentId": instrument["id"], "meta": legMetadata(meta)}
	return fields{
		"originalAllocationCid": nil,
		"settlement":            fields{"executors": executors, "id": reference["id"], "cid": reference["cid"], "meta": metadataOf(settlement.record("meta"), "extra-executors")},
		"allocation": fields{"admin": instrument["admin"], "authorizer": accountOf(leg["sender"], "sender", meta), "transferLegSides": []any{side},
			"settlementDeadline": settlement["settleBefore"], "nextIterationFunding": nil, "committed": false, "meta": noMetadata},
		"holdingCids": []any{locked}, "createdAt": settlement["requestedAt"], "numIterations": "0", "expiresAt": nil, "meta": noMetadata,
		"availableActions": []any{
			actionBy("AA_Settle", append([]any{instrument["admin"]}, executors...)...), actionBy("AA_Cancel", executors...), actionBy("AA_Withdraw", leg["sender"]),
		},
	}
}
