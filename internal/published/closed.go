package published

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// closed says which segments and folders of a stream can no longer change. It is safe for
// concurrent use.
type closed struct {
	history History
	stream  string
	length  schemas.SegmentLength
	ahead   time.Duration
	now     func() time.Time

	mu sync.Mutex
	// known are the segments that were closed when segments last looked.
	known []schemas.SegmentRef
	// last is what was read last, at readAt.
	last   extent
	readAt time.Time
}

// sameExtent is for how long what is held is not read again while the watermarks stand still:
// whoever publishes asks several times for each segment. Not for ever, as verdicts may come late.
const sameExtent = 5 * time.Second

// mustBe returns ErrNotClosed unless a segment is closed.
func (c *closed) mustBe(ctx context.Context, ref schemas.SegmentRef) error {
	if c.knows(ref) { // once closed is closed for ever
		return nil
	}
	if _, _, err := c.segments(ctx); err != nil {
		return err
	}
	if !c.knows(ref) {
		return fmt.Errorf("%w: %s", ErrNotClosed, ref)
	}
	return nil
}

func (c *closed) knows(ref schemas.SegmentRef) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Contains(c.known, ref)
}

// segments lists what can no longer change, by migration and time, the imports
// of a migration first. A segment is listed only if the migration has history in it or
// later, so that the list, too, depends on the history alone and not on when one asks.
// Between the first final ones no more will come: they are in the order of the chain.
func (c *closed) segments(ctx context.Context) (refs []schemas.SegmentRef, final int, err error) {
	h, err := c.pastExtent(ctx)
	if err != nil {
		return nil, 0, err
	}
	growing := false // more may come before what follows
	for _, m := range h.migrations {
		if !h.pastImports(m.ID) {
			growing = true
			continue
		}
		refs = append(refs, schemas.SegmentRef{Stream: c.stream, MigrationID: m.ID})
		if !growing {
			final = len(refs)
		}
		held, length := h.held[m.ID], c.length
		for end := length.End(held.first); held.any && end <= length.End(held.last); end += length.Micros() {
			if !h.passed(m.ID, end, length) {
				growing = true
				break
			}
			refs = append(refs, length.Of(c.stream, m.ID, end))
			if !growing {
				final = len(refs)
			}
		}
		growing = growing || !h.laterHistory(m.ID)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = slices.Clone(refs)
	return refs, final, nil
}

// extent is how far the source has come.
type extent struct {
	watermark, contracts schemas.Position
	migrations           []history.Migration
	held                 map[int64]stretch // by migration
	// clock is up to where segments may end: history that is dated later cannot be.
	clock schemas.Micros
}

func (c *closed) extent(ctx context.Context) (h extent, err error) {
	if h.clock = schemas.MaxMicros; c.ahead > 0 {
		h.clock = schemas.MicrosOf(c.now().Add(c.ahead))
	}
	// Contracts first: their watermark is never above that of history.
	if h.contracts, err = c.history.ContractsWatermark(ctx); err != nil {
		return h, err
	}
	if h.watermark, err = c.history.Watermark(ctx); err != nil {
		return h, err
	}
	if known, ok := c.recent(h.contracts, h.watermark); ok {
		h.migrations, h.held = known.migrations, known.held
		return h, nil
	}
	began := time.Now()
	if h.migrations, err = c.history.Migrations(ctx); err != nil {
		return h, err
	}
	h.held = make(map[int64]stretch, len(h.migrations))
	for _, m := range h.migrations {
		if h.held[m.ID], err = c.stretch(ctx, m, h.watermark); err != nil {
			return h, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.readAt = h, began
	return h, nil
}

// recent returns what was read last, if the watermarks were the same and it is not long ago.
func (c *closed) recent(contracts, watermark schemas.Position) (extent, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last, c.last.contracts == contracts && c.last.watermark == watermark && time.Since(c.readAt) < sameExtent
}

// pastExtent is extent where what is asked for depends on what is closed.
func (c *closed) pastExtent(ctx context.Context) (extent, error) {
	h, err := c.extent(ctx)
	if err == nil && h.watermark.RecordTime > h.clock {
		err = fmt.Errorf("%w: stream %s is at %s; correct the clock, or take the stream back: ledgerlake rewind", ErrFuture, c.stream, h.watermark)
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

// stretch is record times in the first and the last segment with history of a migration, if it
// has any.
type stretch struct {
	first, last schemas.Micros
	any         bool
}

func (s *stretch) widen(first, last schemas.Micros) {
	if !s.any {
		*s = stretch{first, last, true}
	}
	s.first, s.last = min(s.first, first), max(s.last, last)
}

// stretch reads the stretch of a migration. Verdicts may lie in segments without updates.
func (c *closed) stretch(ctx context.Context, m history.Migration, watermark schemas.Position) (held stretch, err error) {
	for _, s := range m.Synchronizers {
		held.widen(s.Min, s.Max)
	}
	through := schemas.EndOf(m.ID, schemas.MaxMicros)
	if watermark.Before(through) {
		through = watermark
	}
	after := schemas.Position{MigrationID: m.ID, RecordTime: schemas.MinMicros}
	for after.Before(through) {
		at, more, err := c.history.NextVerdict(ctx, after, through)
		if err != nil {
			return held, err
		}
		if !more {
			break
		}
		held.widen(at.RecordTime, at.RecordTime)
		after = schemas.EndOf(m.ID, c.length.End(held.last)) // in segments up to that one nothing new can be found
	}
	return held, nil
}

// Period is a segment of history with its time.
type Period struct {
	Segment schemas.SegmentRef
	// Start is exclusive, End inclusive.
	Start, End schemas.Micros
}

// periods lists the segments from the first to the last one with history of every
// migration, closed or not, by (Start, migration). The newest migration has one more: the
// one in which history will continue.
func (c *closed) periods(ctx context.Context) ([]Period, error) {
	h, err := c.extent(ctx)
	if err != nil {
		return nil, err
	}
	var periods []Period
	for _, m := range slices.Backward(h.migrations) { // the newest first
		periods = append(periods, c.periodsOf(m.ID, h.held[m.ID], len(periods) == 0)...)
	}
	slices.SortFunc(periods, func(a, b Period) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Segment.MigrationID, b.Segment.MigrationID))
	})
	return periods, nil
}

func (c *closed) periodsOf(migrationID int64, held stretch, newest bool) []Period {
	if !held.any {
		return nil
	}
	end := c.length.End(held.last)
	if newest {
		end += c.length.Micros()
	}
	var periods []Period
	for at := c.length.End(held.first); at <= end; at += c.length.Micros() {
		periods = append(periods, Period{c.length.Of(c.stream, migrationID, at), at - c.length.Micros(), at})
	}
	return periods
}
