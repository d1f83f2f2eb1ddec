package node

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// LedgerUpdates returns updates of a node's stream that sel may be interested in, at or
// below the watermark: a range that ends above it is cut there. It may return fewer than
// the limit, even none, before the end of the range: see Page.
func (r *Reader) LedgerUpdates(ctx context.Context, sel Selection, rg Range) (Page, error) {
	return r.search(ctx, sel, rg, func(kinds []string, w Range) ([]schemas.Update, error) {
		var events []store.EventRow
		updates, err := r.source.window(ctx, kinds, w, func(ctx context.Context, first, last int64) error {
			return selectRows(ctx, r.db, eventsQuery, between(r.stream, first, last), func(block []store.EventRow) { events = append(events, block...) })
		})
		if err == nil {
			err = hangOnRows(updates, events, w.Descending)
		}
		if err == nil && sel.Contracts {
			err = r.lifetimes.addEnded(ctx, updates)
		}
		return updates, err
	})
}

// search reads a page of a range, which it cuts at the watermark. Where nothing has to be looked for,
// read gives the updates of some kinds in a window, up to the limit.
func (r *Reader) search(ctx context.Context, sel Selection, rg Range, read func(kinds []string, w Range) ([]schemas.Update, error)) (page Page, err error) {
	end, err := r.LedgerEndFrom(ctx, rg.Through)
	if err != nil {
		return Page{}, err
	}
	rg.After, rg.Through = max(rg.After, 0), min(rg.Through, end)
	if rg.After >= rg.Through {
		return Page{Covered: rg.start()}, nil
	}
	p, err := r.finder.plan(ctx, sel, rg.Through)
	if err != nil {
		return Page{}, fmt.Errorf("looking for updates after offset %d: %w", rg.After, err)
	}
	switch {
	case p.nothing():
		return Page{Covered: rg.end()}, nil
	case p.pass:
		page, err = r.finder.passThrough(rg, func(w Range) ([]schemas.Update, error) { return read(p.kinds, w) })
	default:
		page, err = r.pickOut(ctx, p, rg, sel.Contracts)
	}
	if err != nil {
		return Page{}, fmt.Errorf("reading updates between offsets %d and %d: %w", rg.After, rg.Through, err)
	}
	return page, nil
}

// pickOut looks for updates in windows, and reads those it finds, with the contracts that
// ended in them if asked to: beside them when it is known already what ended up to there.
func (r *Reader) pickOut(ctx context.Context, p plan, rg Range, contracts bool) (page Page, err error) {
	offsets, covered, err := r.finder.inWindows(rg, p.inOneGo(), func(w Range) ([]int64, error) { return r.finder.offsetsIn(ctx, p, w) })
	if err != nil {
		return page, err
	}
	if rg.Descending {
		slices.Reverse(offsets)
	}
	page.Covered = covered
	var ended endedContracts
	group, groupCtx := guard.WithContext(ctx)
	group.Go(func() (err error) {
		page.Updates, err = r.source.at(groupCtx, offsets, rg.Descending)
		return err
	})
	beside := contracts && len(offsets) > 0 && r.ends.lifetimes.Load() >= offsets[len(offsets)-1]
	if beside {
		group.Go(func() (err error) {
			ended, err = r.lifetimes.endedAt(groupCtx, offsets)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return Page{}, err
	}
	page.Updates = slices.DeleteFunc(page.Updates, func(u schemas.Update) bool { return !slices.Contains(p.kinds, string(u.Kind)) })
	switch {
	case beside:
		for i := range page.Updates {
			ended.addTo(&page.Updates[i])
		}
	case contracts:
		err = r.lifetimes.addEnded(ctx, page.Updates)
	}
	return page, err
}

// LedgerUpdateAt returns the update at an offset of a node's stream, whole, nil if there is
// none at or below the watermark.
func (r *Reader) LedgerUpdateAt(ctx context.Context, offset int64) (*schemas.Update, error) {
	end, err := r.LedgerEndFrom(ctx, offset)
	if err != nil || offset <= 0 || offset > end {
		return nil, err
	}
	updates, err := r.source.at(ctx, []int64{offset}, false)
	if err != nil {
		return nil, fmt.Errorf("reading the update at offset %d: %w", offset, err)
	}
	return r.onlyOne(ctx, updates)
}

// LedgerUpdateByID returns the update of a node's stream with an id, whole, nil if there is
// none at or below the watermark.
func (r *Reader) LedgerUpdateByID(ctx context.Context, id string) (*schemas.Update, error) {
	end, err := r.LedgerEnd(ctx)
	if err != nil || end == 0 {
		return nil, err
	}
	offsets, err := store.SelectAll(ctx, r.db, updateByIDQuery, store.Params{
		"keys": store.PlaceKeys(r.stream, store.ByUpdate, id), "through": store.Int(end),
	}, store.NewOffsets())
	if err != nil {
		return nil, fmt.Errorf("looking up update %.80q: %w", id, err)
	}
	updates, err := r.source.at(ctx, offsets, false)
	if err != nil {
		return nil, fmt.Errorf("reading update %.80q: %w", id, err)
	}
	return r.onlyOne(ctx, slices.DeleteFunc(updates, func(u schemas.Update) bool { return u.UpdateID != id }))
}

// onlyOne is the update, with the contracts that it ended, nil without one.
func (r *Reader) onlyOne(ctx context.Context, updates []schemas.Update) (*schemas.Update, error) {
	if len(updates) == 0 {
		return nil, nil
	}
	return &updates[0], r.lifetimes.addEnded(ctx, updates[:1])
}
