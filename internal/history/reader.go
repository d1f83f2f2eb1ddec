package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/history/rows"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Reader reads one stream. It is safe for concurrent use.
type Reader struct {
	Movements
	db     *store.DB
	stream string
	side   *Reader // see WithSide; usually nil
	mark   *journal.Mark
}

// NewReader returns a reader of a stream, usually schemas.ScanStream.
func NewReader(db *store.DB, stream string) *Reader {
	return &Reader{Movements: Movements{db, stream}, db: db, stream: stream, mark: journal.NewMark(db, stream)}
}

// Stream names the stream that r reads.
func (r *Reader) Stream() string { return r.stream }

// Watermark returns the position up to which the stream is complete and final,
// schemas.Start when it has no history.
func (r *Reader) Watermark(ctx context.Context) (schemas.Position, error) {
	return r.mark.Read(ctx)
}

// ContractsWatermark returns the position up to which contract lifetimes are
// derived. It is never above Watermark.
func (r *Reader) ContractsWatermark(ctx context.Context) (schemas.Position, error) {
	return journal.Watermark(ctx, r.db, journal.ContractsStream(r.stream))
}

// Backfilled reports whether the stream has reached its upstream's end once.
func (r *Reader) Backfilled(ctx context.Context) (bool, error) {
	return journal.Backfilled(ctx, r.db, r.stream)
}

// Updates returns the transactions and reassignments in rg, ascending, whole.
// Import updates are not among them.
func (r *Reader) Updates(ctx context.Context, rg Range) ([]schemas.Update, error) {
	return perMigration(rg, func(part Range) ([]schemas.Update, error) {
		return rows.Updates(ctx, r.db, r.span(part), int64(part.Limit))
	})
}

// UpdatesWithImports is Updates with the import updates of each migration before its history.
// As all of them have one record time, rg.After is within them only if it names an update.
func (r *Reader) UpdatesWithImports(ctx context.Context, rg Range) ([]schemas.Update, error) {
	return perMigration(rg, func(part Range) ([]schemas.Update, error) {
		var imports []schemas.Update
		if part.After.RecordTime == schemas.MinMicros {
			var err error
			imports, err = r.Imports(ctx, part.After.MigrationID, part.After.UpdateID, part.Limit)
			if err != nil || len(imports) == part.Limit {
				return imports, err
			}
			part.After.UpdateID, part.Limit = schemas.MaxUpdateID, part.Limit-len(imports)
		}
		if !part.After.Before(part.Through) {
			return imports, nil
		}
		updates, err := rows.Updates(ctx, r.db, r.span(part), int64(part.Limit))
		return append(imports, updates...), err
	})
}

// span is the part of the stream in a range within one migration.
func (r *Reader) span(rg Range) rows.Span {
	return rows.Span{Stream: r.stream, After: rg.After, Through: rg.Through}
}

// UpdatesBefore returns updates of one synchronizer, newest first, whole.
func (r *Reader) UpdatesBefore(ctx context.Context, b Before) ([]schemas.Update, error) {
	updates, err := store.SelectAll(ctx, r.db, updatesBeforeQuery, store.Params{
		"stream": store.Text(r.stream), "migration": store.Int(b.MigrationID), "synchronizer": store.Text(b.SynchronizerID),
		"before": store.Time(store.Clamp(b.Before)), "at_or_after": store.Time(store.Clamp(b.AtOrAfter)), "limit": store.Int(int64(b.Limit)),
	}, store.NewUpdates())
	if err != nil {
		return nil, fmt.Errorf("reading updates before %s: %w", b.Before, err)
	}
	if len(updates) == 0 {
		return nil, nil
	}
	slices.Reverse(updates)
	events := rows.Between(r.stream, updates[0].Position(), updates[len(updates)-1].Position())
	if err := rows.AddEvents(ctx, r.db, updates, events); err != nil {
		return nil, err
	}
	slices.Reverse(updates)
	return updates, nil
}

// Imports returns import updates of a migration with an id greater than
// afterUpdateID, ascending by id.
func (r *Reader) Imports(ctx context.Context, migrationID int64, afterUpdateID string, limit int) ([]schemas.Update, error) {
	through, err := r.lastImport(ctx, migrationID)
	if err != nil || through == "" {
		return nil, err
	}
	q := rows.Imports(r.stream, migrationID, afterUpdateID, through, int64(limit))
	updates, err := store.SelectAll(ctx, r.db, q.Text, q.Params, store.NewImports())
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
