package wallet

import (
	"context"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Subscriptions requests names, and accepts and pays the subscriptions by which users pay for
// names and apps.
type Subscriptions struct {
	*submitter
	network *Network
	coins   *Coins
}

// NameRequest is what the name service is asked for.
type NameRequest struct{ Name, URL, Description string }

// NameRequested is what comes of it: the user has the name once the first payment of the
// subscription is made, see Accept.
type NameRequested struct {
	Done
	// Context joins the name with Subscription, the SubscriptionRequest.
	Context, Subscription string
}

// RequestName asks the name service for a name. One that it cannot give is ErrInvalid; one that
// somebody has is found out when it is paid for, and then the payment comes back.
func (w *Subscriptions) RequestName(ctx context.Context, actor Actor, r NameRequest) (done NameRequested, err error) {
	const choice = "AnsRules_RequestEntry"
	rules, err := w.network.single(ctx, template.NameRules, "rules of the name service")
	if err != nil {
		return done, err
	}
	s := exerciseAs(actor.Party, template.NameRules, rules.ID, choice, map[string]any{
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

// subscriptionPayload is SubscriptionRequest, SubscriptionIdleState and SubscriptionPayment.
type subscriptionPayload struct {
	Data struct {
		Sender string `json:"sender"`
	} `json:"subscriptionData"`
}

// check checks that the actor pays, or is asked to pay, by a contract of a template.
func (w *Subscriptions) check(ctx context.Context, actor Actor, contractID, name string) error {
	var p subscriptionPayload
	if err := w.visible(ctx, actor.Party, contractID, name, &p); err != nil {
		return err
	}
	if p.Data.Sender != actor.Party {
		return notFound("No such subscription: %.80s", contractID)
	}
	return nil
}

// Accept accepts a SubscriptionRequest of the actor and makes the first payment, which
// is the contract of the result: its coins are locked until they are collected. ErrFunds means
// that the wallet has too little. A repetition within 24 hours has the result of the first.
func (w *Subscriptions) Accept(ctx context.Context, actor Actor, contractID string) (Done, error) {
	return repeatable(ctx, w.coins.tracking, "subscription-accept", actor.Party, contractID, func(attempt) (Done, error) {
		if err := w.check(ctx, actor, contractID, template.SubscriptionRequest); err != nil {
			return Done{}, err
		}
		return w.coins.executeFor(ctx, actor, batch{operation: operation{"CO_SubscriptionAcceptAndMakeInitialPayment", contractID}})
	})
}

// Reject rejects a SubscriptionRequest of the actor.
func (w *Subscriptions) Reject(ctx context.Context, actor Actor, contractID string) (Done, error) {
	if err := w.check(ctx, actor, contractID, template.SubscriptionRequest); err != nil {
		return Done{}, err
	}
	return w.exercise(ctx, actor.Party, template.SubscriptionRequest, contractID, "SubscriptionRequest_Reject", noArgument)
}

// Cancel ends a subscription of the actor, by its SubscriptionIdleState: one that is being paid
// for cannot be cancelled.
func (w *Subscriptions) Cancel(ctx context.Context, actor Actor, contractID string) (Done, error) {
	if err := w.check(ctx, actor, contractID, template.SubscriptionIdleState); err != nil {
		return Done{}, err
	}
	return w.exercise(ctx, actor.Party, template.SubscriptionIdleState, contractID, "SubscriptionIdleState_CancelSubscription", noArgument)
}

// Subscription is a SubscriptionIdleState: a subscription between two payments.
type Subscription struct {
	ID, Sender, Description string
	// Amount is what a payment costs, in AmuletUnit or USDUnit.
	Amount decimal.Decimal
	Unit   string
	// Due is when the next payment is due; it may be made from Open on.
	Open, Due time.Time
}

// Coins is what a payment costs in coins of a price in dollars.
func (s *Subscription) Coins(price decimal.Decimal) decimal.Decimal {
	if s.Unit == "USDUnit" {
		return s.Amount.Over(price)
	}
	return s.Amount
}

// idlePayload is SubscriptionIdleState.
type idlePayload struct {
	Data struct {
		Sender      string `json:"sender"`
		Description string `json:"description"`
	} `json:"subscriptionData"`
	Pay struct {
		Amount struct {
			Amount decimal.Decimal `json:"amount"`
			Unit   string          `json:"unit"`
		} `json:"paymentAmount"`
		Duration struct {
			Microseconds int64 `json:"microseconds,string"`
		} `json:"paymentDuration"`
	} `json:"payData"`
	Due time.Time `json:"nextPaymentDueAt"`
}

// List are those that some parties pay for and that no payment is being made for, oldest
// first.
func (w *Subscriptions) List(ctx context.Context, parties ...string) ([]Subscription, error) {
	return listed(ctx, w.reader, ContractQuery{Parties: parties, Templates: []string{template.SubscriptionIdleState}}, func(c *Contract, p *idlePayload) (Subscription, bool) {
		return Subscription{
			ID: c.ID, Sender: p.Data.Sender, Description: p.Data.Description, Amount: p.Pay.Amount.Amount, Unit: p.Pay.Amount.Unit,
			Open: p.Due.Add(-time.Duration(p.Pay.Duration.Microseconds) * time.Microsecond), Due: p.Due,
		}, true
	})
}

// Pay makes the next payment of a subscription of the actor, which is the contract of
// the result. ErrFunds means that the wallet has too little.
func (w *Subscriptions) Pay(ctx context.Context, actor Actor, contractID string) (Done, error) {
	return w.coins.executeFor(ctx, actor, batch{operation: operation{template.OperationSubscriptionMakePayment, contractID}})
}
