package history

import (
	"context"
	"errors"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Movements reads the movements of holdings of one stream. It is safe for concurrent use.
type Movements struct {
	db     *store.DB
	stream string
}

// MovementsWatermark returns the position up to which the movements of holdings are derived,
// schemas.Start for a stream of which none are. It is never above Watermark.
func (r *Movements) MovementsWatermark(ctx context.Context) (schemas.Position, error) {
	return journal.Watermark(ctx, r.db, journal.MovementsStream(r.stream))
}

// ErrMovementsBehind means that movements are not derived yet, or are being derived again.
var ErrMovementsBehind = errors.New("movements are not derived up to there yet")

// MovementPages hands out the movements of a segment by (record_time, update id, entry), in pages
// of at most limit, like UpdatePages. Those of a segment of imports are the openings. It returns
// ErrMovementsBehind unless all of them were derived when it began and no rebuild began meanwhile.
func (r *Movements) MovementPages(ctx context.Context, ref schemas.SegmentRef, limit int, each func([]schemas.MovementRow) error) error {
	start, end, err := ref.Bounds()
	if err != nil {
		return err
	}
	first := start + 1
	if ref.IsImports() {
		first = store.BeforeHistory
	}
	before, err := r.MovementsWatermark(ctx)
	if err != nil {
		return err
	}
	if !schemas.EndOf(ref.MigrationID, end).Before(before) {
		return fmt.Errorf("%w: segment %s", ErrMovementsBehind, ref)
	}
	ordered := movementsQuery + "ORDER BY record_time, update_id, entry SETTINGS max_bytes_before_external_sort = 268435456"
	err = r.eachMovements(ctx, ordered, ref.MigrationID, first, end, func(rows []schemas.MovementRow) error { return inPages(rows, limit, each) })
	if err != nil {
		return fmt.Errorf("reading movements of segment %s: %w", ref, err)
	}
	after, err := r.MovementsWatermark(ctx)
	if err == nil && after.Before(before) {
		err = fmt.Errorf("%w: segment %s was read while they were taken back", ErrMovementsBehind, ref)
	}
	return err
}

// MovementDigests reads all movements once, and returns the digest of those of each segment of a
// length, over what schemas.AppendMovement gives, and the position up to which they are derived:
// segments that reach beyond are not whole.
func (r *Movements) MovementDigests(ctx context.Context, length schemas.SegmentLength) (map[schemas.SegmentRef]schemas.Digest, schemas.Position, error) {
	through, err := r.MovementsWatermark(ctx)
	if err != nil {
		return nil, through, err
	}
	digests := make(map[schemas.SegmentRef]schemas.Digest)
	var buf []byte
	for m := int64(0); m <= through.MigrationID; m++ {
		err := r.eachMovements(ctx, movementsQuery, m, store.BeforeHistory, schemas.MaxMicros, func(rows []schemas.MovementRow) error {
			for i := range rows {
				ref := schemas.SegmentRef{Stream: r.stream, MigrationID: m}
				if at := schemas.Micros(rows[i].RecordTime); at != store.BeforeHistory {
					ref = length.Of(r.stream, m, at)
				}
				digest := digests[ref]
				buf = schemas.AppendMovement(buf[:0], &rows[i])
				digest.Add(buf)
				digests[ref] = digest
			}
			return nil
		})
		if err != nil {
			return nil, through, fmt.Errorf("reading the movements of migration %d: %w", m, err)
		}
	}
	return digests, through, nil
}

// eachMovements calls each with the movements between two record times, both inclusive.
func (r *Movements) eachMovements(ctx context.Context, query string, migrationID int64, first, last schemas.Micros, each func([]schemas.MovementRow) error) error {
	params := store.Params{
		"stream": store.Text(r.stream), "migration": store.Int(migrationID),
		"first": store.Time(store.Clamp(first)), "last": store.Time(store.Clamp(last)),
	}
	block := store.NewMovements()
	return r.db.SelectLarge(ctx, query, params, block, func() error {
		stored := block.AppendTo(make([]store.Movement, 0, block.Rows()))
		rows := make([]schemas.MovementRow, len(stored))
		for i := range stored {
			setMovement(&rows[i], &stored[i])
		}
		return each(rows)
	})
}

func setMovement(r *schemas.MovementRow, m *store.Movement) {
	*r = schemas.MovementRow{
		MigrationID: m.MigrationID, RecordTime: int64(m.RecordTime), UpdateID: m.UpdateID, Entry: m.Entry, Event: m.Event,
		Party: m.Party, Instrument: m.Instrument, Pocket: m.Pocket, Cause: m.Cause, Class: m.Class, Purpose: m.Purpose,
		Counterparty: m.Counterparty, Round: m.Round, StatedRound: m.StatedRound, Choice: m.Choice, Template: m.Template,
		Reference: m.Reference, Reason: m.Reason, Source: m.Source,
	}
	r.SetAmount(m.Amount)
}
