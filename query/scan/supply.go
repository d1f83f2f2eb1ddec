package scan

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/query/scan/pages"
	"github.com/ledgerlake/ledgerlake/query/scan/state"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// coinSupply is the sum of all coins in the network's newest snapshot of its active contracts. Each
// snapshot is summed up once, in the background, when somebody asks.
type coinSupply struct {
	sets *activeSets
	// spare reserves memory, see Config.Spare.
	spare func(bytes int64) (release func(), ok bool)
	sum   memo.Value[snapshotSupply]
	held  snapshotSupply // of the last load; loads do not run at the same time
}

type snapshotSupply struct {
	migrationID int64
	state.SupplyAt
}

const (
	supplyTTL = time.Minute
	// supplyStale is for how long the sum of the snapshot before is told while one that takes
	// longer than supplyWait is made. Nobody waits longer for the first one, either.
	supplyStale, supplyWait = 24 * time.Hour, 2 * time.Second
	supplyTimeout           = time.Hour
)

func newCoinSupply(sets *activeSets, spare func(int64) (func(), bool), now func() time.Time) *coinSupply {
	s := &coinSupply{sets: sets, spare: spare}
	s.sum = memo.Value[snapshotSupply]{Load: s.load, TTL: supplyTTL, Stale: supplyStale, MaxWait: supplyWait, Timeout: supplyTimeout, Now: now}
	return s
}

// Supply implements state.Supply.
func (s *coinSupply) Supply(ctx context.Context) (*state.SupplyAt, error) {
	waiting, cancel := context.WithTimeout(ctx, supplyWait)
	defer cancel()
	sum, err := s.sum.Get(waiting)
	switch {
	case errors.Is(err, schemas.ErrNotFound), err != nil && waiting.Err() != nil && ctx.Err() == nil:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &sum.SupplyAt, nil
}

// load sums up the newest snapshot unless that is the one that is held. Without any snapshot, or any
// memory to spare, the error is schemas.ErrNotFound.
func (s *coinSupply) load(ctx context.Context) (snapshotSupply, error) {
	newest, err := s.newest(ctx)
	if err != nil || newest.migrationID == s.held.migrationID && newest.At == s.held.At {
		return s.held, err
	}
	release, ok := s.spare(pages.RowsFactor * s.sets.sizes.Of(summaryPiece))
	if !ok {
		return s.held, schemas.ErrNotFound
	}
	defer release()
	q := history.ActiveQuery{MigrationID: newest.migrationID, At: newest.At, Templates: values.Spellings(template.Coin, template.LockedCoin)}
	err = s.sets.eachActive(ctx, q, func(c *history.ActiveContract) error {
		h, err := s.sets.holding(c)
		newest.Sum = newest.Sum.Plus(h.initialAmount)
		return err
	})
	if err == nil {
		s.held = newest
	}
	return newest, err
}

// newest returns the newest snapshot, without a sum.
func (s *coinSupply) newest(ctx context.Context) (snapshotSupply, error) {
	contracts, err := s.sets.horizon.Contracts.Get(ctx)
	if err != nil {
		return snapshotSupply{}, err
	}
	migrations, err := s.sets.horizon.Migrations.Get(ctx)
	if err != nil {
		return snapshotSupply{}, err
	}
	for _, m := range slices.Backward(migrations) {
		if at, ok := snapshotsOf(m, contracts).atOrBefore(schemas.MaxMicros); ok {
			return snapshotSupply{m.ID, state.SupplyAt{At: at}}, nil
		}
	}
	return snapshotSupply{}, schemas.ErrNotFound
}
