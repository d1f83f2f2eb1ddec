package jobs

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// exportSegment writes one closed segment of history to the bucket.
var exportSegment = Kind{Name: "export_segment", Lane: Bulk, Timeout: 12 * time.Hour}

// SegmentRef names a segment of history, and so the task that exports it.
type SegmentRef struct {
	// Stream is whose view of history, e.g. "scan" or "node:participant-1".
	Stream string `json:"stream"`
	// Table is the one to export, e.g. "updates". Empty means all of the segment.
	Table string `json:"table,omitempty"`
	// MigrationID is that of the network's migration.
	MigrationID int64 `json:"migration_id"`
	// Date is the UTC day, "2026-07-02", or for segments of an hour "2026-07-02T15".
	Date string `json:"date"`
}

// SegmentExporter is what exports segments, and what knows which are still to do.
type SegmentExporter interface {
	// ExportSegment makes the segment's objects and publishes them. It is harmless to
	// repeat, also for a segment that was published. A Permanent error is not repeated.
	ExportSegment(ctx context.Context, segment SegmentRef, progress ProgressFunc) error
	// DueSegments returns the closed segments that are not published yet, oldest first.
	DueSegments(ctx context.Context) ([]SegmentRef, error)
}

// TaskID returns the unique name of the segment's export:
//
//	SegmentRef{"scan", "", 1, "2026-07-02"}        // export:scan:1:2026-07-02
//	SegmentRef{"scan", "updates", 1, "2026-07-02"} // export:scan:updates:1:2026-07-02
//
// Colons within stream and table are escaped, so no two segments share a name.
func (s SegmentRef) TaskID() string {
	parts := []string{"export", url.QueryEscape(s.Stream)}
	if s.Table != "" {
		parts = append(parts, url.QueryEscape(s.Table))
	}
	return strings.Join(append(parts, strconv.FormatInt(s.MigrationID, 10), s.Date), ":")
}

func (s SegmentRef) validate() error {
	if s.Stream == "" || s.MigrationID < 0 {
		return fmt.Errorf("segment %+v has no stream or a negative migration", s)
	}
	if s.Date == "" {
		return nil // the imports of the migration
	}
	_, dayErr := time.Parse("2006-01-02", s.Date)
	_, hourErr := time.Parse("2006-01-02T15", s.Date)
	if dayErr != nil && hourErr != nil {
		return fmt.Errorf("date %q of segment is not like 2026-07-02 or 2026-07-02T15", s.Date)
	}
	return nil
}

// ExportSegmentTask is the task that exports the segment.
func ExportSegmentTask(segment SegmentRef) Task {
	return Task{Kind: exportSegment, ID: segment.TaskID(), Payload: segment}
}

// ExportSegments is the handler of these tasks.
func ExportSegments(exporter SegmentExporter) Handler {
	return Handler{
		Kind: exportSegment,
		Run: func(ctx context.Context, payload []byte, progress ProgressFunc) error {
			segment, err := Decode[SegmentRef](exportSegment, payload)
			if err != nil {
				return err
			}
			if err := segment.validate(); err != nil {
				return Permanent(fmt.Errorf("decoding %s payload: %w", exportSegment.Name, err))
			}
			if err := exporter.ExportSegment(ctx, segment, progress); err != nil {
				return fmt.Errorf("exporting segment %s: %w", segment.TaskID(), err)
			}
			return nil
		},
		Due: func(ctx context.Context) ([]Task, error) {
			segments, err := exporter.DueSegments(ctx)
			if err != nil {
				return nil, fmt.Errorf("listing due segments: %w", err)
			}
			tasks := make([]Task, len(segments))
			for i, segment := range segments {
				tasks[i] = ExportSegmentTask(segment)
			}
			return tasks, nil
		},
	}
}
