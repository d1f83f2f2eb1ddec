package history

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Stretch is what the tables hold between two positions, row by row and as it stands:
// rows that stand there twice and rows that belong to nothing included. Each list is
// ascending by position; updates have no events, which are apart and are read while those
// before are looked at: once NextEvents has none, Err tells whether these were all. Beside
// the rows of each table stand their hashes, for BatchHash. It is used by one goroutine.
type Stretch struct {
	Imports []schemas.Update
	// ImportFacts are those of the event of each; there is no body.
	ImportFacts  []EventFacts
	Updates      []schemas.Update
	UpdateHashes []uint64
	// VerdictsAt are the positions of verdicts.
	VerdictsAt    []schemas.Position
	VerdictHashes []uint64
	// Informs says of each verdict whether its transaction was committed and the party that was
	// asked about is one of those that its views name.
	Informs []bool
	// Verdicts are items without updates; there are none in a stretch without texts.
	Verdicts []schemas.Item

	events eventRuns
	party  string // that Informs is about
}

// BatchHash hashes the rows of a batch.
type BatchHash = store.BatchHash

// IsBatchHash reports whether a hash in the journal is a BatchHash.
func IsBatchHash(hash string) bool { return store.IsBatchHash(hash) }

// NextEvents returns where the next events stand, ascending; ok is false when there are
// none left. The position is valid until the next call.
func (s *Stretch) NextEvents() (at schemas.Position, ok bool) { return s.events.next() }

// TakeEvents returns the events that stand at the next position, by node number. They are
// valid until the next call, except for their texts.
func (s *Stretch) TakeEvents() []schemas.Event { return s.events.take() }

// EventFacts are what is known of the events taken last beside their fields.
func (s *Stretch) EventFacts() []EventFacts { return s.events.facts }

// Err returns why events could not be read, nil if all were. It is ErrUnordered if events that
// were read without texts did not come in their order: with texts they will.
func (s *Stretch) Err() error {
	if s.events.unordered {
		return ErrUnordered
	}
	return s.events.err
}

// ErrUnordered is described at Stretch.Err.
var ErrUnordered = errors.New("events do not stand in order in the parts of their table")

// Close ends the reading of events and gives up their memory.
func (s *Stretch) Close() { s.events.close() }

// Stretch reads all rows after one position through another, with ctx also events later on.
// Without texts, which is much faster, events have no ids, no parties, no argument and no
// result, and verdicts have positions and what they say of the party only. But for events it is not limited: callers choose a
// stretch that fits into memory, and close it.
func (r *Reader) Stretch(ctx context.Context, after, through schemas.Position, texts bool, party string) (*Stretch, error) {
	s := &Stretch{party: party}
	parts := stretchParts(after, through)
	var events []eventQuery
	for i := range parts {
		if parts[i].history {
			events = append(events, r.eventsOf(&parts[i], texts))
		}
	}
	s.events.read(ctx, r.db, events, texts)
	for i := range parts {
		if err := r.addPart(ctx, s, &parts[i], texts); err != nil {
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
func (r *Reader) eventsOf(p *stretchPart, texts bool) eventQuery {
	query, byOffset := eventSumsColumns+eventSumsBetween, eventSumsColumns+eventSumsByOffset
	if texts {
		query, byOffset = eventsQuery, eventsByOffsetQuery
	}
	if p.through.Offset > 0 {
		return eventQuery{byOffset, store.Params{
			"stream": store.Text(r.stream), "first": store.Int(p.after.Offset + 1), "last": store.Int(p.through.Offset),
		}}
	}
	// Events are asked for by first and last position, both inclusive. An update id that
	// is never given stands between p.after and what follows it.
	first, last := p.after, p.through
	first.RecordTime, last.RecordTime = store.Clamp(first.RecordTime), store.Clamp(last.RecordTime)
	first.UpdateID += "\x00"
	return eventQuery{query, r.between(first, last)}
}

// addPart reads everything of a part but its events.
func (r *Reader) addPart(ctx context.Context, s *Stretch, p *stretchPart, texts bool) error {
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
	if err := r.addHistory(ctx, s, p, texts); err != nil {
		return fmt.Errorf("reading rows after %s: %w", p.after, err)
	}
	return nil
}

// addHistory reads updates, and of public history verdicts.
func (r *Reader) addHistory(ctx context.Context, s *Stretch, p *stretchPart, texts bool) error {
	if p.through.Offset > 0 {
		return r.addUpdates(ctx, s, updatesByOffsetQuery, store.Params{
			"stream": store.Text(r.stream), "after": store.Int(p.after.Offset), "through": store.Int(p.through.Offset), "limit": store.Int(math.MaxUint32),
		})
	}
	params := r.params(Range{After: p.after, Through: p.through, Limit: math.MaxUint32})
	if err := r.addUpdates(ctx, s, updatesQuery, params); err != nil {
		return err
	}
	return r.addVerdicts(ctx, s, params, texts)
}

func (r *Reader) addUpdates(ctx context.Context, s *Stretch, query string, params store.Params) error {
	block := store.NewUpdates()
	return r.db.Select(ctx, query, params, block, func() error {
		s.Updates, s.UpdateHashes = block.AppendTo(s.Updates), block.AppendHashes(s.UpdateHashes)
		return nil
	})
}

func (r *Reader) addVerdicts(ctx context.Context, s *Stretch, params store.Params, texts bool) error {
	block := store.NewVerdicts()
	return r.db.Select(ctx, verdictsQuery, params, block, func() error {
		if texts {
			s.Verdicts = block.AppendTo(s.Verdicts)
		}
		s.VerdictsAt, s.VerdictHashes = block.AppendPositions(s.VerdictsAt), block.AppendHashes(s.VerdictHashes)
		s.Informs = block.AppendInforms(s.Informs, s.party)
		return nil
	})
}

func (r *Reader) addImports(ctx context.Context, s *Stretch, migration int64, after, through string) error {
	block := store.NewImports()
	err := r.db.Select(ctx, importsQuery, r.importParams(migration, after, through, math.MaxUint32), block, func() error {
		s.Imports = block.AppendTo(s.Imports)
		hashes := block.AppendHashes(nil)
		for i, argument := range block.AppendArgumentKeys(nil) {
			e := &s.Imports[len(s.ImportFacts)].Events[0]
			s.ImportFacts = append(s.ImportFacts, EventFacts{
				Row: hashes[i], Contract: LifetimeHash(e.ContractID), Create: store.NewCreateKey(e, argument),
			})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading imports of migration %d: %w", migration, err)
	}
	return nil
}
