package wallet

import (
	"context"
	"errors"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// Coins moves the coins of wallets, by batches that run one after another in each wallet.
type Coins struct {
	*submitter
	tracking *tracker
	network  *Network
	users    *Users
	treasury *treasury
}

// IsIdle reports whether an action was left because it would change nothing.
func IsIdle(err error) bool { return errors.Is(err, errIdle) }

// Merge turns the rewards and coins of a wallet into one coin. It is an error for which
// IsIdle holds if that would change nothing. urgent goes before others that wait.
func (w *Coins) Merge(ctx context.Context, actor Actor, urgent bool) (Done, error) {
	return w.executeFor(ctx, actor, batch{
		operation: operation{"CO_MergeTransferInputs", noArgument}, urgent: urgent, worth: (*Funds).WorthMerging,
	})
}

// largestTap is the most that a development network mints at a time, in coins.
var largestTap = decimal.FromInt(100_000_000)

// Tap mints coins worth so many dollars, on a development network: the amount is divided by
// the coin's price and rounded up. The contract of the result is the new coin. Two taps of
// one user with the same command id, unless it is "", are one, and have its result.
func (w *Coins) Tap(ctx context.Context, actor Actor, dollars decimal.Decimal, commandID string) (done Done, err error) {
	if dollars.Sign() <= 0 || !dollars.Storable() {
		return done, invalid("amount must be positive and have at most 28 digits before the point, not %s", dollars)
	}
	m, err := w.network.devNet(ctx)
	if err != nil {
		return done, err
	}
	amount := dollars.OverUp(m.Price)
	if largestTap.Less(amount) {
		return done, invalid("amount must not exceed %s CC, but is worth %s", largestTap, amount)
	}
	b := batch{operation: operation{"CO_Tap", map[string]any{"tapAmount": amount}}, withoutFunds: true}
	if commandID == "" {
		return w.executeFor(ctx, actor, b)
	}
	return repeatable(ctx, w.tracking, "tap", actor.Party, commandID, func(a attempt) (Done, error) {
		b.commandID = a.commandID
		return w.executeFor(ctx, actor, b)
	})
}
