package typed

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer/journal"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/history/rows"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

var (
	//go:embed sql/events.sql
	selectEvents string
	//go:embed sql/events_by_offset.sql
	selectEventsByOffset string
	//go:embed sql/imports.sql
	selectImports string
	//go:embed sql/joined.sql
	selectJoined string
	//go:embed sql/filled_tables.sql
	filledTables string
	//go:embed sql/clear.sql
	clearTable string
	//go:embed sql/unfit.sql
	countUnfit string
	//go:embed sql/set_milestone.sql
	setMilestone string
)

// Typed derives the typed tables from a stream. It follows the stream's watermark as lifetimes do, in a
// journal of its own. Tables that are added are filled in ranges of their own, in between, under another
// journal, until they have come as far; from that position on they are derived with the others. Only one
// Typed may work on a stream at a time.
type Typed struct {
	tables *Tables
	db     *store.DB
	stream string
	pace   time.Duration
	log    *slog.Logger

	live  *journal.Follower
	fills map[int64]*journal.Follower

	// What was known when it was looked last.
	state       uint64
	fingerprint uint64
	loaded      bool
	joined      map[int64]bool
	sets        map[int64]*set // by fill; those that have joined are liveFill
	events      *store.Events  // kept for its memory
}

// fillRows bounds the ranges of fills, by items and events: tables that are live wait for one at a time, and may
// wait for a second.
const fillRows = 40_000

// liveFill stands for all fills that have joined.
const liveFill = 0

// New returns the typed tables of a stream, with the catalogue that they are planned by; pace is the least
// time from one step to the next, 2 s if zero.
func New(db *store.DB, stream string, catalog *values.Catalog, pace time.Duration, log *slog.Logger) *Typed {
	pace = cmp.Or(pace, 2*time.Second)
	return &Typed{
		tables: NewTables(db, catalog), db: db, stream: stream, pace: pace, log: log,
		live: journal.NewFollower(db, stream, journals.TypedStream(stream), pace, log), fills: make(map[int64]*journal.Follower),
		events: store.NewEvents(),
	}
}

// Run steps until ctx ends, then returns nil. It returns early only with an error that needs a person.
func (t *Typed) Run(ctx context.Context) error {
	t.live.PollEvery(t.pace) // tables come and go without a commit of the stream
	return t.live.Run(ctx, t.Step)
}

// CatchUp steps until all tables have reached the stream's watermark. A failure is tried again a few times.
func (t *Typed) CatchUp(ctx context.Context) error { return t.live.CatchUp(ctx, t.Step) }

// Step takes the next range of committed batches for the tables that are derived live, and one of each
// fill. It returns journal.ErrCaughtUp when all have reached the watermark.
func (t *Typed) Step(ctx context.Context) error {
	if err := t.load(ctx); err != nil {
		return err
	}
	worked := false
	for _, fill := range slices.Sorted(maps.Keys(t.sets)) {
		switch err := t.take(ctx, fill); {
		case err == nil:
			worked = true
		case !errors.Is(err, journal.ErrCaughtUp):
			t.loaded = false // a table may have been dropped
			return err
		}
		if fill != liveFill {
			if err := t.join(ctx, fill); err != nil {
				return err
			}
		}
	}
	if !worked {
		return journal.ErrCaughtUp
	}
	return nil
}

// Rebuild makes all tables be derived again from the start of the stream, in the steps that follow.
func (t *Typed) Rebuild(ctx context.Context) error {
	if err := t.load(ctx); err != nil {
		return err
	}
	for fill := range t.sets {
		if err := t.follower(fill).BackToStart(ctx); err != nil {
			return err
		}
	}
	return nil
}

