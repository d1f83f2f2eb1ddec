package state

import (
	"context"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// aggregatedRounds knows which mining rounds are aggregated: they are closed, none of their contracts is left but the
// closed one, and so are all before them, from the first that was closed.
type aggregatedRounds struct {
	sets  *contractSets
	known memo.Value[closedRounds]
}

// closedRounds are the rounds that were closed, up to a position.
type closedRounds struct {
	at schemas.Position
	// closed is when each was closed, in ledger time; first and last are without a gap in between.
	closed      map[int64]schemas.Micros
	first, last int64
	// through is the position up to which it is known what parties have in rounds.
	through schemas.Position
	// newest is the creation time of the latest that was found in the migration of at.
	newest schemas.Micros
}

const (
	// closedAtATime is how many closed rounds are read at once, maxClosedRounds more than there are in ten years, about 50 MB.
	closedAtATime   = 2000
	maxClosedRounds = 1_000_000
)

func newAggregatedRounds(sets *contractSets, ttl time.Duration, now func() time.Time) *aggregatedRounds {
	a := &aggregatedRounds{sets: sets}
	held := closedRounds{at: schemas.Start, closed: map[int64]schemas.Micros{}, newest: schemas.MinMicros} // of the load before
	a.known = memo.Value[closedRounds]{TTL: ttl, Now: now, Load: func(ctx context.Context) (closedRounds, error) {
		set, err := a.load(ctx, held)
		if err == nil {
			held = set
		}
		return set, err
	}}
	return a
}

// get returns the rounds; ok is false while none is aggregated. They are shared and must not be changed.
func (a *aggregatedRounds) get(ctx context.Context) (rounds closedRounds, ok bool, err error) {
	if err := a.sets.contracts.horizon.RequireHistory(ctx); err != nil {
		return rounds, false, err
	}
	rounds, err = a.known.Get(ctx)
	return rounds, err == nil && rounds.last >= rounds.first && len(rounds.closed) > 0, err
}

// errNoRounds answers while no round is aggregated.
func errNoRounds() error { return query.Errorf(query.NotFound, "No data has been aggregated yet.") }

// load adds to what is held the rounds that were closed up to the present.
func (a *aggregatedRounds) load(ctx context.Context, held closedRounds) (closedRounds, error) {
	_, at, err := a.sets.contracts.of(ctx, template.ClosedMiningRound)
	if err != nil {
		return held, err
	}
	next := closedRounds{at: at, closed: make(map[int64]schemas.Micros, len(held.closed)+1)}
	for number, when := range held.closed {
		next.closed[number] = when
	}
	for migration := max(held.at.MigrationID, 0); migration <= at.MigrationID; migration++ {
		since := schemas.MinMicros
		if migration == held.at.MigrationID {
			since = held.newest
		}
		if next.newest, err = a.closedSince(ctx, migration, since, next.closed); err != nil {
			return held, err
		}
	}
	if next.through, err = a.sets.contracts.source.MovementsWatermark(ctx); err != nil {
		return held, err
	}
	alive, err := a.firstAlive(ctx)
	if err != nil {
		return held, err
	}
	next.join(alive)
	return next, nil
}

// join finds the first and the last aggregated round; those from alive on have contracts left.
func (r *closedRounds) join(alive int64) {
	r.first = -1
	for number := range r.closed {
		if r.first < 0 || number < r.first {
			r.first = number
		}
	}
	r.last = r.first - 1
	for r.last+1 < alive {
		when, ok := r.closed[r.last+1]
		if !ok || r.at.MigrationID == r.through.MigrationID && when > r.through.RecordTime {
			return
		}
		r.last++
	}
}

// firstAlive is the lowest number of a round that is open, summarised or issuing.
func (a *aggregatedRounds) firstAlive(ctx context.Context) (int64, error) {
	first := int64(1) << 62
	for _, kind := range []string{template.OpenMiningRound, template.SummarizingMiningRound, template.IssuingMiningRound} {
		list, err := a.sets.get(ctx, kind)
		if err != nil {
			return 0, err
		}
		for i := range list {
			number, err := list[i].roundNumber()
			if err != nil {
				return 0, err
			}
			first = min(first, number)
		}
	}
	return first, nil
}

// closedSince adds the rounds that a migration has of those closed at or after an instant, and returns when the last of
// them was.
func (a *aggregatedRounds) closedSince(ctx context.Context, migration int64, since schemas.Micros, into map[int64]schemas.Micros) (schemas.Micros, error) {
	q, at, err := a.sets.contracts.of(ctx, template.ClosedMiningRound)
	if err != nil {
		return since, err
	}
	q.Limit = closedAtATime
	if q.MigrationID = migration; migration < at.MigrationID {
		q.At = schemas.MaxMicros
	}
	for {
		rows, err := a.sets.contracts.source.StateContractsSince(ctx, q, since)
		if err != nil {
			return since, err
		}
		list := a.sets.contracts.compacted(rows)
		for i := range list {
			number, err := list[i].roundNumber()
			if err != nil {
				return since, err
			}
			if _, ok := into[number]; !ok { // carried over into a migration it keeps its time
				into[number] = list[i].Event.CreatedAt
			}
		}
		switch {
		case len(into) > maxClosedRounds:
			return since, fmt.Errorf("there are more than %d closed mining rounds", maxClosedRounds)
		case len(rows) == 0:
			return since, nil
		case len(rows) < closedAtATime:
			return rows[len(rows)-1].Event.CreatedAt, nil
		case rows[len(rows)-1].Event.CreatedAt == since:
			return since, fmt.Errorf("more than %d mining rounds were closed at %s", closedAtATime, since)
		}
		since = rows[len(rows)-1].Event.CreatedAt
	}
}
