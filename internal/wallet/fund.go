package wallet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Fund gives parts of the development fund away, for its manager.
type Fund struct {
	*submitter
	tracking *tracker
	network  *Network
}

// FundRequest is a part of the development fund that somebody is to get.
type FundRequest struct {
	Beneficiary string // party
	Amount      decimal.Decimal
	ExpiresAt   time.Time
	Reason      string
	// MintAfter is when it can be minted; zero for at once, unless the network asks for a delay.
	MintAfter time.Time
}

// mintAfter is a value in compact JSON, nil for none.
func (r *FundRequest) mintAfter() any {
	if r.MintAfter.IsZero() {
		return nil
	}
	return timestamp(r.MintAfter)
}

// id identifies the request: an equal one is a repetition.
func (r *FundRequest) id() string {
	return fmt.Sprint(r.Beneficiary, "\x00", r.Amount, "\x00", r.ExpiresAt.UnixMicro(), "\x00", r.Reason, "\x00", r.mintAfter())
}

func (r *FundRequest) check(at time.Time) error {
	if err := checkAmount(r.Amount); err != nil {
		return err
	}
	switch {
	case !r.ExpiresAt.After(at):
		return invalid("expiresAt must be in the future, not %s", timestamp(r.ExpiresAt))
	case !r.MintAfter.IsZero() && !r.MintAfter.After(at):
		return invalid("mintAfter must be in the future, not %s", timestamp(r.MintAfter))
	case !r.MintAfter.Before(r.ExpiresAt):
		return invalid("mintAfter must be before expiresAt, or nobody could mint the coupon")
	}
	return checkParty(r.Beneficiary)
}

// Allocated is a coupon that was given away.
type Allocated struct {
	Done
	// Rest is the UnclaimedDevelopmentFundCoupon of what the fund has left of those that were used,
	// "" for nothing.
	Rest string
}

// Allocate gives a part of the fund away. The contract of the result is the
// DevelopmentFundCoupon. An actor who is not the manager, or a fund with too little, is
// ErrInvalid. An equal request within 24 hours has the result of the first.
func (w *Fund) Allocate(ctx context.Context, actor Actor, r FundRequest) (Allocated, error) {
	at, err := w.network.Now(ctx)
	if err != nil {
		return Allocated{}, err
	}
	if err := r.check(at); err != nil {
		return Allocated{}, err
	}
	return repeatable(ctx, w.tracking, "fund", actor.Party, r.id(), func(a attempt) (done Allocated, err error) {
		err = w.untilFresh(ctx, func(ctx context.Context) error {
			done, err = w.allocate(ctx, actor, r, a)
			return err
		})
		return done, err
	})
}

func (w *Fund) allocate(ctx context.Context, actor Actor, r FundRequest, a attempt) (done Allocated, err error) {
	m, err := w.network.Market(ctx)
	if err != nil {
		return done, err
	}
	if manager := m.Config().FundManager; manager != actor.Party {
		return done, invalid("The manager of the development fund is %q, not %s", manager, actor.Party)
	}
	unclaimed, err := w.unclaimed(ctx, r.Amount)
	if err != nil {
		return done, err
	}
	ids, disclosed := make([]string, len(unclaimed)), []*Contract{&m.Rules}
	for i := range unclaimed {
		ids[i], disclosed = unclaimed[i].ID, append(disclosed, &unclaimed[i])
	}
	const choice = "AmuletRules_AllocateDevelopmentFundCoupon"
	argument := map[string]any{
		"unclaimedDevelopmentFundCouponCids": ids, "beneficiary": r.Beneficiary, "amount": r.Amount, "expiresAt": timestamp(r.ExpiresAt),
		"reason": r.Reason, "fundManager": actor.Party, "mintAfter": r.mintAfter(),
	}
	tx, made, err := w.submit(ctx, node.Submission{
		CommandID: a.commandID, DeduplicateFor: sameFor, ActAs: []string{actor.Party}, Disclosed: disclose(disclosed...),
		Commands: []node.Command{node.Exercise(command(template.CoinRules), m.Rules.ID, choice, argument)},
	})
	if err != nil {
		return done, err
	}
	var result struct {
		Coupon string  `json:"developmentFundCouponCid"`
		Rest   *string `json:"optUnclaimedDevelopmentFundCouponCid"`
	}
	err = tx.Result(choice, &result)
	done.Done, done.ContractID = made, result.Coupon
	if result.Rest != nil {
		done.Rest = *result.Rest
	}
	return done, err
}

// unclaimed are the largest coupons of the fund, as many as it takes for an amount.
func (w *Fund) unclaimed(ctx context.Context, amount decimal.Decimal) ([]Contract, error) {
	contracts, err := w.network.public.Public(ctx, "", template.UnclaimedDevelopmentFundCoupon)
	if err != nil {
		return nil, fmt.Errorf("reading the unclaimed coupons of the development fund: %w", err)
	}
	type coupon struct {
		contract Contract
		amount   decimal.Decimal
	}
	coupons := make([]coupon, len(contracts))
	for i := range contracts {
		var p couponPayload
		if err := contracts[i].decode(&p); err != nil {
			return nil, err
		}
		coupons[i] = coupon{contracts[i], p.Amount}
	}
	slices.SortFunc(coupons, func(a, b coupon) int {
		return cmp.Or(b.amount.Cmp(a.amount), cmp.Compare(a.contract.ID, b.contract.ID))
	})
	var taken []Contract
	missing := amount
	for _, c := range coupons {
		taken = append(taken, c.contract)
		if missing = missing.Minus(c.amount); missing.Sign() <= 0 {
			return taken, nil
		}
	}
	return nil, invalid("The development fund has %s CC less than %s", missing, amount)
}

// Withdraw takes back a DevelopmentFundCoupon that the actor has given away. The contract of the
// result is the UnclaimedDevelopmentFundCoupon that it becomes.
func (w *Fund) Withdraw(ctx context.Context, actor Actor, contractID, reason string) (Done, error) {
	var p couponPayload
	if err := w.visible(ctx, actor.Party, contractID, template.DevelopmentFundCoupon, &p); err != nil {
		return Done{}, err
	}
	if p.FundManager != actor.Party {
		return Done{}, notFound("No such coupon of the development fund: %.80s", contractID)
	}
	s := exerciseAs(actor.Party, template.DevelopmentFundCoupon, contractID, template.DevelopmentFundCouponWithdraw, reasonArgument{reason})
	return w.submitFor(ctx, s, template.DevelopmentFundCouponWithdraw, "unclaimedDevelopmentFundCouponCid")
}
