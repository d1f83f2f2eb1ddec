package export

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// DueSegments lists the segments that are closed and not published, oldest first. Among
// them are those that are published and lack something beside: lookup objects, where they
// are wanted, and for at most one the link in the chain, or any change of the Iceberg tables.
func (e *Exporter) DueSegments(ctx context.Context) ([]schemas.SegmentRef, error) {
	closed, final, err := e.closedSegments(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := e.allRows(ctx)
	if err != nil {
		return nil, err
	}
	done := make(map[schemas.SegmentRef]bool, len(rows))
	for _, row := range rows {
		done[row.ref()] = (row.State == published || row.State == expired) && !e.lacksLookups(&row)
	}
	if linkable := newChainState(closed[:final], rows).linkable(); len(linkable) > 0 {
		done[linkable[0]] = false // the others go with it
	}
	lack, err := e.tablesLack(ctx, rows)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		// All tables are updated with any segment. The last one is the least likely to expire.
		if row := &rows[len(rows)-1-i]; lack && row.State == published {
			done[row.ref()] = false
			break
		}
	}
	var due []schemas.SegmentRef
	for _, ref := range closed {
		if !done[ref] {
			due = append(due, ref)
		}
	}
	return due, nil
}

func (e *Exporter) mustBeClosed(ctx context.Context, ref schemas.SegmentRef) error {
	if e.closed.has(ref) { // once closed is closed for ever
		return nil
	}
	if _, _, err := e.closedSegments(ctx); err != nil {
		return err
	}
	if !e.closed.has(ref) {
		return fmt.Errorf("%w: %s", ErrNotClosed, ref)
	}
	return nil
}

// knownClosed are the segments that were closed when closedSegments looked last. It is safe
// for concurrent use.
type knownClosed struct {
	mu   sync.Mutex
	refs []schemas.SegmentRef
}

func (k *knownClosed) has(ref schemas.SegmentRef) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Contains(k.refs, ref)
}

func (k *knownClosed) set(refs []schemas.SegmentRef) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.refs = refs
}

// closedSegments lists what can no longer change, by migration and time, the imports
// of a migration first. A segment is listed only if the migration has history in it or
// later, so that the list, too, depends on the history alone and not on when one asks.
// Between the first final ones no more will come: they are in the order of the chain.
func (e *Exporter) closedSegments(ctx context.Context) (refs []schemas.SegmentRef, final int, err error) {
	h, err := e.pastExtent(ctx)
	if err != nil {
		return nil, 0, err
	}
	growing := false // more may come before what follows
	for _, m := range h.migrations {
		if !h.pastImports(m.ID) {
			growing = true
			continue
		}
		refs = append(refs, schemas.SegmentRef{Stream: e.stream, MigrationID: m.ID})
		if !growing {
			final = len(refs)
		}
		first, last, held, err := e.span(ctx, m, h.watermark)
		if err != nil {
			return nil, 0, err
		}
		length := e.cfg.Segments
		for end := length.End(first); held && end <= length.End(last); end += length.Micros() {
			if !h.passed(m.ID, end, length) {
				growing = true
				break
			}
			refs = append(refs, length.Of(e.stream, m.ID, end))
			if !growing {
				final = len(refs)
			}
		}
		growing = growing || !h.laterHistory(m.ID)
	}
	e.closed.set(slices.Clone(refs))
	return refs, final, nil
}

// extent is how far the source has come.
type extent struct {
	watermark, contracts schemas.Position
	migrations           []history.Migration
	// clock is up to where segments may end: history that is dated later cannot be.
	clock schemas.Micros
}

func (e *Exporter) extent(ctx context.Context) (h extent, err error) {
	if h.clock = schemas.MaxMicros; e.cfg.Ahead > 0 {
		h.clock = schemas.MicrosOf(e.cfg.Now().Add(e.cfg.Ahead))
	}
	// Contracts first: their watermark is never above that of history.
	if h.contracts, err = e.cfg.Source.ContractsWatermark(ctx); err != nil {
		return h, err
	}
	if h.watermark, err = e.cfg.Source.Watermark(ctx); err != nil {
		return h, err
	}
	h.migrations, err = e.cfg.Source.Migrations(ctx)
	return h, err
}

// pastExtent is extent where what is asked for depends on what is closed.
func (e *Exporter) pastExtent(ctx context.Context) (extent, error) {
	h, err := e.extent(ctx)
	if err == nil && h.watermark.RecordTime > h.clock {
		err = fmt.Errorf("%w: stream %s stands at %s; set the clock right, or take the stream back: ledgerlake rewind", ErrFuture, e.stream, h.watermark)
	}
	return h, err
}

// pastImports reports whether all imports of the migration are held.
func (h extent) pastImports(migrationID int64) bool {
	return h.watermark.MigrationID > migrationID ||
		h.watermark.MigrationID == migrationID && h.watermark.RecordTime > schemas.MinMicros
}

// passed reports whether the segment that ends at end is complete, and so is the active
// set at its start. A later migration closes all segments of the ones before, once it has
// history: until then the migration might be taken back.
func (h extent) passed(migrationID int64, end schemas.Micros, length schemas.SegmentLength) bool {
	if end > h.clock {
		return false
	}
	history := h.laterHistory(migrationID) || h.watermark.MigrationID == migrationID && h.watermark.RecordTime > end
	contracts := h.contracts.MigrationID > migrationID ||
		h.contracts.MigrationID == migrationID && h.contracts.RecordTime > end-length.Micros()
	return history && contracts
}

func (h extent) laterHistory(migrationID int64) bool {
	for _, m := range h.migrations {
		if m.ID > migrationID && len(m.Synchronizers) > 0 {
			return true
		}
	}
	return h.watermark.MigrationID > migrationID && h.watermark.RecordTime > schemas.MinMicros
}

// span returns record times in the first and the last segment with history of a
// migration, and whether it has any. Verdicts may lie in segments without updates.
func (e *Exporter) span(ctx context.Context, m history.Migration, watermark schemas.Position) (first, last schemas.Micros, held bool, err error) {
	widen := func(lo, hi schemas.Micros) {
		if !held {
			first, last, held = lo, hi, true
		}
		first, last = min(first, lo), max(last, hi)
	}
	for _, s := range m.Synchronizers {
		widen(s.Min, s.Max)
	}
	through := schemas.EndOf(m.ID, schemas.MaxMicros)
	if watermark.Before(through) {
		through = watermark
	}
	after := schemas.Position{MigrationID: m.ID, RecordTime: schemas.MinMicros}
	for after.Before(through) {
		at, more, err := e.cfg.Source.NextVerdict(ctx, after, through)
		if err != nil {
			return 0, 0, false, err
		}
		if !more {
			break
		}
		widen(at.RecordTime, at.RecordTime)
		after = schemas.EndOf(m.ID, e.cfg.Segments.End(last)) // in segments up to that one nothing new can be found
	}
	return first, last, held, nil
}
