package state

import (
	"context"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// maxSetContracts is the most contracts of a set that is held in memory: rules, rounds and
// the like, of which there are a few to some hundreds.
const maxSetContracts = 10_000

// contractSets remembers the present contracts of templates with few contracts, which many
// clients ask for again and again.
type contractSets struct {
	contracts *contracts
	all       memo.Values[string, contractSet] // by template
}

type contractSet struct {
	loaded bool
	at     schemas.Position
	list   []contract
}

func newContractSets(c *contracts, ttl time.Duration, now func() time.Time) *contractSets {
	s := &contractSets{contracts: c}
	s.all.New = func(template string) *memo.Value[contractSet] {
		var held contractSet // of the load before; loads do not run at the same time
		return &memo.Value[contractSet]{TTL: ttl, Now: now, Load: func(ctx context.Context) (contractSet, error) {
			set, err := s.load(ctx, template, held)
			if err == nil {
				held = set
			}
			return set, err
		}}
	}
	return s
}

// get returns the contracts of a template, oldest first. They are shared and must not be
// changed.
func (s *contractSets) get(ctx context.Context, template string) ([]contract, error) {
	if err := s.contracts.horizon.RequireHistory(ctx); err != nil {
		return nil, err
	}
	set, err := s.all.Get(ctx, template)
	return set.list, err
}

// load reads a set unless what is held is of the present position.
func (s *contractSets) load(ctx context.Context, template string, held contractSet) (contractSet, error) {
	q, at, err := s.contracts.of(ctx, template)
	if err != nil || held.loaded && held.at == at {
		return held, err
	}
	list, err := s.contracts.read(ctx, q)
	if err != nil {
		return held, err
	}
	if len(list) > maxSetContracts {
		return held, fmt.Errorf("there are more than %d contracts of %s", maxSetContracts, template)
	}
	if err := s.contracts.findBlobs(ctx, template, "", list); err != nil {
		return held, err
	}
	return contractSet{true, at, list}, nil
}

// latest returns the newest contract of a template, nil when there is none.
func (s *contractSets) latest(ctx context.Context, template string) (*contract, error) {
	list, err := s.get(ctx, template)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[len(list)-1], nil
}
