package archive

import (
	"cmp"
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Sink takes history in, batch by batch and exactly once.
type Sink interface {
	// Resume says where the stream stands: schemas.Start for a stream without history.
	Resume(ctx context.Context, stream string) (schemas.Resume, error)
	// Write stores the batch, which follows the one before without a gap.
	Write(ctx context.Context, b *schemas.Batch) error
}

// RestoreProgress says how far a restore has come. Rows are those of updates, verdicts
// and imports; what the store held before counts as done.
type RestoreProgress struct {
	Segments, TotalSegments int
	Rows, TotalRows         int64
}

// restoreBytes bounds a batch beside RestoreConfig.BatchItems, as ingest's is. Items of one
// record time stay together.
const restoreBytes = 32 << 20

// RestoreConfig says where an archive is restored to. Fields without a default are required.
type RestoreConfig struct {
	Sink Sink
	// Catalog is told what is published.
	Catalog *published.Catalog
	// BatchItems bounds the batches. Defaults to 4096.
	BatchItems int
	// Progress is called after each batch and segment; it may be nil.
	Progress func(RestoreProgress)
}

// Restore writes the history of the archive's segments into the sink, and then enters the
// segments into the catalogue as published. A restore that was cut off is finished by the
// next one. What the store holds already must be the beginning of the archive's history:
// else the error wraps schemas.ErrDiverged. Lifetimes are derived by others, as always.
func (a *Archive) Restore(ctx context.Context, cfg RestoreConfig) error {
	cfg.BatchItems = cmp.Or(cfg.BatchItems, defaultBatchItems)
	stream := cfg.Catalog.Stream()
	if a.cfg.Stream != stream {
		return fmt.Errorf("an archive of stream %s cannot restore stream %s", a.cfg.Stream, stream)
	}
	if len(a.segments) == 0 {
		return fmt.Errorf("the bucket has no segments of stream %s to restore: %w", stream, schemas.ErrNotFound)
	}
	for _, s := range a.segments {
		if err := cfg.Catalog.CheckLength(s.Ref()); err != nil {
			return err
		}
	}
	if err := a.Gap(); err != nil {
		return fmt.Errorf("the published history has a gap: %w", err)
	}
	if _, err := a.CheckChain(ctx); err != nil {
		return fmt.Errorf("the segments do not match their chain: %w", err)
	}
	resume, err := cfg.Sink.Resume(ctx, stream)
	if err != nil {
		return err
	}
	r := restore{archive: a, cfg: &cfg}
	r.to = sinkWriter{sink: cfg.Sink, stream: stream, maxItems: cfg.BatchItems, after: resume.Committed, pending: resume.Pending, wrote: r.tell}
	for _, s := range a.segments {
		r.now.TotalSegments++
		r.now.TotalRows += restoredRows(s.Manifest)
	}
	for _, s := range a.segments {
		if err := r.segment(ctx, s); err != nil {
			return fmt.Errorf("restoring segment %s: %w", s.Ref(), err)
		}
	}
	return r.to.checkEnd()
}

// Items gives the items of history after a position, in order.
type Items func(ctx context.Context, after schemas.Position, each func(schemas.Item) error) error

// RestoreItems writes items into the sink, after those that it has. A restore that was cut off is
// finished by the next one. progress is called with the number of rows after each batch.
func RestoreItems(ctx context.Context, sink Sink, stream string, items Items, progress func(rows int64)) error {
	resume, err := sink.Resume(ctx, stream)
	if err != nil {
		return err
	}
	to := sinkWriter{sink: sink, stream: stream, maxItems: defaultBatchItems, after: resume.Committed, pending: resume.Pending, wrote: progress}
	if _, err := to.write(ctx, func(ctx context.Context, each func(schemas.Item) error) error {
		return items(ctx, resume.Committed, each)
	}); err != nil {
		return err
	}
	return to.checkEnd()
}

// defaultBatchItems is the default of RestoreConfig.BatchItems.
const defaultBatchItems = 4096

// sinkWriter writes items into a sink, in batches.
type sinkWriter struct {
	sink     Sink
	stream   string
	maxItems int
	wrote    func(rows int64)

	// after is where the sink stands, pending the batch to repeat first.
	after   schemas.Position
	pending *schemas.Intent
}

// write reads items on one goroutine and writes them on another, one batch ahead. It returns the rows
// that the sink had.
func (w *sinkWriter) write(ctx context.Context, read func(ctx context.Context, each func(schemas.Item) error) error) (skipped int64, err error) {
	group, ctx := guard.WithContext(ctx)
	batches := make(chan *schemas.Batch)
	cutter := &cutter{stream: w.stream, maxItems: w.maxItems, after: w.after, pending: w.pending, out: batches}
	group.Go(func() error {
		defer close(batches)
		return cutter.all(ctx, read)
	})
	group.Go(func() error {
		for b := range batches {
			if err := w.sink.Write(ctx, b); err != nil {
				return fmt.Errorf("writing what follows %s: %w", b.After, err)
			}
			w.after, w.pending = b.Through, nil
			w.wrote(batchRows(b))
		}
		return nil
	})
	err = group.Wait()
	return cutter.skipped, err
}

// checkEnd returns an error if the sink has begun a batch that was not repeated.
func (w *sinkWriter) checkEnd() error {
	if w.pending != nil {
		return fmt.Errorf("%w: the store has begun a batch through %s, which is after the end of what is restored", schemas.ErrDiverged, w.pending.Through)
	}
	return nil
}

func restoredRows(m *published.Manifest) int64 {
	return m.Table(schemas.ParquetUpdates).Rows + m.Table(schemas.ParquetVerdicts).Rows + m.Table(schemas.ParquetImports).Rows
}

// restore is one restore under way.
type restore struct {
	archive *Archive
	cfg     *RestoreConfig
	now     RestoreProgress
	to      sinkWriter
}

// segment restores one segment, or as much of it as the sink does not have.
func (r *restore) segment(ctx context.Context, s Segment) error {
	if err := r.skipOrWrite(ctx, s.Manifest); err != nil {
		return err
	}
	if err := r.adopt(ctx, s); err != nil {
		return err
	}
	r.now.Segments++
	r.tell(0)
	return nil
}

func (r *restore) skipOrWrite(ctx context.Context, m *published.Manifest) error {
	_, end, err := m.Ref().Bounds()
	if err != nil {
		return err
	}
	// A sink that stands in a later segment has had all of this one.
	if schemas.EndOf(m.MigrationID, end).Before(r.to.after) {
		r.now.Rows += restoredRows(m)
		return nil
	}
	skipped, err := r.to.write(ctx, func(ctx context.Context, each func(schemas.Item) error) error {
		return EachItem(ctx, r.archive.parts(), m, each)
	})
	r.now.Rows += skipped
	return err
}

func batchRows(b *schemas.Batch) (rows int64) {
	for i := range b.Items {
		rows += itemRows(&b.Items[i])
	}
	return rows
}

func itemRows(it *schemas.Item) (rows int64) {
	if it.Update != nil {
		rows++
	}
	if it.Verdict != nil {
		rows++
	}
	return rows
}

func (r *restore) tell(rows int64) {
	r.now.Rows += rows
	if r.cfg.Progress != nil {
		r.cfg.Progress(r.now)
	}
}

// cutter cuts what the sink does not have into batches.
type cutter struct {
	stream   string
	maxItems int
	after    schemas.Position
	pending  *schemas.Intent
	out      chan<- *schemas.Batch

	items   []schemas.Item
	bytes   int
	skipped int64 // rows that the sink has
	met     bool  // the item at which the sink stands was seen
}

func (c *cutter) all(ctx context.Context, read func(ctx context.Context, each func(schemas.Item) error) error) error {
	start := c.after
	if err := read(ctx, func(it schemas.Item) error { return c.add(ctx, start, it) }); err != nil {
		return err
	}
	return c.flush(ctx)
}

// add takes the next item. start is where the sink stood at first.
func (c *cutter) add(ctx context.Context, start schemas.Position, it schemas.Item) error {
	p := it.Position()
	if !start.Before(p) {
		c.skipped += itemRows(&it)
		c.met = p == start
		return nil
	}
	if c.skipped > 0 && !c.met {
		return fmt.Errorf("%w: the store is at %s, where the objects have no item", schemas.ErrDiverged, start)
	}
	if c.mayEndBefore(p) {
		if err := c.flush(ctx); err != nil {
			return err
		}
	}
	c.items = append(c.items, it)
	c.bytes += itemBytes(&it)
	return nil
}

// mayEndBefore reports whether a batch ends before an item at p. A batch that was begun
// is repeated with exactly its bounds. Others are of one migration, do not mix imports with history,
// and do not end within a record time: ingest could not continue from there.
func (c *cutter) mayEndBefore(p schemas.Position) bool {
	if len(c.items) == 0 {
		return false
	}
	if c.pending != nil {
		return c.pending.Through.Before(p)
	}
	last := c.items[len(c.items)-1].Position()
	if p.MigrationID != last.MigrationID || p.RecordTime != schemas.MinMicros && last.RecordTime == schemas.MinMicros {
		return true
	}
	return (len(c.items) >= c.maxItems || c.bytes >= restoreBytes) && (p.RecordTime == schemas.MinMicros || p.RecordTime != last.RecordTime)
}

// flush passes the batch on, unless it is empty. It ends at its last item, as batches
// of ingest do, or where the one that it repeats ended.
func (c *cutter) flush(ctx context.Context) error {
	if len(c.items) == 0 {
		return nil
	}
	b := &schemas.Batch{Stream: c.stream, After: c.after, Through: c.items[len(c.items)-1].Position(), Items: c.items}
	if c.pending != nil && b.Through.Before(c.pending.Through) {
		b.Through = c.pending.Through
	}
	c.after, c.pending, c.items, c.bytes = b.Through, nil, nil, 0
	select {
	case c.out <- b:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// itemBytes is about what an item takes in memory.
func itemBytes(it *schemas.Item) int {
	n := 256
	if u := it.Update; u != nil {
		for i := range u.Events {
			n += 400 + len(u.Events[i].Argument) + len(u.Events[i].Result)
		}
	}
	if it.Verdict != nil {
		n += 256 + len(it.Verdict.Views)
	}
	if it.Traffic != nil {
		n += len(it.Traffic.Envelopes)
	}
	if it.AppActivity != nil {
		n += len(it.AppActivity.Records)
	}
	return n
}

// adopt enters a segment of the bucket into the catalog as it stands there. A segment
// that was published from this store with another manifest is ErrConflict, and one that
// was withdrawn from it stays so.
func (r *restore) adopt(ctx context.Context, s Segment) error {
	last, err := r.cfg.Catalog.LastSegment(ctx, s.Ref())
	if err != nil {
		return err
	}
	if last.State == published.Published {
		if last.ManifestHash != s.hexSum() {
			return fmt.Errorf("%w: the store has published segment %s with a manifest of SHA-256 %s, the bucket has %s",
				published.ErrConflict, s.Ref(), last.ManifestHash, s.hexSum())
		}
		return nil
	}
	if last.Version > 0 {
		return nil
	}
	row, err := published.SegmentRow(s.Manifest, s.Sum, published.Published, 1)
	if err != nil {
		return err
	}
	lookups, _, err := ReadLookupIndex(ctx, r.archive.cfg.Objects, s.Manifest)
	if err != nil {
		return err
	}
	if lookups != nil {
		if err := lookups.Enter(&row); err != nil {
			return err
		}
	}
	return r.cfg.Catalog.Segments.Append(ctx, row)
}
