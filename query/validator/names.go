package validator

import (
	"context"

	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// subscriptionsPath is where requests to pay regularly are.
const subscriptionsPath = "/v0/wallet/subscription-requests"

// names are names of the name service.
type names struct{ reader *reader }

// operations are those of names of the name service, and of the subscriptions that pay for them.
func (n *names) operations() []operation {
	return []operation{
		{method: "POST", path: "/v0/entry/create", name: "request_name", write: true, handle: requestName},
		{method: "GET", path: "/v0/entry/all", name: "names", handle: n.list},
		{method: "GET", path: subscriptionsPath, name: "subscription_requests", handle: n.statesOfSender("subscription_requests", template.SubscriptionRequest)},
		{method: "GET", path: subscriptionsPath + "/{contract_id}", name: "subscription_request", handle: byPath(n.subscriptionRequest)},
		{method: "POST", path: subscriptionsPath + "/{contract_id}/accept", name: "accept_subscription", write: true, handle: byPath(acceptSubscription)},
		{method: "POST", path: subscriptionsPath + "/{contract_id}/reject", name: "reject_subscription", write: true, handle: byPath(rejectSubscription)},
		{method: "GET", path: "/v0/wallet/subscription-initial-payments", name: "initial_payments", handle: n.statesOfSender("initial_payments", template.SubscriptionInitialPayment)},
	}
}

// Longest texts of a name, in bytes; the rules of the name service say the rest.
const (
	maxName            = 100
	maxNameURL         = 255
	maxNameDescription = 140
)

func requestName(ctx context.Context, c *caller) error {
	p := c.Body()
	r := wallet.NameRequest{
		Name: textOf(p, "name", 1, maxName), URL: textOf(p, "url", 0, maxNameURL), Description: textOf(p, "description", 0, maxNameDescription),
	}
	if err := p.Err(); err != nil {
		return err
	}
	done, err := c.commands.Subscriptions.RequestName(ctx, c.actor(), r)
	if err != nil {
		return refused(err)
	}
	changed(c, done.Done)
	return c.JSON(struct {
		Context      string `json:"entryContextCid"`
		Subscription string `json:"subscriptionRequestCid"`
		Name         string `json:"name"`
		URL          string `json:"url"`
		Description  string `json:"description"`
	}{done.Context, done.Subscription, r.Name, r.URL, r.Description})
}

func acceptSubscription(ctx context.Context, c *caller, contractID string) error {
	done, err := c.commands.Subscriptions.Accept(ctx, c.actor(), contractID)
	return contractAnswer(c, "initial_payment_contract_id", done, err)
}

func rejectSubscription(ctx context.Context, c *caller, contractID string) error {
	done, err := c.commands.Subscriptions.Reject(ctx, c.actor(), contractID)
	return empty(c, done, err)
}

// subscription is what the contracts of a subscription have in common. Reference is the request
// that it began with, which the request itself does not tell.
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
	Reference string `json:"reference"`
}

// relTime is a stretch of time in the compact encoding of values.
type relTime struct {
	Microseconds string `json:"microseconds"`
}

// subscriptions lists contracts of templates by which the caller pays.
func (n *names) subscriptions(ctx context.Context, c *caller, most int, templates ...string) (list []contract, terms []subscription, err error) {
	q := wallethistory.Query{Parties: []string{c.party}, Templates: templates}
	list, err = n.reader.contracts(ctx, q, most, func(candidate *contract) (bool, error) {
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

// statesOfSender makes the handler of a list of contracts by which the caller pays.
func (n *names) statesOfSender(member, template string) func(context.Context, *caller) error {
	return func(ctx context.Context, c *caller) error {
		list, _, err := n.subscriptions(ctx, c, maxListed, template)
		if err != nil {
			return err
		}
		return c.JSON(map[string][]query.ContractState{member: statesOf(list)})
	}
}

func (n *names) subscriptionRequest(ctx context.Context, c *caller, contractID string) error {
	list, _, err := n.subscriptions(ctx, c, maxListed, template.SubscriptionRequest)
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].Event.ContractID == contractID {
			return c.JSON(map[string]query.ContractState{"subscription_request": list[i].withState()})
		}
	}
	return query.Errorf(query.NotFound, "No such subscription request: %.80s", contractID)
}

// nameEntry is a name with the terms of the subscription that pays for it.
type nameEntry struct {
	ContractID string          `json:"contractId"`
	Name       string          `json:"name"`
	Amount     decimal.Decimal `json:"amount"`
	Unit       string          `json:"unit"`
	ExpiresAt  string          `json:"expiresAt"`
	Interval   string          `json:"paymentInterval"`
	Duration   string          `json:"paymentDuration"`
}

// list lists the names of the caller that a subscription pays for.
func (n *names) list(ctx context.Context, c *caller) error {
	terms, err := n.terms(ctx, c)
	if err != nil {
		return err
	}
	entries, err := n.reader.ofParty(ctx, c, maxListed, template.NameEntry, "user")
	if err != nil {
		return err
	}
	list := []nameEntry{}
	for i := range entries {
		var p struct{ Name, ExpiresAt string }
		if err := entries[i].decode(&p); err != nil {
			return err
		}
		s, paid := terms[p.Name]
		if !paid {
			continue
		}
		list = append(list, nameEntry{
			ContractID: entries[i].Event.ContractID, Name: p.Name, Amount: s.Pay.Amount.Amount, Unit: s.Pay.Amount.Unit, ExpiresAt: p.ExpiresAt,
			Interval: s.Pay.Interval.Microseconds, Duration: s.Pay.Duration.Microseconds,
		})
	}
	return c.JSON(map[string][]nameEntry{"entries": list})
}

// terms are the terms of the caller's subscriptions, between two payments or in the midst
// of one, by the name that they pay for.
func (n *names) terms(ctx context.Context, c *caller) (map[string]subscription, error) {
	_, terms, err := n.subscriptions(ctx, c, maxListed, template.SubscriptionIdleState, template.SubscriptionPayment)
	if err != nil {
		return nil, err
	}
	byReference := make(map[string]subscription, len(terms))
	for _, s := range terms {
		byReference[s.Reference] = s
	}
	contexts, err := n.reader.ofParty(ctx, c, maxListed, template.NameEntryContext, "user")
	if err != nil {
		return nil, err
	}
	byName := make(map[string]subscription, len(contexts))
	for i := range contexts {
		var p struct{ Name, Reference string }
		if err := contexts[i].decode(&p); err != nil {
			return nil, err
		}
		if s, ok := byReference[p.Reference]; ok {
			byName[p.Name] = s
		}
	}
	return byName, nil
}
