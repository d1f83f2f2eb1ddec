package explore

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Row is an update in a list.
type Row struct {
	schemas.Position
	// Kind is that of the update, "" for a verdict without one.
	Kind schemas.UpdateKind
	// Roots is how many events have no parent, FirstRoots are the nodes of the first of them, and Events are the
	// first of all, in order.
	Roots      int64
	FirstRoots []uint32
	Events     []Brief
	// Of a reassignment.
	ContractID, Source, Target string
	// Result is that of the verdict, "" without one.
	Result string
}

// Brief is an event without its values.
type Brief struct {
	Node     int32
	Kind     schemas.EventKind
	Template string // PACKAGE:Module:Entity
	Choice   string
	// Consuming says that an exercise ended its contract.
	Consuming  bool
	ContractID string // of a create
	// Parties are the first of those that act, or for which a contract is created.
	Parties []string
}

// What is read of the events of each update in a list.
const (
	briefs       = 12
	briefParties = 6
)

// headRow is a row of rows_at.
type headRow struct {
	RecordTime schemas.Micros `column:"record_time"`
	UpdateID   string         `column:"update_id"`
	Kind       string         `column:"update_kind,low"`
	Roots      int64          `column:"roots"`
	FirstRoots []uint32       `column:"first_roots"`
	ContractID string         `column:"contract_id"`
	Source     string         `column:"from_synchronizer,low"`
	Target     string         `column:"to_synchronizer,low"`
}

// briefRow is a row of briefs_at.
type briefRow struct {
	RecordTime schemas.Micros `column:"record_time"`
	UpdateID   string         `column:"update_id"`
	Node       int32          `column:"node"`
	Kind       string         `column:"event_kind,low"`
	Package    string         `column:"package,low"`
	TemplateID string         `column:"template_of,low"`
	Choice     string         `column:"choice_of,low"`
	Consuming  bool           `column:"consuming"`
	ContractID string         `column:"contract"`
	Parties    []string       `column:"parties_of"`
}

// resultRow is a row of results_at.
type resultRow struct {
	UpdateID string `column:"update_id"`
	Result   string `column:"decision,low"`
}

// rows returns what lists show of the updates at some positions, in their order.
func (r *Reader) rows(ctx context.Context, at []schemas.Position) ([]Row, error) {
	list := make([]Row, len(at))
	places := map[int64][]int{}
	for i, p := range at {
		list[i].Position = p
		places[p.MigrationID] = append(places[p.MigrationID], i)
	}
	for migration, of := range places {
		if err := r.fill(ctx, migration, list, of); err != nil {
			return nil, fmt.Errorf("reading %d updates for a list: %w", len(of), err)
		}
	}
	return list, nil
}

// fill completes the rows of one migration.
func (r *Reader) fill(ctx context.Context, migration int64, list []Row, of []int) error {
	at := make([]schemas.Position, len(of))
	for i, place := range of {
		at[i] = list[place].Position
	}
	var heads map[string]headRow
	var events []briefRow
	var results []resultRow
	params := r.at(migration, at)
	group, ctx := guard.WithContext(ctx)
	group.Go(func() (err error) {
		heads, err = r.heads(ctx, migration, at, "")
		return err
	})
	group.Go(func() (err error) {
		params := r.at(migration, at)
		params["most"], params["parties"] = store.Int(briefs), store.Int(briefParties)
		events, err = store.SelectAll(ctx, r.db, query("briefs_at"), params, store.NewRecords[briefRow]())
		return err
	})
	group.Go(func() (err error) {
		results, err = store.SelectAll(ctx, r.db, query("results_at"), params, store.NewRecords[resultRow]())
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	byID := make(map[string]*Row, len(of))
	for _, place := range of {
		row := &list[place]
		byID[row.UpdateID] = row
		h := heads[row.UpdateID]
		row.Kind, row.ContractID, row.Source, row.Target = schemas.UpdateKind(h.Kind), h.ContractID, h.Source, h.Target
		row.Roots, row.FirstRoots = h.Roots, h.FirstRoots
	}
	for _, e := range events {
		if row := byID[e.UpdateID]; row != nil {
			row.Events = append(row.Events, e.brief())
		}
	}
	for _, v := range results {
		if row := byID[v.UpdateID]; row != nil {
			row.Result = v.Result
		}
	}
	return nil
}

func (e *briefRow) brief() Brief {
	return Brief{
		Node: e.Node, Kind: schemas.EventKind(e.Kind), Template: schemas.TemplateName(e.Package, e.TemplateID),
		Choice: e.Choice, Consuming: e.Consuming, ContractID: e.ContractID, Parties: e.Parties,
	}
}

// heads are the updates at some positions that are of a kind, "" for any, by id.
func (r *Reader) heads(ctx context.Context, migration int64, at []schemas.Position, kind schemas.UpdateKind) (map[string]headRow, error) {
	params := r.at(migration, at)
	params["kind"] = store.Text(string(kind))
	rows, err := store.SelectAll(ctx, r.db, query("rows_at"), params, store.NewRecords[headRow]())
	heads := make(map[string]headRow, len(rows))
	for _, row := range rows {
		heads[row.UpdateID] = row
	}
	return heads, err
}

// at are the parameters of a query for positions of one migration.
func (r *Reader) at(migration int64, at []schemas.Position) store.Params {
	times, ids := make([]schemas.Micros, len(at)), make([]string, len(at))
	for i, p := range at {
		times[i], ids[i] = store.Clamp(p.RecordTime), p.UpdateID
	}
	slices.Sort(times)
	return store.Params{
		"stream": store.Text(r.stream), "streams": store.Texts(r.streams), "migration": store.Int(migration),
		"times": store.Times(slices.Compact(times)), "ids": store.Texts(ids),
	}
}
