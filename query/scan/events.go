package scan

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/history/copies"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// events serves pages of updates joined with verdicts, ascending.
func (a *API) events(ctx context.Context, r *query.Request) error {
	req, err := a.pageRequest(r.Body(), schemas.UpdateForm{})
	if err != nil {
		return err
	}
	if err := a.requireHistory(ctx); err != nil {
		return err
	}
	through, err := a.horizon.events(ctx)
	if err != nil {
		return err
	}
	p := &page[schemas.Item, schemas.Position]{
		sizes: &a.itemSizes, target: a.cfg.ChunkBytes,
		open: `{"events":[`, close: `]}`, after: req.after, left: req.size,
		write: a.updateWriter(schemas.UpdateForm{}, req.encoding).item,
		key:   func(it *schemas.Item) schemas.Position { return it.Position() },
		read:  ranged(a.source.Items, through),
	}
	return produce(ctx, r, p)
}

// event serves one element of the event history by update id.
func (a *API) event(ctx context.Context, r *query.Request) error {
	id, encoding, err := idRequest(r, schemas.UpdateForm{})
	if err != nil {
		return err
	}
	return a.lookup(ctx, r, "event "+string(encoding)+" "+id, func() (found, error) {
		p, copied, err := a.copied(ctx, r, id)
		if err != nil {
			return found{}, err
		}
		if copied && encoding == schemas.CompactJSON {
			at := schemas.Position{MigrationID: p.MigrationID, RecordTime: p.RecordTime, UpdateID: id}
			return found{p.Text, true, true}, a.checkShown(ctx, id, at)
		}
		it, ok, err := a.item(ctx, r, id, pieceIf(copied, &p))
		if err != nil {
			return found{}, err
		}
		if !ok {
			return found{}, errNoEvent(id)
		}
		if err := a.checkShown(ctx, id, it.Position()); err != nil {
			return found{}, err
		}
		return found{text: rendered(&it, a.updateWriter(schemas.UpdateForm{}, encoding).item), final: isWhole(&it)}, nil
	})
}

func errNoEvent(id string) error {
	return query.Errorf(query.NotFound, "Event with update id %s not found.", id)
}

// pieceIf returns p if it is there, else nil.
func pieceIf(there bool, p *copies.Piece) *copies.Piece {
	if there {
		return p
	}
	return nil
}

// checkShown refuses an event by id at a position that is not part of the event history that
// may be shown, which imports are not.
func (a *API) checkShown(ctx context.Context, id string, at schemas.Position) error {
	if at.RecordTime == schemas.MinMicros {
		return errNoEvent(id)
	}
	shown, err := a.horizon.shows(ctx, at)
	if err == nil && !shown {
		err = errNoEvent(id)
	}
	return err
}

// isWhole reports whether nothing can be added to an item: the verdict of a transaction may
// become known later, and a reassignment has none.
func isWhole(it *schemas.Item) bool {
	return it.Verdict != nil || it.Update != nil && it.Update.Kind != schemas.Transaction
}

// latestRecordTime serves the record time up to which events are given. While the
// newest migration has none yet, that is the end of an earlier one.
func (a *API) latestRecordTime(ctx context.Context, r *query.Request) error {
	through, err := a.horizon.events(ctx)
	if err != nil {
		return err
	}
	latest := through.RecordTime
	if latest == schemas.MinMicros {
		if latest, err = a.endBefore(ctx, through.MigrationID); err != nil {
			return err
		}
	}
	if latest == schemas.MinMicros {
		return query.Errorf(query.NotFound, "No events yet.")
	}
	return r.JSON(recordTimeAnswer{latest.String()})
}

type recordTimeAnswer struct {
	RecordTime string `json:"record_time"`
}

// endBefore returns the last record time of the newest migration with history before
// the given one, MinMicros when there is none.
func (a *API) endBefore(ctx context.Context, migrationID int64) (schemas.Micros, error) {
	migrations, err := a.horizon.migrations.Get(ctx)
	if err != nil {
		return 0, err
	}
	end := schemas.MinMicros
	for _, m := range migrations {
		if m.ID >= migrationID || len(m.Synchronizers) == 0 {
			continue
		}
		_, end = span(m)
	}
	return end, nil
}
