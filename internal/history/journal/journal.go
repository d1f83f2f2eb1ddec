// Package journal reads how far the streams of a store have come, from the journal that
// writers keep of their batches.
//
// Batches become visible by their commit: everything at or below a stream's watermark is
// complete and final.
package journal

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	//go:embed sql/journal.sql
	journalQuery string
	//go:embed sql/watermark.sql
	watermarkQuery string
	//go:embed sql/milestones.sql
	milestonesQuery string
	//go:embed sql/streams.sql
	streamsQuery string
)

// Row is one line of the journal; see store.BatchRow.
type Row = store.BatchRow

// Commit is the state of the line that made a batch visible.
const Commit = store.Commit

// Read returns all lines of a stream by ascending sequence number, a batch's intents before
// its commit: about 300 bytes for each batch ever written.
func Read(ctx context.Context, db *store.DB, stream string) ([]Row, error) {
	rows, err := store.SelectAll(ctx, db, journalQuery, store.Params{"stream": store.Text(stream)}, store.NewBatches())
	if err != nil {
		return nil, fmt.Errorf("reading the journal of %s: %w", stream, err)
	}
	return rows, nil
}

// StandingIntents returns the intents among rows that count; see store.StandingIntents.
func StandingIntents(rows []Row) []Row { return store.StandingIntents(rows) }

// end is where a batch ends.
type end struct {
	Through schemas.Position `column:"through_"`
}

// Watermark returns the position up to which a stream is complete and final, schemas.Start if
// it has no commit.
func Watermark(ctx context.Context, db *store.DB, stream string) (schemas.Position, error) {
	last, ok, err := store.SelectOne(ctx, db, watermarkQuery, store.Params{"stream": store.Text(stream)}, store.NewRecords[end]())
	switch {
	case err != nil:
		return schemas.Start, fmt.Errorf("reading the watermark of %s: %w", stream, err)
	case !ok:
		return schemas.Start, nil
	}
	return last.Through, nil
}

// Backfilled reports whether a stream has reached its upstream's end once.
func Backfilled(ctx context.Context, db *store.DB, stream string) (bool, error) {
	params := store.Params{"stream": store.Text(stream), "name": store.Text(store.Backfilled)}
	reached, _, err := store.SelectOne(ctx, db, milestonesQuery, params, store.NewRecords[store.Count]())
	if err != nil {
		return false, fmt.Errorf("reading the milestones of %s: %w", stream, err)
	}
	return reached.N > 0, nil
}
