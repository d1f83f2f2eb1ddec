package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history/rows"
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
	// WithoutExercises leaves out the exercises that did not end the contract, of which there may be many.
	WithoutExercises bool
	Limit            int
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
	var inEvents []ContractStep
	var unassigned, imported []schemas.Update
	group, groupCtx := guard.WithContext(ctx)
	group.Go(func() (err error) {
		inEvents, err = r.contractEvents(groupCtx, q)
		return err
	})
	group.Go(func() (err error) {
		unassigned, err = store.SelectAll(groupCtx, r.db, contractUnassignmentsQuery, q.params(r.stream), store.NewUpdates())
		return err
	})
	group.Go(func() (err error) {
		params := store.Params{"stream": store.Text(r.stream), "contract": store.Text(q.ContractID)}
		imported, err = store.SelectAll(groupCtx, r.db, contractImportsQuery, params, store.NewImports())
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("reading the history of contract %.80q: %w", q.ContractID, err)
	}
	steps := slices.Concat(inEvents, stepsWithin(q, unassigned), stepsWithin(q, imported))
	slices.SortFunc(steps, func(a, b ContractStep) int { return a.compare(&b) })
	return steps[:min(len(steps), q.Limit)], nil
}

// params are the parameters of a query for steps of a stream.
func (q *ContractQuery) params(stream string) store.Params {
	params := through(stream, q.Through)
	params["contract"], params["limit"] = store.Text(q.ContractID), store.Int(int64(q.Limit))
	keys := []uint64{store.PlaceKey(stream, store.ByContract, q.ContractID)}
	if !q.WithoutExercises {
		keys = append(keys, store.PlaceKey(stream, store.ByExercise, q.ContractID))
	}
	params["keys"] = store.Numbers(keys)
	params["most"] = store.Int(int64(q.Limit + atOneTime))
	params["after_migration"], params["after_time"] = store.Int(q.After.MigrationID), store.Time(store.Clamp(q.After.RecordTime))
	params["after_id"] = store.Text(q.After.UpdateID)
	return params
}

// contractEvents returns the steps that events tell.
func (r *Reader) contractEvents(ctx context.Context, q ContractQuery) ([]ContractStep, error) {
	params := q.params(r.stream)
	params["after_node"] = store.Int(int64(q.AfterNode))
	events, err := store.SelectAll(ctx, r.db, contractEventsQuery, params, store.NewEvents())
	if err != nil || len(events) == 0 {
		return nil, err
	}
	updates, err := updatesOf(ctx, r.db, r.stream, events)
	if err != nil {
		return nil, err
	}
	steps := make([]ContractStep, 0, len(events))
	for _, row := range events {
		u, ok := updates[row.Position]
		if !ok {
			return nil, rows.Lost(row.Position)
		}
		u.Events = []schemas.Event{row.Event}
		steps = append(steps, ContractStep{u})
	}
	return steps, nil
}

// updatesOf returns the updates of events by position, without any event.
func updatesOf(ctx context.Context, db *store.DB, stream string, events []store.EventRow) (map[schemas.Position]schemas.Update, error) {
	found := make(map[schemas.Position]schemas.Update)
	for len(events) > 0 {
		var positions []schemas.Position
		n := 0
		for ; n < len(events) && events[n].MigrationID == events[0].MigrationID; n++ {
			positions = append(positions, events[n].Position)
		}
		updates, err := store.SelectAll(ctx, db, updatesAtQuery, at(stream, slices.Compact(positions)), store.NewUpdates())
		if err != nil {
			return nil, err
		}
		for _, u := range updates {
			found[u.Position()] = u
		}
		events = events[n:]
	}
	return found, nil
}

// stepsWithin returns the updates that are in the range of q as steps.
func stepsWithin(q ContractQuery, updates []schemas.Update) (steps []ContractStep) {
	for _, u := range updates {
		if p := u.Position(); q.After.Before(p) && !q.Through.Before(p) {
			steps = append(steps, ContractStep{u})
		}
	}
	return steps
}
