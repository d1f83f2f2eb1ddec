package indexer

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/set_milestone.sql
var setMilestone string

//go:embed sql/stopped.sql
var stoppedQuery string

// SetBackfilled records that a stream has reached its upstream's end once. Readers
// answer pages of history from then on.
func SetBackfilled(ctx context.Context, db *store.DB, stream string) error {
	params := store.Params{"stream": store.Text(stream), "name": store.Text(store.Backfilled)}
	if err := db.Exec(ctx, setMilestone, stream+"/"+store.Backfilled, params); err != nil {
		return fmt.Errorf("recording that %s is backfilled: %w", stream, err)
	}
	return nil
}

// Stop records that a stream must not continue, and why. Resume refuses it from then on, until
// its rows are dropped, those of table milestones among them.
func (s *Sinks) Stop(ctx context.Context, stream, reason string) error {
	name := store.Stopped + reason
	params := store.Params{"stream": store.Text(stream), "name": store.Text(name)}
	// Without a token: the stream may be stopped again after its rows were dropped.
	if err := s.db.Exec(ctx, setMilestone, "", params); err != nil {
		return fmt.Errorf("recording why %s has stopped: %w", stream, err)
	}
	return nil
}

// checkStopped returns an error if the stream was stopped by Stop.
func checkStopped(ctx context.Context, db *store.DB, stream string) error {
	reason, err := stoppedReason(ctx, db, stream)
	switch {
	case err != nil:
		return err
	case reason != "":
		return fmt.Errorf("%w: %s has stopped earlier, for a reason that remains until the stream is taken back to before it (ledgerlake rewind): %s", schemas.ErrDiverged, stream, reason)
	}
	return nil
}
