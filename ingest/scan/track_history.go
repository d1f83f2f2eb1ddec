package scan

import (
	"context"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// historyTrack reads the history of one migration through an ascending operation,
// EventsPage or UpdatesPage.
type historyTrack struct {
	client      *Client
	migrationID int64
	page        func(context.Context, PageRequest) (Page, error)
	operation   string
}

func (t *historyTrack) coordinate(p schemas.Position) int64 { return int64(p.RecordTime) }

func (t *historyTrack) position(c int64) schemas.Position { return historyBound(t.migrationID, c) }

// historyBound stands behind all updates with record time c.
func historyBound(migrationID, c int64) schemas.Position {
	return schemas.Position{MigrationID: migrationID, RecordTime: schemas.Micros(c), UpdateID: afterAllIDs}
}

func (t *historyTrack) fetch(ctx context.Context, after, upTo schemas.Position, o fetchOptions) (chunk, error) {
	page, err := t.page(ctx, PageRequest{After: after, Size: o.size, reserve: o.reserve})
	if err != nil {
		return chunk{}, err
	}
	items, err := page.Items()
	if err == nil {
		err = checkAscending(items, after, t.check)
	}
	if err != nil {
		return chunk{}, malformed(t.client, t.operation, after, err)
	}
	c := cut(items, upTo)
	c.bytes = int64(len(page.Body))
	if !c.done && len(items) < o.size {
		// The interface promises that a short page is the last one.
		c.done, c.end = true, true
	}
	if len(c.items) > 0 {
		c.covered = c.items[len(c.items)-1].Position()
	} else {
		c.covered = after
	}
	return c, nil
}

func (t *historyTrack) check(it *schemas.Item) error {
	if err := checkHistory(it); err != nil {
		return err
	}
	return checkEncoding(it.Update)
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
