package scan

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
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

// migrationInfo serves what is held of a migration.
func (a *API) migrationInfo(ctx context.Context, r *query.Request) error {
	p := r.Body()
	id := p.Int64("migration_id")
	if err := p.Err(); err != nil {
		return err
	}
	// The watermark first and then, not from the cache, what is held: if it is past the
	// imports, the last one of them is in what is read after it.
	watermark, err := a.horizon.watermark.Get(ctx)
	if err != nil {
		return err
	}
	list, err := a.source.Migrations(ctx)
	if err != nil {
		return err
	}
	m, previous, ok := findMigration(list, id)
	if !ok {
		return noMigration(id)
	}
	complete := a.cfg.Health.Backfilled(ctx)
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
func (a *API) requireMigration(ctx context.Context, id int64) error {
	_, _, ok, err := a.horizon.migration(ctx, id)
	if err == nil && !ok {
		err = noMigration(id)
	}
	return err
}

func noMigration(id int64) error {
	return query.Errorf(query.NotFound, "No data for migration %d", id)
}

// updatesBefore serves updates of one synchronizer, newest first.
func (a *API) updatesBefore(ctx context.Context, r *query.Request) error {
	p := r.Body()
	b := history.Before{
		MigrationID: p.Int64("migration_id"), SynchronizerID: p.Text("synchronizer_id"),
		Before: p.Time("before"), Limit: p.Limit("count", a.cfg.MaxPageSize),
	}
	b.AtOrAfter, _ = p.OptionalTime("at_or_after")
	if !p.Has("at_or_after") {
		b.AtOrAfter = schemas.MinMicros
	}
	if err := p.Err(); err != nil {
		return err
	}
	if err := a.requireMigration(ctx, b.MigrationID); err != nil {
		return err
	}
	watermark, err := a.horizon.watermark.Get(ctx)
	if err != nil {
		return err
	}
	b.AtOrAfter = max(b.AtOrAfter, schemas.MinMicros+1) // imports are not history
	if b.MigrationID == watermark.MigrationID {
		b.Before = min(b.Before, watermark.RecordTime+1)
	}
	write := a.updateWriter(schemas.UpdateForm{WithOffset: true}, schemas.ProtobufJSON).update
	pg := &page[schemas.Update, schemas.Micros]{
		sizes: &a.updateSizes, target: a.cfg.ChunkBytes,
		open: `{"transactions":[`, close: `]}`, after: b.Before, left: b.Limit, write: write,
		// Record times are unique within a migration and synchronizer.
		key: func(u *schemas.Update) schemas.Micros { return u.RecordTime },
		read: func(ctx context.Context, before schemas.Micros, limit int) ([]schemas.Update, error) {
			if b.AtOrAfter >= before || watermark.MigrationID < b.MigrationID {
				return nil, nil
			}
			part := b
			part.Before, part.Limit = before, limit
			return a.source.UpdatesBefore(ctx, part)
		},
	}
	return produce(ctx, r, pg)
}

// importUpdates serves import updates ascending by id.
func (a *API) importUpdates(ctx context.Context, r *query.Request) error {
	p := r.Body()
	id, after, limit := p.Int64("migration_id"), p.Text("after_update_id"), p.Limit("limit", a.cfg.MaxPageSize)
	if err := p.Err(); err != nil {
		return err
	}
	pg := &page[schemas.Update, string]{
		sizes: &a.updateSizes, target: a.cfg.ChunkBytes,
		open: `{"transactions":[`, close: `]}`, after: after, left: limit,
		write: a.updateWriter(schemas.UpdateForm{WithOffset: true}, schemas.ProtobufJSON).update,
		key:   func(u *schemas.Update) string { return u.UpdateID },
		read: func(ctx context.Context, after string, limit int) ([]schemas.Update, error) {
			return a.source.Imports(ctx, id, after, limit)
		},
	}
	return produce(ctx, r, pg)
}

// backfillingStatus serves whether all history is held.
func (a *API) backfillingStatus(ctx context.Context, r *query.Request) error {
	return r.JSON(struct {
		Complete bool `json:"complete"`
	}{a.cfg.Health.Backfilled(ctx)})
}
