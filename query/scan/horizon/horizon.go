// Package horizon knows how far history may be shown: up to the watermarks, and events up to the
// last verdict. Nothing that an operation shows is above it.
package horizon

import (
	"context"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Source reads the positions up to which the store is complete; *history.Reader does.
type Source interface {
	// Watermark is the position up to which history is complete, schemas.Start when
	// there is none. ContractsWatermark is the same for contract lifetimes.
	Watermark(ctx context.Context) (schemas.Position, error)
	ContractsWatermark(ctx context.Context) (schemas.Position, error)
	// Migrations are ascending by id.
	Migrations(ctx context.Context) ([]history.Migration, error)
	// Verdicts are ascending by position.
	Verdicts(ctx context.Context, rg history.Range) ([]schemas.Item, error)
}

// Horizon is how far the history of one stream may be shown. It is safe for concurrent use.
type Horizon struct {
	// Watermark, Contracts and Migrations remember what the Source says.
	Watermark  memo.Value[schemas.Position]
	Contracts  memo.Value[schemas.Position]
	Migrations memo.Value[[]history.Migration]

	source     Source
	backfilled func(context.Context) bool
	now        func() time.Time

	// The cap of events changes only with the watermark. caps looks it up, once for all who
	// do not know it.
	caps        memo.Value[schemas.Position]
	mu          sync.Mutex
	limitOf     schemas.Position
	limit       schemas.Position
	limitKnown  bool
	hasVerdicts bool
}

// New returns the horizon of a stream. backfilled reports whether the stream has once reached
// its upstream's end; ttl is how long the positions are remembered.
func New(source Source, backfilled func(context.Context) bool, ttl time.Duration, now func() time.Time) *Horizon {
	h := &Horizon{
		source: source, backfilled: backfilled, now: now,
		Watermark:  memo.Value[schemas.Position]{Load: source.Watermark, TTL: ttl, Now: now},
		Contracts:  memo.Value[schemas.Position]{Load: source.ContractsWatermark, TTL: ttl, Now: now},
		Migrations: memo.Value[[]history.Migration]{Load: source.Migrations, TTL: ttl, Now: now},
	}
	h.caps = memo.Value[schemas.Position]{Load: h.loadCap, Now: now}
	return h
}

// RequireHistory refuses pages until the stream has been complete once: a client that
// takes a short page for the end of history must not be misled.
func (h *Horizon) RequireHistory(ctx context.Context) error {
	if h.backfilled(ctx) {
		return nil
	}
	watermark, err := h.Watermark.Get(ctx)
	if err != nil {
		return err
	}
	if watermark == schemas.Start {
		return query.Errorf(query.Unavailable, "This scan has not yet loaded its history.")
	}
	return query.Errorf(query.Unavailable, "This scan has not yet replicated all data.")
}

// Migration returns what is held of one migration; ok is false for nothing.
func (h *Horizon) Migration(ctx context.Context, id int64) (m history.Migration, previous int64, ok bool, err error) {
	list, err := h.Migrations.Get(ctx)
	if err != nil {
		return m, 0, false, err
	}
	m, previous, ok = FindMigration(list, id)
	return m, previous, ok, nil
}

// FindMigration returns a migration and the one before it, -1 for none; ok is false
// if the list does not have it.
func FindMigration(list []history.Migration, id int64) (m history.Migration, previous int64, ok bool) {
	previous = -1
	for _, m := range list {
		if m.ID == id {
			return m, previous, true
		}
		previous = m.ID
	}
	return m, 0, false
}

// Events returns the position up to which events may be shown.
func (h *Horizon) Events(ctx context.Context) (schemas.Position, error) {
	watermark, err := h.Watermark.Get(ctx)
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
func (h *Horizon) loadCap(ctx context.Context) (schemas.Position, error) {
	watermark, err := h.Watermark.Get(ctx)
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

// Shows reports whether events at a position may be shown. The end of events only ever
// moves on, so it is asked for only if the last one known does not suffice, and as of now if the
// one that is remembered does not either: another server of the same store may have shown them.
func (h *Horizon) Shows(ctx context.Context, at schemas.Position) (bool, error) {
	h.mu.Lock()
	known := h.limitKnown && !h.limit.Before(at)
	h.mu.Unlock()
	if known {
		return true, nil
	}
	asked := h.now()
	limit, err := h.Events(ctx)
	if err != nil || !limit.Before(at) {
		return err == nil, err
	}
	if _, err := h.Watermark.GetSince(ctx, asked); err != nil {
		return false, err
	}
	limit, err = h.Events(ctx)
	return err == nil && !limit.Before(at), err
}

// ContractsAt returns the position up to which lifetimes are known, as of now if what is remembered
// ends before an instant of a migration: see Shows.
func (h *Horizon) ContractsAt(ctx context.Context, migrationID int64, at schemas.Micros) (schemas.Position, error) {
	asked := h.now()
	contracts, err := h.Contracts.Get(ctx)
	if err != nil || !contracts.Before(schemas.Position{MigrationID: migrationID, RecordTime: at}) {
		return contracts, err
	}
	return h.Contracts.GetSince(ctx, asked)
}

// eventsCap applies the network's rule to the newest migration: nothing later than
// its last verdict and its last update, nothing at all without either.
func (h *Horizon) eventsCap(ctx context.Context, watermark schemas.Position) (schemas.Position, error) {
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
func (h *Horizon) anyVerdicts(ctx context.Context, watermark schemas.Position) (bool, error) {
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
func (h *Horizon) lastVerdict(ctx context.Context, watermark schemas.Position) (schemas.Micros, bool, error) {
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
func (h *Horizon) narrow(ctx context.Context, found []schemas.Item, empty schemas.Micros, watermark schemas.Position) (schemas.Micros, error) {
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
func (h *Horizon) verdictsFrom(ctx context.Context, from schemas.Micros, watermark schemas.Position) ([]schemas.Item, error) {
	return h.source.Verdicts(ctx, history.Range{
		After:   schemas.Position{MigrationID: watermark.MigrationID, RecordTime: from},
		Through: watermark, Limit: verdictPage,
	})
}

// Span returns the first and the last record time of a migration that has history.
func Span(m history.Migration) (first, last schemas.Micros) {
	first, last = schemas.MaxMicros, schemas.MinMicros
	for _, s := range m.Synchronizers {
		first, last = min(first, s.Min), max(last, s.Max)
	}
	return first, last
}
