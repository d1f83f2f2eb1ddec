package published

import (
	"context"

	"github.com/ledgerlake/ledgerlake/schemas"
)

const day schemas.Micros = 24 * 3600 * 1e6

// dayEnd returns the midnight at which the folder with record time t ends. Folders are days
// whatever the length of segments.
func dayEnd(t schemas.Micros) schemas.Micros { return schemas.DaySegments.End(t) }

// Folder is what is published at once in the network's layout, and the history that it
// holds.
type Folder struct {
	Ref schemas.NetworkRef
	// After (exclusive) and Through (inclusive) bound the updates of a folder of updates,
	// which may continue from one migration into the next.
	After, Through schemas.Position
	// MigrationID is that of an active set.
	MigrationID int64
}

// folders lists what can no longer change, by (start, kind), contracts before updates.
//
// Folders follow each other without a gap: the first one begins at MinMicros and ends at
// the first midnight after the first update, each other one is a day. A folder ends in the
// lowest migration that has an update after its end. There is an active set for each
// midnight that lies between the first and the last update of a migration, and so none for
// the first folder nor for a midnight at which no migration was in use.
func (c *closed) folders(ctx context.Context) ([]Folder, error) {
	h, err := c.pastExtent(ctx)
	if err != nil {
		return nil, err
	}
	spans := h.spans()
	if len(spans) == 0 {
		return nil, nil
	}
	var folders []Folder
	start, after := schemas.MinMicros, schemas.Start
	for end := dayEnd(spans[0].first); end <= dayEnd(spans.last()); end += day {
		if m, ok := spans.activeAt(start); ok && !h.contracts.Before(schemas.EndOf(m, start)) {
			ref := schemas.NetworkRef{Stream: c.stream, Kind: schemas.NetworkACS, Start: start, End: end}
			folders = append(folders, Folder{Ref: ref, MigrationID: m})
		}
		through := schemas.EndOf(spans.beyond(end), end)
		if end > h.clock || !h.complete(through, spans) {
			return folders, nil
		}
		ref := schemas.NetworkRef{Stream: c.stream, Kind: schemas.NetworkUpdates, Start: start, End: end}
		folders = append(folders, Folder{Ref: ref, After: after, Through: through})
		start, after = end, through
	}
	return folders, nil
}

// migrationSpan is the record times of a migration's first and last update.
type migrationSpan struct {
	id          int64
	first, last schemas.Micros
}

// migrationSpans are those of the migrations with updates, by ascending id.
type migrationSpans []migrationSpan

// spans returns the spans of the migrations that have history.
func (h extent) spans() migrationSpans {
	var spans migrationSpans
	for _, m := range h.migrations {
		if len(m.Synchronizers) == 0 {
			continue
		}
		span := migrationSpan{m.ID, m.Synchronizers[0].Min, m.Synchronizers[0].Max}
		for _, s := range m.Synchronizers {
			span.first, span.last = min(span.first, s.Min), max(span.last, s.Max)
		}
		spans = append(spans, span)
	}
	return spans
}

// last is the record time of the last update of all.
func (s migrationSpans) last() schemas.Micros {
	last := schemas.MinMicros
	for _, m := range s {
		last = max(last, m.last)
	}
	return last
}

// beyond returns the lowest migration with an update after an instant, or the highest one
// if there is none yet.
func (s migrationSpans) beyond(at schemas.Micros) int64 {
	for _, m := range s {
		if m.last > at {
			return m.id
		}
	}
	return s[len(s)-1].id
}

// activeAt returns the lowest migration that has updates before and after an instant.
func (s migrationSpans) activeAt(at schemas.Micros) (migrationID int64, ok bool) {
	for _, m := range s {
		if m.first < at && at < m.last {
			return m.id, true
		}
	}
	return 0, false
}

// complete reports whether nothing can be added to history up to the end of a folder: it is
// held, and an update or the watermark lies beyond. As long as a later migration has no
// history it might be taken back and does not count.
func (h extent) complete(through schemas.Position, spans migrationSpans) bool {
	for _, m := range spans {
		if m.id == through.MigrationID && m.last > through.RecordTime {
			return true
		}
	}
	return h.watermark.MigrationID == through.MigrationID && !h.watermark.Before(through) || h.laterHistory(through.MigrationID)
}
