package indexer

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/cluster"
	"github.com/ledgerlake/ledgerlake/internal/history/audit"
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
func smallGranules(ctx context.Context, dsn string, tables cluster.Tables) error {
	db, err := store.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, r := range []relaid{
		{"events", createEventsNext, fillEventsNext, func(stream string, to schemas.Position) (string, store.Params) {
			return rewindHistory, in("events", audit.Above(stream, to))
		}},
		{"verdicts", createVerdictsNext, fillVerdictsNext, func(stream string, to schemas.Position) (string, store.Params) {
			return rewindVerdicts, audit.Above(stream, to)
		}},
	} {
		if err := r.relay(ctx, db, tables); err != nil {
			return fmt.Errorf("giving table %s small granules: %w", r.table, err)
		}
	}
	return nil
}

func (r *relaid) relay(ctx context.Context, db *store.DB, tables cluster.Tables) error {
	next := r.table + "_next"
	dropNext := func() error { return db.Exec(ctx, dropTable, "", store.Params{"table": store.Text(next)}) }
	if err := dropNext(); err != nil { // of a run that was cut off
		return err
	}
	_, done, err := store.SelectOne(ctx, db, hasSmallGranules, store.Params{"name": store.Text(r.table)}, store.NewRecords[store.Name]())
	if err != nil || done {
		return err
	}
	if err := db.Exec(ctx, tables.DDL(fmt.Sprintf("%04d", makingGranules), r.create), "", nil); err != nil {
		return err
	}
	if !tables.Follows {
		if err := r.moveRows(ctx, db); err != nil {
			return err
		}
	}
	if err := db.Exec(ctx, exchangeTables, "", store.Params{"table": store.Text(r.table), "other": store.Text(next)}); err != nil {
		return err
	}
	return dropNext()
}

// moveRows gives the new table the rows of the old one, if it has any. A store with replicas has none
// here: earlier versions made none.
func (r *relaid) moveRows(ctx context.Context, db *store.DB) error {
	if err := r.dropPending(ctx, db); err != nil {
		return err
	}
	rows, _, err := store.SelectOne(ctx, db, "SELECT toUInt64(count()) AS n FROM "+r.table, nil, store.NewRecords[store.Count]())
	if err != nil || rows.N == 0 {
		return err
	}
	return db.Exec(ctx, r.fill, "", nil)
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
