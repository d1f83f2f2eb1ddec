package wallet

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// LegSide is what a transfer of a settlement means to the actor.
type LegSide struct {
	LegID string
	Sends bool // else the actor receives
	// Other is the party on the other side.
	Other  string
	Amount decimal.Decimal
	Meta   map[string]string
}

// SidesRequest is what a settlement means to the actor, by the second version of the standard.
type SidesRequest struct {
	Executors      []string // parties
	Reference      Reference
	Deadline       time.Time // zero for none
	SettlementMeta map[string]string
	Sides          []LegSide
	// Next is what another settlement after this one needs, by instrument; nil if none follows.
	Next      map[string]decimal.Decimal
	Committed bool
	Meta      map[string]string
}

// needs is what must be locked for it, in coins: what the actor sends beyond what it receives, and what
// another settlement needs.
func (r *SidesRequest) needs() decimal.Decimal {
	sum := r.Next[template.CoinInstrument]
	for _, s := range r.Sides {
		if s.Sends {
			sum = sum.Plus(s.Amount)
		} else {
			sum = sum.Minus(s.Amount)
		}
	}
	if sum.Sign() < 0 {
		return decimal.Decimal{}
	}
	return sum
}

func (r *SidesRequest) check(at time.Time) error {
	if len(r.Executors) == 0 {
		return invalid("a settlement has an executor at least")
	}
	if !r.Deadline.IsZero() && !r.Deadline.After(at) {
		return invalid("settlement_deadline must be in the future, not %s", timestamp(r.Deadline))
	}
	parties := slices.Clone(r.Executors)
	for _, s := range r.Sides {
		if s.Amount.Sign() <= 0 {
			return invalid("amount must be positive, not %s", s.Amount)
		}
		parties = append(parties, s.Other)
	}
	for instrument, amount := range r.Next {
		if instrument != template.CoinInstrument || amount.Sign() < 0 {
			return invalid("next_iteration_funding must be of instrument %s, and not negative", template.CoinInstrument)
		}
	}
	if !r.needs().Storable() {
		return invalid("the amounts must have at most 28 digits before the point together")
	}
	for _, party := range parties {
		if err := checkParty(party); err != nil {
			return err
		}
	}
	return nil
}

// sameSidesFor is how long an equal request is a repetition.
const sameSidesFor = 5 * time.Minute

// AllocateSides locks coins for what the actor sends in a settlement, by the second version of the
// standard. An equal request within 5 minutes has the result of the first.
func (w *Allocations) AllocateSides(ctx context.Context, actor Actor, r SidesRequest) (AllocationResult, error) {
	at, err := w.network.Now(ctx)
	if err != nil {
		return AllocationResult{}, err
	}
	if err := r.check(at); err != nil {
		return AllocationResult{}, err
	}
	return repeatableFor(ctx, w.tracking, sameSidesFor, "allocation-v2", actor.Party, fmt.Sprint(r), func(a attempt) (AllocationResult, error) {
		return w.inTurn(ctx, actor, func(ctx context.Context) (AllocationResult, error) {
			m, err := w.network.Market(ctx)
			if err != nil {
				return AllocationResult{}, err
			}
			extra, err := w.network.stateArgs(ctx)
			if err != nil {
				return AllocationResult{}, err
			}
			return w.allocate(ctx, actor, allocation{
				factory: template.AllocationFactoryV2, extra: extra, amount: r.needs(), commandID: a.commandID, within: sameSidesFor,
				argument: map[string]any{
					"settlement": map[string]any{"executors": r.Executors, "id": r.Reference.ID, "cid": optional(r.Reference.Contract), "meta": metadataOf(r.SettlementMeta)},
					"allocation": r.specification(actor, m.DSO), "requestedAt": timestamp(m.At.Add(-requestedBefore)), "actors": []string{actor.Party},
				},
			})
		})
	})
}

// accountV2 is an Account that has no provider, which is that of its owner alone.
type accountV2 struct {
	Owner    string  `json:"owner"`
	Provider *string `json:"provider"`
	ID       string  `json:"id"`
}

func (r *SidesRequest) specification(actor Actor, admin string) map[string]any {
	sides := make([]map[string]any, len(r.Sides))
	for i, s := range r.Sides {
		side := "ReceiverSide"
		if s.Sends {
			side = "SenderSide"
		}
		sides[i] = map[string]any{
			"transferLegId": s.LegID, "side": side, "otherside": accountV2{Owner: s.Other}, "amount": s.Amount,
			"instrumentId": template.CoinInstrument, "meta": metadataOf(s.Meta),
		}
	}
	spec := map[string]any{
		"admin": admin, "authorizer": accountV2{Owner: actor.Party}, "transferLegSides": sides, "settlementDeadline": nil,
		"nextIterationFunding": nil, "committed": r.Committed, "meta": metadataOf(r.Meta),
	}
	if !r.Deadline.IsZero() {
		spec["settlementDeadline"] = timestamp(r.Deadline)
	}
	if r.Next != nil {
		spec["nextIterationFunding"] = r.Next
	}
	return spec
}

// WithdrawSides gives the actor the coins of an allocation of either version back, by the second
// version of the standard. Who is committed to it has to wait for its deadline: ErrInvalid.
func (w *Allocations) WithdrawSides(ctx context.Context, actor Actor, contractID string) (AllocationResult, error) {
	if err := w.checkOwner(ctx, actor, contractID, template.CoinAllocationV2, template.CoinAllocation); err != nil {
		return AllocationResult{}, err
	}
	extra, err := w.network.stateArgs(ctx)
	if err != nil {
		return AllocationResult{}, err
	}
	return w.end(ctx, actor, template.AllocationV2, contractID, extra, map[string]any{"actors": []string{actor.Party}})
}
