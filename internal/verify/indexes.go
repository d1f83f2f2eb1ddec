package verify

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Index answers by id, as the query tier does. The other checks read
// history in its order, and so notice nothing of an index, or of a table of places, that
// does not lead to what is there.
type Index interface {
	ItemsByID(ctx context.Context, ids []string) (map[string]schemas.Item, error)
	UpdateIDByHash(ctx context.Context, hash string) (id string, ok bool, err error)
	ContractHistory(ctx context.Context, q history.ContractQuery) ([]history.ContractStep, error)
}

// NodeIndex is Index of a node's own stream.
type NodeIndex interface {
	LedgerUpdateByID(ctx context.Context, id string) (*schemas.Update, error)
	ContractEvents(ctx context.Context, contractID string) (created, ended *nodehistory.Event, err error)
}

const (
	// sampledBatches bounds the batches whose items are asked for by id: evenly spread, with
	// the first and the last.
	sampledBatches = 8
	// sampledUpdates bounds the updates of each batch that create contracts.
	sampledUpdates = 2
	// contractSteps are those of a contract among which its creation must be, if there are
	// not more.
	contractSteps = 100
)

// sample is an update that must be found.
type sample struct {
	at   schemas.Position
	id   string
	hash string // of an external party's signature, maybe empty
	// contract is one that the update creates, empty if it creates none.
	contract string
}

// lookUp asks for samples of history by their ids.
func (v *verification) lookUp(ctx context.Context) error {
	group, ctx := guard.WithContext(ctx)
	group.SetLimit(v.cfg.Workers)
	for _, c := range spread(v.journal.commits, sampledBatches) {
		group.Go(func() error {
			samples, err := v.samples(ctx, c)
			if err != nil {
				return err
			}
			for _, s := range samples {
				if err := v.lookUpOne(ctx, s); err != nil {
					return fmt.Errorf("looking up %s by its ids: %w", where(s.at), err)
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// spread picks at most n elements of a list, evenly, with the first and the last.
func spread[E any](list []E, n int) (picked []E) {
	if len(list) <= n {
		return list
	}
	for i := range n {
		picked = append(picked, list[i*(len(list)-1)/(n-1)])
	}
	return picked
}

// samples are some updates of a batch: such as create contracts, and one that does not.
func (v *verification) samples(ctx context.Context, c journals.Row) ([]sample, error) {
	rows, err := v.cfg.Source.Stretch(ctx, c.After, c.Through, true, "")
	if err != nil {
		return nil, fmt.Errorf("reading batch %d: %w", c.Sequence, err)
	}
	defer rows.Close()
	created := make(map[schemas.Position]string) // contracts
	for at, ok := rows.NextEvents(); ok; at, ok = rows.NextEvents() {
		for _, e := range rows.TakeEvents() {
			if e.Kind == schemas.Created {
				created[at] = e.ContractID
			}
		}
	}
	var creating, others []sample
	for i := range rows.Updates {
		u := &rows.Updates[i]
		s := sample{at: u.Position(), id: u.UpdateID, hash: u.ExternalTransactionHash, contract: created[u.Position()]}
		if s.contract != "" {
			creating = append(creating, s)
		} else {
			others = append(others, s)
		}
	}
	return append(spread(creating, sampledUpdates), others[:min(1, len(others))]...), rows.Err()
}

func (v *verification) lookUpOne(ctx context.Context, s sample) error {
	var byID, byContract bool
	var err error
	if s.at.Offset > 0 {
		byID, byContract, err = v.lookUpOnNode(ctx, s)
	} else {
		byID, byContract, err = v.lookUpInPublic(ctx, s)
	}
	if err != nil {
		return err
	}
	check := v.checks[Indexes]
	check.Count("update ids", 1)
	if !byID {
		check.Add(Finding{What: "an update is not found by its id", Where: where(s.at)})
	}
	if s.contract == "" {
		return nil
	}
	check.Count("contract ids", 1)
	if !byContract {
		check.Add(Finding{What: "the creation of contract " + s.contract + " is not found by its id", Where: where(s.at)})
	}
	return nil
}

func (v *verification) lookUpInPublic(ctx context.Context, s sample) (byID, byContract bool, err error) {
	items, err := v.cfg.Public.ItemsByID(ctx, []string{s.id})
	if err != nil {
		return false, false, err
	}
	byID = items[s.id].Update != nil
	if s.hash != "" {
		v.checks[Indexes].Count("hashes", 1)
		switch _, found, err := v.cfg.Public.UpdateIDByHash(ctx, s.hash); {
		case err != nil:
			return false, false, err
		case !found:
			v.checks[Indexes].Add(Finding{What: "an update is not found by its external transaction hash", Where: where(s.at)})
		}
	}
	if s.contract == "" {
		return byID, false, nil
	}
	// From the beginning, as clients ask: a question for one moment would need no index.
	steps, err := v.cfg.Public.ContractHistory(ctx, history.ContractQuery{ContractID: s.contract, After: schemas.Start, Through: v.mark, Limit: contractSteps})
	found := slices.ContainsFunc(steps, func(step history.ContractStep) bool { return step.Update.Position() == s.at })
	return byID, found || len(steps) == contractSteps, err
}

func (v *verification) lookUpOnNode(ctx context.Context, s sample) (byID, byContract bool, err error) {
	u, err := v.cfg.Node.LedgerUpdateByID(ctx, s.id)
	if err != nil || s.contract == "" {
		return u != nil, false, err
	}
	created, _, err := v.cfg.Node.ContractEvents(ctx, s.contract)
	return u != nil, created != nil, err
}
