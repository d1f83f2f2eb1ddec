package node

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Pages is a reader of a node's stream that reads ahead for clients that go through
// it, and keeps other pages of updates in memory, up to a number of bytes: what lies below
// the watermark never changes. The page that was not asked for the longest goes first. It is
// safe for concurrent use. Nobody may change the updates that it returns.
type Pages struct {
	*Reader
	walks *walks
	kept  *memo.LRU[pageKey, keptPage]
}

// pageKey is a digest of what a page was asked for by, but for where its range ends.
type pageKey [sha256.Size]byte

type keptPage struct {
	page Page
	// full says that the page ended with its limit, not with its range.
	full bool
	size int64
}

// NewPages returns r with a memory of so many bytes. spare reserves memory for what is
// read ahead; when it does not, nothing is. nil is as if there were always enough.
func NewPages(r *Reader, most int64, spare func(bytes int64) (release func(), ok bool)) *Pages {
	if spare == nil {
		spare = func(int64) (func(), bool) { return func() {}, true }
	}
	kept := memo.NewLRU(most, func(_ pageKey, k keptPage) int64 { return k.size })
	return &Pages{Reader: r, walks: newWalks(r.LedgerUpdates, spare), kept: kept}
}

// LedgerUpdates is that of the reader.
func (c *Pages) LedgerUpdates(ctx context.Context, sel Selection, rg Range) (Page, error) {
	end, err := c.LedgerEndFrom(ctx, rg.Through)
	if err != nil {
		return Page{}, err
	}
	rg.Through = min(rg.Through, end) // or a page would be kept for a place that still moves
	if rg.After >= rg.Through {
		return c.Reader.LedgerUpdates(ctx, sel, rg)
	}
	key := pageKeyOf(sel, rg)
	if page, ok := c.get(key, rg); ok {
		return page, nil
	}
	if page, ok, err := c.walks.page(ctx, sel, rg); ok {
		return page, err
	}
	page, err := c.Reader.LedgerUpdates(ctx, sel, rg)
	if err == nil {
		c.walks.ended(pageKeyOf(sel, rg.at(page.Covered)))
		c.kept.Put(key, keptPage{page, len(page.Updates) == rg.Limit, keptBytes + sizeOf(page.Updates)})
	}
	return page, err
}

// keptBytes is about what a page takes beside its updates.
const keptBytes = 300

// pageKeyOf digests a request, all but the end that its range is read towards.
func pageKeyOf(sel Selection, rg Range) pageKey {
	var text []byte
	number := func(n int64) { text = binary.AppendVarint(text, n) }
	flag := func(set bool) {
		if set {
			number(1)
		} else {
			number(0)
		}
	}
	texts := func(list []string) {
		number(int64(len(list)))
		for _, s := range list {
			number(int64(len(s)))
			text = append(text, s...)
		}
	}
	for _, events := range []*EventSelection{sel.Transactions, sel.Reassignments} {
		if flag(events != nil); events == nil {
			continue
		}
		number(int64(len(events.Entries)))
		for _, e := range events.Entries {
			texts(e.Parties)
			texts(e.Templates)
		}
	}
	flag(sel.Topology)
	flag(sel.Contracts)
	flag(rg.Descending)
	number(int64(rg.Limit))
	if rg.Descending {
		number(rg.Through)
	} else {
		number(rg.After)
	}
	return sha256.Sum256(text)
}

// sizeOf is about how much memory updates take.
func sizeOf(updates []schemas.Update) (size int64) {
	const updateBytes, eventBytes = 600, 700
	for i := range updates {
		u := &updates[i]
		size += updateBytes + int64(len(u.Local.TraceContext)+len(u.Local.Topology)+len(u.Local.Extras))
		for j := range u.Events {
			e := &u.Events[j]
			size += eventBytes + int64(len(e.Argument)+len(e.Result)+len(e.Local.Extras))
		}
	}
	return size
}

// get returns a page that was kept for a request, cut where its range ends.
func (c *Pages) get(key pageKey, rg Range) (Page, bool) {
	kept, ok := c.kept.Get(key)
	if !ok {
		return Page{}, false
	}
	if page := kept.page; rg.beyond(page.Covered) || kept.full || page.Covered == rg.end() {
		page = page.until(rg)
		page.Updates = slices.Clip(page.Updates)
		return page, true
	}
	return Page{}, false // the range was shorter then
}

// beyond reports whether a page went on behind the end of the range.
func (rg Range) beyond(covered int64) bool {
	if rg.Descending {
		return covered < rg.After
	}
	return covered > rg.Through
}

// outside reports whether an offset lies behind the end of the range.
func (rg Range) outside(offset int64) bool {
	if rg.Descending {
		return offset <= rg.After
	}
	return offset > rg.Through
}
