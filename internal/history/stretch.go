package history

import (
	"context"
	"fmt"
	"math"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Stretch is what the tables hold between two positions, row by row and as it stands:
// rows that stand there twice and rows that belong to nothing included. Each list is
// ascending by position; updates have no events, which are apart and are read while those
// before are looked at: once NextEvents has none, Err tells whether these were all. It is
// used by one goroutine.
type Stretch struct {
	Imports []schemas.Update
	// ImportKeys are the keys of their arguments: see ArgumentKey.
	ImportKeys []ArgumentKey
	Updates    []schemas.Update
	// Verdicts are items without updates.
	Verdicts []schemas.Item

	events eventRuns
}

// NextEvents returns where the next events stand, ascending; ok is false when there are
// none left.
func (s *Stretch) NextEvents() (at schemas.Position, ok bool) { return s.events.next() }

// TakeEvents returns the events that stand at the next position, by node number. They are
// valid until the next call, except for their texts.
func (s *Stretch) TakeEvents() []schemas.Event { return s.events.take() }

// ArgumentKey tells the argument of a created event from all others, by number among the
// events taken last.
func (s *Stretch) ArgumentKey(event int) ArgumentKey { return s.events.keys[event] }

// Bodies are those of the events taken last, and valid for as long as they are.
func (s *Stretch) Bodies() []Body { return s.events.bodies }

// Err returns why events could not be read, nil if all were.
func (s *Stretch) Err() error { return s.events.err }

// Close ends the reading of events and gives up their memory.
func (s *Stretch) Close() { s.events.close() }

// Stretch reads all rows after one position through another, with ctx also events later on.
// But for events it is not limited: callers choose a stretch that fits into memory, and
// close it.
func (r *Reader) Stretch(ctx context.Context, after, through schemas.Position) (*Stretch, error) {
	s := new(Stretch)
	parts := stretchParts(after, through)
	var events []eventQuery
	for i := range parts {
		if parts[i].history {
			events = append(events, r.eventsOf(&parts[i]))
		}
	}
	s.events.read(ctx, r.db, events)
	for i := range parts {
		if err := r.addPart(ctx, s, &parts[i]); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

// stretchPart is what a stretch has of one migration.
type stretchPart struct {
	after, through schemas.Position // exclusive, inclusive; of one migration
	imports        bool             // whether it begins before or among import updates
	history        bool             // whether it ends behind them
}

// stretchParts takes a stretch apart. Offsets know no migrations: a stretch of a node's own
// stream is one part.
func stretchParts(after, through schemas.Position) []stretchPart {
	first := max(after.MigrationID, 0)
	if through.Offset > 0 {
		first = through.MigrationID
	}
	var parts []stretchPart
	for m := first; m <= through.MigrationID; m++ {
		p := stretchPart{
			after:   schemas.Position{MigrationID: m, RecordTime: schemas.MinMicros},
			through: schemas.Position{MigrationID: m, RecordTime: schemas.MaxMicros, UpdateID: schemas.MaxUpdateID},
		}
		if m == after.MigrationID || through.Offset > 0 {
			p.after = after
		}
		if m == through.MigrationID {
			p.through = through
		}
		p.imports, p.history = p.after.RecordTime == schemas.MinMicros, p.through.RecordTime != schemas.MinMicros
		parts = append(parts, p)
	}
	return parts
}

// eventsOf asks for the events of a part.
func (r *Reader) eventsOf(p *stretchPart) eventQuery {
	if p.through.Offset > 0 {
		return eventQuery{eventsByOffsetQuery, store.Params{
			"stream": store.Text(r.stream), "first": store.Int(p.after.Offset + 1), "last": store.Int(p.through.Offset),
		}}
	}
	// Events are asked for by first and last position, both inclusive. An update id that
	// is never given stands between p.after and what follows it.
	first, last := p.after, p.through
	first.RecordTime, last.RecordTime = store.Clamp(first.RecordTime), store.Clamp(last.RecordTime)
	first.UpdateID += "\x00"
	return eventQuery{eventsQuery, r.between(first, last)}
}

// addPart reads everything of a part but its events.
func (r *Reader) addPart(ctx context.Context, s *Stretch, p *stretchPart) error {
	if p.imports {
		last := schemas.MaxUpdateID
		if !p.history {
			last = p.through.UpdateID
		}
		if err := r.addImports(ctx, s, p.through.MigrationID, p.after.UpdateID, last); err != nil {
			return err
		}
	}
	if !p.history {
		return nil
	}
	if err := r.addHistory(ctx, s, p); err != nil {
		return fmt.Errorf("reading rows after %s: %w", p.after, err)
	}
	return nil
}

// addHistory reads updates, and of public history verdicts.
func (r *Reader) addHistory(ctx context.Context, s *Stretch, p *stretchPart) error {
	if p.through.Offset > 0 {
		updates, err := r.selectUpdates(ctx, updatesByOffsetQuery, store.Params{
			"stream": store.Text(r.stream), "after": store.Int(p.after.Offset), "through": store.Int(p.through.Offset), "limit": store.Int(math.MaxUint32),
		})
		s.Updates = updates
		return err
	}
	params := r.params(Range{After: p.after, Through: p.through, Limit: math.MaxUint32})
	updates, err := r.selectUpdates(ctx, updatesQuery, params)
	if err != nil {
		return err
	}
	s.Updates = append(s.Updates, updates...)
	verdicts, err := r.selectVerdicts(ctx, verdictsQuery, params)
	s.Verdicts = append(s.Verdicts, verdicts...)
	return err
}

func (r *Reader) addImports(ctx context.Context, s *Stretch, migration int64, after, through string) error {
	block := store.NewImports()
	err := r.db.Select(ctx, importsQuery, r.importParams(migration, after, through, math.MaxUint32), block, func() error {
		s.Imports, s.ImportKeys = block.AppendTo(s.Imports), block.AppendArgumentKeys(s.ImportKeys)
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading imports of migration %d: %w", migration, err)
	}
	return nil
}
