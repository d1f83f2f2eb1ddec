package scan

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/scan/horizon"
	"github.com/ledgerlake/ledgerlake/query/scan/pages"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// updatePages serves pages of history: of updates, of events and of the updates of a party.
type updatePages struct {
	source      Source
	horizon     *horizon.Horizon
	ahead       *readAhead
	catalog     *values.Catalog
	maxPageSize int
	chunkBytes  int64
	// updateSizes are those of updates as text, shared with other pages of them.
	updateSizes *query.Sizes
	itemSizes   query.Sizes
}

// pageRequest is what pages of updates and of events are asked for with.
type pageRequest struct {
	after    schemas.Position
	size     int
	encoding schemas.Encoding
}

func (u *updatePages) pageRequest(p *query.Params, form schemas.UpdateForm) (pageRequest, error) {
	req := pageRequest{after: schemas.Start, size: p.Limit("page_size", u.maxPageSize)}
	if after := p.Object("after"); after != nil {
		// A cursor names no update: it stands after all with its record time.
		req.after = schemas.EndOf(after.Int64("after_migration_id"), after.Time("after_record_time"))
		if id, ok := after.OptionalText("after_update_id"); ok && form.NodeLocal {
			req.after.UpdateID = id
		}
	}
	req.encoding = encodingFor(p, form)
	return req, p.Err()
}

// updates serves pages of history, ascending; only v0 has import updates among them.
func (u *updatePages) updates(form schemas.UpdateForm) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		req, err := u.pageRequest(r.Body(), form)
		if err != nil {
			return err
		}
		if err := u.horizon.RequireHistory(ctx); err != nil {
			return err
		}
		through, err := u.horizon.Watermark.Get(ctx)
		if err != nil {
			return err
		}
		read := u.updatesOf(req.size)
		if form.NodeLocal {
			read = u.source.UpdatesWithImports
		}
		return u.produce(ctx, r, req, form, read, through)
	}
}

// produce answers with a page of updates up to a fixed end.
func (u *updatePages) produce(ctx context.Context, r *query.Request, req pageRequest, form schemas.UpdateForm,
	read func(context.Context, history.Range) ([]schemas.Update, error), through schemas.Position) error {
	p := &pages.List[schemas.Update, schemas.Position]{
		Sizes: u.updateSizes, Target: u.chunkBytes,
		Open: `{"transactions":[`, Close: `]}`, After: req.after, Left: req.size,
		Write: newUpdateWriter(u.catalog, form, req.encoding).update,
		Key:   func(u *schemas.Update) schemas.Position { return u.Position() },
		Read:  ranged(read, through),
	}
	return p.Produce(ctx, r)
}

// updatesOf reads pieces of pages of a size. Only pages that are read in one piece are read
// ahead: the others are too large to be kept.
func (u *updatePages) updatesOf(size int) func(context.Context, history.Range) ([]schemas.Update, error) {
	return func(ctx context.Context, rg history.Range) ([]schemas.Update, error) {
		if rg.Limit < size {
			return u.source.Updates(ctx, rg)
		}
		return u.ahead.page(ctx, rg)
	}
}

// ranged reads pieces of history up to a fixed end.
func ranged[R any](read func(context.Context, history.Range) ([]R, error), through schemas.Position) func(context.Context, schemas.Position, int) ([]R, error) {
	return func(ctx context.Context, after schemas.Position, limit int) ([]R, error) {
		if !after.Before(through) {
			return nil, nil
		}
		return read(ctx, history.Range{After: after, Through: through, Limit: limit})
	}
}

// events serves pages of updates joined with verdicts, ascending.
func (u *updatePages) events(ctx context.Context, r *query.Request) error {
	req, err := u.pageRequest(r.Body(), schemas.UpdateForm{})
	if err != nil {
		return err
	}
	if err := u.horizon.RequireHistory(ctx); err != nil {
		return err
	}
	through, err := u.horizon.Events(ctx)
	if err != nil {
		return err
	}
	p := &pages.List[schemas.Item, schemas.Position]{
		Sizes: &u.itemSizes, Target: u.chunkBytes,
		Open: `{"events":[`, Close: `]}`, After: req.after, Left: req.size,
		Write: newUpdateWriter(u.catalog, schemas.UpdateForm{}, req.encoding).item,
		Key:   func(it *schemas.Item) schemas.Position { return it.Position() },
		Read:  ranged(u.source.Items, through),
	}
	return p.Produce(ctx, r)
}

// partyUpdates serves the updates that concern a party, ascending, without imports: pages
// of the same form as those of /v2/updates. They end where lifetimes do, because those tell
// whose contracts an update has archived.
func (u *updatePages) partyUpdates(ctx context.Context, r *query.Request) error {
	party, err := r.Path("party")
	if err != nil {
		return err
	}
	form, p := schemas.UpdateForm{}, r.Body()
	if len(party) > maxIDBytes {
		p.Fail("The party id is too long.")
	}
	req, err := u.pageRequest(p, form)
	if err != nil {
		return err
	}
	if err := u.horizon.RequireHistory(ctx); err != nil {
		return err
	}
	through, err := u.horizon.Contracts.Get(ctx)
	if err != nil {
		return err
	}
	read := func(ctx context.Context, rg history.Range) ([]schemas.Update, error) {
		return u.source.PartyUpdates(ctx, party, rg)
	}
	return u.produce(ctx, r, req, form, read, through)
}

// latestRecordTime serves the record time up to which events are given. While the
// newest migration has none yet, that is the end of an earlier one.
func (u *updatePages) latestRecordTime(ctx context.Context, r *query.Request) error {
	through, err := u.horizon.Events(ctx)
	if err != nil {
		return err
	}
	latest := through.RecordTime
	if latest == schemas.MinMicros {
		before, err := u.horizon.EndBefore(ctx, through.MigrationID)
		if err != nil {
			return err
		}
		latest = before.RecordTime
	}
	if latest == schemas.MinMicros {
		return query.Errorf(query.NotFound, "No events yet.")
	}
	return r.JSON(recordTimeAnswer{latest.String()})
}
