package wallet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/wallet"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

// Traffic knows how much traffic a member of the network has.
type Traffic interface {
	// Remaining is what a member has bought and not used on a synchronizer, in bytes.
	Remaining(ctx context.Context, synchronizer, member string) (int64, error)
	// Member is the participant that is kept supplied.
	Member(ctx context.Context) (string, error)
	// MigrationID is the present migration.
	MigrationID(ctx context.Context) (int64, error)
}

// TopUpRule says how much traffic a validator wants.
type TopUpRule struct {
	// Throughput is what it may use, in bytes a second; 0 buys nothing.
	Throughput float64
	// MinInterval is the least time between two purchases.
	MinInterval time.Duration
}

func (r TopUpRule) check(poll time.Duration) error {
	switch {
	case r.Throughput <= 0:
		return nil
	case math.IsInf(r.Throughput, 0) || math.IsNaN(r.Throughput):
		return errors.New("the throughput of top-ups must be finite")
	case r.MinInterval < poll:
		return fmt.Errorf("the interval of top-ups, %s, must not be shorter than that of their automation, %s", r.MinInterval, poll)
	}
	return nil
}

// purchase is what is bought, and how often at most.
type purchase struct {
	Bytes    int64
	Interval time.Duration
}

// purchase is for a network that sells at least minimum bytes at a time and an automation
// that looks every poll.
func (r TopUpRule) purchase(minimum int64, poll time.Duration) purchase {
	interval := roundUp(r.MinInterval, poll)
	bytes := r.bytesIn(interval)
	if bytes < minimum {
		interval = roundUp(time.Duration(math.Ceil(float64(minimum)/r.Throughput))*time.Second, poll)
		bytes = r.bytesIn(interval)
	}
	return purchase{bytes, interval}
}

// bytesIn is what may be used in a time, rounded up.
func (r TopUpRule) bytesIn(d time.Duration) int64 {
	return int64(math.Ceil(r.Throughput * d.Seconds()))
}

// roundUp returns the least multiple of step that is not less than d.
func roundUp(d, step time.Duration) time.Duration { return (d + step - 1) / step * step }

// topUpState is what a top-up depends on.
type topUpState struct {
	at            time.Time
	remaining     int64
	balance, cost decimal.Decimal
	devNet        bool // where coins are to be had for nothing
	last          *wallet.TopUpState
}

// topUpStep says whether traffic is to be bought.
func topUpStep(p purchase, s topUpState) Step {
	step := Step{What: fmt.Sprintf("buy %d bytes of traffic for %s CC", p.Bytes, s.cost)}
	switch {
	case s.last != nil && s.at.Before(s.last.LastPurchased.Add(p.Interval)):
		step.Why = fmt.Sprintf("the last purchase, at %s, is less than %s ago", s.last.LastPurchased.Format(time.RFC3339), p.Interval)
	case s.remaining >= p.Bytes:
		step.Why = fmt.Sprintf("%d bytes are left, which is enough", s.remaining)
	case s.balance.Less(s.cost) && !s.devNet:
		step.Why = fmt.Sprintf("the operator has %s CC, which is too little", s.balance)
	default:
		step.Do, step.Why = true, fmt.Sprintf("%d bytes are left", s.remaining)
	}
	return step
}

// planTopUp keeps the operator's node supplied with traffic.
func (a *Automations) planTopUp(ctx context.Context) ([]Step, error) {
	if a.cfg.TopUp.Throughput <= 0 {
		return []Step{{What: "buy traffic", Why: "no throughput is configured"}}, nil
	}
	w := a.cfg.Wallet
	operator, err := w.Users.Operator(ctx)
	if err != nil {
		return nil, err
	}
	m, err := w.Network.Market(ctx)
	if err != nil {
		return nil, err
	}
	synchronizer := m.Config().Synchronizer.Active
	member, err := a.cfg.Traffic.Member(ctx)
	if err != nil {
		return nil, err
	}
	migration, err := a.cfg.Traffic.MigrationID(ctx)
	if err != nil {
		return nil, err
	}
	p := a.cfg.TopUp.purchase(m.Config().Synchronizer.Fees.MinTopUp, a.cfg.Poll)
	state := topUpState{at: m.At, cost: m.TrafficCost(p.Bytes), devNet: m.DevNet}
	if state.last, err = w.Traffic.TopUpState(ctx, member, synchronizer); err != nil {
		return nil, err
	}
	if state.remaining, err = a.cfg.Traffic.Remaining(ctx, synchronizer, member); err != nil {
		return nil, fmt.Errorf("reading the traffic of %s: %w", member, err)
	}
	funds, err := w.Coins.Funds(ctx, operator.Party, m)
	if err != nil {
		return nil, err
	}
	state.balance = funds.CoinValue()
	step := topUpStep(p, state)
	step.User = operator.User
	t := wallet.TopUp{Bytes: p.Bytes, Member: member, SynchronizerID: synchronizer, MigrationID: migration, Interval: p.Interval}
	if state.last != nil {
		t.State = state.last.ID
	}
	step.run = func(ctx context.Context) error {
		_, err := w.Traffic.BuyTopUp(ctx, operator, t)
		return err
	}
	return []Step{step}, nil
}
