package validator

import (
	"context"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// coupons lists what wallets can turn into coins.
type coupons struct{ reader *reader }

// operations list what the wallet can turn into coins: the first 1,000 of each kind.
func (u *coupons) operations() []operation {
	most := query.MaxListItems
	return []operation{
		{method: "GET", path: "/v0/wallet/app-reward-coupons", name: "app_coupons", handle: u.ofApps},
		{method: "GET", path: "/v0/wallet/validator-reward-coupons", name: "validator_coupons", handle: u.ofValidators},
		{method: "GET", path: "/v0/wallet/validator-faucet-coupons", name: "faucet_coupons", handle: u.reader.lists("validator_faucet_coupons", template.ValidatorFaucetCoupon, most, "validator")},
		{method: "GET", path: "/v0/wallet/validator-liveness-activity-records", name: "liveness_records", handle: u.reader.lists("validator_liveness_activity_records", template.ValidatorLivenessActivityRecord, most, "validator")},
		{method: "GET", path: "/v0/wallet/sv-reward-coupons", name: "sv_coupons", handle: u.reader.lists("sv_reward_coupons", template.SvRewardCoupon, most, "beneficiary")},
	}
}

// ofApps are those whose beneficiary is the caller, who is the provider where none is named.
func (u *coupons) ofApps(ctx context.Context, c *caller) error {
	q := wallethistory.Query{Parties: []string{c.party}, Templates: []string{template.AppRewardCoupon}}
	list, err := u.reader.contracts(ctx, q, query.MaxListItems, func(coupon *contract) (bool, error) {
		var p struct {
			Provider    string
			Beneficiary *string
		}
		if err := coupon.decode(&p); err != nil {
			return false, err
		}
		if p.Beneficiary == nil {
			p.Beneficiary = &p.Provider
		}
		return *p.Beneficiary == c.party, nil
	})
	if err != nil {
		return err
	}
	return c.JSON(map[string][]*query.ContractView{"app_reward_coupons": viewsOf(list)})
}

// ofValidators are those of the users whose validator the caller is.
func (u *coupons) ofValidators(ctx context.Context, c *caller) error {
	rights, err := u.reader.ofParty(ctx, c, maxListed, template.ValidatorRight, "validator")
	if err != nil {
		return err
	}
	users := map[string]bool{}
	parties := []string{}
	for i := range rights {
		var p struct{ User string }
		if err := rights[i].decode(&p); err != nil {
			return err
		}
		if !users[p.User] {
			users[p.User] = true
			parties = append(parties, p.User)
		}
	}
	list := []contract{}
	if len(parties) > 0 {
		q := wallethistory.Query{Parties: parties, Templates: []string{template.ValidatorRewardCoupon}}
		list, err = u.reader.contracts(ctx, q, query.MaxListItems, func(coupon *contract) (bool, error) {
			var p struct{ User string }
			err := coupon.decode(&p)
			return users[p.User], err
		})
		if err != nil {
			return err
		}
	}
	return c.JSON(map[string][]*query.ContractView{"validator_reward_coupons": viewsOf(list)})
}
