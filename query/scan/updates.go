package scan

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"strings"

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

func (a *API) pageRequest(p *query.Params, form schemas.UpdateForm) (pageRequest, error) {
	req := pageRequest{after: schemas.Start, size: p.Limit("page_size", a.cfg.MaxPageSize)}
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

// requireHistory refuses pages until the stream has been complete once: a client that
// takes a short page for the end of history must not be misled.
func (a *API) requireHistory(ctx context.Context) error {
	if a.cfg.Health.Backfilled(ctx) {
		return nil
	}
	watermark, err := a.horizon.watermark.Get(ctx)
	if err != nil {
		return err
	}
	if watermark == schemas.Start {
		return query.Errorf(query.Unavailable, "This scan has not yet loaded its history.")
	}
	return query.Errorf(query.Unavailable, "This scan has not yet replicated all data.")
}

// updates serves pages of history, ascending; only v0 has import updates among them.
func (a *API) updates(form schemas.UpdateForm) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		req, err := a.pageRequest(r.Body(), form)
		if err != nil {
			return err
		}
		if err := a.requireHistory(ctx); err != nil {
			return err
		}
		through, err := a.horizon.watermark.Get(ctx)
		if err != nil {
			return err
		}
		p := &page[schemas.Update, schemas.Position]{
			sizes: &a.updateSizes, target: a.cfg.ChunkBytes,
			open: `{"transactions":[`, close: `]}`, after: req.after, left: req.size,
			write: a.updateWriter(form, req.encoding).update,
			key:   func(u *schemas.Update) schemas.Position { return u.Position() },
			read:  ranged(a.updatesOf(req.size), through),
		}
		if form.NodeLocal {
			p.read = ranged(a.source.UpdatesWithImports, through)
		}
		return produce(ctx, r, p)
	}
}

// updatesOf reads pieces of pages of a size. Only pages that are read in one piece are read
// ahead: the others are too large to be kept.
func (a *API) updatesOf(size int) func(context.Context, history.Range) ([]schemas.Update, error) {
	return func(ctx context.Context, rg history.Range) ([]schemas.Update, error) {
		if rg.Limit < size {
			return a.source.Updates(ctx, rg)
		}
		return a.ahead.page(ctx, rg)
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
		id, encoding, err := idRequest(r, form)
		if err != nil {
			return err
		}
		return a.updateByID(ctx, r, form, encoding, id, "Transaction with id "+id+" not found.")
	}
}

// updateByID answers with an update at or below the watermark, which never changes.
func (a *API) updateByID(ctx context.Context, r *query.Request, form schemas.UpdateForm, encoding schemas.Encoding, id, missing string) error {
	key := fmt.Sprintf("update %t %t %s %s", form.WithOffset, form.NodeLocal, encoding, id)
	return a.lookup(ctx, r, key, func() (found, error) {
		p, copied, err := a.copied(ctx, r, id)
		if err != nil {
			return found{}, err
		}
		if u := p.Update(); copied && u != nil && encoding == schemas.CompactJSON && form == (schemas.UpdateForm{}) {
			return found{append(p.Text[:0], u...), true, true}, nil
		}
		it, ok, err := a.item(ctx, r, id, pieceIf(copied, &p))
		if err != nil {
			return found{}, err
		}
		if !ok || it.Update == nil || it.Update.IsImport() {
			return found{}, query.Errorf(query.NotFound, "%s", missing)
		}
		return found{text: rendered(it.Update, a.updateWriter(form, encoding).update), final: true}, nil
	})
}

// found is the answer to a lookup.
type found struct {
	text []byte
	// final says that the answer will never change.
	final bool
	// lent says that text lies in memory of the answer, see query.Request.Buffer.
	lent bool
}

// lookup answers with what is kept under a key, or with what find finds. What never changes
// is kept, but copies only once they are asked for again: to keep each of many that are asked
// for once costs as much as to find it.
func (a *API) lookup(ctx context.Context, r *query.Request, key string, find func() (found, error)) error {
	if text, ok := a.answers.Get(key); ok {
		r.Immutable()
		return r.Kept(text)
	}
	f, err := find()
	if err != nil {
		return err
	}
	if f.final {
		r.Immutable()
		if !f.lent || a.answers.AskedAgain(key) {
			a.answers.Put(key, f.kept())
		}
	}
	if f.lent {
		return r.Lent(f.text)
	}
	return r.Kept(f.text)
}

// kept is the text in memory of its own.
func (f *found) kept() []byte {
	if f.lent {
		return bytes.Clone(f.text)
	}
	return f.text
}

// updateByHash serves the update that an external party signed with a hash.
func (a *API) updateByHash(ctx context.Context, r *query.Request) error {
	text, err := r.Path("hash")
	if err != nil {
		return err
	}
	p := r.Query()
	encoding := encodingOf(p)
	hash := strings.ToLower(text)
	if _, err := hex.DecodeString(hash); err != nil || len(hash) > maxIDBytes {
		p.Fail("The hash must be hexadecimal digits.")
	}
	if err := p.Err(); err != nil {
		return err
	}
	missing := "Transaction with hash " + hash + " not found."
	id, ok, err := a.source.UpdateIDByHash(ctx, hash)
	if err != nil {
		return err
	}
	if !ok {
		return query.Errorf(query.NotFound, "%s", missing)
	}
	return a.updateByID(ctx, r, schemas.UpdateForm{}, encoding, id, missing)
}

// maxIDBytes bounds ids in paths; update ids have 68 characters, contract ids up to
// about a thousand.
const maxIDBytes = 4096

func idRequest(r *query.Request, form schemas.UpdateForm) (id string, encoding schemas.Encoding, err error) {
	if id, err = r.Path("update_id"); err != nil {
		return "", "", err
	}
	p := r.Query()
	encoding = encodingFor(p, form)
	if len(id) > maxIDBytes {
		p.Fail("The update id is too long.")
	}
	return id, encoding, p.Err()
}
