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

// Period is a segment of history with its time.
type Period struct {
	Segment schemas.SegmentRef
	// Start is exclusive, End inclusive.
	Start, End schemas.Micros
}

// Published lists the published segments by (Start, migration), those with empty tables
// included and imports left out, up to the first one that has history and is not
// published; what has expired is left out. through is the record time up to which nothing
// is missing, schemas.MinMicros if nothing is there: while the last segment of one
// migration is published and that of the next one at the same time is not, it is their
// start.
func (e *Exporter) Published(ctx context.Context) (periods []Period, through schemas.Micros, err error) {
	held, err := e.heldPeriods(ctx)
	if err != nil {
		return nil, schemas.MinMicros, err
	}
	rows, err := e.allRows(ctx)
	if err != nil {
		return nil, schemas.MinMicros, err
	}
	states := make(map[schemas.SegmentRef]string, len(rows))
	for i := range rows {
		states[rows[i].ref()] = rows[i].State
	}
	through = schemas.MinMicros
	for _, p := range held {
		switch states[p.Segment] {
		case published:
			periods = append(periods, p)
		case expired: // no gap: it was there
		default:
			return periods, min(through, p.Start), nil
		}
		through = max(through, p.End)
	}
	return periods, through, nil
}

// heldPeriods lists the segments from the first to the last one with history of every
// migration, closed or not, by (Start, migration). The newest migration has one more: the
// one that history will go on with.
func (e *Exporter) heldPeriods(ctx context.Context) ([]Period, error) {
	h, err := e.extent(ctx)
	if err != nil {
		return nil, err
	}
	var periods []Period
	for _, m := range slices.Backward(h.migrations) { // the newest first
		list, err := e.periodsOf(ctx, m, h.watermark, len(periods) == 0)
		if err != nil {
			return nil, err
		}
		periods = append(periods, list...)
	}
	slices.SortFunc(periods, func(a, b Period) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Segment.MigrationID, b.Segment.MigrationID))
	})
	return periods, nil
}

func (e *Exporter) periodsOf(ctx context.Context, m history.Migration, watermark schemas.Position, newest bool) ([]Period, error) {
	first, last, held, err := e.span(ctx, m, watermark)
	if err != nil || !held {
		return nil, err
	}
	length := e.cfg.Segments
	end := length.End(last)
	if newest {
		end += length.Micros()
	}
	var periods []Period
	for at := length.End(first); at <= end; at += length.Micros() {
		periods = append(periods, Period{length.Of(e.stream, m.ID, at), at - length.Micros(), at})
	}
	return periods, nil
}
