package node

import (
	"context"
	"maps"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

// match is an EventSelection in the form that queries take: what matches any of its filters. All
// entries are combined into three: parties with any template, templates with any party, and
// parties with templates. The last of these may match more than its entries do. Each is a query
// of its own, because the engine skips nothing by its index of parties where they are alternatives.
type match struct {
	// all says that everything matches; there are no filters then. Without either nothing does.
	all     bool
	filters []filter
}

// filter has one of the parties and one of the templates, each if there are any.
type filter struct{ parties, templates []string }

// none reports whether nothing matches.
func (m *match) none() bool { return !m.all && len(m.filters) == 0 }

// maxPartyKeys is how many parties are looked for by their keys at most.
const maxPartyKeys = 64

// onlyParties are the parties if nothing else is selected and they are few; sorted.
func (m *match) onlyParties() []string {
	if len(m.filters) != 1 || len(m.filters[0].templates) > 0 || len(m.filters[0].parties) > maxPartyKeys {
		return nil
	}
	return m.filters[0].parties
}

// match combines entries for a part of the stream that ends at through.
func (f *finder) match(ctx context.Context, entries []SelectionEntry, through int64) (match, error) {
	var byParty, byTemplate, byBoth filter
	for _, e := range entries {
		if len(e.Parties) == 0 && len(e.Templates) == 0 {
			return match{all: true}, nil
		}
		if len(e.Templates) == 0 {
			byParty.parties = append(byParty.parties, e.Parties...)
			continue
		}
		ids, err := f.templates.idsOf(ctx, e.Templates, through)
		if err != nil {
			return match{}, err
		}
		switch {
		case len(ids) == 0: // templates that the stream does not have
		case len(e.Parties) == 0:
			byTemplate.templates = append(byTemplate.templates, ids...)
		default:
			byBoth.parties, byBoth.templates = append(byBoth.parties, e.Parties...), append(byBoth.templates, ids...)
		}
	}
	var m match
	for _, some := range []filter{byParty, byTemplate, byBoth} {
		if len(some.parties)+len(some.templates) > 0 {
			m.filters = append(m.filters, filter{distinct(some.parties), distinct(some.templates)})
		}
	}
	return m, nil
}

// distinct sorts a list and leaves each text once.
func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// selectFiltered returns the rows of all filters, of one behind the other. newBlock returns a block
// for the rows of one.
func selectFiltered[T any](ctx context.Context, db *store.DB, query string, filters []filter, params store.Params, newBlock func() store.Rows[T]) ([]T, error) {
	found := make([][]T, len(filters))
	group, ctx := guard.WithContext(ctx)
	for i, f := range filters {
		own := maps.Clone(params)
		own["parties"], own["templates"] = store.Texts(f.parties), store.Texts(f.templates)
		group.Go(func() (err error) {
			found[i], err = store.SelectAll(ctx, db, query, own, newBlock())
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(found...), nil
}
