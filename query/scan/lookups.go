package scan

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/history/copies"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/scan/horizon"
	"github.com/ledgerlake/ledgerlake/query/scan/pages"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// updateLookups serves single updates and events by id. Lookups that arrive together are asked
// together, and answers that never change are remembered.
type updateLookups struct {
	source  Source
	horizon *horizon.Horizon
	catalog *values.Catalog
	items   *memo.Batcher[string, schemas.Item]
	copies  *memo.Batcher[string, copies.Copy] // nil without copies
	answers *query.AnswerCache
}

// update serves one update by id.
func (l *updateLookups) update(form schemas.UpdateForm) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		id, encoding, err := idRequest(r, form)
		if err != nil {
			return err
		}
		return l.updateByID(ctx, r, form, encoding, id, "Transaction with id "+id+" not found.")
	}
}

// updateByID answers with an update at or below the watermark, which never changes.
func (l *updateLookups) updateByID(ctx context.Context, r *query.Request, form schemas.UpdateForm, encoding schemas.Encoding, id, missing string) error {
	key := fmt.Sprintf("update %x %t %t %s %s", l.catalog.Fingerprint(), form.WithOffset, form.NodeLocal, encoding, id)
	return l.lookup(ctx, r, key, func() (found, error) {
		p, copied, err := l.copied(ctx, r, id)
		if err != nil {
			return found{}, err
		}
		if u := p.Update(); copied && u != nil && encoding == schemas.CompactJSON && form == (schemas.UpdateForm{}) {
			return found{append(p.Text[:0], u...), true, true}, nil
		}
		it, ok, err := l.item(ctx, r, id, pieceIf(copied, &p))
		if err != nil {
			return found{}, err
		}
		if !ok || it.Update == nil || it.Update.IsImport() {
			return found{}, query.Errorf(query.NotFound, "%s", missing)
		}
		return found{text: pages.Rendered(it.Update, newUpdateWriter(l.catalog, form, encoding).update), final: true}, nil
	})
}

// found is the answer to a lookup.
type found struct {
	text []byte
	// final says that the answer will never change.
	final bool
	// pooled says that text is in memory of query.Request.Buffer.
	pooled bool
}

// lookup answers with what is remembered under a key, or with what find finds. What never changes
// is kept, but copies only once they are asked for again: to keep each of many that are asked
// for once costs as much as to find it.
func (l *updateLookups) lookup(ctx context.Context, r *query.Request, key string, find func() (found, error)) error {
	if text, ok := l.answers.Get(key); ok {
		r.Immutable()
		return r.Shared(text)
	}
	f, err := find()
	if err != nil {
		return err
	}
	if f.final {
		r.Immutable()
		if !f.pooled || l.answers.AskedAgain(key) {
			l.answers.Put(key, f.owned())
		}
	}
	if f.pooled {
		return r.Pooled(f.text)
	}
	return r.Shared(f.text)
}

// owned is the text in memory that is not pooled.
func (f *found) owned() []byte {
	if f.pooled {
		return bytes.Clone(f.text)
	}
	return f.text
}

// updateByHash serves the update that an external party signed with a hash.
func (l *updateLookups) updateByHash(ctx context.Context, r *query.Request) error {
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
	id, ok, err := l.source.UpdateIDByHash(ctx, hash)
	if err != nil {
		return err
	}
	if !ok {
		return query.Errorf(query.NotFound, "%s", missing)
	}
	return l.updateByID(ctx, r, schemas.UpdateForm{}, encoding, id, missing)
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

// event serves one element of the event history by update id.
func (l *updateLookups) event(ctx context.Context, r *query.Request) error {
	id, encoding, err := idRequest(r, schemas.UpdateForm{})
	if err != nil {
		return err
	}
	return l.lookup(ctx, r, fmt.Sprintf("event %x %s %s", l.catalog.Fingerprint(), encoding, id), func() (found, error) {
		p, copied, err := l.copied(ctx, r, id)
		if err != nil {
			return found{}, err
		}
		if copied && encoding == schemas.CompactJSON {
			at := schemas.Position{MigrationID: p.MigrationID, RecordTime: p.RecordTime, UpdateID: id}
			return found{p.Text, true, true}, l.checkShown(ctx, id, at)
		}
		it, ok, err := l.item(ctx, r, id, pieceIf(copied, &p))
		if err != nil {
			return found{}, err
		}
		if !ok {
			return found{}, errNoEvent(id)
		}
		if err := l.checkShown(ctx, id, it.Position()); err != nil {
			return found{}, err
		}
		return found{text: pages.Rendered(&it, newUpdateWriter(l.catalog, schemas.UpdateForm{}, encoding).item), final: isWhole(&it)}, nil
	})
}

func errNoEvent(id string) error {
	return query.Errorf(query.NotFound, "Event with update id %s not found.", id)
}

// pieceIf returns p if it is there, else nil.
func pieceIf(there bool, p *copies.Piece) *copies.Piece {
	if there {
		return p
	}
	return nil
}

// checkShown refuses an event by id at a position that is not part of the event history that
// may be shown, which imports are not.
func (l *updateLookups) checkShown(ctx context.Context, id string, at schemas.Position) error {
	if at.RecordTime == schemas.MinMicros {
		return errNoEvent(id)
	}
	shown, err := l.horizon.Shows(ctx, at)
	if err == nil && !shown {
		err = errNoEvent(id)
	}
	return err
}

// isWhole reports whether nothing can be added to an item: the verdict of a transaction may
// become known later, and a reassignment has none.
func isWhole(it *schemas.Item) bool {
	return it.Verdict != nil || it.Update != nil && it.Update.Kind != schemas.Transaction
}

// copied returns the copy of an item by update id; ok is false if there is none, or none that
// has all that may be known of the item: a verdict that came late is not in it.
// It is unpacked into memory of the answer.
func (l *updateLookups) copied(ctx context.Context, r *query.Request, id string) (p copies.Piece, ok bool, err error) {
	if l.copies == nil {
		return p, false, nil
	}
	found, ok, err := shared(ctx, r, l.copies, id)
	if err != nil || !ok {
		return p, false, err
	}
	p, ok, err = found.Piece(ctx, r.Buffer()) // by this goroutine: many are unpacked at once
	return p, ok && !p.MayGrow(), err
}

// item returns what is known by an update id, by way of its copy if that is not nil; ok is
// false for nothing. The item must not be changed.
func (l *updateLookups) item(ctx context.Context, r *query.Request, id string, copied *copies.Piece) (it schemas.Item, ok bool, err error) {
	if copied != nil {
		it, ok, err = copied.Item(l.catalog)
		r.PutBack(copied.Text)
		if ok || err != nil {
			return it, ok, err
		}
	}
	return shared(ctx, r, l.items, id)
}

// shared looks an id up together with others. While it waits for them the request takes no
// slot: they could not come else.
func shared[T any](ctx context.Context, r *query.Request, l *memo.Batcher[string, T], id string) (found T, ok bool, err error) {
	err = r.Await(ctx, func() (err error) {
		found, ok, err = l.Get(ctx, id)
		return err
	})
	return found, ok, err
}
