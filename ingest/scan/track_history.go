package scan

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// historyTrack reads the history of one migration through an ascending operation,
// EventsPage or UpdatesPage.
type historyTrack struct {
	client      *Client
	migrationID int64
	page        func(context.Context, PageRequest) (Page, error)
	operation   string
	// horizon limits what is taken of a page; what lies beyond it is noted in beyond.
	// Without beyond there is none.
	horizon horizon
	beyond  *earliestBeyond
}

func (t *historyTrack) coordinate(p schemas.Position) int64 { return int64(p.RecordTime) }

func (t *historyTrack) position(c int64) schemas.Position { return historyBound(t.migrationID, c) }

// historyBound is after all updates with record time c.
func historyBound(migrationID, c int64) schemas.Position {
	return schemas.Position{MigrationID: migrationID, RecordTime: schemas.Micros(c), UpdateID: afterAllIDs}
}

// fetch reads a page. The cursor of the next one has no update id, so the items of a
// full page that share its last record time are left to the next: there may be more of
// them. A page with but one record time is asked for again in a larger size.
func (t *historyTrack) fetch(ctx context.Context, after, upTo schemas.Position, o fetchOptions) (chunk, error) {
	for size := o.size; ; size = min(2*size, MaxPageItems) {
		page, items, err := t.fetchPage(ctx, after, size, o)
		if err != nil && size > o.size {
			return chunk{}, fmt.Errorf("requesting %d items, because %d may not be all with their record time: %w", size, size/2, err)
		}
		if err != nil {
			return chunk{}, err
		}
		c := t.chunk(items, upTo, size)
		c.bytes = int64(len(page.Body))
		if len(c.items) > 0 || c.done {
			c.covered = after
			if len(c.items) > 0 {
				c.covered = c.items[len(c.items)-1].Position()
			}
			return c, nil
		}
		if size >= MaxPageItems {
			return chunk{}, malformed(t.client, t.operation, after,
				fmt.Errorf("more than %d items share the record time %s, so no cursor can get past them", size, c.last))
		}
	}
}

func (t *historyTrack) fetchPage(ctx context.Context, after schemas.Position, size int, o fetchOptions) (Page, []schemas.Item, error) {
	page, err := t.page(ctx, PageRequest{After: after, Size: size, once: o.once, reserve: o.reserve, expect: o.expect})
	if err != nil {
		return page, nil, err
	}
	items, err := page.Items()
	items = t.within(items)
	if err == nil {
		err = checkAscending(items, after, checkHistory)
	}
	if err != nil {
		return page, nil, malformed(t.client, t.operation, after, err)
	}
	return page, items, nil
}

// chunk takes what is complete out of a page of size items, or nothing.
func (t *historyTrack) chunk(items []schemas.Item, upTo schemas.Position, size int) chunk {
	c := cut(items, upTo)
	switch {
	case c.done:
	case len(items) < size:
		// The interface promises that a short page is the last one.
		c.done, c.end = true, true
	default:
		c.items = dropLastTime(c.items)
	}
	return c
}

// dropLastTime cuts the items off that share the last one's record time.
func dropLastTime(items []schemas.Item) []schemas.Item {
	n := len(items) - 1
	for n > 0 && sameTime(items[n-1].Position(), items[n].Position()) {
		n--
	}
	return items[:n:n]
}

// sameTime reports whether a cursor of the history operations cannot distinguish p from q.
func sameTime(p, q schemas.Position) bool {
	return p.MigrationID == q.MigrationID && p.RecordTime == q.RecordTime
}

// cut keeps the items up to and including upTo.
func cut(items []schemas.Item, upTo schemas.Position) chunk {
	c := chunk{items: items, seen: len(items), next: schemas.Start}
	if len(items) > 0 {
		c.first, c.last = items[0].Position(), items[len(items)-1].Position()
	}
	for i := range items {
		if p := items[i].Position(); upTo.Before(p) {
			c.items, c.next, c.done = items[:i:i], p, true
			break
		}
	}
	return c
}
