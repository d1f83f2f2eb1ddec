package walletapi

import (
	"context"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Offers are open offers that the user has made or was made.
func (u *User) Offers(ctx context.Context) ([]Item, error) {
	return u.items(ctx, "/v0/wallet/transfer-offers", "offers", plain)
}

// AcceptedOffers wait for their senders' validators to pay.
func (u *User) AcceptedOffers(ctx context.Context) ([]Item, error) {
	return u.items(ctx, "/v0/wallet/accepted-transfer-offers", "accepted_offers", plain)
}

// Transfers are open transfers by the token standard.
func (u *User) Transfers(ctx context.Context) ([]Item, error) {
	return u.items(ctx, "/v0/wallet/token-standard/transfers", "transfers", func(i *Item, c *listed) error {
		var p struct {
			Transfer struct {
				Sender   string `json:"sender"`
				Receiver string `json:"receiver"`
				Amount   string `json:"amount"`
				Before   string `json:"executeBefore"`
				Meta     struct {
					Values map[string]string `json:"values"`
				} `json:"meta"`
			} `json:"transfer"`
		}
		err := c.Contract.decode(&p)
		t := p.Transfer
		i.From, i.To, i.Amount.Amount, i.Expires, i.Text = t.Sender, t.Receiver, t.Amount, instant(t.Before), t.Meta.Values[template.ReasonKey]
		return err
	})
}

// Transfer is what is sent, and to whom.
type Transfer struct {
	Receiver, Amount, Description string
	Expires                       schemas.Micros
	// ID makes it happen once, however often it is sent.
	ID string
}

func (t Transfer) body() map[string]any {
	return map[string]any{
		"receiver_party_id": t.Receiver, "amount": t.Amount, "description": t.Description, "expires_at": int64(t.Expires), "tracking_id": t.ID,
	}
}

// Offer offers coins.
func (u *User) Offer(ctx context.Context, t Transfer) error {
	return u.call(ctx, "POST", "/v0/wallet/transfer-offers", t.body(), nil)
}

// OfferStatus is how an offer stands.
type OfferStatus struct {
	Status  string `json:"status"`
	Update  string `json:"transaction_id"`
	Failure string `json:"failure_kind"`
	Reason  string `json:"withdrawn_reason"`
}

// OfferStatus asks how an offer of a tracking id stands.
func (u *User) OfferStatus(ctx context.Context, id string) (s OfferStatus, err error) {
	return s, u.call(ctx, "POST", "/v0/wallet/transfer-offers/"+segment(id)+"/status", nil, &s)
}

// Pay sends coins to a receiver with a preapproval.
func (u *User) Pay(ctx context.Context, t Transfer) error {
	body := map[string]any{"receiver_party_id": t.Receiver, "amount": t.Amount, "deduplication_id": t.ID}
	if t.Description != "" {
		body["description"] = t.Description
	}
	return u.call(ctx, "POST", "/v0/wallet/transfer-preapproval/send", body, nil)
}

// TokenResult is what became of a transfer by the token standard: Pending waits for the receiver, else
// it is done, or has failed if there are no Holdings.
type TokenResult struct {
	Output struct {
		Pending  string   `json:"transfer_instruction_cid"`
		Holdings []string `json:"receiver_holding_cids"`
	} `json:"output"`
}

// Transfer sends coins by the second version of the token standard.
func (u *User) Transfer(ctx context.Context, t Transfer) (r TokenResult, err error) {
	return r, u.call(ctx, "POST", "/v2/wallet/token-standard/transfers", t.body(), &r)
}

// Act does something with a contract of a list: the path is that of the list's operations, below which
// the contract and the action are.
func (u *User) Act(ctx context.Context, path, contract, action string) error {
	return u.call(ctx, "POST", path+"/"+segment(contract)+"/"+action, nil, nil)
}

// CancelSubscription ends a running subscription by its idle state.
func (u *User) CancelSubscription(ctx context.Context, contract string) error {
	return u.call(ctx, "DELETE", "/v0/wallet/subscriptions/"+segment(contract), nil, nil)
}

// Preapproval lets anybody send to a party in one step.
type Preapproval struct {
	ID       string
	Provider string
	From     schemas.Micros
	Expires  schemas.Micros
}

// Preapproval finds that of a party; the error is of class NotFound without one.
func (u *User) Preapproval(ctx context.Context, party string) (Preapproval, error) {
	var answer struct {
		Preapproval withState `json:"transfer_preapproval"`
	}
	if err := u.call(ctx, "GET", "/v0/scan-proxy/transfer-preapprovals/by-party/"+segment(party), nil, &answer); err != nil {
		return Preapproval{}, err
	}
	var p struct {
		Provider string `json:"provider"`
		From     string `json:"validFrom"`
		Expires  string `json:"expiresAt"`
	}
	err := answer.Preapproval.Contract.decode(&p)
	return Preapproval{answer.Preapproval.Contract.ID, p.Provider, instant(p.From), instant(p.Expires)}, err
}

// RequestPreapproval asks for one. The error is of class AlreadyExists if there is one.
func (u *User) RequestPreapproval(ctx context.Context) error {
	return u.call(ctx, "POST", "/v0/wallet/transfer-preapproval", nil, nil)
}
