package validator

import (
	"context"
	"encoding/json"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/query"
)

// couponOperations list what the wallet can turn into coins: the first 1,000 of each kind.
func (a *API) couponOperations() []operation {
	most := query.MaxListItems
	return []operation{
		{method: "GET", path: "/v0/wallet/app-reward-coupons", name: "app_coupons", handle: a.appCoupons},
		{method: "GET", path: "/v0/wallet/validator-reward-coupons", name: "validator_coupons", handle: a.validatorCoupons},
		{method: "GET", path: "/v0/wallet/validator-faucet-coupons", name: "faucet_coupons", handle: a.lists("validator_faucet_coupons", faucetCouponTemplate, most, "validator")},
		{method: "GET", path: "/v0/wallet/validator-liveness-activity-records", name: "liveness_records", handle: a.lists("validator_liveness_activity_records", livenessTemplate, most, "validator")},
		{method: "GET", path: "/v0/wallet/sv-reward-coupons", name: "sv_coupons", handle: a.lists("sv_reward_coupons", svCouponTemplate, most, "beneficiary")},
	}
}

// offers lists open offers of which the caller is sender or receiver.
func (a *API) offers(ctx context.Context, c *caller) error {
	return a.lists("offers", offerTemplate, maxListed, "sender", "receiver")(ctx, c)
}

func (a *API) acceptedOffers(ctx context.Context, c *caller) error {
	return a.lists("accepted_offers", acceptedTemplate, maxListed, "sender", "receiver")(ctx, c)
}

// appCoupons are those whose beneficiary is the caller, who is the provider where none is named.
func (a *API) appCoupons(ctx context.Context, c *caller) error {
	q := wallethistory.Query{Parties: []string{c.party}, Templates: []string{appCouponTemplate}}
	list, err := a.contracts(ctx, q, query.MaxListItems, func(coupon *contract) (bool, error) {
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
	return c.JSON(map[string][]contractView{"app_reward_coupons": viewsOf(list)})
}

// validatorCoupons are those of the users whose validator the caller is.
func (a *API) validatorCoupons(ctx context.Context, c *caller) error {
	rights, err := a.ofParty(ctx, c, maxListed, rightTemplate, "validator")
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
		q := wallethistory.Query{Parties: parties, Templates: []string{validatorCoupon}}
		list, err = a.contracts(ctx, q, query.MaxListItems, func(coupon *contract) (bool, error) {
			var p struct{ User string }
			err := coupon.decode(&p)
			return users[p.User], err
		})
		if err != nil {
			return err
		}
	}
	return c.JSON(map[string][]contractView{"validator_reward_coupons": viewsOf(list)})
}

// tokenTransfers lists open transfers of the token standard of which the caller is sender or
// receiver, with the interface's view of them as payload.
func (a *API) tokenTransfers(ctx context.Context, c *caller) error {
	q := wallethistory.Query{Parties: []string{c.party}, Templates: []string{instructionTemplate}}
	list, err := a.contracts(ctx, q, maxListed, func(instruction *contract) (bool, error) {
		var p struct {
			Transfer json.RawMessage
		}
		if err := instruction.decode(&p); err != nil {
			return false, err
		}
		var t struct{ Sender, Receiver string }
		if err := json.Unmarshal(p.Transfer, &t); err != nil {
			return false, err
		}
		payload, err := json.Marshal(instructionView{Transfer: p.Transfer, Status: pendingAcceptance, Meta: emptyMetadata})
		instruction.payload = payload
		return t.Sender == c.party || t.Receiver == c.party, err
	})
	if err != nil {
		return err
	}
	return c.JSON(map[string][]contractView{"transfers": viewsOf(list)})
}

// instructionView is what the interface TransferInstruction shows of a contract.
type instructionView struct {
	Meta     json.RawMessage `json:"meta"`
	Original *string         `json:"originalInstructionCid"`
	Status   json.RawMessage `json:"status"`
	Transfer json.RawMessage `json:"transfer"`
}

// An instruction of the network's coin waits for its receiver and for nothing else.
var (
	pendingAcceptance = json.RawMessage(`{"tag":"TransferPendingReceiverAcceptance","value":{}}`)
	emptyMetadata     = json.RawMessage(`{"values":{}}`)
)
