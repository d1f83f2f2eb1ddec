package devnettest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Interfaces of the second version of the token standard, as commands name them.
const (
	TransferFactoryV2     = "#splice-api-token-transfer-instruction-v2:Splice.Api.Token.TransferInstructionV2:TransferFactory"
	TransferInstructionV2 = "#splice-api-token-transfer-instruction-v2:Splice.Api.Token.TransferInstructionV2:TransferInstruction"
	AllocationFactoryV2   = "#splice-api-token-allocation-instruction-v2:Splice.Api.Token.AllocationInstructionV2:AllocationFactory"
	AllocationV2          = "#splice-api-token-allocation-v2:Splice.Api.Token.AllocationV2:Allocation"
	SettlementFactoryV2   = "#splice-api-token-allocation-v2:Splice.Api.Token.AllocationV2:SettlementFactory"
)

// Leg is a transfer of a settlement. Without a receiver its coins are burned.
type Leg struct{ ID, From, To, Amount string }

// account is that of an owner alone, or the one that burns what it receives, in JSON.
func account(owner string) string {
	if owner == "" {
		return `{"owner":null,"provider":null,"id":"cip-112/burn"}`
	}
	return fmt.Sprintf(`{"owner":%q,"provider":null,"id":""}`, owner)
}

// answerV2 exercises a choice of the second version as one party, or more.
func (c *Commands) answerV2(iface, id, choice string, by ...string) json.RawMessage {
	c.T.Helper()
	return c.Exercise(by, iface, id, choice, `{"actors":["%s"],"extraArgs":`+NoExtraArgs+`}`, strings.Join(by, `","`))
}

// transferTokensV2 is transferTokens by the second version.
func (c *Commands) transferTokensV2(install, alice, approved, other string) {
	c.T.Helper()
	argument := func(to string) string {
		return fmt.Sprintf(`{"transfer":{"sender":%s,"receiver":%s,"amount":"7","instrumentId":{"admin":%q,"id":"Amulet"},"requestedAt":%q,"executeBefore":%q,"inputHoldingCids":[%q],
				"meta":{"values":{"splice.lfdecentralizedtrust.org/reason":"gift"}}},"actors":[%q],"extraArgs":`+NoExtraArgs+`}`,
			account(alice), account(to), c.Ledger.GovernanceParty(), c.At(0), c.At(time.Hour), c.Tap(install, alice, "20"), alice)
	}
	transfer := func(to string) json.RawMessage {
		return c.Exercise([]string{alice}, TransferFactoryV2, c.ExternalRules(), "TransferFactory_Transfer", "%s", argument(to))
	}
	transfer(approved)
	transfer(alice)
	for _, answer := range []struct{ by, choice string }{
		{other, "TransferInstruction_Accept"}, {other, "TransferInstruction_Reject"}, {alice, "TransferInstruction_Withdraw"},
	} {
		c.answerV2(TransferInstructionV2, c.Text(transfer(other), "output", "value", "transferInstructionCid"), answer.choice, answer.by)
	}
	for _, to := range []string{approved, other} {
		c.Exercise([]string{c.Operator, alice}, InstallTemplate, install, "WalletAppInstall_TransferFactoryV2_Transfer", `{"transferFactoryCid":%q,"transferArg":%s}`,
			c.ExternalRules(), argument(to))
	}
}

// sides is what legs mean to an owner, in JSON.
func sides(owner string, legs []Leg) string {
	list := []string{}
	for _, l := range legs {
		for _, side := range []struct{ of, name, other string }{{l.From, "SenderSide", l.To}, {l.To, "ReceiverSide", l.From}} {
			if side.of == owner {
				list = append(list, fmt.Sprintf(`{"transferLegId":%q,"side":%q,"otherside":%s,"amount":%q,"instrumentId":"Amulet","meta":{"values":{}}}`,
					l.ID, side.name, account(side.other), l.Amount))
			}
		}
	}
	return "[" + strings.Join(list, ",") + "]"
}

func settlement(executor string) string {
	return fmt.Sprintf(`{"executors":[%q],"id":"deal","cid":null,"meta":{"values":{}}}`, executor)
}

