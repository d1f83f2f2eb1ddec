package validator

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// names are names of the name service.
type names struct{ reader *reader }

// operations are those of names of the name service.
func (n *names) operations() []operation {
	return []operation{
		{method: "POST", path: "/v0/entry/create", name: "request_name", write: true, handle: requestName},
		{method: "GET", path: "/v0/entry/all", name: "names", handle: n.list},
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
	_, terms, err := n.reader.subscriptions(ctx, c, template.SubscriptionIdleState, template.SubscriptionPayment)
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
