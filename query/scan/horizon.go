package scan

import (
	"context"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// horizon knows how far history may be shown.
type horizon struct {
	source     Source
	watermark  memo.Value[schemas.Position]
	contracts  memo.Value[schemas.Position]
	migrations memo.Value[[]history.Migration]

	// The cap of events changes only with the watermark. caps looks it up, once for all who
	// do not know it.
	caps        memo.Value[schemas.Position]
	mu          sync.Mutex
	limitOf     schemas.Position
	limit       schemas.Position
	limitKnown  bool
	hasVerdicts bool
}

func newHorizon(source Source, ttl time.Duration, now func() time.Time) *horizon {
	h := &horizon{
		source:     source,
		watermark:  memo.Value[schemas.Position]{Load: source.Watermark, TTL: ttl, Now: now},
		contracts:  memo.Value[schemas.Position]{Load: source.ContractsWatermark, TTL: ttl, Now: now},
		migrations: memo.Value[[]history.Migration]{Load: source.Migrations, TTL: ttl, Now: now},
	}
	h.caps = memo.Value[schemas.Position]{Load: h.loadCap, Now: now}
	return h
}

// migration returns what is held of one migration; ok is false for nothing.
func (h *horizon) migration(ctx context.Context, id int64) (m history.Migration, previous int64, ok bool, err error) {
	list, err := h.migrations.Get(ctx)
	if err != nil {
		return m, 0, false, err
	}
	m, previous, ok = findMigration(list, id)
	return m, previous, ok, nil
}

// findMigration returns a migration and the one before it, -1 for none; ok is false
// if the list does not have it.
func findMigration(list []history.Migration, id int64) (m history.Migration, previous int64, ok bool) {
	previous = -1
	for _, m := range list {
		if m.ID == id {
			return m, previous, true
		}
		previous = m.ID
	}
	return m, 0, false
}

// events returns the position up to which events may be shown.
func (h *horizon) events(ctx context.Context) (schemas.Position, error) {
	watermark, err := h.watermark.Get(ctx)
	if err != nil {
		return watermark, err
	}
	h.mu.Lock()
	known, limit := h.limitKnown && h.limitOf == watermark, h.limit
	h.mu.Unlock()
	if known {
		return limit, nil
	}
	return h.caps.Get(ctx)
}

// loadCap looks up the position up to which events may be shown, and notes it.
func (h *horizon) loadCap(ctx context.Context) (schemas.Position, error) {
	watermark, err := h.watermark.Get(ctx)
	if err != nil {
		return watermark, err
	}
	limit, err := h.eventsCap(ctx, watermark)
	if err != nil {
		return limit, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.limitOf, h.limit, h.limitKnown = watermark, limit, true
	return limit, nil
}

// shows reports whether events at a position may be shown. The end of events only ever
// moves on, so it is asked for only if the last one known does not suffice.
func (h *horizon) shows(ctx context.Context, at schemas.Position) (bool, error) {
	h.mu.Lock()
	known := h.limitKnown && !h.limit.Before(at)
	h.mu.Unlock()
	if known {
		return true, nil
	}
	limit, err := h.events(ctx)
	return err == nil && !limit.Before(at), err
}

// eventsCap applies the network's rule to the newest migration: nothing later than
// its last verdict and its last update, nothing at all without either.
func (h *horizon) eventsCap(ctx context.Context, watermark schemas.Position) (schemas.Position, error) {
	if watermark.RecordTime == schemas.MinMicros {
		return watermark, nil // imports only: no event of the newest migration yet
	}
	served, err := h.anyVerdicts(ctx, watermark)
	if err != nil || !served {
		return watermark, err
	}
	none := schemas.Position{MigrationID: watermark.MigrationID, RecordTime: schemas.MinMicros}
	verdict, ok, err := h.lastVerdict(ctx, watermark)
	if err != nil || !ok {
		return none, err
	}
	// Not the cached list: it may be older than the watermark.
	migrations, err := h.source.Migrations(ctx)
	if err != nil {
		return none, err
	}
	update, ok := lastUpdate(migrations, watermark)
	if !ok {
		return none, nil
	}
	limit := schemas.EndOf(watermark.MigrationID, min(verdict, update))
	if watermark.Before(limit) {
		limit = watermark
	}
	return limit, nil
}

// anyVerdicts reports whether the store holds verdicts; once true it stays true.
func (h *horizon) anyVerdicts(ctx context.Context, watermark schemas.Position) (bool, error) {
	h.mu.Lock()
	has := h.hasVerdicts
	h.mu.Unlock()
	if has {
		return true, nil
	}
	first, err := h.source.Verdicts(ctx, history.Range{After: schemas.Start, Through: watermark, Limit: 1})
	if err != nil {
		return false, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hasVerdicts = len(first) > 0
	return h.hasVerdicts, nil
}

func lastUpdate(migrations []history.Migration, watermark schemas.Position) (last schemas.Micros, ok bool) {
	for _, m := range migrations {
		if m.ID != watermark.MigrationID {
			continue
		}
		for _, s := range m.Synchronizers {
			last, ok = max(last, s.Max), true
		}
	}
	return min(last, watermark.RecordTime), ok
}

// verdictPage is how many verdicts are read when looking for the last one.
const verdictPage = 100

// lastVerdict returns the record time of the last verdict of the watermark's
// migration. Verdicts can only be read ascending, so it steps back from the watermark
// in growing steps until there are some, and then halves the step until few are left.
// Usually the first query tells.
func (h *horizon) lastVerdict(ctx context.Context, watermark schemas.Position) (schemas.Micros, bool, error) {
	const hour = schemas.Micros(3600 * 1e6)
	empty := watermark.RecordTime + 1 // no verdict at or after this
	for step := schemas.Micros(200_000); ; step *= 8 {
		from := watermark.RecordTime - step
		everything := step > 24*365*10*hour
		if everything {
			from = schemas.MinMicros
		}
		found, err := h.verdictsFrom(ctx, from, watermark)
		if err != nil {
			return 0, false, err
		}
		if len(found) == 0 {
			if everything {
				return 0, false, nil
			}
			empty = from
			continue
		}
		last, err := h.narrow(ctx, found, empty, watermark)
		return last, err == nil, err
	}
}

// narrow finds the last verdict, given the first ones of a stretch that holds it and
// an instant from which on there is none.
func (h *horizon) narrow(ctx context.Context, found []schemas.Item, empty schemas.Micros, watermark schemas.Position) (schemas.Micros, error) {
	for len(found) == verdictPage {
		last := found[len(found)-1].Verdict.RecordTime
		middle := last + (empty-last)/2
		if middle == last {
			return last, nil
		}
		later, err := h.verdictsFrom(ctx, middle, watermark)
		if err != nil {
			return 0, err
		}
		if len(later) > 0 {
			found = later
			continue
		}
		// Nothing from the middle on: go on from the last one seen.
		empty = middle
		if later, err = h.verdictsFrom(ctx, last+1, watermark); err != nil {
			return 0, err
		}
		if len(later) == 0 {
			return last, nil
		}
		found = later
	}
	return found[len(found)-1].Verdict.RecordTime, nil
}

// verdictsFrom returns the first verdicts at or after an instant.
func (h *horizon) verdictsFrom(ctx context.Context, from schemas.Micros, watermark schemas.Position) ([]schemas.Item, error) {
	return h.source.Verdicts(ctx, history.Range{
		After:   schemas.Position{MigrationID: watermark.MigrationID, RecordTime: from},
		Through: watermark, Limit: verdictPage,
	})
}
