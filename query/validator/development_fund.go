package validator

import (
	"context"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// fundPath is where coupons of the development fund are.
const fundPath = "/v0/wallet/development-fund-coupons"

// developmentFund is what the manager of the development fund gives away, and to whom.
type developmentFund struct {
	reader  *reader
	network Network
	history func(context.Context) (NodeHistory, error)
}

// operations are those of the manager, and the lists are also those of beneficiaries.
func (f *developmentFund) operations() []operation {
	return []operation{
		{method: "POST", path: fundPath + "/allocate", name: "allocate_fund_coupon", write: true, handle: f.allocate},
		{method: "GET", path: fundPath, name: "fund_coupons", handle: f.list},
		{method: "GET", path: fundPath + "/history", name: "fund_coupon_history", class: query.Page, handle: f.past},
		{method: "POST", path: fundPath + "/{contract_id}/withdraw", name: "withdraw_fund_coupon", write: true, handle: byPath(withdrawFundCoupon)},
	}
}

func (f *developmentFund) allocate(ctx context.Context, c *caller) error {
	now, err := f.network.Time(ctx)
	if err != nil {
		return err
	}
	p := c.Body()
	r := wallet.FundRequest{
		Beneficiary: partyOf(p, "beneficiary"), Amount: amountOf(p, "amount"), ExpiresAt: expiryOf(p, "expiresAt", now),
		Reason: textOf(p, "reason", 0, maxDescription),
	}
	if p.Has("mintAfter") {
		r.MintAfter = expiryOf(p, "mintAfter", now)
	}
	if err := p.Err(); err != nil {
		return err
	}
	done, err := c.commands.Fund.Allocate(ctx, c.actor(), r)
	if err != nil {
		return refused(err)
	}
	changed(c, done.Done)
	return c.JSON(struct {
		Coupon string `json:"development_fund_coupon_contract_id"`
		Rest   string `json:"unclaimed_development_fund_coupon_contract_id,omitempty"`
	}{done.ContractID, done.Rest})
}

func withdrawFundCoupon(ctx context.Context, c *caller, contractID string) error {
	p := c.Body()
	reason := textOf(p, "reason", 0, maxDescription)
	if err := p.Err(); err != nil {
		return err
	}
	done, err := c.commands.Fund.Withdraw(ctx, c.actor(), contractID, reason)
	return contractAnswer(c, "unclaimed_development_fund_coupon_contract_id", done, err)
}

// list lists active coupons, those that expire first in front.
func (f *developmentFund) list(ctx context.Context, c *caller) error {
	list, err := f.reader.ofParty(ctx, c, maxListed, template.DevelopmentFundCoupon, "fundManager", "beneficiary")
	if err != nil {
		return err
	}
	expires := map[string]time.Time{}
	for i := range list {
		var p struct {
			ExpiresAt time.Time `json:"expiresAt"`
		}
		if err := list[i].decode(&p); err != nil {
			return err
		}
		expires[list[i].Event.ContractID] = p.ExpiresAt
	}
	slices.SortStableFunc(list, func(a, b contract) int {
		return expires[a.Event.ContractID].Compare(expires[b.Event.ContractID])
	})
	return c.JSON(map[string][]*query.ContractView{"active_development_fund_coupons": viewsOf(list[:min(len(list), query.MaxListItems)])})
}
