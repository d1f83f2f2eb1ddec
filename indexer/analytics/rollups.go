package analytics

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer/journal"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/history/rollups"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed sql/clear_rollups.sql
var clearRollups string

// Rollups sum a stream up by hours: public history behind its movements, or its late verdicts. They have a journal
// of their own. Only one Rollups may work on a stream at a time.
type Rollups struct {
	db       *store.DB
	stream   string
	follower *journal.Follower
	begun    bool // the stream of late verdicts has some
}

// NewRollups returns the rollups of a stream; pace is the least time from one step to the next, 5 s if zero.
func NewRollups(db *store.DB, stream string, pace time.Duration, log *slog.Logger) *Rollups {
	pace = cmp.Or(pace, 5*time.Second)
	follows := stream
	if stream == schemas.ScanStream {
		follows = journals.MovementsStream(stream)
	}
	return &Rollups{db: db, stream: stream, follower: journal.NewHourFollower(db, follows, journals.RollupsStream(stream), pace, log)}
}

// Run steps until ctx ends, then returns nil. It returns early only with an error that needs a person.
func (r *Rollups) Run(ctx context.Context) error { return r.follower.Run(ctx, r.Step) }

// CatchUp steps until all hours that are over are summed up. A failure is tried again a few times.
func (r *Rollups) CatchUp(ctx context.Context) error { return r.follower.CatchUp(ctx, r.Step) }

// Step takes the next hours. It returns journal.ErrCaughtUp when there are none.
func (r *Rollups) Step(ctx context.Context) error {
	if r.stream != schemas.ScanStream && !r.begun {
		mark, err := journals.Watermark(ctx, r.db, r.stream)
		if err != nil {
			return err
		}
		if mark == schemas.Start {
			return journal.ErrCaughtUp // most networks never have late verdicts
		}
		r.begun = true
	}
	if _, err := r.follower.Load(ctx); err != nil {
		return err
	}
	return r.follower.Take(ctx, "summing up", r.apply)
}

// Rebuild makes rollups sum everything up again, in the steps that follow.
func (r *Rollups) Rebuild(ctx context.Context) error { return r.follower.BackToStart(ctx) }

// inOneBlock has a statement insert all its rows at once, in their order: repeated, it inserts the same.
const inOneBlock = "\nSETTINGS max_threads = 1, min_insert_block_size_rows = 0, min_insert_block_size_bytes = 0, max_insert_block_size = 10000000, max_block_size = 65536"

// apply sums the hours of one range up.
func (r *Rollups) apply(ctx context.Context, row *store.BatchRow) error {
	tables := rollups.Tables(r.stream)
	token, err := journal.Begin(ctx, r.db, row, func(ctx context.Context) error { return r.clear(ctx, tables) })
	if err != nil {
		return err
	}
	params := rollups.Between(r.stream, row.After, row.Through).Params()
	for _, t := range tables {
		statement := "INSERT INTO " + t.Name + "\n" + t.Rows + inOneBlock
		if err := r.db.Change(ctx, t.Name, statement, token, params); err != nil {
			return fmt.Errorf("filling table %s of %s: %w", t.Name, r.stream, err)
		}
	}
	return nil
}

// clear drops what tables have of the stream.
func (r *Rollups) clear(ctx context.Context, tables []rollups.Table) error {
	rows, err := countRows(ctx, r.db, r.stream, tables...)
	if err != nil || rows == 0 { // mutations of nothing cost as much as a range
		return err
	}
	for _, t := range tables {
		params := store.Params{"table": store.Text(t.Name), "stream": store.Text(r.stream)}
		if err := r.db.Change(ctx, t.Name, clearRollups, "", params); err != nil {
			return fmt.Errorf("emptying table %s of %s: %w", t.Name, r.stream, err)
		}
	}
	return nil
}

// countRows is how many rows tables of hours have of a stream.
func countRows(ctx context.Context, db *store.DB, stream string, tables ...rollups.Table) (rows int64, err error) {
	queries := make([]string, len(tables))
	for i, t := range tables {
		queries[i] = "SELECT count() AS n FROM " + t.Name + " WHERE stream = {stream:String}"
	}
	counts, err := store.SelectAll(ctx, db, strings.Join(queries, " UNION ALL "), store.Params{"stream": store.Text(stream)}, store.NewRecords[store.Count]())
	if err != nil {
		return 0, fmt.Errorf("counting the hours of %s: %w", stream, err)
	}
	for _, c := range counts {
		rows += int64(c.N)
	}
	return rows, nil
}
