package scan

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/scan/horizon"
	"github.com/ledgerlake/ledgerlake/query/scan/pages"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

type migrationInfo struct {
	PreviousMigrationID   *int64        `json:"previous_migration_id,omitempty"`
	RecordTimeRange       []recordRange `json:"record_time_range"`
	LastImportUpdateID    string        `json:"last_import_update_id,omitempty"`
	Complete              bool          `json:"complete"`
	ImportUpdatesComplete bool          `json:"import_updates_complete"`
}

type recordRange struct {
	SynchronizerID string `json:"synchronizer_id"`
	Min            string `json:"min"`
	Max            string `json:"max"`
}

// backfilling serves what another scan fills its history with.
type backfilling struct {
	source      Source
	horizon     *horizon.Horizon
	backfilled  func(context.Context) bool
	catalog     *values.Catalog
	maxPageSize int
	chunkBytes  int64
	updateSizes *query.Sizes
}

// migrationInfo serves what is held of a migration.
func (b *backfilling) migrationInfo(ctx context.Context, r *query.Request) error {
	p := r.Body()
	id := p.Int64("migration_id")
	if err := p.Err(); err != nil {
		return err
	}
	// The watermark first and then, not from the cache, what is held: if it is past the
	// imports, the last one of them is in what is read after it.
	watermark, err := b.horizon.Watermark.Get(ctx)
	if err != nil {
		return err
	}
	list, err := b.source.Migrations(ctx)
	if err != nil {
		return err
	}
	m, previous, ok := horizon.FindMigration(list, id)
	if !ok {
		return noMigration(id)
	}
	complete := b.backfilled(ctx)
	// The imports of a migration come before its history, so history proves them whole.
	importsDone := schemas.Position{MigrationID: id, RecordTime: schemas.MinMicros, UpdateID: schemas.MaxUpdateID}.Before(watermark)
	info := migrationInfo{
		RecordTimeRange: []recordRange{}, LastImportUpdateID: m.LastImportID,
		Complete: complete, ImportUpdatesComplete: complete && importsDone,
	}
	if previous >= 0 {
		info.PreviousMigrationID = &previous
	}
	for _, s := range m.Synchronizers {
		info.RecordTimeRange = append(info.RecordTimeRange, recordRange{s.SynchronizerID, s.Min.String(), s.Max.String()})
	}
	return r.JSON(info)
}

// requireMigration is an Error of class NotFound for a migration without data.
func (b *backfilling) requireMigration(ctx context.Context, id int64) error {
	_, _, ok, err := b.horizon.Migration(ctx, id)
	if err == nil && !ok {
		err = noMigration(id)
	}
	return err
}

func noMigration(id int64) error {
	return query.Errorf(query.NotFound, "No data for migration %d", id)
}

// updatesBefore serves updates of one synchronizer, newest first.
func (b *backfilling) updatesBefore(ctx context.Context, r *query.Request) error {
	p := r.Body()
	q := history.Before{
		MigrationID: p.Int64("migration_id"), SynchronizerID: p.Text("synchronizer_id"),
		Before: p.Time("before"), Limit: p.Limit("count", b.maxPageSize),
	}
	q.AtOrAfter, _ = p.OptionalTime("at_or_after")
	if !p.Has("at_or_after") {
		q.AtOrAfter = schemas.MinMicros
	}
	if err := p.Err(); err != nil {
		return err
	}
	if err := b.requireMigration(ctx, q.MigrationID); err != nil {
		return err
	}
	watermark, err := b.horizon.Watermark.Get(ctx)
	if err != nil {
		return err
	}
	q.AtOrAfter = max(q.AtOrAfter, schemas.MinMicros+1) // imports are not history
	if q.MigrationID == watermark.MigrationID {
		q.Before = min(q.Before, watermark.RecordTime+1)
	}
	write := newUpdateWriter(b.catalog, schemas.UpdateForm{WithOffset: true}, schemas.ProtobufJSON).update
	pg := &pages.List[schemas.Update, schemas.Micros]{
		Sizes: b.updateSizes, Target: b.chunkBytes,
		Open: `{"transactions":[`, Close: `]}`, After: q.Before, Left: q.Limit, Write: write,
		// Record times are unique within a migration and synchronizer.
		Key: func(u *schemas.Update) schemas.Micros { return u.RecordTime },
		Read: func(ctx context.Context, before schemas.Micros, limit int) ([]schemas.Update, error) {
			if q.AtOrAfter >= before || watermark.MigrationID < q.MigrationID {
				return nil, nil
			}
			part := q
			part.Before, part.Limit = before, limit
			return b.source.UpdatesBefore(ctx, part)
		},
	}
	return pg.Produce(ctx, r)
}

// importUpdates serves import updates ascending by id.
func (b *backfilling) importUpdates(ctx context.Context, r *query.Request) error {
	p := r.Body()
	id, after, limit := p.Int64("migration_id"), p.Text("after_update_id"), p.Limit("limit", b.maxPageSize)
	if err := p.Err(); err != nil {
		return err
	}
	pg := &pages.List[schemas.Update, string]{
		Sizes: b.updateSizes, Target: b.chunkBytes,
		Open: `{"transactions":[`, Close: `]}`, After: after, Left: limit,
		Write: newUpdateWriter(b.catalog, schemas.UpdateForm{WithOffset: true}, schemas.ProtobufJSON).update,
		Key:   func(u *schemas.Update) string { return u.UpdateID },
		Read: func(ctx context.Context, after string, limit int) ([]schemas.Update, error) {
			return b.source.Imports(ctx, id, after, limit)
		},
	}
	return pg.Produce(ctx, r)
}

// status serves whether all history is held.
func (b *backfilling) status(ctx context.Context, r *query.Request) error {
	return r.JSON(struct {
		Complete bool `json:"complete"`
	}{b.backfilled(ctx)})
}
