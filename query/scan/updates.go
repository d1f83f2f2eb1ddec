package scan

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// pageRequest is what pages of updates and of events are asked for with.
type pageRequest struct {
	after    schemas.Position
	size     int
	encoding schemas.Encoding
}

func (a *API) pageRequest(p *query.Params) (pageRequest, error) {
	req := pageRequest{after: schemas.Start, size: p.Limit("page_size", a.cfg.MaxPageSize)}
	if after := p.Object("after"); after != nil {
		// A cursor names no update: it stands after all with its record time.
		req.after = schemas.EndOf(after.Int64("after_migration_id"), after.Time("after_record_time"))
	}
	req.encoding = encodingOf(p)
	return req, p.Err()
}

// requireHistory refuses pages until the stream has been complete once: a client that
// takes a short page for the end of history must not be misled.
func (a *API) requireHistory(ctx context.Context) error {
	if a.cfg.Health.Backfilled(ctx) {
		return nil
	}
	watermark, err := a.horizon.watermark.get(ctx)
	if err != nil {
		return err
	}
	if watermark == schemas.Start {
		return query.Errorf(query.Unavailable, "This scan has not yet loaded its history.")
	}
	return query.Errorf(query.Unavailable, "This scan has not yet replicated all data.")
}

// updates serves pages of history without imports, ascending.
func (a *API) updates(form schemas.UpdateForm) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		req, err := a.pageRequest(r.Body())
		if err != nil {
			return err
		}
		if err := a.requireHistory(ctx); err != nil {
			return err
		}
		through, err := a.horizon.watermark.get(ctx)
		if err != nil {
			return err
		}
		p := &page[schemas.Update, schemas.Position]{
			sizes: &a.updateSizes, target: a.cfg.ChunkBytes,
			open: `{"transactions":[`, close: `]}`, after: req.after, left: req.size,
			write: a.updateWriter(form, req.encoding).update,
			key:   func(u *schemas.Update) schemas.Position { return u.Position() },
			read:  ranged(a.source.Updates, through),
		}
		return r.Produce(ctx, p.next)
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

// update serves one update by id.
func (a *API) update(form schemas.UpdateForm) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		id, encoding, err := idRequest(r)
		if err != nil {
			return err
		}
		it, ok, err := a.lookups.item(ctx, id)
		if err != nil {
			return err
		}
		if !ok || it.Update == nil || it.Update.IsImport() {
			return query.Errorf(query.NotFound, "Transaction with id %s not found.", id)
		}
		return r.Produce(ctx, func(_ context.Context, dst []byte) ([]byte, bool, error) {
			return a.updateWriter(form, encoding).update(dst, it.Update), false, nil
		})
	}
}

// maxIDBytes bounds ids in paths; update ids have 68 characters, contract ids up to
// about a thousand.
const maxIDBytes = 4096

func idRequest(r *query.Request) (id string, encoding schemas.Encoding, err error) {
	if id, err = r.Path("update_id"); err != nil {
		return "", "", err
	}
	p := r.Query()
	encoding = encodingOf(p)
	if len(id) > maxIDBytes {
		p.Fail("The update id is too long.")
	}
	return id, encoding, p.Err()
}
