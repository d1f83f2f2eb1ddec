package indexer

import (
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"maps"
	"math"

	"github.com/google/uuid"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/history/rows"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	//go:embed sql/drop_rows_between.sql
	dropRowsBetween string
	//go:embed sql/drop_rows_by_offset.sql
	dropRowsByOffset string
	//go:embed sql/drop_imports_between.sql
	dropImportsBetween string
	//go:embed sql/drop_places_between.sql
	dropPlacesBetween string
	//go:embed sql/offsets_between.sql
	offsetsBetween string
)

// Repair puts rows of committed history back that the store has lost, or that were changed in it. The
// journal, which says what was committed, stays as it is. Each step can be repeated. Nobody else may
// write to the stream meanwhile.
type Repair struct {
	db     *store.DB
	stream string
	log    *slog.Logger
	rows   *store.BatchRows // kept from batch to batch for their memory
}

// NewRepair returns a repair of a stream.
func NewRepair(db *store.DB, stream string, log *slog.Logger) *Repair {
	return &Repair{db: db, stream: stream, log: log.With("stream", stream), rows: store.NewBatchRows()}
}

// Commits returns the batches of the stream's history, in its order.
func (r *Repair) Commits(ctx context.Context) ([]store.BatchRow, error) {
	lines, err := journals.Read(ctx, r.db, r.stream)
	if err != nil {
		return nil, err
	}
	standing, _ := standingCommits(lines)
	return standing, nil
}

// Batch replaces all rows in the range of a committed batch by those of b, but for places. The error is
// schemas.ErrDiverged, and nothing has changed, if b is not what was committed.
func (r *Repair) Batch(ctx context.Context, committed *store.BatchRow, b *schemas.Batch) error {
	hash := r.rows.Fill(b)
	if hash != committed.Hash {
		early, err := r.withoutLate(ctx, b)
		if err != nil {
			return err
		}
		hash = r.rows.Fill(early)
	}
	if hash != committed.Hash {
		return fmt.Errorf("%w: batch %d of %s was committed as %d items with hash %s, and these are %d with hash %s",
			schemas.ErrDiverged, committed.Sequence, r.stream, committed.Items, committed.Hash, len(b.Items), hash)
	}
	for _, part := range rows.Split(r.stream, committed.After, committed.Through) {
		if err := r.drop(ctx, &part); err != nil {
			return fmt.Errorf("dropping what is left of batch %d of %s: %w", committed.Sequence, r.stream, err)
		}
	}
	if err := r.insert(ctx); err != nil {
		return fmt.Errorf("writing batch %d of %s again: %w", committed.Sequence, r.stream, err)
	}
	r.log.InfoContext(ctx, "repaired a batch", "sequence", committed.Sequence, "items", committed.Items, "through", committed.Through.String())
	return nil
}

