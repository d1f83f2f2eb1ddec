package node

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

func TestMain(m *testing.M) {
	schematest.WaitInParallel() // most of them do
	os.Exit(enginetest.Run(m))
}

// cutSink ends the ingest around a write: before it, or after it was applied.
type cutSink struct {
	stream.Sink
	cut    context.CancelCauseFunc
	writes int // until the cut
	before bool
}

func (s *cutSink) Write(ctx context.Context, b *schemas.Batch) error {
	if s.writes--; s.writes >= 0 {
		return s.Sink.Write(ctx, b)
	}
	if !s.before {
		if err := s.Sink.Write(ctx, b); err != nil {
			return err
		}
	}
	s.cut(errCut)
	return errCut
}

var errCut = errors.New("cut")

// A stream that is cut again and again, in the real store, ends as an undisturbed one.
func TestRealStoreHoldsEverythingOnce(t *testing.T) {
	s := enginetest.StartMigrated(t, indexer.MigrateCluster)
	db := storetest.Open(t, s)
	u, later := prunedUpstream(t, 71, 120)
	stream := schemas.NodeStream(participant)
	want := activeLines(u.active)
	run := func(writes int, before bool) error {
		ctx, cut := context.WithCancelCause(testContext(t))
		sink := &cutSink{Sink: indexer.NewSinks(db, quiet), cut: cut, writes: writes, before: before}
		return newIngester(t, u, sink, func(c *Config) { c.BatchItems = 15 }).Backfill(ctx)
	}
	for i := 0; ; i++ {
		err := run(i%3, i%2 == 0)
		if i == 3 {
			u.grow(later...)
			g := newGenerator(72)
			g.offset = u.end + 5
			u.grow(g.checkpoint()) // moves the position without an item
		}
		if err == nil && i > 3 {
			break
		}
		if err != nil && !errors.Is(err, errCut) {
			t.Fatal(err)
		}
	}
	resume, err := indexer.NewSinks(db, quiet).Resume(t.Context(), stream)
	if err != nil || resume.Committed != schemas.AtOffset(u.end) || resume.Pending != nil {
		t.Errorf("the store has %+v, %v; want offset %d", resume, err, u.end)
	}
	for table, want := range map[string]int{"imports": len(want), "updates": len(u.lines(0, u.end))} {
		var rows, distinct uint64
		row := s.Conn.QueryRow(t.Context(), "SELECT count(), uniqExact(update_id) FROM "+table+" WHERE stream = ?", stream)
		if err := row.Scan(&rows, &distinct); err != nil || int(rows) != want || rows != distinct {
			t.Errorf("table %s has %d rows of %d updates, %v; want %d", table, rows, distinct, err, want)
		}
	}
}
