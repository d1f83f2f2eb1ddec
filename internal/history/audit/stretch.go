// Package audit reads what checking a store needs: the rows of its tables as they are, row by row
// and with their hashes, and comparisons that the store makes itself.
package audit

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"

	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/history/rows"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	//go:embed sql/event_sums_between.sql
	eventSumsBetweenQuery string
	//go:embed sql/event_sums_by_offset.sql
	eventSumsByOffsetQuery string
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
var ErrUnordered = errors.New("events are out of order in the parts of their table")

// Close ends the reading of events and gives up their memory.
func (s *Stretch) Close() { s.events.close() }

// Reader reads one stream as it is stored. It is safe for concurrent use.
type Reader struct {
	db     *store.DB
	stream string
}

// NewReader returns a reader of a stream.
func NewReader(db *store.DB, stream string) *Reader { return &Reader{db: db, stream: stream} }

// Stream names the stream that r reads.
func (r *Reader) Stream() string { return r.stream }

// Watermark returns the position up to which the stream is complete and final,
// schemas.Start when it has no history.
func (r *Reader) Watermark(ctx context.Context) (schemas.Position, error) {
	return journal.Watermark(ctx, r.db, r.stream)
}

// ContractsWatermark returns the position up to which contract lifetimes are
// derived. It is never above Watermark.
func (r *Reader) ContractsWatermark(ctx context.Context) (schemas.Position, error) {
	return journal.Watermark(ctx, r.db, journal.ContractsStream(r.stream))
}

// Journal returns the journal of the stream, see journal.Read.
func (r *Reader) Journal(ctx context.Context) ([]journal.Row, error) {
	return journal.Read(ctx, r.db, r.stream)
}

// ContractsJournal returns the same of the lifetimes that are derived from the stream.
func (r *Reader) ContractsJournal(ctx context.Context) ([]journal.Row, error) {
	return journal.Read(ctx, r.db, journal.ContractsStream(r.stream))
}

// Stretch reads all rows after one position through another, with ctx also events later on.
// Without texts, which is much faster, events have no ids, no parties, no argument and no
// result, and verdicts have positions and what they say of the party only. But for events it is not limited: callers choose a
// stretch that fits into memory, and close it.
func (r *Reader) Stretch(ctx context.Context, after, through schemas.Position, texts bool, party string) (*Stretch, error) {
	s := &Stretch{party: party}
	parts := rows.Split(r.stream, after, through)
	var events []rows.Query
	for i := range parts {
		if parts[i].History {
			events = append(events, eventsOf(&parts[i], texts))
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

// eventsOf asks for the events of a part.
func eventsOf(p *rows.Part, texts bool) rows.Query {
	switch {
	case texts:
		return p.Events()
	case p.Through.Offset > 0:
		return rows.Query{Text: eventSumsByOffsetQuery, Params: p.EventParams()}
	}
	return rows.Query{Text: eventSumsBetweenQuery, Params: p.EventParams()}
}

// addPart reads everything of a part but its events.
func (r *Reader) addPart(ctx context.Context, s *Stretch, p *rows.Part, texts bool) error {
	if p.Imports {
		if err := r.addImports(ctx, s, p.Through.MigrationID, p.After.UpdateID, p.LastImport()); err != nil {
			return err
		}
	}
	if !p.History {
		return nil
	}
	if err := r.addHistory(ctx, s, p, texts); err != nil {
		return fmt.Errorf("reading rows after %s: %w", p.After, err)
	}
	return nil
}

// addHistory reads updates, and of public history verdicts.
func (r *Reader) addHistory(ctx context.Context, s *Stretch, p *rows.Part, texts bool) error {
	updates, block := p.Updates(math.MaxUint32), store.NewUpdates()
	err := r.db.Select(ctx, updates.Text, updates.Params, block, func() error {
		s.Updates, s.UpdateHashes = block.AppendTo(s.Updates), block.AppendHashes(s.UpdateHashes)
		return nil
	})
	if err != nil || p.Through.Offset > 0 {
		return err
	}
	return r.addVerdicts(ctx, s, p.Verdicts(math.MaxUint32), texts)
}

func (r *Reader) addVerdicts(ctx context.Context, s *Stretch, q rows.Query, texts bool) error {
	block := store.NewVerdicts()
	return r.db.Select(ctx, q.Text, q.Params, block, func() error {
		if texts {
			s.Verdicts = block.AppendTo(s.Verdicts)
		}
		s.VerdictsAt, s.VerdictHashes = block.AppendPositions(s.VerdictsAt), block.AppendHashes(s.VerdictHashes)
		s.Informs = block.AppendInforms(s.Informs, s.party)
		return nil
	})
}

func (r *Reader) addImports(ctx context.Context, s *Stretch, migration int64, after, through string) error {
	q, block := rows.Imports(r.stream, migration, after, through, math.MaxUint32), store.NewImports()
	err := r.db.Select(ctx, q.Text, q.Params, block, func() error {
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
