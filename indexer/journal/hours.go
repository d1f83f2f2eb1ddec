package journal

import (
	"context"
	"log/slog"
	"time"

	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

// maxHourRows bounds what the hours of a range have, unless it is one hour: what sums them up runs on the server.
const maxHourRows = 1_000_000

// NewHourFollower returns a follower whose ranges are whole hours of one migration, start exclusive and end
// inclusive. An hour is taken once history goes on behind it.
func NewHourFollower(db *store.DB, stream, own string, pace time.Duration, log *slog.Logger) *Follower {
	f := NewFollower(db, stream, own, pace, log)
	f.hours = true
	return f
}

// nextHours is Next for whole hours.
func (f *Follower) nextHours(ctx context.Context, row store.BatchRow) (store.BatchRow, error) {
	mark, err := journals.Watermark(ctx, f.db, f.stream)
	if err != nil {
		return row, err
	}
	if !row.After.Before(mark) {
		return row, ErrCaughtUp
	}
	hours, err := journals.HoursAfter(ctx, f.db, f.stream, row.After, mark)
	if err != nil {
		return row, err
	}
	if !wholeHours(&row, hours) {
		return row, ErrCaughtUp
	}
	row.Hash = row.Through.String()
	return row, Announce(ctx, f.db, row)
}

// wholeHours has row end with the last hour of its first migration that is over and does not make it too large.
func wholeHours(row *store.BatchRow, hours []journals.Hour) (found bool) {
	for i, h := range hours {
		end, over := h.At(), h.Migration != hours[0].Migration
		if over { // nothing follows in the migration
			end = hours[i-1].End()
		}
		if row.After.Before(end) {
			if found && row.Items+row.Events > maxHourRows {
				return true
			}
			row.Through, found = end, true
		}
		if over {
			return found
		}
		row.Items += h.Items
		row.Events += h.Events
	}
	return found
}
