package scan

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// copied returns the copy of an item by update id; ok is false if there is none, or none that
// has all that may be known of the item: a verdict that came late is not in it.
// It is unpacked into memory of the answer.
func (a *API) copied(ctx context.Context, r *query.Request, id string) (p copies.Piece, ok bool, err error) {
	if a.copies == nil {
		return p, false, nil
	}
	found, ok, err := shared(ctx, r, a.copies, id)
	if err != nil || !ok {
		return p, false, err
	}
	p, ok, err = found.Piece(ctx, r.Buffer()) // by this goroutine: many are unpacked at once
	return p, ok && !p.MayGrow(), err
}

// item returns what is known by an update id, by way of its copy if that is not nil; ok is
// false for nothing. The item must not be changed.
func (a *API) item(ctx context.Context, r *query.Request, id string, copied *copies.Piece) (it schemas.Item, ok bool, err error) {
	if copied != nil {
		it, ok, err = copied.Item(a.cfg.Catalog)
		r.PutBack(copied.Text)
		if ok || err != nil {
			return it, ok, err
		}
	}
	return shared(ctx, r, a.lookups, id)
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
