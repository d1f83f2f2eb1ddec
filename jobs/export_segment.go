package jobs

import (
	"context"
	"net/url"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// exportSegment writes one closed segment of history to the bucket.
var exportSegment = Kind{Name: "export_segment", Lane: Bulk, Timeout: 12 * time.Hour}

// SegmentExporter is what exports segments, and what knows which are still to do.
type SegmentExporter interface {
	// ExportSegment makes the segment's objects and publishes them. It is harmless to
	// repeat, also for a segment that was published. A Permanent error is not repeated.
	ExportSegment(ctx context.Context, segment schemas.SegmentRef, progress ProgressFunc) error
	// DueSegments returns the closed segments that are not published yet, oldest first.
	DueSegments(ctx context.Context) ([]schemas.SegmentRef, error)
}

// ExportTaskID is the unique name of a segment's export:
//
//	SegmentRef{"scan", 1, "2026-07-02"} // export:scan:1:2026-07-02
//	SegmentRef{"scan", 1, ""}           // export:scan:1:imports
//
// Colons within the stream are escaped, so no two segments share a name.
func ExportTaskID(s schemas.SegmentRef) string {
	s.Stream = url.QueryEscape(s.Stream)
	return "export:" + s.String()
}

// ExportSegmentTask is the task that exports the segment.
func ExportSegmentTask(segment schemas.SegmentRef) Task {
	return Task{Kind: exportSegment, ID: ExportTaskID(segment), Payload: segment}
}

// ExportSegments is the handler of these tasks.
func ExportSegments(exporter SegmentExporter) Handler {
	return exports(exportSegment, ExportSegmentTask, exporter.ExportSegment, exporter.DueSegments)
}
