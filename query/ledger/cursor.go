package ledger

import (
	"context"
	"fmt"

	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/query/ledger/view"
)

// page is a run of elements in their final form.
type page struct {
	texts []byte
	ends  []int // where each element ends in texts
	// covered is the offset up to which a stretch of updates was looked through.
	covered int64
}

func (p *page) reset() { p.texts, p.ends = p.texts[:0], p.ends[:0] }

// shrink lets go of a text that was much larger than usual: it would be held for the rest of
// a stream.
func (p *page) shrink() {
	if cap(p.texts) > 2*maxPageBytes {
		p.texts = nil
	}
}

// add notes that texts has one element more.
func (p *page) add() { p.ends = append(p.ends, len(p.texts)) }

// cursor gives the elements of an answer, some at a time.
type cursor interface {
	// next appends at most limit elements to p; it may be none. It reports false when there is
	// nothing more to read for now.
	next(ctx context.Context, p *page, limit int) (more bool, err error)
	// wait waits until there may be more, after next has said that there is not. It reports
	// false, at once, when there never will be.
	wait(ctx context.Context) (more bool, err error)
}

// Sizes of what is read from the store for a websocket at a time. The larger a page the less
// the store has to do for an element, so one client gets large ones; many share streamBytes.
const (
	streamBytes  = 256 << 20
	maxPageBytes = 8 << 20
	minPageBytes = 256 << 10
	maxRead      = 5000
	minRead      = 16
)

// pageBytes is about how much text a page has while there are so many streams.
func pageBytes(streams int) int {
	return min(max(streamBytes/(pagesAhead*max(streams, 1)), minPageBytes), maxPageBytes)
}

// pageLimit is how many elements make a page of so many bytes, given one before of so many
// elements and bytes.
func pageLimit(most, elements, bytes int) int {
	if elements == 0 {
		return maxRead / 20 // nothing is known of their size
	}
	return min(max(most/max(bytes/elements, 1), minRead), maxRead)
}

// updateCursor reads a stretch of updates.
type updateCursor struct {
	node   *node
	from   Updates
	format *view.UpdateFormat
	sel    nodehistory.Selection
	// after and through are what is left to read: (after, through].
	after, through int64
	descending     bool
	// open says that the stretch goes on as the stream does.
	open bool
	// listed is the offset of the last element that was given.
	listed int64
	// known is the size of the names that format was read with.
	known int
}

// key identifies the answer of a list that is not open, which never changes.
func (c *updateCursor) key(rules listRules) string {
	return fmt.Sprintf("%x %d %d %d %t %d %t", c.format.Digest(), c.known, c.after, c.through, c.descending, rules.most, rules.strict)
}

// next implements cursor with one read.
func (c *updateCursor) next(ctx context.Context, p *page, limit int) (bool, error) {
	p.covered = c.position()
	if c.after >= c.through {
		return false, nil
	}
	read, err := c.from.LedgerUpdates(ctx, c.sel, nodehistory.Range{
		After: c.after, Through: c.through, Descending: c.descending, Limit: min(limit, maxRead),
	})
	if err != nil {
		return false, err
	}
	for i := range read.Updates {
		var visible bool
		if p.texts, visible, err = c.format.AppendUpdate(p.texts, &read.Updates[i]); err != nil {
			return false, err
		}
		if visible {
			p.add()
			c.listed = read.Updates[i].Local.Offset
		}
	}
	if c.descending {
		c.through = read.Covered
	} else {
		c.after = read.Covered
	}
	p.covered = read.Covered
	return c.after < c.through, nil
}

// position is up to where the stretch was looked through.
func (c *updateCursor) position() int64 {
	if c.descending {
		return c.through
	}
	return c.after
}

// appendCheckpoint ends a list of a stretch that is open: from its offset the next request can
// go on without reading again what was looked through. There is none where the last element
// tells as much.
func (c *updateCursor) appendCheckpoint(ctx context.Context, dst []byte, count int) ([]byte, error) {
	if c.after <= c.listed {
		return dst, nil
	}
	if count > 0 {
		dst = append(dst, ',')
	}
	return c.node.times.append(ctx, dst, c.after)
}

// wait implements cursor.
func (c *updateCursor) wait(ctx context.Context) (bool, error) {
	if !c.open {
		return false, nil
	}
	end, err := c.node.ends.after(ctx, c.through)
	if err != nil {
		return false, err
	}
	c.through = end
	return true, nil
}