// withoutLate is a batch without the verdicts that came after it was committed, and stand in a stream
// of their own.
func (r *Repair) withoutLate(ctx context.Context, b *schemas.Batch) (*schemas.Batch, error) {
	late := make(map[schemas.Position]bool)
	for _, part := range rows.Split(journals.SideStream(r.stream), b.After, b.Through) {
		if !part.History || part.Through.Offset > 0 {
			continue
		}
		q, block := part.Verdicts(math.MaxUint32), store.NewVerdicts()
		err := r.db.Select(ctx, q.Text, q.Params, block, func() error {
			for _, at := range block.AppendPositions(nil) {
				late[at] = true
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("reading late verdicts of %s: %w", r.stream, err)
		}
	}
	early := *b
	early.Items = make([]schemas.Item, 0, len(b.Items))
	for _, it := range b.Items {
		if late[it.Position()] {
			it = schemas.Item{Update: it.Update}
		}
		if it.Update != nil || it.Verdict != nil {
			early.Items = append(early.Items, it)
		}
	}
	return &early, nil
}

// drop drops the rows of a part of a batch.
func (r *Repair) drop(ctx context.Context, p *rows.Part) error {
	params := p.Params(0)
	delete(params, "limit")
	if p.Imports {
		err := r.db.Change(ctx, "imports", dropImportsBetween, "", store.Params{
			"stream": store.Text(r.stream), "migration": store.Int(p.Through.MigrationID),
			"after_id": store.Text(p.After.UpdateID), "through_id": store.Text(p.LastImport()),
		})
		if err != nil {
			return err
		}
	}
	if !p.History {
		return nil
	}
	tables, statement := []string{"events", "updates", "verdicts"}, dropRowsBetween
	if p.Through.Offset > 0 {
		tables, statement = tables[:2], dropRowsByOffset
		params = store.Params{"stream": store.Text(r.stream), "after": store.Int(p.After.Offset), "through": store.Int(p.Through.Offset)}
	}
	for _, table := range tables {
		if err := r.db.Change(ctx, table, statement, "", in(table, params)); err != nil {
			return err
		}
	}
	return nil
}

// insert writes the rows, with tokens that no other insert has: those of the batch have been seen.
func (r *Repair) insert(ctx context.Context) error {
	group, ctx := guard.WithContext(ctx)
	token := "repair/" + uuid.NewString() + "/"
	for table, block := range r.rows.Blocks() {
		if table == "places" { // they are filled by time, see Places
			continue
		}
		group.Go(func() error { return r.db.Insert(ctx, table, token+table, block) })
	}
	return group.Wait()
}

// offsetRange is the first and the last offset of some updates.
type offsetRange struct {
	First int64 `column:"first_offset"`
	Last  int64 `column:"last_offset"`
}

// Places fills the places of a range of record times of a migration again, from inclusive and to
// exclusive, up to the watermark, from the other tables.
func (r *Repair) Places(ctx context.Context, migration int64, from, to schemas.Micros, mark schemas.Position) error {
	within := store.Params{
		"stream": store.Text(r.stream), "migration": store.Int(migration), "from": store.Time(from), "to": store.Time(to), "mark_offset": store.Int(mark.Offset),
	}
	var offsets offsetRange
	if mark.Offset > 0 {
		var err error
		if offsets, _, err = store.SelectOne(ctx, r.db, offsetsBetween, within, store.NewRecords[offsetRange]()); err != nil {
			return fmt.Errorf("reading offsets of %s: %w", r.stream, err)
		}
	}
	after := schemas.Position{MigrationID: migration, RecordTime: from}
	through := schemas.Position{MigrationID: migration, RecordTime: to - 1, UpdateID: schemas.MaxUpdateID}
	if mark.Offset == 0 && mark.Before(through) {
		through = mark
	}
	if offsets.Last > 0 {
		after, through = schemas.AtOffset(offsets.First-1), schemas.AtOffset(offsets.Last)
	}
	drop := store.Params{
		"mark_migration": store.Int(mark.MigrationID), "mark_time": store.Time(store.Clamp(mark.RecordTime)),
		"after_offset": store.Int(after.Offset), "through_offset": store.Int(through.Offset),
	}
	maps.Copy(drop, within)
	if err := r.db.Change(ctx, "places", dropPlacesBetween, "", drop); err != nil {
		return fmt.Errorf("dropping places of %s: %w", r.stream, err)
	}
	if mark.Offset > 0 && offsets.Last == 0 {
		return nil // the node had no update then
	}
	return fillPlaces(ctx, r.db, r.stream, after, through, "repair/"+uuid.NewString())
}

// Announced makes a source of history give one committed batch: to the source it is the batch that the
// stream has begun and not finished.
type Announced struct {
	Batch *store.BatchRow
	// Take is given the batch, once.
	Take func(ctx context.Context, b *schemas.Batch) error
	// Taken ends the work of the source, with the error of Take.
	Taken func(err error)
}

// Resume is where the batch begins.
func (a *Announced) Resume(context.Context, string) (schemas.Resume, error) {
	return schemas.Resume{Committed: a.Batch.After, Pending: &schemas.Intent{
		Sequence: a.Batch.Sequence, After: a.Batch.After, Through: a.Batch.Through, Items: int(a.Batch.Items), Hash: a.Batch.Hash,
	}}, nil
}

// Write takes the batch.
func (a *Announced) Write(ctx context.Context, b *schemas.Batch) error {
	err := a.Take(ctx, b)
	a.Taken(err)
	if err == nil {
		err = context.Canceled // what follows is not wanted
	}
	return err
}

// Bounds are the ranges of committed batches, without items.
func Bounds(commits []store.BatchRow) []schemas.Batch {
	list := make([]schemas.Batch, len(commits))
	for i, c := range commits {
		list[i] = schemas.Batch{Stream: c.Stream, After: c.After, Through: c.Through}
	}
	return list
}
