package export

import (
	"cmp"
	"context"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Object is a published object.
type Object struct {
	Part
	Segment schemas.SegmentRef
	Table   schemas.ParquetTable
	// Start (exclusive) and End (inclusive) bound the record times of its segment.
	Start, End schemas.Micros
}

// Objects lists published objects of the given tables, of all tables if none are
// given, whose segments overlap the record times after from and up to to. Order is by
// segment, then table, then part. from MinMicros includes the imports.
func (e *Exporter) Objects(ctx context.Context, from, to schemas.Micros, tables ...schemas.ParquetTable) ([]Object, error) {
	if from == schemas.MinMicros {
		from-- // exclusive, and imports stand at MinMicros
	}
	rows, err := e.catalog.between(ctx, from, to)
	if err != nil {
		return nil, err
	}
	var objects []Object
	for i := range rows {
		m, err := e.manifests.of(&rows[i])
		if err != nil {
			return nil, err
		}
		objects = append(objects, listObjects(&rows[i], m, tables)...)
	}
	return objects, nil
}

// ObjectsOf is Objects for given segments. A segment that is not published, or was
// withdrawn, is left out; one whose tables are empty has an empty list.
func (e *Exporter) ObjectsOf(ctx context.Context, refs []schemas.SegmentRef, tables ...schemas.ParquetTable) (map[schemas.SegmentRef][]Object, error) {
	return e.objectsIn(ctx, []string{published}, refs, tables...)
}

// objectsIn is ObjectsOf for segments in one of some states.
func (e *Exporter) objectsIn(ctx context.Context, states []string, refs []schemas.SegmentRef, tables ...schemas.ParquetTable) (map[schemas.SegmentRef][]Object, error) {
	found := make(map[schemas.SegmentRef][]Object, len(refs))
	if len(refs) == 0 {
		return found, nil
	}
	rows, err := e.catalog.some(ctx, refs)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if !slices.Contains(states, rows[i].State) {
			continue
		}
		m, err := e.manifests.of(&rows[i])
		if err != nil {
			return nil, err
		}
		found[rows[i].ref()] = listObjects(&rows[i], m, tables)
	}
	return found, nil
}

// Find looks published objects up by their keys. Keys that no published object has
// are left out.
func (e *Exporter) Find(ctx context.Context, keys ...string) (map[string]Object, error) {
	return e.find(ctx, []string{published}, keys)
}

func (e *Exporter) find(ctx context.Context, states, keys []string) (map[string]Object, error) {
	wanted := make(map[string]bool, len(keys))
	segments := make(map[schemas.SegmentRef]bool)
	var refs []schemas.SegmentRef
	for _, key := range keys {
		_, ref, _, ok := schemas.ParseObjectKey(key)
		if !ok || ref.Stream != e.stream {
			continue
		}
		wanted[key] = true
		if !segments[ref] {
			segments[ref] = true
			refs = append(refs, ref)
		}
	}
	listed, err := e.objectsIn(ctx, states, refs)
	if err != nil {
		return nil, err
	}
	found := make(map[string]Object, len(wanted))
	for _, objects := range listed {
		for _, o := range objects {
			if wanted[o.Key] {
				found[o.Key] = o
			}
		}
	}
	return found, nil
}

// Checksums looks up the SHA-256, in hex, of objects that are published, or that wait in
// staging for peers to agree, in both layouts: this is what peers ask for. Keys of others
// are left out.
func (e *Exporter) Checksums(ctx context.Context, keys ...string) (map[string]string, error) {
	states := []string{published, staged}
	parquet, err := e.find(ctx, states, keys)
	if err != nil {
		return nil, err
	}
	network, err := e.findNetwork(ctx, states, keys)
	if err != nil {
		return nil, err
	}
	sums := make(map[string]string, len(parquet)+len(network))
	for key, o := range parquet {
		sums[key] = o.SHA256
	}
	for key, o := range network {
		sums[key] = o.SHA256
	}
	return sums, nil
}

// listObjects lists the objects of a row's tables, of all if none are given.
func listObjects(row *segmentRow, m *Manifest, tables []schemas.ParquetTable) []Object {
	objects := []Object{}
	for _, t := range m.Tables {
		if len(tables) > 0 && !slices.Contains(tables, t.Name) {
			continue
		}
		for _, p := range t.Parts {
			objects = append(objects, Object{p, row.ref(), t.Name, schemas.Micros(row.Start), schemas.Micros(row.End)})
		}
	}
	return objects
}

// Day is the segment of a day of one migration.
type Day struct {
	Segment schemas.SegmentRef
	// Start is exclusive, End inclusive.
	Start, End schemas.Micros
}

// Published lists the published days by (Start, migration), those with empty tables
// included, up to the first day that has history and is not published; days that have
// expired are left out. through is the
// record time up to which nothing is missing, schemas.MinMicros if nothing is there:
// while the last day of one migration is published and the same day of the next one
// is not, it is the start of that day.
func (e *Exporter) Published(ctx context.Context) (days []Day, through schemas.Micros, err error) {
	held, err := e.heldDays(ctx)
	if err != nil {
		return nil, schemas.MinMicros, err
	}
	rows, err := e.catalog.all(ctx)
	if err != nil {
		return nil, schemas.MinMicros, err
	}
	states := make(map[schemas.SegmentRef]string, len(rows))
	for i := range rows {
		states[rows[i].ref()] = rows[i].State
	}
	through = schemas.MinMicros
	for _, d := range held {
		switch states[d.Segment] {
		case published:
			days = append(days, d)
		case expired: // no gap: it was there
		default:
			return days, min(through, d.Start), nil
		}
		through = max(through, d.End)
	}
	return days, through, nil
}

// heldDays lists the days from the first to the last one with history of every
// migration, closed or not, by (Start, migration). The newest migration has one day
// more: the one that history will go on with.
func (e *Exporter) heldDays(ctx context.Context) ([]Day, error) {
	h, err := e.extent(ctx)
	if err != nil {
		return nil, err
	}
	var days []Day
	for _, m := range slices.Backward(h.migrations) { // the newest first
		list, err := e.daysOf(ctx, m, h.watermark, len(days) == 0)
		if err != nil {
			return nil, err
		}
		days = append(days, list...)
	}
	slices.SortFunc(days, func(a, b Day) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Segment.MigrationID, b.Segment.MigrationID))
	})
	return days, nil
}

func (e *Exporter) daysOf(ctx context.Context, m history.Migration, watermark schemas.Position, newest bool) ([]Day, error) {
	first, last, held, err := e.span(ctx, m, watermark)
	if err != nil || !held {
		return nil, err
	}
	end := dayEnd(last)
	if newest {
		end += day
	}
	var days []Day
	for at := dayEnd(first); at <= end; at += day {
		days = append(days, Day{schemas.DaySegment(e.stream, m.ID, at), at - day, at})
	}
	return days, nil
}
