package horizon

import (
	"context"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Present is the position that the network's present state is for: the end of what is known of
// contracts, whose record time is also the present for all that expires. While the newest
// migration has nothing but contracts carried over into it, it is the end of the one before.
func (h *Horizon) Present(ctx context.Context) (schemas.Position, error) {
	if err := h.RequireHistory(ctx); err != nil {
		return schemas.Start, err
	}
	at, err := h.Contracts.Get(ctx)
	if err != nil || at.RecordTime != schemas.MinMicros {
		return at, err
	}
	before, err := h.EndBefore(ctx, at.MigrationID)
	if err != nil || before.RecordTime == schemas.MinMicros {
		return at, err
	}
	return before, nil
}

// EndBefore is the last record time of the newest migration with history before the given one;
// it is schemas.MinMicros, of no migration, when there is none.
func (h *Horizon) EndBefore(ctx context.Context, migrationID int64) (schemas.Position, error) {
	end := schemas.Start
	migrations, err := h.Migrations.Get(ctx)
	if err != nil {
		return end, err
	}
	end.RecordTime = schemas.MinMicros
	for _, m := range migrations {
		if m.ID < migrationID && len(m.Synchronizers) > 0 {
			_, last := Span(m)
			end = schemas.Position{MigrationID: m.ID, RecordTime: last}
		}
	}
	return end, nil
}
