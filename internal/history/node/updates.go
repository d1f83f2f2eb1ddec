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
	p, rg, err := r.beginSearch(ctx, sel, rg)
	if err != nil {
		return Page{}, err
	}
	return r.search(ctx, sel, p, rg)
}

// beginSearch finds out how to look for what sel selects, and cuts the range at the watermark.
func (r *Reader) beginSearch(ctx context.Context, sel Selection, rg Range) (p plan, cut Range, err error) {
	end, err := r.LedgerEndFrom(ctx, rg.Through)
	if err != nil {
		return p, rg, err
	}
	rg.Through = min(rg.Through, end)
	rg.After = max(rg.After, 0)
	if rg.After >= rg.Through {
		return p, rg, nil
	}
	if p, err = r.finder.plan(ctx, sel, rg.Through); err != nil {
		return p, rg, fmt.Errorf("looking for updates after offset %d: %w", rg.After, err)
	}
	return p, rg, nil
}

// search reads a page of a range that ends at or below the watermark.
func (r *Reader) search(ctx context.Context, sel Selection, p plan, rg Range) (page Page, err error) {
	switch {
	case rg.After >= rg.Through:
		return Page{Covered: rg.start()}, nil
	case p.nothing():
		return Page{Covered: rg.end()}, nil
	case p.pass:
		page, err = r.finder.passThrough(rg, func(w Range) ([]schemas.Update, error) { return r.source.wholeWindow(ctx, p.kinds, w) })
	default:
		page, err = r.pickOut(ctx, p, rg, sel.Contracts)
	}
	if err != nil {
		return Page{}, fmt.Errorf("reading updates between offsets %d and %d: %w", rg.After, rg.Through, err)
	}
	if sel.Contracts && p.pass {
		err = r.lifetimes.addEnded(ctx, page.Updates)
	}
	return page, err
}

// pickOut looks for updates in windows, and reads those it finds, with the contracts that
// ended in them if asked to: beside them when it is known already what ended up to there.
func (r *Reader) pickOut(ctx context.Context, p plan, rg Range, contracts bool) (page Page, err error) {
	offsets, covered, err := r.finder.findOffsets(ctx, p, rg)
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
