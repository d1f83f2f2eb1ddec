package wallet

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Allocations keeps coins of wallets ready for settlements, by both versions of the token standard.
type Allocations struct {
	*submitter
	tracking *tracker
	network  *Network
	coins    *Coins
}

// Reference says what a settlement is about; Contract is optional.
type Reference struct{ ID, Contract string }

// LegRequest is a transfer by the actor that a settlement makes.
type LegRequest struct {
	Executor  string // party
	Reference Reference
	// RequestedAt is when the settlement was asked for; coins are allocated before AllocateBefore, and
	// it is made before SettleBefore.
	RequestedAt, AllocateBefore, SettleBefore time.Time
	SettlementMeta                            map[string]string
	LegID, Receiver                           string
	Amount                                    decimal.Decimal
	LegMeta                                   map[string]string
}

func (r *LegRequest) check(at time.Time) error {
	if err := checkAmount(r.Amount); err != nil {
		return err
	}
	switch {
	case !r.AllocateBefore.After(at):
		return invalid("allocate_before must be in the future, not %s", timestamp(r.AllocateBefore))
	case r.SettleBefore.Before(r.AllocateBefore):
		return invalid("settle_before must not be earlier than allocate_before")
	}
	if err := checkParty(r.Executor); err != nil {
		return err
	}
	return checkParty(r.Receiver)
}

// AllocationResult is what came of an allocation, or of the end of one.
type AllocationResult struct {
	Done
	// Pending is the allocation instruction that waits, Completed the allocation; both are empty if
	// it failed, or ended.
	Pending, Completed string
	// Holdings are those that the owner has left of the inputs, or has back, by instrument.
	Holdings map[string][]string
	Meta     map[string]string
}

// AllocateLeg locks coins for a leg of a settlement, by the first version of the standard. An equal
// leg of the same settlement within 24 hours has the result of the first.
func (w *Allocations) AllocateLeg(ctx context.Context, actor Actor, r LegRequest) (AllocationResult, error) {
	at, err := w.network.Now(ctx)
	if err != nil {
		return AllocationResult{}, err
	}
	if err := r.check(at); err != nil {
		return AllocationResult{}, err
	}
	id := commandID("leg", r.Executor, r.Reference.ID, r.Reference.Contract, r.LegID)
	return repeatable(ctx, w.tracking, "allocation", actor.Party, id, func(a attempt) (AllocationResult, error) {
		return w.inTurn(ctx, actor, func(ctx context.Context) (AllocationResult, error) {
			m, err := w.network.Market(ctx)
			if err != nil {
				return AllocationResult{}, err
			}
			extra, err := w.network.extraArgs(ctx, m)
			if err != nil {
				return AllocationResult{}, err
			}
			return w.allocate(ctx, actor, allocation{
				factory: template.AllocationFactory, extra: extra, amount: r.Amount, commandID: a.commandID, within: sameFor,
				argument: map[string]any{
					"expectedAdmin": m.DSO, "requestedAt": timestamp(m.At.Add(-requestedBefore)), "allocation": map[string]any{
						"settlement": map[string]any{
							"executor": r.Executor, "settlementRef": map[string]any{"id": r.Reference.ID, "cid": optional(r.Reference.Contract)},
							"requestedAt": timestamp(r.RequestedAt), "allocateBefore": timestamp(r.AllocateBefore), "settleBefore": timestamp(r.SettleBefore),
							"meta": metadataOf(r.SettlementMeta),
						},
						"transferLegId": r.LegID, "transferLeg": map[string]any{
							"sender": actor.Party, "receiver": r.Receiver, "amount": r.Amount, "meta": metadataOf(r.LegMeta),
							"instrumentId": map[string]string{"admin": m.DSO, "id": template.CoinInstrument},
						},
					},
				},
			})
		})
	})
}

// inTurn does something when it is the wallet's turn.
func (w *Allocations) inTurn(ctx context.Context, actor Actor, do func(context.Context) (AllocationResult, error)) (result AllocationResult, err error) {
	err = w.coins.inTurn(ctx, actor.Party, false, func(ctx context.Context) error {
		result, err = do(ctx)
		return err
	})
	return result, err
}

// allocation is a choice that allocates an amount.
type allocation struct {
	factory   string // interface
	argument  map[string]any
	extra     *extraArgs
	amount    decimal.Decimal // of coins that are needed
	commandID string
	within    time.Duration
}

