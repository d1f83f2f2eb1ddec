package history

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Reader reads one stream. It is safe for concurrent use.
type Reader struct {
	db     *store.DB
	stream string
	side   *Reader // see WithSide; usually nil
	// passed is the highest watermark that was read: history up to it does not change.
	passed atomic.Pointer[schemas.Position]

	// What is kept for reads of a node's stream: see each.
	copies     *NodeCopies // see UseCopies; usually nil
	templates  ledgerTemplates
	spread     atomic.Int64
	flights    inFlight
	lifetimes  atomic.Int64
	begunAfter atomic.Int64
}

// NewReader returns a reader of a stream, usually schemas.ScanStream.
func NewReader(db *store.DB, stream string) *Reader { return &Reader{db: db, stream: stream} }

// Stream names the stream that r reads.
func (r *Reader) Stream() string { return r.stream }

// Watermark returns the position up to which the stream is complete and final,
// schemas.Start when it has no history.
func (r *Reader) Watermark(ctx context.Context) (schemas.Position, error) {
	watermark, err := r.lastCommit(ctx, r.stream)
	if err == nil {
		r.pass(watermark)
	}
	return watermark, err
}

// pass notes a watermark.
func (r *Reader) pass(watermark schemas.Position) {
	for {
		known := r.passed.Load()
		if known != nil && !known.Before(watermark) || r.passed.CompareAndSwap(known, &watermark) {
			return
		}
	}
}

// ContractsWatermark returns the position up to which contract lifetimes are
// derived. It is never above Watermark.
func (r *Reader) ContractsWatermark(ctx context.Context) (schemas.Position, error) {
	return r.lastCommit(ctx, r.stream+"/contracts")
}

// Backfilled reports whether the stream has reached its upstream's end once.
func (r *Reader) Backfilled(ctx context.Context) (bool, error) {
	reached := false
	block := store.NewCount()
	params := store.Params{"stream": store.Text(r.stream), "name": store.Text(store.Backfilled)}
	err := r.db.Select(ctx, milestonesQuery, params, block, func() error {
		reached = block.Value() > 0
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("reading the milestones of %s: %w", r.stream, err)
	}
	return reached, nil
}

func (r *Reader) lastCommit(ctx context.Context, stream string) (schemas.Position, error) {
	last := schemas.Start
	block := store.NewBatches()
	err := r.db.Select(ctx, watermarkQuery, store.Params{"stream": store.Text(stream)}, block, func() error {
		for _, row := range block.AppendTo(nil) {
			last = row.Through
		}
		return nil
	})
	if err != nil {
		return last, fmt.Errorf("reading the watermark of %s: %w", stream, err)
	}
	return last, nil
}

// Migrations sums up what the store holds at or below the watermark, by ascending id.
func (r *Reader) Migrations(ctx context.Context) ([]Migration, error) {
	watermark, err := r.Watermark(ctx)
	if err != nil || watermark == schemas.Start {
		return nil, err
	}
	byID := make(map[int64]*Migration)
	var list []*Migration
	at := func(id int64) *Migration {
		if byID[id] == nil {
			byID[id] = &Migration{ID: id}
			list = append(list, byID[id])
		}
		return byID[id]
	}
	counts, err := r.importCounts(ctx, watermark)
	if err != nil {
		return nil, fmt.Errorf("counting imports: %w", err)
	}
	for _, c := range counts {
		m := at(c.MigrationID)
		m.Imports, m.LastImportID = c.Imports, c.LastID
	}
	ranges, err := r.synchronizerRanges(ctx, watermark)
	if err != nil {
		return nil, fmt.Errorf("reading record time ranges: %w", err)
	}
	for _, s := range ranges {
		m := at(s.MigrationID)
		m.Synchronizers = append(m.Synchronizers, SynchronizerRange{s.SynchronizerID, s.Min, s.Max})
	}
	return sortedMigrations(list), nil
}

// importCounts counts import updates at or below the watermark. Those above it lie in the
// migration whose imports are being written, if any.
func (r *Reader) importCounts(ctx context.Context, watermark schemas.Position) ([]store.ImportCount, error) {
	query, params := importCountsQuery, store.Params{
		"stream": store.Text(r.stream), "through_migration": store.Int(watermark.MigrationID),
	}
	if watermark.RecordTime == schemas.MinMicros {
		query, params["through_id"] = importCountsWithinQuery, store.Text(watermark.UpdateID)
	}
	var counts []store.ImportCount
	block := store.NewImportCounts()
	err := r.db.Select(ctx, query, params, block, func() error {
		counts = block.AppendTo(counts)
		return nil
	})
	return counts, err
}

// synchronizerRanges are the record times held at or below the watermark. A batch that
// is being written lies above it, and only in the newest migration: there, a range that
// goes too far is cut.
func (r *Reader) synchronizerRanges(ctx context.Context, watermark schemas.Position) ([]store.SynchronizerRange, error) {
	all, err := r.selectRanges(ctx, synchronizerRangesQuery, store.Params{"stream": store.Text(r.stream)})
	if err != nil {
		return nil, err
	}
	var held []store.SynchronizerRange
	for _, s := range all {
		switch {
		case s.MigrationID > watermark.MigrationID:
			continue
		case s.MigrationID == watermark.MigrationID && s.Max >= watermark.RecordTime:
			last, err := r.selectRanges(ctx, lastUpdateOfSynchronizerQuery, store.Params{
				"stream": store.Text(r.stream), "migration": store.Int(s.MigrationID), "synchronizer": store.Text(s.SynchronizerID),
				"through_time": store.Time(store.Clamp(watermark.RecordTime)), "through_id": store.Text(watermark.UpdateID),
			})
			if err != nil {
				return nil, err
			}
			if len(last) == 0 {
				continue
			}
			s.Max = last[0].Max
		}
		held = append(held, s)
	}
	return held, nil
}

func (r *Reader) selectRanges(ctx context.Context, query string, params store.Params) ([]store.SynchronizerRange, error) {
	var ranges []store.SynchronizerRange
	block := store.NewSynchronizerRanges()
	err := r.db.Select(ctx, query, params, block, func() error {
		ranges = block.AppendTo(ranges)
		return nil
	})
	return ranges, err
}

// Updates returns the transactions and reassignments in rg, ascending, whole.
// Import updates are not among them.
func (r *Reader) Updates(ctx context.Context, rg Range) ([]schemas.Update, error) {
	return perMigration(rg, func(rg Range) ([]schemas.Update, error) { return r.migrationUpdates(ctx, rg) })
}

// perMigration splits a range at migration borders, because within one migration
// the sort key of the tables can be searched, and stops when the limit is reached.
func perMigration[T any](rg Range, read func(Range) ([]T, error)) ([]T, error) {
	var all []T
	for m := max(rg.After.MigrationID, 0); m <= rg.Through.MigrationID && len(all) < rg.Limit; m++ {
		part := withinMigration(rg, m)
		part.Limit = rg.Limit - len(all)
		if !part.After.Before(part.Through) {
			continue
		}
		rows, err := read(part)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = rows
		} else {
			all = append(all, rows...)
		}
	}
	return all, nil
}

