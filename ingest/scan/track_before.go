package scan

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// beforeTrack reads the history of one migration through updates-before, which goes
// backwards and synchronizer by synchronizer. A fetch reads a whole span and turns it
// round, so spans must be short: one that holds more than a page is shortened.
type beforeTrack struct {
	client        *Client
	migrationID   int64
	synchronizers []string
	// first is the lowest record time that there is.
	first schemas.Micros
}

func (t *beforeTrack) coordinate(p schemas.Position) int64 { return int64(p.RecordTime) }

func (t *beforeTrack) position(c int64) schemas.Position { return historyBound(t.migrationID, c) }

func (t *beforeTrack) fetch(ctx context.Context, after, upTo schemas.Position, o fetchOptions) (chunk, error) {
	from, before := max(after.RecordTime+1, t.first), upTo.RecordTime+1
	for {
		c, shorter, err := t.fetchSpan(ctx, from, before, o)
		if err != nil {
			return chunk{}, err
		}
		if shorter != 0 {
			before = shorter
			continue
		}
		c.covered = upTo
		if c.done = before == upTo.RecordTime+1; !c.done {
			c.covered = historyBound(t.migrationID, int64(before-1))
		}
		return c, nil
	}
}

// fetchSpan reads all with from <= record time < before. If that is more than a page
// it returns a shorter end to try with instead, else 0.
func (t *beforeTrack) fetchSpan(ctx context.Context, from, before schemas.Micros, o fetchOptions) (c chunk, shorter schemas.Micros, err error) {
	c.next = schemas.Start
	for _, synchronizer := range t.synchronizers {
		items, bytes, all, err := t.fetchOne(ctx, synchronizer, from, before, o, c.bytes)
		if err != nil {
			return c, 0, err
		}
		if !all {
			oldest := items[len(items)-1].Position().RecordTime
			fits := float64(before-oldest) * sliceFill * float64(o.size) / float64(len(items))
			// At least half is kept: a burst behind a long gap says nothing about the gap.
			return c, from + min(max(schemas.Micros(fits), (oldest-from)/2, 1), oldest-from), nil
		}
		c.items = append(c.items, items...)
		c.bytes += bytes
	}
	slices.SortFunc(c.items, func(a, b schemas.Item) int { return a.Position().Compare(b.Position()) })
	if c.seen = len(c.items); c.seen > 0 {
		c.first, c.last = c.items[0].Position(), c.items[c.seen-1].Position()
	}
	return c, 0, nil
}

// fetchOne reads one synchronizer's part of a span, newest first, until an empty page
// ends it; all is false if it stopped at o.size items with more to come. As with
// historyTrack, the items at the end of a full page that share a record time are left
// to the next.
func (t *beforeTrack) fetchOne(ctx context.Context, synchronizer string, from, before schemas.Micros, o fetchOptions, held int64) (items []schemas.Item, bytes int64, all bool, err error) {
	count, seen := o.size, 0
	for before > from {
		if seen >= o.size && !o.whole {
			return items, bytes, false, nil
		}
		r := BeforeRequest{MigrationID: t.migrationID, SynchronizerID: synchronizer, Before: before, AtOrAfter: from, Count: count, expect: o.expect}
		if o.reserve != nil {
			r.reserve = func(size int64) error { return o.reserve(held + bytes + size) }
		}
		page, err := t.client.UpdatesBefore(ctx, r)
		if err != nil {
			return nil, 0, false, err
		}
		got, err := page.Items()
		if err == nil {
			err = t.check(got, synchronizer, from, before)
		}
		if err != nil {
			return nil, 0, false, malformed(t.client, updatesBeforeOperation, historyBound(t.migrationID, int64(before)), err)
		}
		if len(got) == 0 {
			break
		}
		bytes += int64(len(page.Body))
		arrived := len(got)
		if arrived >= count {
			got = dropLastTime(got)
		}
		if len(got) == 0 {
			if count >= MaxPageItems {
				return nil, 0, false, malformed(t.client, updatesBeforeOperation, historyBound(t.migrationID, int64(before)),
					fmt.Errorf("%d updates or more share one record time, so no cursor can get past them", count))
			}
			count = min(2*count, MaxPageItems)
			continue
		}
		items, seen, count = append(items, got...), seen+arrived, o.size
		before = got[len(got)-1].Position().RecordTime
	}
	return items, bytes, true, nil
}

// check makes sure that a page goes backwards within its span.
func (t *beforeTrack) check(items []schemas.Item, synchronizer string, from, before schemas.Micros) error {
	for i := range items {
		u := items[i].Update
		switch {
		case i > 0 && u.Position() == items[i-1].Position():
			return duplicate(&items[i-1], &items[i])
		case u.MigrationID != t.migrationID || u.SynchronizerID != synchronizer:
			return fmt.Errorf("update %s belongs to migration %d of %s, not to migration %d of %s",
				u.UpdateID, u.MigrationID, u.SynchronizerID, t.migrationID, synchronizer)
		case u.RecordTime < from || i == 0 && u.RecordTime >= before:
			return fmt.Errorf("update %s at %s is outside the range from %s to before %s", u.UpdateID, u.RecordTime, from, before)
		case i > 0 && u.RecordTime > before:
			return fmt.Errorf("history goes forwards: update %s at %s follows one at %s", u.UpdateID, u.RecordTime, before)
		}
		before = u.RecordTime
	}
	return nil
}