// allocate adds coins to an argument, and submits it.
func (w *Allocations) allocate(ctx context.Context, actor Actor, a allocation) (AllocationResult, error) {
	factory, err := w.network.single(ctx, template.ExternalPartyCoinRules, "rules for external parties")
	if err != nil {
		return AllocationResult{}, err
	}
	inputs := []string{}
	if a.amount.Sign() > 0 {
		if inputs, err = w.coins.holdings(ctx, actor.Party, a.amount); err != nil {
			return AllocationResult{}, err
		}
	}
	a.argument["inputHoldingCids"], a.argument["extraArgs"] = inputs, a.extra
	return w.result(ctx, template.AllocationFactoryAllocate, node.Submission{
		CommandID: a.commandID, DeduplicateFor: a.within, ActAs: []string{actor.Party},
		Commands:  []node.Command{node.Exercise(command(a.factory), factory.ID, template.AllocationFactoryAllocate, a.argument)},
		Disclosed: disclose(append(a.extra.disclosed, &factory)...),
	})
}

// result submits a choice about an allocation and reads its result, of either version.
func (w *Allocations) result(ctx context.Context, choice string, s node.Submission) (AllocationResult, error) {
	tx, done, err := w.submit(ctx, s)
	if err != nil {
		return AllocationResult{}, err
	}
	var result struct {
		stepResult
		Returned  []string            `json:"senderHoldingCids"`
		ChangeV2  map[string][]string `json:"authorizerChangeCids"`
		HoldingV2 map[string][]string `json:"authorizerHoldingCids"`
	}
	if err := tx.Result(choice, &result); err != nil {
		return AllocationResult{}, err
	}
	r := AllocationResult{Done: done, Meta: result.Meta.Values, Holdings: map[string][]string{}}
	for _, of := range []map[string][]string{{template.CoinInstrument: slices.Concat(result.Change, result.Returned)}, result.ChangeV2, result.HoldingV2} {
		for instrument, ids := range of {
			if len(ids) > 0 {
				r.Holdings[instrument] = append(r.Holdings[instrument], ids...)
			}
		}
	}
	var made struct {
		Pending   string `json:"allocationInstructionCid"`
		Completed string `json:"allocationCid"`
	}
	if choice == template.AllocationFactoryAllocate {
		if err := json.Unmarshal(result.Output.Value, &made); err != nil {
			return r, fmt.Errorf("reading the output of %s in update %s: %w", choice, tx.UpdateID, err)
		}
	}
	r.Pending, r.Completed, r.ContractID = made.Pending, made.Completed, made.Completed
	return r, nil
}

// metadataOf is metadata in compact JSON; values may be nil.
func metadataOf(values map[string]string) metadata {
	if values == nil {
		values = map[string]string{}
	}
	return metadata{values}
}

// WithdrawLeg gives the actor the coins of an allocation back, by the first version of the standard.
func (w *Allocations) WithdrawLeg(ctx context.Context, actor Actor, contractID string) (AllocationResult, error) {
	if err := w.checkOwner(ctx, actor, contractID, template.CoinAllocation); err != nil {
		return AllocationResult{}, err
	}
	extra, err := w.network.marketArgs(ctx)
	if err != nil {
		return AllocationResult{}, err
	}
	return w.end(ctx, actor, template.Allocation, contractID, extra, map[string]any{})
}

// end withdraws an allocation.
func (w *Allocations) end(ctx context.Context, actor Actor, name, contractID string, extra *extraArgs, argument map[string]any) (AllocationResult, error) {
	const choice = template.AllocationWithdraw
	extra.Context.Values[template.ContextExpireLock] = anyValue{template.AnyBool, true}
	argument["extraArgs"] = extra
	s := exerciseAs(actor.Party, name, contractID, choice, argument)
	s.Disclosed = disclose(extra.disclosed...)
	return w.result(ctx, choice, s)
}

// allocationPayload has the owner of an AmuletAllocation and that of an AmuletAllocationV2.
type allocationPayload struct {
	Allocation struct {
		Leg struct {
			Sender string `json:"sender"`
		} `json:"transferLeg"`
		Authorizer struct {
			Owner string `json:"owner"`
		} `json:"authorizer"`
	} `json:"allocation"`
}

// checkOwner checks that an allocation of one of some templates is the actor's.
func (w *Allocations) checkOwner(ctx context.Context, actor Actor, contractID string, names ...string) error {
	c, err := w.reader.Contract(ctx, actor.Party, contractID)
	if err != nil {
		return err
	}
	var p allocationPayload
	if slices.ContainsFunc(names, func(name string) bool { return ofTemplate(c.TemplateID, name) }) {
		if err := c.decode(&p); err != nil {
			return err
		}
	}
	if p.Allocation.Leg.Sender != actor.Party && p.Allocation.Authorizer.Owner != actor.Party {
		return notFound("No such allocation: %.80s", contractID)
	}
	return nil
}