// withinMigration is the part of a range that lies in a migration, which may be empty.
func withinMigration(rg Range, migrationID int64) Range {
	part := Range{
		After:   schemas.Position{MigrationID: migrationID, RecordTime: schemas.MinMicros},
		Through: schemas.Position{MigrationID: migrationID, RecordTime: schemas.MaxMicros},
		Limit:   rg.Limit,
	}
	if migrationID == rg.After.MigrationID {
		part.After = rg.After
	}
	if migrationID == rg.Through.MigrationID {
		part.Through = rg.Through
	}
	return part
}

// params of a range that lies in one migration.
func (r *Reader) params(rg Range) store.Params {
	return store.Params{
		"stream": store.Text(r.stream), "migration": store.Int(rg.Through.MigrationID), "limit": store.Int(int64(rg.Limit)),
		"after_time": store.Time(store.Clamp(rg.After.RecordTime)), "after_id": store.Text(rg.After.UpdateID),
		"through_time": store.Time(store.Clamp(rg.Through.RecordTime)), "through_id": store.Text(rg.Through.UpdateID),
	}
}

func (r *Reader) migrationUpdates(ctx context.Context, rg Range) ([]schemas.Update, error) {
	updates, err := r.selectUpdates(ctx, updatesQuery, r.params(rg))
	if err != nil {
		return nil, fmt.Errorf("reading updates after %s: %w", rg.After, err)
	}
	if len(updates) == 0 {
		return nil, nil
	}
	// Events are asked for from where the range begins, not from where the first update stands:
	// those of updates that the store has lost show that it has.
	events := r.eventsOf(&stretchPart{after: rg.After, through: updates[len(updates)-1].Position(), history: true}, true)
	return updates, r.hangOn(ctx, updates, events.text, events.params, true)
}

func (r *Reader) selectUpdates(ctx context.Context, query string, params store.Params) ([]schemas.Update, error) {
	var updates []schemas.Update
	block := store.NewUpdates()
	err := r.db.Select(ctx, query, params, block, func() error {
		updates = block.AppendTo(updates)
		return nil
	})
	return updates, err
}

// UpdatesBefore returns updates of one synchronizer, newest first, whole.
func (r *Reader) UpdatesBefore(ctx context.Context, b Before) ([]schemas.Update, error) {
	updates, err := r.selectUpdates(ctx, updatesBeforeQuery, store.Params{
		"stream": store.Text(r.stream), "migration": store.Int(b.MigrationID), "synchronizer": store.Text(b.SynchronizerID),
		"before": store.Time(store.Clamp(b.Before)), "at_or_after": store.Time(store.Clamp(b.AtOrAfter)), "limit": store.Int(int64(b.Limit)),
	})
	if err != nil {
		return nil, fmt.Errorf("reading updates before %s: %w", b.Before, err)
	}
	reverse(updates)
	if err := r.addEvents(ctx, updates); err != nil {
		return nil, err
	}
	reverse(updates)
	return updates, nil
}

