package wallet

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/node"
)

// NameRequest is what the name service is asked for.
type NameRequest struct{ Name, URL, Description string }

// NameRequested is what comes of it: the user has the name once the first payment of the
// subscription is made, see AcceptSubscription.
type NameRequested struct {
	Done
	// Context joins the name with Subscription, the SubscriptionRequest.
	Context, Subscription string
}

// RequestName asks the name service for a name. One that it cannot give is ErrInvalid; one that
// somebody has is found out when it is paid for, and then the payment comes back.
func (w *Wallet) RequestName(ctx context.Context, actor Actor, r NameRequest) (done NameRequested, err error) {
	const choice = "AnsRules_RequestEntry"
	rules, err := w.single(ctx, NameRulesTemplate, "rules of the name service")
	if err != nil {
		return done, err
	}
	s := exerciseAs(actor.Party, NameRulesTemplate, rules.ID, choice, map[string]any{
		"name": r.Name, "url": r.URL, "description": r.Description, "user": actor.Party,
	})
	s.Disclosed = disclose(&rules)
	var tx *node.Transaction
	if tx, done.Done, err = w.submit(ctx, s); err != nil {
		return done, err
	}
	var result struct {
		Entry   string `json:"entryCid"`
		Request string `json:"requestCid"`
	}
	err = tx.Result(choice, &result)
	done.Context, done.Subscription, done.ContractID = result.Entry, result.Request, result.Entry
	return done, err
}

// subscriptionPayload is SubscriptionRequest.
type subscriptionPayload struct {
	Data struct {
		Sender string `json:"sender"`
	} `json:"subscriptionData"`
}

// requestOf checks that a subscription is asked of the actor.
func (w *Wallet) requestOf(ctx context.Context, actor Actor, contractID string) error {
	var p subscriptionPayload
	if err := w.visible(ctx, actor.Party, contractID, SubscriptionRequestTemplate, &p); err != nil {
		return err
	}
	if p.Data.Sender != actor.Party {
		return notFound("No such subscription request: %.80s", contractID)
	}
	return nil
}

// AcceptSubscription accepts a SubscriptionRequest of the actor and makes the first payment, which
// is the contract of the result: its coins are locked until they are collected. ErrFunds means
// that the wallet has too little.
func (w *Wallet) AcceptSubscription(ctx context.Context, actor Actor, contractID string) (Done, error) {
	if err := w.requestOf(ctx, actor, contractID); err != nil {
		return Done{}, err
	}
	value, done, err := w.execute(ctx, actor, batch{operation: operation{"CO_SubscriptionAcceptAndMakeInitialPayment", contractID}})
	if err != nil {
		return done, err
	}
	done.ContractID, err = contractIn(value)
	return done, err
}

// RejectSubscription rejects a SubscriptionRequest of the actor.
func (w *Wallet) RejectSubscription(ctx context.Context, actor Actor, contractID string) (Done, error) {
	if err := w.requestOf(ctx, actor, contractID); err != nil {
		return Done{}, err
	}
	_, done, err := w.submit(ctx, exerciseAs(actor.Party, SubscriptionRequestTemplate, contractID, "SubscriptionRequest_Reject", noArgument))
	return done, err
}