// AllocateLegs has an owner allocate coins, of which some are named, to its part of some legs, and returns
// the contract. next is the funding of the next iteration in JSON, null for none.
func (c *Commands) AllocateLegs(owner, executor string, legs []Leg, next string, coins ...string) string {
	c.T.Helper()
	inputs, err := json.Marshal(append([]string{}, coins...))
	if err != nil {
		c.T.Fatal(err)
	}
	return c.Text(c.Exercise([]string{owner}, AllocationFactoryV2, c.ExternalRules(), "AllocationFactory_Allocate",
		`{"settlement":%s,"allocation":{"admin":%q,"authorizer":%s,"transferLegSides":%s,"settlementDeadline":%q,"nextIterationFunding":%s,"committed":true,"meta":{"values":{}}},
			"requestedAt":%q,"inputHoldingCids":%s,"actors":[%q],"extraArgs":`+NoExtraArgs+`}`,
		settlement(executor), c.Ledger.GovernanceParty(), account(owner), sides(owner, legs), c.At(2*time.Hour), next, c.At(0), inputs, owner), "output", "value", "allocationCid")
}

// Finalized is an allocation that is settled. Extra legs, and the funding of the next iteration in JSON,
// are for iterated ones.
type Finalized struct {
	ID, Owner string
	Extra     []Leg
	Next      string
}

// Settle settles legs by allocations, and returns the next iterations, "" where there is none.
func (c *Commands) Settle(executor string, legs []Leg, allocations ...Finalized) (next []string) {
	c.T.Helper()
	var transfers, list []string
	for _, l := range legs {
		transfers = append(transfers, fmt.Sprintf(`{"transferLegId":%q,"sender":%s,"receiver":%s,"amount":%q,"instrumentId":"Amulet","meta":{"values":{}}}`,
			l.ID, account(l.From), account(l.To), l.Amount))
	}
	for _, a := range allocations {
		list = append(list, fmt.Sprintf(`{"allocationCid":%q,"extraTransferLegSides":%s,"nextIterationFunding":%s}`, a.ID, sides(a.Owner, a.Extra), a.Next))
	}
	result := c.Exercise([]string{executor}, SettlementFactoryV2, c.ExternalRules(), "SettlementFactory_SettleBatch",
		`{"settlement":%s,"transferLegs":[%s],"allocations":[%s],"actors":[%q],"extraArgs":`+NoExtraArgs+`}`,
		settlement(executor), strings.Join(transfers, ","), strings.Join(list, ","), executor)
	var settled struct {
		Results []struct {
			Output struct {
				Value struct{ NextIterationAllocationCid string }
			}
		} `json:"allocationSettleResults"`
	}
	if err := json.Unmarshal(result, &settled); err != nil {
		c.T.Fatal(err)
	}
	for _, r := range settled.Results {
		next = append(next, r.Output.Value.NextIterationAllocationCid)
	}
	return next
}

// settleTokensV2 settles several transfers at once, and others in iterations, of which the last are called
// off; one allocation is forgotten. Some allocations are of the first version.
func (c *Commands) settleTokensV2(install, alice, bob, venue string) {
	c.T.Helper()
	coin := func() string { return c.Tap(install, alice, "20") }
	legs := []Leg{{"a", alice, bob, "6"}, {"b", bob, alice, "2"}, {"c", alice, "", "1"}, {"d", alice, alice, "3"}}
	c.Settle(venue, legs, Finalized{c.AllocateLegs(alice, venue, legs, "null", coin()), alice, nil, "null"}, Finalized{c.AllocateLegs(bob, venue, legs, "null"), bob, nil, "null"})
	hers, his := c.AllocateLegs(alice, venue, nil, `{"Amulet":"10"}`, coin()), c.AllocateLegs(bob, venue, nil, `{}`)
	extra := []Leg{{"a", alice, bob, "3"}}
	next := c.Settle(venue, extra, Finalized{hers, alice, extra, `{"Amulet":"5"}`}, Finalized{his, bob, extra, `{"Amulet":"2"}`})
	for _, id := range next {
		c.answerV2(AllocationV2, id, "Allocation_Cancel", venue)
	}
	c.AllocateLegs(alice, venue, []Leg{{"x", alice, bob, "1"}}, "null", coin())
	legs = []Leg{{"leg", alice, bob, "6"}, {"e", bob, alice, "1"}}
	c.Settle(venue, legs, Finalized{c.Allocate(install, alice, bob, venue), alice, nil, "null"}, Finalized{c.AllocateLegs(alice, venue, legs[1:], "null"), alice, nil, "null"},
		Finalized{c.AllocateLegs(bob, venue, legs, "null"), bob, nil, "null"})
	c.answerV2(AllocationV2, c.Allocate(install, alice, bob, venue), "Allocation_Cancel", venue)
}
