package wallet

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// largestTap is the most that a development network mints at a time, in coins.
var largestTap = decimal.FromInt(100_000_000)

// Tap mints coins worth so many dollars, on a development network: the amount is divided by
// the coin's price and rounded up. The contract of the result is the new coin. Two taps of
// one user with the same command id, unless it is "", are one; the second is ErrConflict.
func (w *Wallet) Tap(ctx context.Context, actor Actor, dollars decimal.Decimal, commandID string) (done Done, err error) {
	if dollars.Sign() <= 0 || !dollars.Storable() {
		return done, invalid("amount must be positive and have at most 28 digits before the point, it is %s", dollars)
	}
	m, err := w.devNet(ctx)
	if err != nil {
		return done, err
	}
	amount := dollars.OverUp(m.Price)
	if largestTap.Less(amount) {
		return done, invalid("amount must not exceed %s CC, it is worth %s", largestTap, amount)
	}
	b := batch{operation: operation{"CO_Tap", map[string]any{"tapAmount": amount}}, withoutFunds: true}
	tap := func(a attempt) error {
		b.once = a
		if a.commandID != "" {
			b.within = sameFor
		}
		value, d, err := w.execute(ctx, actor, b)
		if err != nil {
			return err
		}
		done = d
		done.ContractID, err = contractIn(value)
		return err
	}
	if commandID == "" {
		return done, tap(attempt{})
	}
	return done, w.once(ctx, "tap", actor.Party, commandID, nil, tap)
}

// devNet returns the market of a development network; ErrDisabled on any other.
func (w *Wallet) devNet(ctx context.Context) (*Market, error) {
	m, err := w.Market(ctx)
	if err == nil && !m.DevNet {
		return nil, fail(ErrDisabled, "this is possible on a development network only")
	}
	return m, err
}

// GrantFeaturedRight makes the actor a featured app provider, on a development network. The
// contract of the result is the FeaturedAppRight; one that is there already is returned.
func (w *Wallet) GrantFeaturedRight(ctx context.Context, actor Actor) (Done, error) {
	m, err := w.devNet(ctx)
	if err != nil {
		return Done{}, err
	}
	rights, err := w.featuredRights(ctx, actor)
	if err != nil {
		return Done{}, err
	}
	if len(rights) > 0 {
		return Done{ContractID: rights[0], Visible: true}, nil
	}
	install, err := w.install(ctx, actor)
	if err != nil {
		return Done{}, err
	}
	const choice = "WalletAppInstall_FeaturedAppRights_SelfGrant"
	s := w.onInstall(actor, install, attempt{}, choice, map[string]any{"amuletRulesCid": m.Rules.ID})
	s.Disclosed = disclose(&m.Rules)
	tx, done, err := w.submit(ctx, s)
	if err != nil {
		return Done{}, err
	}
	var result struct {
		Right string `json:"featuredAppRight"`
	}
	err = tx.Result(choice, &result)
	done.ContractID = result.Right
	return done, err
}

// featuredRights are the contracts that make the actor a featured app provider.
func (w *Wallet) featuredRights(ctx context.Context, actor Actor) (ids []string, err error) {
	list, err := w.cfg.Reader.Contracts(ctx, ContractQuery{Parties: []string{actor.Party}, Templates: []string{template.FeaturedAppRight}, Limit: 100})
	if err != nil {
		return nil, err
	}
	for i := range list {
		var p couponPayload
		if err := list[i].decode(&p); err != nil {
			return nil, err
		}
		if p.Provider == actor.Party {
			ids = append(ids, list[i].ID)
		}
	}
	return ids, nil
}

// CancelFeaturedRights gives up all rights of the actor as featured app provider.
func (w *Wallet) CancelFeaturedRights(ctx context.Context, actor Actor) (Done, error) {
	rights, err := w.featuredRights(ctx, actor)
	if err != nil || len(rights) == 0 {
		return Done{Visible: true}, err
	}
	install, err := w.install(ctx, actor)
	if err != nil {
		return Done{}, err
	}
	s := node.Submission{ActAs: w.asBoth(actor.Party)}
	for _, id := range rights {
		argument := map[string]any{"cid": id}
		s.Commands = append(s.Commands, node.Exercise(command(template.WalletAppInstall), install, "WalletAppInstall_FeaturedAppRights_Cancel", argument))
	}
	_, done, err := w.submit(ctx, s)
	return done, err
}