// load looks which tables there are, and how they are planned.
func (t *Typed) load(ctx context.Context) error {
	if t.db.IsCluster() {
		return journal.ErrCaughtUp // there are none
	}
	state, _, err := store.SelectOne(ctx, t.db, selectState, nil, store.NewRecords[store.Count]())
	if err != nil {
		return fmt.Errorf("looking for typed tables: %w", err)
	}
	fingerprint := t.tables.catalog.Fingerprint()
	if t.loaded && state.N == t.state && fingerprint == t.fingerprint {
		return nil
	}
	if err := t.loadJoined(ctx); err != nil {
		return err
	}
	list, err := t.tables.List(ctx)
	if err != nil {
		return err
	}
	by := make(map[int64][]*projection)
	for _, table := range list {
		fill := int64(liveFill)
		if !t.joined[table.fill] {
			fill = table.fill
		}
		p, err := t.tables.refresh(ctx, table)
		if err != nil {
			return err
		}
		if p.unknown && fill != liveFill {
			continue // this process has yet to learn the package, or it was dropped
		}
		if !t.joined[table.fill] {
			fill = table.fill // refresh has it filled again
		}
		by[fill] = append(by[fill], p)
	}
	t.sets = make(map[int64]*set)
	for fill, tables := range by {
		t.sets[fill] = newSet(tables)
	}
	// What refresh has written is looked at again, once.
	t.state, t.fingerprint, t.loaded = state.N, fingerprint, true
	return nil
}

type name struct {
	Name string `column:"name,low"`
}

// loadJoined reads which fills have joined.
func (t *Typed) loadJoined(ctx context.Context) error {
	names, err := store.SelectAll(ctx, t.db, selectJoined, store.Params{"stream": store.Text(t.stream), "prefix": store.Text(journals.TypedJoined)}, store.NewRecords[name]())
	if err != nil {
		return fmt.Errorf("reading which typed tables are filled: %w", err)
	}
	t.joined = make(map[int64]bool)
	for _, n := range names {
		fill, err := strconv.ParseInt(strings.TrimPrefix(n.Name, journals.TypedJoined), 10, 64)
		if err != nil {
			return fmt.Errorf("milestone %q of %s names no fill of typed tables", n.Name, t.stream)
		}
		t.joined[fill] = true
	}
	return nil
}

// refresh plans a table by what the catalogue knows now. Of a later version it adds columns; where there are
// rows that did not fit, it has the table filled again.
func (s *Tables) refresh(ctx context.Context, t *Table) (*projection, error) {
	p, err := newProjection(t, s.catalog)
	if err != nil || p.plan.Shape == t.shape {
		return p, err
	}
	now := schemas.Micros(time.Now().UnixMicro())
	if p.unknown {
		t.shape = p.plan.Shape // so that it is looked at when the types are known again
		return p, s.record(ctx, now, []*Table{t})
	}
	if added := p.plan.Columns[len(t.Columns):]; len(added) > 0 {
		if err := s.addColumns(ctx, t, added); err != nil {
			return nil, err
		}
	}
	unfit, _, err := store.SelectOne(ctx, s.db, countUnfit, store.Params{"table": store.Text(t.Name)}, store.NewRecords[store.Count]())
	if err != nil {
		return nil, fmt.Errorf("looking for values that do not fit table %s: %w", t.Name, err)
	}
	if unfit.N > 0 {
		t.fill = int64(now)
	}
	t.Columns, t.shape = p.plan.Columns, p.plan.Shape
	return p, s.record(ctx, now, []*Table{t})
}

// follower is that of a fill.
func (t *Typed) follower(fill int64) *journal.Follower {
	if fill == liveFill {
		return t.live
	}
	f := t.fills[fill]
	if f == nil {
		f = journal.NewSmallFollower(t.db, t.stream, journals.TypedFill(t.stream, fill), t.pace, t.log, fillRows)
		t.fills[fill] = f
	}
	return f
}

// take derives the next range of a fill.
func (t *Typed) take(ctx context.Context, fill int64) error {
	f := t.follower(fill)
	if _, err := f.Load(ctx); err != nil {
		return err
	}
	return f.Take(ctx, "deriving typed tables", func(ctx context.Context, row *store.BatchRow) error { return t.apply(ctx, t.sets[fill], row) })
}

