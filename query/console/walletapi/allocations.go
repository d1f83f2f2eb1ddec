package walletapi

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// leg is a transfer of a settlement. The two versions of the token standard write parties differently.
type leg struct {
	Sender   account `json:"sender"`
	Receiver account `json:"receiver"`
	Other    account `json:"otherside"`
	Side     string  `json:"side"`
	Amount   string  `json:"amount"`
	LegID    string  `json:"transferLegId"`
	Meta     meta    `json:"meta"`
}

// meta is what is said beside a settlement or a leg; an allocation must repeat it.
type meta struct {
	Values map[string]string `json:"values"`
}

// account is a party, or an account of one.
type account string

// UnmarshalJSON takes either form.
func (a *account) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, (*string)(a)) == nil {
		return nil
	}
	var owned struct {
		Owner string `json:"owner"`
	}
	err := json.Unmarshal(raw, &owned)
	*a = account(owned.Owner)
	return err
}

func (m meta) texts() map[string]string {
	if m.Values == nil {
		return map[string]string{}
	}
	return m.Values
}

// settlement is what an allocation is for.
type settlement struct {
	Executor  account   `json:"executor"`
	Executors []account `json:"executors"`
	Reference struct {
		ID  string `json:"id"`
		CID string `json:"cid"`
	} `json:"settlementRef"`
	Requested      string `json:"requestedAt"`
	AllocateBefore string `json:"allocateBefore"`
	SettleBefore   string `json:"settleBefore"`
	Meta           meta   `json:"meta"`
}

func (s *settlement) fill(i *Item) {
	i.Text, i.Expires = s.Reference.ID, instant(s.SettleBefore)
	for _, executor := range append([]account{s.Executor}, s.Executors...) {
		if executor != "" {
			i.More = append(i.More, "Settled by", string(executor))
		}
	}
	if s.AllocateBefore != "" {
		i.More = append(i.More, "To be allocated before", s.AllocateBefore)
	}
}

// Allocations are coins of the user that are locked for settlements.
func (u *User) Allocations(ctx context.Context) ([]Item, error) {
	return u.items(ctx, "/v0/allocations", "allocations", func(i *Item, c *listed) error {
		var p struct {
			Settlement settlement `json:"settlement"`
			Allocation struct {
				Settlement settlement `json:"settlement"`
				Leg        leg        `json:"transferLeg"`
				LegID      string     `json:"transferLegId"`
				Sides      []leg      `json:"transferLegSides"`
				Deadline   string     `json:"settlementDeadline"`
				Committed  bool       `json:"committed"`
			} `json:"allocation"`
		}
		if err := c.Contract.decode(&p); err != nil {
			return err
		}
		a := &p.Allocation
		s := &a.Settlement
		if s.Reference.ID == "" {
			s = &p.Settlement
		}
		s.fill(i)
		i.To, i.Amount.Amount, i.Version = string(a.Leg.Receiver), a.Leg.Amount, 1
		if a.LegID != "" {
			i.More = append(i.More, "Leg", a.LegID)
		}
		if isSecond(c.Contract.Template) {
			i.Version, i.Expires = 2, instant(a.Deadline)
		}
		for _, side := range a.Sides {
			i.More = append(i.More, "Leg "+side.LegID, fmt.Sprintf("%s coins %s %s", side.Amount, direction(side.Side), side.Other))
		}
		if a.Committed {
			i.More = append(i.More, "Committed", "it cannot be withdrawn before the deadline")
		}
		return nil
	})
}

func direction(side string) string {
	if side == "ReceiverSide" {
		return "from"
	}
	return "to"
}

// AllocationRequest is a request of an app for coins to be locked for a settlement.
type AllocationRequest struct {
	Item
	// Legs are those of which the user is the sender, by id. They can be allocated here if the request is of
	// the first version of the token standard.
	Legs       []RequestedLeg
	settlement settlement
}

// RequestedLeg is a transfer of the user's coins that a request asks for.
type RequestedLeg struct {
	ID, Receiver, Amount string
	meta                 meta
}

// AllocationRequests are those of apps to a party, which is the user's.
func (u *User) AllocationRequests(ctx context.Context, party string) ([]AllocationRequest, error) {
	contracts, err := u.list(ctx, "/v0/wallet/token-standard/allocation-requests", "allocation_requests")
	if err != nil {
		return nil, err
	}
	requests := make([]AllocationRequest, len(contracts))
	for n := range contracts {
		c, r := &contracts[n].Contract, &requests[n]
		var p struct {
			Settlement settlement      `json:"settlement"`
			Legs       json.RawMessage `json:"transferLegs"`
		}
		if err := c.decode(&p); err != nil {
			return nil, err
		}
		r.ID, r.Created, r.settlement, r.Version = c.ID, instant(c.Created), p.Settlement, 1
		p.Settlement.fill(&r.Item)
		if isSecond(c.Template) {
			r.Version = 2
			continue
		}
		var legs map[string]leg
		if err := json.Unmarshal(p.Legs, &legs); err != nil {
			return nil, fmt.Errorf("reading the legs of contract %s: %w", c.ID, err)
		}
		for id, l := range legs {
			if string(l.Sender) == party {
				r.Legs = append(r.Legs, RequestedLeg{ID: id, Receiver: string(l.Receiver), Amount: l.Amount, meta: l.Meta})
			}
		}
	}
	return requests, nil
}

// Allocate locks coins for a leg of a request of the first version.
func (u *User) Allocate(ctx context.Context, r *AllocationRequest, l RequestedLeg) error {
	s := &r.settlement
	micros := func(text string) int64 { return int64(instant(text)) }
	reference := map[string]string{"id": s.Reference.ID}
	if s.Reference.CID != "" {
		reference["cid"] = s.Reference.CID
	}
	return u.call(ctx, "POST", "/v0/allocations", map[string]any{
		"settlement": map[string]any{
			"executor": string(s.Executor), "settlement_ref": reference, "requested_at": micros(s.Requested),
			"allocate_before": micros(s.AllocateBefore), "settle_before": micros(s.SettleBefore), "meta": s.Meta.texts(),
		},
		"transfer_leg_id": l.ID, "transfer_leg": map[string]any{"receiver": l.Receiver, "amount": l.Amount, "meta": l.meta.texts()},
	}, nil)
}

// Due is when a request must be allocated, 0 if it does not say.
func (r *AllocationRequest) Due() schemas.Micros { return instant(r.settlement.AllocateBefore) }
