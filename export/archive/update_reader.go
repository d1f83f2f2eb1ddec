package archive

import (
	"context"
	"errors"
	"io"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// updateReader rebuilds the updates of a segment from tables updates and events, which
// have the same order.
type updateReader struct {
	segment schemas.SegmentRef
	updates *tableReader[schemas.UpdateRow, *schemas.UpdateRow]
	events  *tableReader[schemas.EventRow, *schemas.EventRow]
	mine    []schemas.EventRow
}

func newUpdateReader(parts Parts, m *published.Manifest, onPart func(bytes int64)) *updateReader {
	return &updateReader{
		segment: m.Ref(),
		updates: newTableReader[schemas.UpdateRow](parts, m.Table(schemas.ParquetUpdates), onPart),
		events:  newTableReader[schemas.EventRow](parts, m.Table(schemas.ParquetEvents), onPart),
	}
}

// next returns the next update, which stays valid, or io.EOF once both tables have
// ended. Errors of type Mismatch say what is wrong with the objects.
func (r *updateReader) next(ctx context.Context) (*schemas.Update, error) {
	row, err := r.updates.row(ctx)
	if errors.Is(err, io.EOF) {
		return nil, r.noMoreEvents(ctx)
	}
	if err != nil {
		return nil, err
	}
	r.mine = r.mine[:0]
	for range row.EventCount {
		event, err := r.events.row(ctx)
		if errors.Is(err, io.EOF) {
			return nil, published.Mismatchf("events of update %s are missing from segment %s", row.UpdateID, r.segment)
		}
		if err != nil {
			return nil, err
		}
		r.mine = append(r.mine, *event)
	}
	u, err := row.Update(r.mine)
	if err != nil {
		return nil, published.AsMismatch(err)
	}
	return &u, nil
}

// noMoreEvents returns io.EOF, or what is wrong with an event that has no update.
func (r *updateReader) noMoreEvents(ctx context.Context) error {
	event, err := r.events.row(ctx)
	if err != nil {
		return err
	}
	return published.Mismatchf("event %d of update %s belongs to no update of segment %s", event.Node, event.UpdateID, r.segment)
}

func (r *updateReader) close() error { return errors.Join(r.updates.close(), r.events.close()) }
