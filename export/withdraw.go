package export

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Withdrawal is what was published of history that is taken back.
type Withdrawal struct {
	Segments []schemas.SegmentRef
	Folders  []schemas.NetworkRef
	// Live counts those of them that are published or staged now.
	Live int
}

// Beyond lists the segments and folders that hold history after a position, or that the
// position does not close: published ones, staged ones, and those that were withdrawn and may
// have left objects.
func (e *Exporter) Beyond(ctx context.Context, after schemas.Position) (w Withdrawal, err error) {
	rows, err := e.catalog.AllSegments(ctx)
	if err != nil {
		return w, err
	}
	for i := range rows {
		if r := &rows[i]; r.State != published.Expired && reachesBeyond(r, after) {
			w.Segments = append(w.Segments, r.Ref())
			w.count(r.State)
		}
	}
	cut, err := e.catalog.FirstAfter(ctx, after)
	if err != nil {
		return w, err
	}
	folders, err := e.catalog.Folders.All(ctx)
	if err != nil {
		return w, err
	}
	for i := range folders {
		if r := &folders[i]; r.State != published.Expired && schemas.Micros(r.End) >= cut {
			w.Folders = append(w.Folders, r.Ref())
			w.count(r.State)
		}
	}
	return w, nil
}

func (w *Withdrawal) count(state string) {
	if state == published.Published || state == published.Staged {
		w.Live++
	}
}

// reachesBeyond reports whether a stream that stands at a position would not have closed the
// segment.
func reachesBeyond(r *store.SegmentRow, at schemas.Position) bool {
	switch {
	case r.MigrationID != at.MigrationID:
		return r.MigrationID > at.MigrationID
	case r.Date == "":
		return at.RecordTime == schemas.MinMicros
	}
	return schemas.Micros(r.End) >= at.RecordTime
}

// Withdraw takes back what Beyond lists: first the rows, so that nothing of it is listed,
// then its place in the Iceberg tables and the chain, then the objects. It may be repeated.
// What its segments hold is exported again once it is closed again.
func (e *Exporter) Withdraw(ctx context.Context, after schemas.Position) error {
	w, err := e.Beyond(ctx, after)
	if err != nil {
		return err
	}
	for _, ref := range w.Segments {
		if err := e.markWithdrawn(ctx, ref); err != nil {
			return err
		}
	}
	if err := e.tables.Exclude(ctx); err != nil {
		return err
	}
	for _, ref := range slices.Backward(w.Segments) { // no link is there without the one before
		if err := e.cfg.Objects.Delete(ctx, schemas.ChainKey(ref)); err != nil {
			return fmt.Errorf("unlinking segment %s: %w", ref, err)
		}
	}
	for _, ref := range w.Segments {
		if err := e.removeSegment(ctx, ref); err != nil {
			return fmt.Errorf("removing segment %s: %w", ref, err)
		}
	}
	for _, ref := range w.Folders {
		if err := e.removeFolder(ctx, ref); err != nil {
			return fmt.Errorf("removing %s: %w", ref, err)
		}
	}
	return nil
}

func (e *Exporter) markWithdrawn(ctx context.Context, ref schemas.SegmentRef) error {
	row, err := e.catalog.LastSegment(ctx, ref)
	if err != nil || row.State == published.Withdrawn {
		return err
	}
	row.Version++
	row.State = published.Withdrawn
	return e.catalog.Segments.Append(ctx, row)
}

// removeSegment removes the objects of a segment that is withdrawn, its manifest first.
func (e *Exporter) removeSegment(ctx context.Context, ref schemas.SegmentRef) error {
	row, err := e.catalog.LastSegment(ctx, ref)
	if err != nil || row.Manifest == "" {
		return err
	}
	m, err := published.DecodeManifest([]byte(row.Manifest))
	if err != nil {
		return err
	}
	beside, err := published.KeysBeside(&row)
	if err != nil {
		return err
	}
	slices.Reverse(beside) // what describes others first
	keys := append([]string{row.ManifestKey}, beside...)
	for _, p := range m.AllParts() {
		keys = append(keys, p.Key, schemas.StagingKey(p.Key))
	}
	return e.removeAll(ctx, keys)
}

// removeFolder takes a folder of the network's layout back.
func (e *Exporter) removeFolder(ctx context.Context, ref schemas.NetworkRef) error {
	row, err := e.catalog.LastFolder(ctx, ref)
	if err != nil {
		return err
	}
	if row.State != published.Withdrawn {
		row.Version++
		row.State = published.Withdrawn
		if err := e.catalog.Folders.Append(ctx, row); err != nil {
			return err
		}
	}
	lines, err := published.LinesOf(&row)
	if err != nil {
		return err
	}
	var keys []string
	for _, l := range lines {
		for _, o := range l.Objects {
			keys = append(keys, o.Key, schemas.StagingKey(o.Key))
		}
	}
	return e.removeAll(ctx, keys)
}

func (e *Exporter) removeAll(ctx context.Context, keys []string) error {
	for _, key := range keys {
		if err := e.cfg.Objects.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}
