package validator

import (
	"context"
	"encoding/json"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// allocationsPath is where allocations are, below a version of the token standard.
const allocationsPath = "/allocations"

// allocations are coins that are locked for settlements.
type allocations struct {
	reader  *reader
	network Network
}

func (a *allocations) operations() []operation {
	return []operation{
		{method: "GET", path: "/v0" + allocationsPath, name: "allocations", handle: a.list},
		{method: "POST", path: "/v0" + allocationsPath, name: "v0.allocate", write: true, handle: a.allocateLeg},
		{method: "POST", path: "/v0" + allocationsPath + "/{contract_id}/withdraw", name: "v0.withdraw_allocation", write: true, handle: byPath(withdrawLeg)},
		{method: "POST", path: "/v2" + allocationsPath, name: "v2.allocate", write: true, handle: a.allocateSides},
		{method: "POST", path: "/v2" + allocationsPath + "/{contract_id}/withdraw", name: "v2.withdraw_allocation", write: true, handle: byPath(withdrawSides)},
	}
}

// listedContract is an element of lists that may tell more of a contract some day.
type listedContract struct {
	Contract *query.ContractView `json:"contract"`
}

func listedContracts(list []contract) []listedContract {
	views := make([]listedContract, len(list))
	for i := range list {
		views[i].Contract = list[i].view()
	}
	return views
}

// list lists the allocations of the caller's coins, of both versions, the oldest first.
func (a *allocations) list(ctx context.Context, c *caller) error {
	q := wallethistory.Query{Parties: []string{c.party}, Templates: []string{template.CoinAllocation, template.CoinAllocationV2}}
	list, err := a.reader.contracts(ctx, q, maxListed, func(candidate *contract) (bool, error) {
		var p struct {
			Allocation struct {
				TransferLeg struct{ Sender string }
				Authorizer  struct{ Owner string }
			}
		}
		err := candidate.decode(&p)
		return p.Allocation.TransferLeg.Sender == c.party || p.Allocation.Authorizer.Owner == c.party, err
	})
	if err != nil {
		return err
	}
	return c.JSON(map[string][]listedContract{"allocations": listedContracts(list)})
}

func (a *allocations) allocateLeg(ctx context.Context, c *caller) error {
	now, err := a.network.Time(ctx)
	if err != nil {
		return err
	}
	p := c.Body()
	settlement := p.RequiredObject("settlement")
	leg := p.RequiredObject("transfer_leg")
	if err := p.Err(); err != nil {
		return err
	}
	r := wallet.LegRequest{
		Executor: partyOf(settlement, "executor"), Reference: referenceOf(settlement), RequestedAt: instantOf(settlement, "requested_at"),
		AllocateBefore: expiryOf(settlement, "allocate_before", now), SettleBefore: expiryOf(settlement, "settle_before", now),
		SettlementMeta: metaOf(settlement), LegID: textOf(p, "transfer_leg_id", 0, maxTrackingID),
		Receiver: partyOf(leg, "receiver"), Amount: amountOf(leg, "amount"), LegMeta: metaOf(leg),
	}
	if err := p.Err(); err != nil {
		return err
	}
	result, err := c.commands.Allocations.AllocateLeg(ctx, c.actor(), r)
	return allocationAnswer(c, result, err)
}

// referenceOf reads what a settlement is about.
func referenceOf(settlement *query.Params) wallet.Reference {
	reference := settlement.RequiredObject("settlement_ref")
	if settlement.Err() != nil {
		return wallet.Reference{}
	}
	return wallet.Reference{ID: textOf(reference, "id", 0, maxDescription), Contract: optionalTextOf(reference, "cid", maxContractID)}
}

// metaOf reads the optional member meta, a map of texts; nil without it.
func metaOf(p *query.Params) map[string]string {
	if p.Err() != nil || !p.Has("meta") {
		return nil
	}
	var meta map[string]string
	if err := json.Unmarshal(p.Raw("meta"), &meta); err != nil || len(meta) > maxMeta {
		p.Fail("Member meta must be an object of at most %d texts.", maxMeta)
	}
	return meta
}

// maxMeta is the most entries of metadata.
const maxMeta = 1000

// allocationOutput has the first member of an allocation that waits, the second of a completed one
// and none of one that failed.
type allocationOutput struct {
	Instruction string `json:"allocation_instruction_cid,omitempty"`
	Allocation  string `json:"allocation_cid,omitempty"`
}

func allocationAnswer(c *caller, result wallet.AllocationResult, err error) error {
	if err != nil {
		return refused(err)
	}
	changed(c, result.Done)
	return c.JSON(struct {
		Output allocationOutput  `json:"output"`
		Change []string          `json:"sender_change_cids"`
		Meta   map[string]string `json:"meta"`
	}{allocationOutput{result.Pending, result.Completed}, orNone(result.Holdings[template.CoinInstrument]), orEmpty(result.Meta)})
}

func withdrawLeg(ctx context.Context, c *caller, contractID string) error {
	result, err := c.commands.Allocations.WithdrawLeg(ctx, c.actor(), contractID)
	if err != nil {
		return refused(err)
	}
	changed(c, result.Done)
	return c.JSON(struct {
		Holdings []string          `json:"sender_holding_cids"`
		Meta     map[string]string `json:"meta"`
	}{orNone(result.Holdings[template.CoinInstrument]), orEmpty(result.Meta)})
}

// orNone is a list that is written as such when it is nil.
func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// orEmpty is a map that is written as such when it is nil.
func orEmpty(values map[string]string) map[string]string {
	if values == nil {
		return map[string]string{}
	}
	return values
}
