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

//go:embed sql/clear_movements.sql
var clearMovements string

// Movements derives table movements from a stream, public history or a node's own, and labels of public
// history. It follows the stream's watermark as lifetimes do, in a journal of its own. Only one Movements may
// work on a stream at a time.
type Movements struct {
	db       *store.DB
	stream   string
	follower *journal.Follower
	reader   *holdings.Reader
	deriver  coins.Deriver
	labels   labels
	rows     *store.Movements // kept from step to step for its memory
}

// NewMovements returns the movements of a stream, with a catalogue of the choices; pace is the least time
// from one step to the next, 2 s if zero: most of what a step costs while it follows is the step itself.
func NewMovements(db *store.DB, stream string, catalog *values.Catalog, pace time.Duration, log *slog.Logger) *Movements {
	pace = cmp.Or(pace, 2*time.Second)
	return &Movements{
		db: db, stream: stream, labels: labels{db: db, stream: stream, catalog: catalog}, follower: journal.NewFollower(db, stream, journals.MovementsStream(stream), pace, log),
		reader: holdings.NewReader(db, stream, catalog, log), rows: store.NewMovements(),
	}
}

// Run steps until ctx ends, then returns nil. It returns early only with an error that needs a person.
func (m *Movements) Run(ctx context.Context) error { return m.follower.Run(ctx, m.Step) }

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
	if m.stream == schemas.ScanStream {
		if err := m.labels.add(ctx, row.After, row.Through); err != nil {
			return err
		}
	}
	store.Reset(m.rows)
	err = eachMovement(ctx, m.reader, &m.deriver, row.After, row.Through, func(r *store.Movement) { m.rows.Append(m.stream, r) }, nil)
	if err != nil {
		return err
	}
	return m.db.Insert(ctx, "movements", token, m.rows)
}

// eachMovement derives the movements of a range, in the order of history. updated is called after those of
// each update, if it is not nil.
func eachMovement(ctx context.Context, reader *holdings.Reader, deriver *coins.Deriver, after, through schemas.Position, each func(*store.Movement), updated func(*coins.Update, []coins.Movement)) error {
	updates, err := reader.Range(ctx, after, through)
	if err != nil {
		return err
	}
	for i := range updates {
		u := &updates[i]
		row := store.Movement{Position: u.Position, Instrument: u.Admin + "/" + template.CoinInstrument, Round: u.Round}
		movements := deriver.Update(u)
		for _, row.Movement = range movements {
			each(&row)
		}
		if updated != nil {
			updated(u, movements)
		}
	}
	return nil
}

// clear drops all rows of the stream.
func (m *Movements) clear(ctx context.Context) error {
	if err := m.db.Change(ctx, "movements", clearMovements, "", store.Params{"stream": store.Text(m.stream)}); err != nil {
		return fmt.Errorf("emptying table movements of %s: %w", m.stream, err)
	}
	return nil
}
