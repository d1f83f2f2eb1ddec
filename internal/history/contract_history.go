package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// ContractQuery selects steps of one contract's history, ascending by position and node.
type ContractQuery struct {
	ContractID string
	// After and AfterNode are where the last step of the page before stands, exclusive;
	// After is schemas.Start at the beginning.
	After     schemas.Position
	AfterNode int32
	// Through is inclusive.
	Through schemas.Position
	Limit   int
}

// ContractStep is one thing that happened to a contract. Update is the update in which it
// did, with the one event that tells: a create, also by an import or an assignment, or an
// exercise. An unassignment has none.
type ContractStep struct{ Update schemas.Update }

// Node is the number of the step's event in its update, 0 for an unassignment.
func (s *ContractStep) Node() int32 {
	if len(s.Update.Events) == 0 {
		return 0
	}
	return s.Update.Events[0].Node
}

func (s *ContractStep) compare(t *ContractStep) int {
	return cmp.Or(s.Update.Position().Compare(t.Update.Position()), cmp.Compare(s.Node(), t.Node()))
}

// ContractHistory returns what happened to a contract over all migrations: its creation,
// its exercises and its archival, its reassignments and its imports.
func (r *Reader) ContractHistory(ctx context.Context, q ContractQuery) ([]ContractStep, error) {
	var inEvents, unassigned, imported []ContractStep
	group, groupCtx := guard.WithContext(ctx)
	group.Go(func() (err error) {
		inEvents, err = r.contractEvents(groupCtx, q)
		return err
	})
	group.Go(func() (err error) {
		unassigned, err = r.wholeSteps(groupCtx, contractUnassignmentsQuery, r.contract(q), store.NewUpdates(), q)
		return err
	})
	group.Go(func() (err error) {
		params := store.Params{"stream": store.Text(r.stream), "contract": store.Text(q.ContractID)}
		imported, err = r.wholeSteps(groupCtx, contractImportsQuery, params, store.NewImports(), q)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("reading the history of contract %.80q: %w", q.ContractID, err)
	}
	steps := slices.Concat(inEvents, unassigned, imported)
	slices.SortFunc(steps, func(a, b ContractStep) int { return a.compare(&b) })
	return steps[:min(len(steps), q.Limit)], nil
}

func (r *Reader) contract(q ContractQuery) store.Params {
	params := r.through(q.Through)
	params["contract"], params["limit"] = store.Text(q.ContractID), store.Int(int64(q.Limit))
	params["after_migration"], params["after_time"] = store.Int(q.After.MigrationID), store.Time(store.Clamp(q.After.RecordTime))
	params["after_id"] = store.Text(q.After.UpdateID)
	return params
}

// contractEvents returns the steps that events tell.
func (r *Reader) contractEvents(ctx context.Context, q ContractQuery) ([]ContractStep, error) {
	params := r.contract(q)
	params["after_node"] = store.Int(int64(q.AfterNode))
	var rows []store.EventRow
	block := store.NewEvents()
	err := r.db.Select(ctx, contractEventsQuery, params, block, func() error {
		rows = block.AppendTo(rows)
		return nil
	})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	updates, err := r.updatesOf(ctx, rows)
	if err != nil {
		return nil, err
	}
	steps := make([]ContractStep, 0, len(rows))
	for _, row := range rows {
		u, ok := updates[row.Position]
		if !ok {
			return nil, lostUpdate(row.Position)
		}
		u.Events = []schemas.Event{row.Event}
		steps = append(steps, ContractStep{u})
	}
	return steps, nil
}

// updatesOf returns the updates of events by position, without any event.
func (r *Reader) updatesOf(ctx context.Context, rows []store.EventRow) (map[schemas.Position]schemas.Update, error) {
	found := make(map[schemas.Position]schemas.Update)
	for len(rows) > 0 {
		var positions []schemas.Position
		n := 0
		for ; n < len(rows) && rows[n].MigrationID == rows[0].MigrationID; n++ {
			positions = append(positions, rows[n].Position)
		}
		updates, err := r.selectUpdates(ctx, updatesAtQuery, r.at(slices.Compact(positions)))
		if err != nil {
			return nil, err
		}
		for _, u := range updates {
			found[u.Position()] = u
		}
		rows = rows[n:]
	}
	return found, nil
}

// updateBlock is a block of updates that are complete as they are.
type updateBlock interface {
	store.Block
	AppendTo([]schemas.Update) []schemas.Update
}

// wholeSteps returns the updates that a query finds and that lie in the range of q.
func (r *Reader) wholeSteps(ctx context.Context, query string, params store.Params, block updateBlock, q ContractQuery) (steps []ContractStep, err error) {
	var updates []schemas.Update
	err = r.db.Select(ctx, query, params, block, func() error {
		updates = block.AppendTo(updates)
		return nil
	})
	for _, u := range updates {
		if p := u.Position(); q.After.Before(p) && !q.Through.Before(p) {
			steps = append(steps, ContractStep{u})
		}
	}
	return steps, err
}
