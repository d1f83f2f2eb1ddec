package validator

import (
	"context"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Where requests to pay regularly are, and subscriptions.
const (
	subscriptionRequestsPath = "/v0/wallet/subscription-requests"
	subscriptionsPath        = "/v0/wallet/subscriptions"
)

// subscriptions are regular payments, such as those for names.
type subscriptions struct{ reader *reader }

// operations are those of a user who pays. The network cancels a subscription below the path of
// requests, by the id of its idle state.
func (s *subscriptions) operations() []operation {
	return []operation{
		{method: "GET", path: subscriptionRequestsPath, name: "subscription_requests", handle: s.lists("subscription_requests", template.SubscriptionRequest)},
		{method: "GET", path: subscriptionRequestsPath + "/{contract_id}", name: "subscription_request", handle: byPath(s.request)},
		{method: "POST", path: subscriptionRequestsPath + "/{contract_id}/accept", name: "accept_subscription", write: true, handle: byPath(acceptSubscription)},
		{method: "POST", path: subscriptionRequestsPath + "/{contract_id}/reject", name: "reject_subscription", write: true, handle: byPath(rejectSubscription)},
		{method: "GET", path: "/v0/wallet/subscription-initial-payments", name: "initial_payments", handle: s.lists("initial_payments", template.SubscriptionInitialPayment)},
		{method: "GET", path: subscriptionsPath, name: "subscriptions", handle: s.running},
		{method: "DELETE", path: subscriptionRequestsPath + "/{contract_id}", name: "cancel_subscription", write: true, handle: byPath(cancelSubscription)},
		{method: "DELETE", path: subscriptionsPath + "/{contract_id}", name: "cancel_subscription_by_its_own_path", write: true, handle: byPath(cancelSubscription)},
	}
}

func acceptSubscription(ctx context.Context, c *caller, contractID string) error {
	done, err := c.commands.Subscriptions.Accept(ctx, c.actor(), contractID)
	return contractAnswer(c, "initial_payment_contract_id", done, err)
}

func rejectSubscription(ctx context.Context, c *caller, contractID string) error {
	done, err := c.commands.Subscriptions.Reject(ctx, c.actor(), contractID)
	return empty(c, done, err)
}

func cancelSubscription(ctx context.Context, c *caller, contractID string) error {
	done, err := c.commands.Subscriptions.Cancel(ctx, c.actor(), contractID)
	return empty(c, done, err)
}

// subscription is what the contracts of a subscription have in common. Reference is the request
// that it began with, which the request itself does not tell; Subscription is the contract of
// which an idle state or a payment is the state.
type subscription struct {
	Data struct {
		Sender string `json:"sender"`
	} `json:"subscriptionData"`
	Pay struct {
		Amount struct {
			Amount decimal.Decimal `json:"amount"`
			Unit   string          `json:"unit"`
		} `json:"paymentAmount"`
		Interval relTime `json:"paymentInterval"`
		Duration relTime `json:"paymentDuration"`
	} `json:"payData"`
	Reference    string `json:"reference"`
	Subscription string `json:"subscription"`
}

// relTime is a stretch of time in the compact encoding of values.
type relTime struct {
	Microseconds string `json:"microseconds"`
}

// subscriptions lists contracts of templates by which the caller pays.
func (r *reader) subscriptions(ctx context.Context, c *caller, templates ...string) (list []contract, terms []subscription, err error) {
	q := wallethistory.Query{Parties: []string{c.party}, Templates: templates}
	list, err = r.contracts(ctx, q, maxListed, func(candidate *contract) (bool, error) {
		var s subscription
		err := candidate.decode(&s)
		if s.Data.Sender != c.party {
			return false, err
		}
		terms = append(terms, s)
		return true, err
	})
	return list, terms, err
}

// lists makes the handler of a list of contracts by which the caller pays.
func (s *subscriptions) lists(member, template string) func(context.Context, *caller) error {
	return func(ctx context.Context, c *caller) error {
		list, _, err := s.reader.subscriptions(ctx, c, template)
		if err != nil {
			return err
		}
		return c.JSON(map[string][]*query.ContractView{member: viewsOf(list)})
	}
}

func (s *subscriptions) request(ctx context.Context, c *caller, contractID string) error {
	request, err := s.reader.one(ctx, c, contractID, template.SubscriptionRequest, func(candidate *contract) (bool, error) {
		var s subscription
		err := candidate.decode(&s)
		return s.Data.Sender == c.party, err
	})
	if err != nil {
		return err
	}
	return c.JSON(request.view())
}

// runningSubscription is a subscription and what it waits for: its next payment, or for one to be
// collected.
type runningSubscription struct {
	Subscription *query.ContractView `json:"subscription"`
	State        struct {
		Idle    *query.ContractView `json:"idle,omitempty"`
		Payment *query.ContractView `json:"payment,omitempty"`
	} `json:"state"`
}

// running lists the caller's subscriptions. One whose state is not known is left out.
func (s *subscriptions) running(ctx context.Context, c *caller) error {
	list, terms, err := s.reader.subscriptions(ctx, c, template.Subscription, template.SubscriptionIdleState, template.SubscriptionPayment)
	if err != nil {
		return err
	}
	states := map[string]*contract{}
	for i := range list {
		states[terms[i].Subscription] = &list[i]
	}
	running := []runningSubscription{}
	for i := range list {
		state := states[list[i].Event.ContractID]
		if list[i].Template != template.Subscription || state == nil {
			continue
		}
		entry := runningSubscription{Subscription: list[i].view()}
		if state.Template == template.SubscriptionIdleState {
			entry.State.Idle = state.view()
		} else {
			entry.State.Payment = state.view()
		}
		running = append(running, entry)
	}
	return c.JSON(map[string][]runningSubscription{"subscriptions": running})
}
