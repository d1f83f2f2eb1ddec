package walletapi

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Contract is a contract as the interface shows it.
type Contract struct {
	ID       string          `json:"contract_id"`
	Template string          `json:"template_id"`
	Created  string          `json:"created_at"`
	Payload  json.RawMessage `json:"payload"`
}

// withState is a contract in one more object. Contracts of lists that have no state decode into it,
// too: see listed.
type withState struct {
	Contract     Contract `json:"contract"`
	Synchronizer string   `json:"domain_id"`
	Hosted       *bool    `json:"beneficiary_hosted"`
}

// listed is a contract of a list, with or without its state.
type listed struct{ withState }

// UnmarshalJSON takes either form.
func (l *listed) UnmarshalJSON(raw []byte) error {
	if err := json.Unmarshal(raw, &l.withState); err != nil {
		return err
	}
	if l.Contract.ID == "" {
		return json.Unmarshal(raw, &l.Contract)
	}
	return nil
}

func (c *Contract) decode(into any) error {
	if err := json.Unmarshal(c.Payload, into); err != nil {
		return fmt.Errorf("reading contract %s: %w", c.ID, err)
	}
	return nil
}

// instant reads a time, 0 for what is none.
func instant(text string) schemas.Micros {
	at, err := schemas.ParseTime(text)
	if err != nil {
		return 0
	}
	return at
}

// updateOf is the id of the update that an event is of.
func updateOf(event string) string {
	id, _, _ := strings.Cut(event, ":")
	return id
}

// list asks for a list of contracts, in the member of that name.
func (u *User) list(ctx context.Context, path, member string) ([]listed, error) {
	var answer map[string]json.RawMessage
	if err := u.call(ctx, "GET", path, nil, &answer); err != nil {
		return nil, err
	}
	var contracts []listed
	if err := json.Unmarshal(answer[member], &contracts); err != nil {
		return nil, fmt.Errorf("reading the list %s: %w", path, err)
	}
	return contracts, nil
}

// Amount is a decimal with its unit.
type Amount struct {
	Amount string `json:"amount"`
	Unit   string `json:"unit"`
}

// InDollars says that the amount is in USD, else it is in coins.
func (a Amount) InDollars() bool { return a.Unit == "USDUnit" }

// Item is something that the user may have to decide on: an offer, a transfer, a request, a delegation.
type Item struct {
	ID      string
	Created schemas.Micros
	// From and To are the parties, of which the user is one; either may be "".
	From, To string
	Amount   Amount
	Text     string
	Expires  schemas.Micros
	// Tracking is the id that the sender has given, "" if there is none.
	Tracking string
	// More are further facts, as label and text by turns.
	More []string
	// Version is that of the token standard, where there are several.
	Version int
}

// itemPayload has the fields of all templates that items are made of; each has some of them.
type itemPayload struct {
	Sender      string     `json:"sender"`
	Receiver    string     `json:"receiver"`
	Provider    string     `json:"provider"`
	Amount      flexAmount `json:"amount"`
	Description string     `json:"description"`
	Expires     string     `json:"expiresAt"`
	Tracking    string     `json:"trackingId"`
	Reason      string     `json:"reason"`
}

// flexAmount is an amount with a unit, or a decimal alone.
type flexAmount struct{ Amount }

// UnmarshalJSON takes either form; an amount of another form stays empty.
func (a *flexAmount) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, &a.Amount.Amount) == nil {
		return nil
	}
	return json.Unmarshal(raw, &a.Amount)
}

// items lists contracts as items; fill adds what is special about a template.
func (u *User) items(ctx context.Context, path, member string, fill func(*Item, *listed) error) ([]Item, error) {
	contracts, err := u.list(ctx, path, member)
	if err != nil {
		return nil, err
	}
	list := make([]Item, len(contracts))
	for i := range contracts {
		c := &contracts[i]
		list[i] = Item{ID: c.Contract.ID, Created: instant(c.Contract.Created)}
		if err := fill(&list[i], c); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// plain fills an item from the fields that most templates share.
func plain(i *Item, c *listed) error {
	var p itemPayload
	if err := c.Contract.decode(&p); err != nil {
		return err
	}
	i.From, i.To, i.Amount, i.Text, i.Expires, i.Tracking = p.Sender, p.Receiver, p.Amount.Amount, p.Description, instant(p.Expires), p.Tracking
	return nil
}
