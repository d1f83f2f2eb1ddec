package indexer

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// TestLifetimesOfStreamsAreDerivedSideBySide: a process that ingests several streams derives the
// lifetimes of each at the same time, in the same tables, for contracts with the same ids.
func TestLifetimesOfStreamsAreDerivedSideBySide(t *testing.T) {
	f := newFixture(t)
	h := schematest.New(schematest.Config{Seed: 5, Items: 120, Step: 6 * 3600 * 1e6})
	streams := []string{schemas.ScanStream, "other"}
	group, ctx := errgroup.WithContext(t.Context())
	for _, stream := range streams {
		w := NewWriter(f.db, stream, f.log)
		l := NewLifetimes(f.db, stream, time.Millisecond, f.log)
		group.Go(func() error {
			for _, b := range batches(h.Items, 30) {
				b.Stream = stream
				if err := w.Write(ctx, b); err != nil {
					return fmt.Errorf("stream %s: %w", stream, err)
				}
				if err := l.CatchUp(ctx); err != nil {
					return fmt.Errorf("stream %s: %w", stream, err)
				}
				if err := l.Tidy(ctx); err != nil {
					return fmt.Errorf("stream %s: %w", stream, err)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, stream := range streams {
		f.reader = history.NewReader(f.db, stream)
		f.checkActive(t, h, "stream "+stream)
	}
}