// join derives the tables of a fill with the others from now on, if it has come as far as they, or there are
// no others.
func (t *Typed) join(ctx context.Context, fill int64) error {
	f := t.follower(fill)
	if _, err := t.live.Load(ctx); err != nil {
		return err
	}
	switch {
	case t.live.Pending() || f.Pending():
		return nil
	case t.live.Committed() == f.Committed():
	case t.sets[liveFill] != nil:
		return nil
	default:
		if err := t.live.MoveTo(ctx, f.Committed()); err != nil {
			return err
		}
	}
	err := t.db.Exec(ctx, setMilestone, "", store.Params{"stream": store.Text(t.stream), "name": store.Text(journals.TypedJoined + strconv.FormatInt(fill, 10))})
	if err != nil {
		return fmt.Errorf("recording that typed tables are filled: %w", err)
	}
	t.log.InfoContext(ctx, "typed tables are filled", "stream", t.stream, "tables", len(t.sets[fill].all), "position", f.Committed().String())
	delete(t.fills, fill)
	t.loaded = false
	return nil
}

// apply derives one range.
func (t *Typed) apply(ctx context.Context, s *set, row *store.BatchRow) error {
	token, err := journal.Begin(ctx, t.db, row, func(ctx context.Context) error { return t.clear(ctx, s) })
	if err != nil {
		return err
	}
	for _, p := range s.all {
		store.Reset(p.block)
	}
	if err := t.derive(ctx, s, row.After, row.Through); err != nil {
		return err
	}
	for _, p := range s.all {
		if err := t.db.Insert(ctx, p.Name, token+"/"+p.Name, p.block); err != nil {
			return err
		}
	}
	return nil
}

// derive makes the rows of a range.
func (t *Typed) derive(ctx context.Context, s *set, after, through schemas.Position) error {
	d := &derivation{set: s, stream: t.stream}
	for _, p := range rows.Split(t.stream, after, through) {
		if p.Imports {
			params := store.Params{
				"stream": store.Text(t.stream), "migration": store.Int(p.Through.MigrationID), "after_id": store.Text(p.After.UpdateID), "through_id": store.Text(p.LastImport()),
			}
			if err := t.each(ctx, d, selectImports, params); err != nil {
				return err
			}
		}
		if !p.History {
			continue
		}
		query := selectEvents
		if through.Offset > 0 {
			query = selectEventsByOffset
		}
		if err := t.each(ctx, d, query, p.EventParams()); err != nil {
			return err
		}
	}
	d.flush()
	return nil
}

// each has the derivation take the events that a query finds.
func (t *Typed) each(ctx context.Context, d *derivation, query string, params store.Params) error {
	maps.Copy(params, d.filters)
	if query == selectImports {
		delete(params, "interfaces")
	}
	var block store.EventRows
	var e schemas.Event
	var text []byte
	err := t.db.SelectLarge(ctx, query, params, t.events, func() error {
		block.Load(t.events)
		for i := range t.events.Rows() {
			text = block.AppendEvent(text[:0], i, &e)
			d.take(block.Stored(i), block.Encoding(i), &e)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading events of typed tables: %w", err)
	}
	return nil
}

// clear drops the rows of the stream from those tables that have rows.
func (t *Typed) clear(ctx context.Context, s *set) error {
	names := make([]string, len(s.all))
	for i, p := range s.all {
		names[i] = p.Name
	}
	filled, err := store.SelectAll(ctx, t.db, filledTables, store.Params{"tables": store.Texts(names)}, store.NewRecords[name]())
	if err != nil {
		return fmt.Errorf("looking which typed tables have rows: %w", err)
	}
	for _, table := range filled {
		if err := t.db.Exec(ctx, clearTable, "", store.Params{"table": store.Text(table.Name), "stream": store.Text(t.stream)}); err != nil {
			return fmt.Errorf("emptying table %s of %s: %w", table.Name, t.stream, err)
		}
	}
	return nil
}
