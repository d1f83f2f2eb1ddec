// Package views computes what interfaces show of contracts of the network's own templates: the
// value of a view, by rules that follow the templates' source. A node computes the same by running
// the code of the package, which the product does not have. A rule needs the create argument alone.
package views

import (
	"fmt"

	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Interfaces, as Module:Entity in the network's spelling.
const (
	holdingV1             = template.TokenModules + "HoldingV1:Holding"
	holdingV2             = template.TokenModules + "HoldingV2:Holding"
	transferInstructionV1 = template.TokenModules + "TransferInstructionV1:TransferInstruction"
	transferInstructionV2 = template.TokenModules + "TransferInstructionV2:TransferInstruction"
	allocationV1          = template.TokenModules + "AllocationV1:Allocation"
	allocationV2          = template.TokenModules + "AllocationV2:Allocation"
	transferFactoryV1     = template.TokenModules + "TransferInstructionV1:TransferFactory"
	transferFactoryV2     = template.TokenModules + "TransferInstructionV2:TransferFactory"
	allocationFactoryV1   = template.TokenModules + "AllocationInstructionV1:AllocationFactory"
	allocationFactoryV2   = template.TokenModules + "AllocationInstructionV2:AllocationFactory"
	settlementFactory     = template.TokenModules + "AllocationV2:SettlementFactory"
	eventLog              = template.TokenModules + "TransferEventsV2:EventLog"
	featuredRightV1       = "Splice.Api.FeaturedAppRightV1:FeaturedAppRight"
	featuredRightV2       = "Splice.Api.FeaturedAppRightV2:FeaturedAppRight"
	activityMarkerV1      = "Splice.Api.FeaturedAppRightV1:FeaturedAppActivityMarker"
	activityMarkerV2      = "Splice.Api.FeaturedAppRightV2:FeaturedAppActivityMarker"
	rewardCoupon          = "Splice.Api.RewardAssignmentV1:RewardCoupon"
)

// Rule appends the value of a view of a contract with a create argument: both are canonical JSON in
// the network's compact form, with labels. The error says what is wrong with the argument, which then
// is not one of the template; nothing is appended.
type Rule func(dst, argument []byte) ([]byte, error)

// Of returns the rule for the view that an interface, Module:Entity, gives of contracts of a template,
// PACKAGE_NAME:Module:Entity, both in the network's spelling; nil if none is known.
func Of(templateName, entity string) Rule {
	compute := rules[templateName][entity]
	if compute == nil {
		return nil
	}
	return func(dst, argument []byte) ([]byte, error) {
		var fault error
		start := len(dst)
		if dst = compute(dst, record{Value: argument, fault: &fault}); fault != nil {
			return dst[:start], fmt.Errorf("computing %s of %s: %w", entity, templateName, fault)
		}
		return dst, nil
	}
}

// rule appends a view of what its record has; what it appends does not count after a fault.
type rule func(dst []byte, r record) []byte

// rules are by template and interface. The catalogue says the same about who implements what.
var rules = map[string]map[string]rule{
	template.Coin:                    {holdingV1: coinV1, holdingV2: coinV2},
	template.LockedCoin:              {holdingV1: lockedCoinV1, holdingV2: lockedCoinV2},
	template.CoinTransferInstruction: {transferInstructionV1: instructionV1, transferInstructionV2: instructionV2},
	template.CoinAllocation:          {allocationV1: coinAllocationV1, allocationV2: coinAllocationAsV2},
	template.CoinAllocationV2:        {allocationV2: coinAllocationV2},
	template.ExternalPartyCoinRules: {
		transferFactoryV1: admin, transferFactoryV2: admin, allocationFactoryV1: admin, allocationFactoryV2: admin,
		settlementFactory: admin, eventLog: admin,
	},
	template.CoinRules:                 {eventLog: admin},
	template.ExternalPartyConfigState:  {eventLog: admin},
	template.CoinEventLog:              {eventLog: admin},
	template.FeaturedAppRight:          {featuredRightV1: featuredRight, featuredRightV2: featuredRight},
	template.FeaturedAppActivityMarker: {activityMarkerV1: activityMarker, activityMarkerV2: activityMarker},
	template.RewardCouponV2:            {rewardCoupon: coupon},
}

// admin is the view of all factories and of logs: who administers the instrument.
func admin(dst []byte, r record) []byte {
	return fill(dst, `{"admin":$,"meta":{"values":{}}}`, r.text("dso"))
}

func featuredRight(dst []byte, r record) []byte {
	return fill(dst, `{"dso":$,"provider":$}`, r.text("dso"), r.text("provider"))
}

func activityMarker(dst []byte, r record) []byte {
	return fill(dst, `{"beneficiary":$,"dso":$,"provider":$,"weight":$}`,
		r.text("beneficiary"), r.text("dso"), r.text("provider"), r.numeric("weight"))
}

// coupon has a bound that the template's code sets.
func coupon(dst []byte, r record) []byte {
	return fill(dst, `{"amount":$,"beneficiary":$,"dso":$,"expiresAt":$,"maxNumNewBeneficiaries":"20","meta":{"values":{}},"provider":$}`,
		r.numeric("amount"), r.optionalText("beneficiary"), r.text("dso"), r.text("expiresAt"), r.text("provider"))
}
