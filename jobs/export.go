package jobs

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	// exportSegment writes one closed segment of history to the bucket.
	exportSegment = Kind{Name: "export_segment", Lane: Bulk, Timeout: 12 * time.Hour}
	// exportNetwork writes all objects of one kind and folder of the network's layout to the
	// bucket.
	exportNetwork = Kind{Name: "export_network", Lane: Bulk, Timeout: 12 * time.Hour}
)

// SegmentExporter is what exports segments, and what knows which are still to do.
type SegmentExporter interface {
	// ExportSegment makes the segment's objects and publishes them. It is harmless to
	// repeat, also for a segment that was published. A Permanent error is not repeated.
	ExportSegment(ctx context.Context, segment schemas.SegmentRef, progress ProgressFunc) error
	// DueSegments returns the closed segments that are not published yet, oldest first.
	DueSegments(ctx context.Context) ([]schemas.SegmentRef, error)
}

// NetworkExporter is SegmentExporter for the network's layout.
type NetworkExporter interface {
	ExportNetwork(ctx context.Context, ref schemas.NetworkRef, progress ProgressFunc) error
	DueNetwork(ctx context.Context) ([]schemas.NetworkRef, error)
}

// ExportSegments is the handler of the tasks that publish segments.
func ExportSegments(exporter SegmentExporter) Handler {
	return exports(exportSegment, ExportSegmentTask, exporter.ExportSegment, exporter.DueSegments)
}

// ExportNetwork is the handler of the tasks that publish in the network's layout.
func ExportNetwork(exporter NetworkExporter) Handler {
	return exports(exportNetwork, ExportNetworkTask, exporter.ExportNetwork, exporter.DueNetwork)
}

// ExportSegmentTask is the task that exports a segment. Its ID names the segment:
//
//	SegmentRef{"scan", 1, "2026-07-02"} // export:scan:1:2026-07-02
//	SegmentRef{"scan", 1, ""}           // export:scan:1:imports
//
// Colons within the stream are escaped, so no two segments share a name.
func ExportSegmentTask(segment schemas.SegmentRef) Task {
	named := segment
	named.Stream = url.QueryEscape(named.Stream)
	return Task{Kind: exportSegment, ID: "export:" + named.String(), Payload: segment}
}

// ExportNetworkTask is the task that publishes r. Its ID names r, with colons escaped likewise:
//
//	export_network:scan:updates:2026-07-01T00:00:00Z~2026-07-02T00:00:00Z
func ExportNetworkTask(r schemas.NetworkRef) Task {
	named := r
	named.Stream = url.QueryEscape(named.Stream)
	return Task{Kind: exportNetwork, ID: "export_network:" + named.String(), Payload: r}
}

// exports is the handler of tasks that publish one unit each. task makes the task of a
// unit, run publishes it, and due lists what is not published yet, oldest first.
func exports[U interface{ Check() error }](kind Kind, task func(U) Task,
	run func(context.Context, U, ProgressFunc) error, due func(context.Context) ([]U, error),
) Handler {
	return Handler{
		Kind: kind,
		Run: func(ctx context.Context, payload []byte, progress ProgressFunc) error {
			u, err := Decode[U](kind, payload)
			if err != nil {
				return err
			}
			if err := u.Check(); err != nil {
				return Permanent(fmt.Errorf("decoding %s payload: %w", kind.Name, err))
			}
			if err := run(ctx, u, progress); err != nil {
				return fmt.Errorf("%s: %w", task(u).ID, err)
			}
			return nil
		},
		Due: func(ctx context.Context) ([]Task, error) {
			units, err := due(ctx)
			if err != nil {
				return nil, fmt.Errorf("listing what is due of %s: %w", kind.Name, err)
			}
			tasks := make([]Task, len(units))
			for i, u := range units {
				tasks[i] = task(u)
			}
			return tasks, nil
		},
	}
}
