package scan

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/scan/horizon"
	"github.com/ledgerlake/ledgerlake/query/scan/pages"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// activities serves what choices of history did to coins, one item for each choice.
type activities struct {
	source      Source
	horizon     *horizon.Horizon
	catalog     *values.Catalog
	naming      query.Naming
	maxPageSize int
	updateSizes *query.Sizes
}

const (
	// activityUpdates is how many updates are looked at in one go, activityBytes about what an item takes as text.
	activityUpdates = 200
	activityBytes   = 2 << 10
)

// newestFirst serves activities, the last of history first.
func (a *activities) newestFirst(ctx context.Context, r *query.Request) error {
	p := r.Body()
	after, _ := p.OptionalText("begin_after_id")
	size := p.Limit("page_size", a.maxPageSize)
	if err := p.Err(); err != nil {
		return err
	}
	return a.page(ctx, r, after, size, true, "activities", "activity_type")
}

// inOrder serves activities in the order of history, or in the other one.
func (a *activities) inOrder(ctx context.Context, r *query.Request) error {
	p := r.Body()
	after, _ := p.OptionalText("page_end_event_id")
	order := p.OneOf("sort_order", "asc", "desc")
	size := p.Limit("page_size", a.maxPageSize)
	if err := p.Err(); err != nil {
		return err
	}
	return a.page(ctx, r, after, size, order == "desc", "transactions", "transaction_type")
}

// page answers with the activities behind an event, or from the beginning without one.
func (a *activities) page(ctx context.Context, r *query.Request, after string, size int, backward bool, member, kind string) error {
	if err := a.horizon.RequireHistory(ctx); err != nil {
		return err
	}
	through, err := a.horizon.Watermark.Get(ctx)
	if err != nil {
		return err
	}
	at := activityPlace{position: schemas.Start}
	if backward {
		at.position = through
	}
	if after != "" {
		if at, err = a.placeOf(ctx, after, through); err != nil {
			return err
		}
	}
	ctx, err = r.Reserve(ctx, pages.RowsFactor*a.updateSizes.Of(activityUpdates)+int64(size)*activityBytes)
	if err != nil {
		return err
	}
	read := a.forward(at, through)
	if backward {
		read = a.backward(at)
	}
	list := make([]map[string]any, 0, size)
	for len(list) < size {
		updates, err := read(ctx)
		if err != nil {
			return err
		}
		if len(updates) == 0 {
			break
		}
		for i := range updates {
			items := a.itemsOf(&updates[i], kind)
			if backward {
				slices.Reverse(items)
			}
			for _, one := range items {
				if updates[i].UpdateID != at.position.UpdateID || after == "" || backward == (one.node < at.node) && one.node != at.node {
					list = append(list, one.answer)
				}
			}
		}
	}
	return r.JSON(map[string]any{member: list[:min(size, len(list))]})
}

// activityPlace is an event of history.
type activityPlace struct {
	position schemas.Position
	node     int32
}

// placeOf finds an event by its id, "#UPDATE:NODE".
func (a *activities) placeOf(ctx context.Context, id string, through schemas.Position) (at activityPlace, err error) {
	refused := query.Errorf(query.Invalid, "No event with the id %.200q found.", id)
	update, node, ok := strings.Cut(strings.TrimPrefix(id, "#"), ":")
	number, err := strconv.ParseInt(node, 10, 32)
	if !ok || err != nil || update == "" {
		return at, refused
	}
	items, err := a.source.ItemsByID(ctx, []string{update})
	if err != nil {
		return at, err
	}
	item, ok := items[update]
	if !ok || item.Update == nil || item.Update.IsImport() || through.Before(item.Update.Position()) {
		return at, refused
	}
	return activityPlace{item.Update.Position(), int32(number)}, nil
}

// forward returns a function that reads the next updates from the one at a place on.
func (a *activities) forward(at activityPlace, through schemas.Position) func(context.Context) ([]schemas.Update, error) {
	after := at.position
	if after != schemas.Start {
		after = schemas.EndOf(after.MigrationID, after.RecordTime-1)
	}
	return func(ctx context.Context) ([]schemas.Update, error) {
		if !after.Before(through) {
			return nil, nil
		}
		updates, err := a.source.Updates(ctx, history.Range{After: after, Through: through, Limit: activityUpdates})
		if len(updates) > 0 {
			after = updates[len(updates)-1].Position()
		}
		return updates, err
	}
}

// backward returns a function that reads the updates before, from the one at a place on.
func (a *activities) backward(at activityPlace) func(context.Context) ([]schemas.Update, error) {
	b := history.Before{MigrationID: at.position.MigrationID, Before: at.position.RecordTime, AtOrAfter: schemas.MinMicros + 1, Limit: activityUpdates}
	if b.Before < schemas.MaxMicros {
		b.Before++
	}
	return func(ctx context.Context) ([]schemas.Update, error) {
		for ; b.MigrationID >= 0; b.MigrationID, b.Before = b.MigrationID-1, schemas.MaxMicros {
			if b.Before <= b.AtOrAfter {
				continue // the migration has nothing but imports so far
			}
			updates, err := a.source.UpdatesBefore(ctx, b)
			if err != nil {
				return nil, err
			}
			if len(updates) > 0 {
				b.Before = updates[len(updates)-1].RecordTime
				return updates, nil
			}
		}
		return nil, nil
	}
}
