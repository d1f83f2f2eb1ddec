// Package analytics derives tables for questions from the committed rows of a stream. They have the rows
// of an undisturbed run after any crash.
package analytics

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer/journal"
	"github.com/ledgerlake/ledgerlake/internal/history/holdings"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/coins"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

var (
	//go:embed sql/clear_movements.sql
	clearMovements string
	//go:embed sql/clear_round_entries.sql
	clearRoundEntries string
)

// Movements derives table movements from a stream, public history or a node's own, and of public history labels
// and what is in which mining round, table round_entries. It follows the stream's watermark as lifetimes do, in a journal of its own. Only one Movements may
// work on a stream at a time.
type Movements struct {
	db       *store.DB
	stream   string
	follower *journal.Follower
	reader   *holdings.Reader
	deriver  coins.Deriver
	labels   labels
	rows     *store.Movements // kept from step to step for its memory, as entries
	entries  *store.RoundEntries
}

// NewMovements returns the movements of a stream, with a catalogue of the choices; pace is the least time
// from one step to the next, 2 s if zero: most of what a step costs while it follows is the step itself.
func NewMovements(db *store.DB, stream string, catalog *values.Catalog, pace time.Duration, log *slog.Logger) *Movements {
	pace = cmp.Or(pace, 2*time.Second)
	return &Movements{
		db: db, stream: stream, labels: labels{db: db, stream: stream, catalog: catalog}, follower: journal.NewFollower(db, stream, journals.MovementsStream(stream), pace, log),
		reader: holdings.NewReader(db, stream, catalog, log), rows: store.NewMovements(), entries: store.NewRoundEntries(),
	}
}

// Run steps until ctx ends, then returns nil. It returns early only with an error that needs a person.
func (m *Movements) Run(ctx context.Context) error {
	m.follower.Unhurried()
	return m.follower.Run(ctx, m.Step)
}

// CatchUp steps until movements have reached the stream's watermark. A failure is tried again a few times.
func (m *Movements) CatchUp(ctx context.Context) error { return m.follower.CatchUp(ctx, m.Step) }

// Step takes the next range of committed batches. It returns journal.ErrCaughtUp when movements have
// reached the watermark.
func (m *Movements) Step(ctx context.Context) error {
	if _, err := m.follower.Load(ctx); err != nil {
		return err
	}
	if m.stream == schemas.ScanStream {
		if err := m.labels.prepare(ctx, m.follower.Committed()); err != nil {
			return err
		}
	}
	return m.follower.Take(ctx, "deriving movements", m.apply)
}

// Rebuild makes movements derive everything again from the start of the stream, in the steps that follow.
func (m *Movements) Rebuild(ctx context.Context) error { return m.follower.BackToStart(ctx) }

// apply derives one range.
func (m *Movements) apply(ctx context.Context, row *store.BatchRow) error {
	token, err := journal.Begin(ctx, m.db, row, m.clear)
	if err != nil {
		return err
	}
	store.Reset(m.rows)
	store.Reset(m.entries)
	d := derivation{movement: func(r *store.Movement) { m.rows.Append(m.stream, r) }}
	if m.stream == schemas.ScanStream {
		if err := m.labels.add(ctx, row.After, row.Through); err != nil {
			return err
		}
		d.entry = func(e *store.RoundEntry) { m.entries.Append(m.stream, e) }
	}
	err = d.run(ctx, m.reader, &m.deriver, row.After, row.Through)
	if err != nil {
		return err
	}
	if err := m.db.Insert(ctx, "movements", token, m.rows); err != nil {
		return err
	}
	return m.db.Insert(ctx, "round_entries", token, m.entries)
}

// derivation is what to do with what is derived of updates. Members may be nil.
type derivation struct {
	movement func(*store.Movement)
	entry    func(*store.RoundEntry) // wanted of public history alone
	// updated is called after movements and entries of each update.
	updated func(*coins.Update, []coins.Movement)
}

// run derives a range, in the order of history.
func (d derivation) run(ctx context.Context, reader *holdings.Reader, deriver *coins.Deriver, after, through schemas.Position) error {
	updates, err := reader.Range(ctx, after, through)
	if err != nil {
		return err
	}
	for i := range updates {
		u := &updates[i]
		movements := deriver.Update(u)
		if d.movement != nil {
			row := store.Movement{Position: u.Position, Instrument: u.Admin + "/" + template.CoinInstrument, Round: u.Round}
			for _, row.Movement = range movements {
				d.movement(&row)
			}
		}
		if d.entry != nil {
			row := store.RoundEntry{Position: schemas.Position{MigrationID: u.Position.MigrationID, RecordTime: u.Position.RecordTime}}
			for _, row.RoundEntry = range deriver.RoundEntries() {
				d.entry(&row)
			}
		}
		if d.updated != nil {
			d.updated(u, movements)
		}
	}
	return nil
}

// clear drops all rows of the stream.
func (m *Movements) clear(ctx context.Context) error {
	for table, statement := range map[string]string{"movements": clearMovements, "round_entries": clearRoundEntries} {
		if err := m.db.Change(ctx, table, statement, "", store.Params{"stream": store.Text(m.stream)}); err != nil {
			return fmt.Errorf("emptying table %s of %s: %w", table, m.stream, err)
		}
	}
	return nil
}
