package validator

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// offersPath is where offers of transfers are.
const offersPath = "/v0/wallet/transfer-offers"

// offers are offers of transfers.
type offers struct {
	reader  *reader
	network Network
}

// operations are those of offers that lock nothing until they are paid.
func (o *offers) operations() []operation {
	ops := []operation{
		{method: "POST", path: offersPath, name: "create_offer", write: true, handle: o.create},
		{method: "GET", path: offersPath, name: "offers", handle: o.reader.lists("offers", template.TransferOffer, maxListed, "sender", "receiver")},
		{method: "GET", path: "/v0/wallet/accepted-transfer-offers", name: "accepted_offers", handle: o.reader.lists("accepted_offers", template.AcceptedTransferOffer, maxListed, "sender", "receiver")},
		{method: "POST", path: offersPath + "/{tracking_id}/status", name: "offer_status", handle: o.status},
	}
	for action, handle := range map[string]offerAction{"accept": acceptOffer, "reject": rejectOffer, "withdraw": withdrawOffer} {
		ops = append(ops,
			operation{method: "POST", path: offersPath + "/{contract_id}/" + action, name: action + "_offer", write: true, handle: byPath(handle)},
			operation{method: "POST", path: offersPath + "/" + action, name: action + "_offer_by_body", write: true, handle: byBody(handle)})
	}
	return ops
}

// offerRequest reads what a transfer is offered with.
func offerRequest(ctx context.Context, network Network, c *caller) (wallet.OfferRequest, error) {
	now, err := network.Time(ctx)
	if err != nil {
		return wallet.OfferRequest{}, err
	}
	p := c.Body()
	r := wallet.OfferRequest{
		Receiver: partyOf(p, "receiver_party_id"), Amount: amountOf(p, "amount"),
		Description: textOf(p, "description", 0, maxDescription), ExpiresAt: expiryOf(p, "expires_at", now),
		TrackingID: textOf(p, "tracking_id", 1, maxTrackingID),
	}
	return r, p.Err()
}

func (o *offers) create(ctx context.Context, c *caller) error {
	r, err := offerRequest(ctx, o.network, c)
	if err != nil {
		return err
	}
	done, err := c.commands.Offers.Create(ctx, c.actor(), r)
	return contractAnswer(c, "offer_contract_id", done, err)
}

// offerAction is something that a party to a contract does with it.
type offerAction func(ctx context.Context, c *caller, contractID string) error

// byPath takes the contract out of the path.
func byPath(action offerAction) func(context.Context, *caller) error {
	return func(ctx context.Context, c *caller) error {
		id, err := c.Path("contract_id")
		if err != nil {
			return err
		}
		return action(ctx, c, id)
	}
}

// byBody takes it out of the body.
func byBody(action offerAction) func(context.Context, *caller) error {
	return func(ctx context.Context, c *caller) error {
		p := c.Body()
		id := textOf(p, "contract_id", 1, maxContractID)
		if err := p.Err(); err != nil {
			return err
		}
		return action(ctx, c, id)
	}
}

// maxContractID is the longest contract id that is looked for, in bytes.
const maxContractID = 4096

func acceptOffer(ctx context.Context, c *caller, contractID string) error {
	done, err := c.commands.Offers.Accept(ctx, c.actor(), contractID)
	return contractAnswer(c, "accepted_offer_contract_id", done, err)
}

func rejectOffer(ctx context.Context, c *caller, contractID string) error {
	done, err := c.commands.Offers.Reject(ctx, c.actor(), contractID)
	return nothing(c, done, err)
}

func withdrawOffer(ctx context.Context, c *caller, contractID string) error {
	done, err := c.commands.Offers.Withdraw(ctx, c.actor(), contractID)
	return nothing(c, done, err)
}

// actor is in whose name the caller acts.
func (c *caller) actor() wallet.Actor { return wallet.Actor{User: c.user, Party: c.party} }
