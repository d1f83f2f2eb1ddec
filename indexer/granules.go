package indexer

import (
	"context"
	_ "embed"
	"fmt"

	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	//go:embed sql/create_events_next.sql
	createEventsNext string
	//go:embed sql/fill_events_next.sql
	fillEventsNext string
	//go:embed sql/create_verdicts_next.sql
	createVerdictsNext string
	//go:embed sql/fill_verdicts_next.sql
	fillVerdictsNext string
	//go:embed sql/exchange_tables.sql
	exchangeTables string
	//go:embed sql/drop_table.sql
	dropTable string
	//go:embed sql/has_small_granules.sql
	hasSmallGranules string
)

// relaid is a table whose rows get another layout: a table with the new one takes its parts and then
// its name. The parts stay as they are until they are merged.
type relaid struct {
	table, create, fill string
	// drop drops the rows of a stream above a position.
	drop func(stream string, to schemas.Position) (statement string, params store.Params)
}

// smallGranules gives tables granules of 1,024 rows, which single updates are read from at less cost.
// It may be repeated after it was cut off at any point. Nobody may write to the store meanwhile.
func smallGranules(ctx context.Context, dsn string) error {
	db, err := store.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, r := range []relaid{
		{"events", createEventsNext, fillEventsNext, func(stream string, to schemas.Position) (string, store.Params) {
			return rewindHistory, in("events", above(stream, to))
		}},
		{"verdicts", createVerdictsNext, fillVerdictsNext, func(stream string, to schemas.Position) (string, store.Params) {
			return rewindVerdicts, above(stream, to)
		}},
	} {
		if err := r.relay(ctx, db); err != nil {
			return fmt.Errorf("giving table %s small granules: %w", r.table, err)
		}
	}
	return nil
}

func (r *relaid) relay(ctx context.Context, db *store.DB) error {
	next := r.table + "_next"
	dropNext := func() error { return db.Exec(ctx, dropTable, "", store.Params{"table": store.Text(next)}) }
	if err := dropNext(); err != nil { // of a run that was cut off
		return err
	}
	_, done, err := store.SelectOne(ctx, db, hasSmallGranules, store.Params{"name": store.Text(r.table)}, store.NewRecords[store.Name]())
	if err != nil || done {
		return err
	}
	if err := r.dropPending(ctx, db); err != nil {
		return err
	}
	for _, statement := range []string{r.create, r.fill} {
		if err := db.Exec(ctx, statement, "", nil); err != nil {
			return err
		}
	}
	if err := db.Exec(ctx, exchangeTables, "", store.Params{"table": store.Text(r.table), "other": store.Text(next)}); err != nil {
		return err
	}
	return dropNext()
}

// dropPending drops the rows of batches that were announced and not committed. Their inserts are
// repeated, and the new table does not know the tokens of the old one, by which it would drop them.
func (r *relaid) dropPending(ctx context.Context, db *store.DB) error {
	streams, err := historyStreams(ctx, db)
	if err != nil {
		return err
	}
	for _, s := range streams {
		lines, err := journals.Read(ctx, db, s.Stream)
		if err != nil {
			return err
		}
		standing, last := standingCommits(lines)
		if !pendingAfter(lines, last) {
			continue
		}
		statement, params := r.drop(s.Stream, endOf(standing))
		if err := db.Exec(ctx, statement, "", params); err != nil {
			return fmt.Errorf("dropping the rows of a pending batch of %s: %w", s.Stream, err)
		}
	}
	return nil
}
