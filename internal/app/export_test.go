package app

import (
	"io"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/jobs"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// TestExportNoticesWhatOthersHaveDone waits for jobs of which this process runs none.
func TestExportNoticesWhatOthersHaveDone(t *testing.T) {
	s := openTestApp(t, "--bulk-layouts", "parquet")
	const hours = 3600 * 1e6
	ingestItems(t, s, schematest.New(schematest.Config{Seed: 5, Items: 8, Migrations: 1, Step: 12 * hours}).Items)
	queue, work, err := s.worker.openQueue(t.Context(), jobs.Config{})
	if err != nil {
		t.Fatal(err)
	}
	due, err := work.Due(t.Context())
	if err != nil || len(due) < 2 {
		t.Fatalf("%d jobs are due, %v", len(due), err)
	}
	waited := make(chan error, 1)
	go func() {
		waited <- awaitExport(t.Context(), queue, work, newEndings(), due, console.NewProgress(console.New(io.Discard, io.Discard)))
	}()
	exportAll(t, s.objects.exporter)
	if err := <-waited; err != nil {
		t.Fatal(err)
	}
	if left, err := work.Due(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("%d jobs are still due, %v", len(left), err)
	}
}
