package jobs_test

import (
	"log/slog"
	"testing"

	"github.com/ledgerlake/ledgerlake/jobs"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// BenchmarkEnqueue is what each due task costs at a rescan on the built-in queue:
// "new" when it is queued, "again" when it is queued already.
func BenchmarkEnqueue(b *testing.B) {
	q, err := jobs.Open(b.Context(), jobs.Config{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer q.Close()
	n := 0
	for _, test := range []struct {
		name string
		next func() int
	}{
		{"new", func() int { n++; return n }},
		{"again", func() int { return 1 }},
	} {
		b.Run(test.name, func(b *testing.B) {
			for b.Loop() {
				s := schemas.SegmentRef{Stream: "scan", MigrationID: int64(test.next()), Date: "2026-07-02"}
				if _, err := q.Enqueue(b.Context(), jobs.ExportSegmentTask(s)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