// addEvents reads the events of updates, which are ascending and of one migration,
// and hangs them on. Events of other updates in between are read and dropped.
func (r *Reader) addEvents(ctx context.Context, updates []schemas.Update) error {
	if len(updates) == 0 {
		return nil
	}
	return r.hangOn(ctx, updates, eventsQuery, r.between(updates[0].Position(), updates[len(updates)-1].Position()), false)
}

// hangOn gives each update its events out of a query whose rows are in the order of the
// updates. The error is schemas.ErrDamaged where the store lacks some or, if the updates are
// all that the query can find events of, where it has events without their update.
func (r *Reader) hangOn(ctx context.Context, updates []schemas.Update, query string, params store.Params, all bool) error {
	next := 0 // update that the next events belong to, or a later one
	var orphan *schemas.Position
	err := r.selectEventRows(ctx, query, params, func(rows []store.EventRow) {
		for len(rows) > 0 {
			run := firstRun(rows)
			for next < len(updates) && updates[next].Position().Before(run[0].Position) {
				next++
			}
			if next < len(updates) && updates[next].Position() == run[0].Position {
				updates[next].Events = appendEvents(updates[next].Events, run)
			} else if orphan == nil {
				at := run[0].Position // rows are used again
				orphan = &at
			}
			rows = rows[len(run):]
		}
	})
	if err != nil {
		return fmt.Errorf("reading events from %s: %w", updates[0].Position(), err)
	}
	if all && orphan != nil {
		return lostUpdate(*orphan)
	}
	return checkComplete(updates)
}

// lostUpdate is the error of an event whose update is not there.
func lostUpdate(at schemas.Position) error {
	return fmt.Errorf("%w: table events has events of update %s, %s, and table updates does not have it", schemas.ErrDamaged, at.UpdateID, at)
}

// checkComplete returns an error unless all updates have their events.
func checkComplete(updates []schemas.Update) error {
	for i := range updates {
		if err := updates[i].CheckComplete(); err != nil {
			return err
		}
	}
	return nil
}

// selectEventRows calls each once per block of rows, which are valid until it returns; what
// they refer to stays.
func (r *Reader) selectEventRows(ctx context.Context, query string, params store.Params, each func(rows []store.EventRow)) error {
	block := eventBlocks.Get().(*eventBlock)
	defer block.free()
	return r.db.Select(ctx, query, params, block.columns, func() error {
		block.rows = block.columns.AppendTo(block.rows[:0])
		each(block.rows)
		return nil
	})
}

// firstRun returns the rows at the beginning that stand at one position.
func firstRun(rows []store.EventRow) []store.EventRow {
	n := 1
	for n < len(rows) && rows[n].Position == rows[0].Position {
		n++
	}
	return rows[:n]
}

func appendEvents(events []schemas.Event, rows []store.EventRow) []schemas.Event {
	events = slices.Grow(events, len(rows))
	for i := range rows {
		events = append(events, rows[i].Event)
	}
	return events
}

// between are the parameters of a query over two positions of one migration.
func (r *Reader) between(first, last schemas.Position) store.Params {
	return store.Params{
		"stream": store.Text(r.stream), "migration": store.Int(first.MigrationID),
		"first_time": store.Time(first.RecordTime), "first_id": store.Text(first.UpdateID),
		"last_time": store.Time(last.RecordTime), "last_id": store.Text(last.UpdateID),
	}
}

// Imports returns import updates of a migration with an id greater than
// afterUpdateID, ascending by id.
func (r *Reader) Imports(ctx context.Context, migrationID int64, afterUpdateID string, limit int) ([]schemas.Update, error) {
	through, err := r.lastImport(ctx, migrationID)
	if err != nil || through == "" {
		return nil, err
	}
	var updates []schemas.Update
	block := store.NewImports()
	err = r.db.Select(ctx, importsQuery, r.importParams(migrationID, afterUpdateID, through, int64(limit)), block, func() error {
		updates = block.AppendTo(updates)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading imports of migration %d: %w", migrationID, err)
	}
	return updates, nil
}

// lastImport is the id up to which a migration's imports are committed, "" for none of them.
func (r *Reader) lastImport(ctx context.Context, migrationID int64) (string, error) {
	watermark, err := r.Watermark(ctx)
	switch {
	case err != nil || migrationID > watermark.MigrationID:
		return "", err
	case migrationID == watermark.MigrationID && watermark.RecordTime == schemas.MinMicros:
		return watermark.UpdateID, nil
	}
	return schemas.MaxUpdateID, nil
}

func (r *Reader) importParams(migrationID int64, afterID, throughID string, limit int64) store.Params {
	return store.Params{
		"stream": store.Text(r.stream), "migration": store.Int(migrationID), "after_id": store.Text(afterID),
		"through_id": store.Text(throughID), "limit": store.Int(limit),
	}
}
