package state

import (
	"context"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// addContext adds what a choice on a contract needs.
type addContext = func(b *contextBuilder, ctx context.Context, on *contract) error

// onContract serves what a choice needs on the active contract that a path parameter names.
func (g *registry) onContract(parameter, what string, add addContext, templates ...string) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		p := r.Body()
		p.Object("meta") // no choice of the coin looks at it
		b := g.newContext(p)
		if err := p.Err(); err != nil {
			return err
		}
		id, err := r.Path(parameter)
		if err != nil {
			return err
		}
		c, err := g.byID(ctx, id, templates...)
		if err != nil {
			return err
		}
		if c == nil {
			return query.Errorf(query.NotFound, "No active %s with contract id %.200s found.", what, id)
		}
		if err := add(b, ctx, c); err != nil {
			return err
		}
		return b.answer(ctx, r, func(c choiceContext) any { return c })
	}
}

// lockedCoin returns the coin that an instruction or an allocation holds; id is "" if it holds none,
// and coin nil if it is gone.
func (g *registry) lockedCoin(ctx context.Context, holder *contract) (coin *contract, id string, err error) {
	var payload struct {
		Locked string `json:"lockedAmulet"`
	}
	if err := holder.decode(&payload); err != nil || payload.Locked == "" {
		return nil, "", err
	}
	coin, err = g.byID(ctx, payload.Locked, template.LockedCoin)
	return coin, payload.Locked, err
}

// spend adds what a choice needs that gives the coin of its contract to somebody else.
func (b *contextBuilder) spend(ctx context.Context, holder *contract) error {
	coin, id, err := b.registry.lockedCoin(ctx, holder)
	if err != nil {
		return err
	}
	if coin == nil {
		return errSpent(id, holder)
	}
	return b.addLocked(ctx, coin)
}

func errSpent(coin string, holder *contract) error {
	return query.Errorf(query.NotFound, "The locked coin %s of contract %s does not exist any more: the contract can only be withdrawn from, rejected or cancelled.", coin, holder.Event.ContractID)
}

// unlock adds what a choice needs that gives the coin of its contract back to its owner, who may have
// taken it already.
func (b *contextBuilder) unlock(ctx context.Context, holder *contract) error {
	coin, _, err := b.registry.lockedCoin(ctx, holder)
	if err != nil {
		return err
	}
	if coin == nil {
		b.flag(template.ContextExpireLock, false)
		return nil
	}
	return b.addLocked(ctx, coin)
}
