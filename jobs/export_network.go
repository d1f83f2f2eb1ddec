package jobs

import (
	"context"
	"net/url"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// exportNetwork writes all objects of one kind and folder of the network's layout to the
// bucket.
var exportNetwork = Kind{Name: "export_network", Lane: Bulk, Timeout: 12 * time.Hour}

// NetworkExporter is what publishes in the network's layout, and what knows which is still
// to do.
type NetworkExporter interface {
	// ExportNetwork makes the objects and publishes them. It is harmless to repeat, also
	// for what was published. A Permanent error is not repeated.
	ExportNetwork(ctx context.Context, ref schemas.NetworkRef, progress ProgressFunc) error
	// DueNetwork returns what is closed and not published yet, oldest first.
	DueNetwork(ctx context.Context) ([]schemas.NetworkRef, error)
}

// NetworkTaskID is the unique name of an export in the network's layout:
//
//	export_network:scan:updates:2026-07-01T00:00:00Z~2026-07-02T00:00:00Z
//
// Colons within the stream are escaped.
func NetworkTaskID(r schemas.NetworkRef) string {
	r.Stream = url.QueryEscape(r.Stream)
	return "export_network:" + r.String()
}

// ExportNetworkTask is the task that publishes r.
func ExportNetworkTask(r schemas.NetworkRef) Task {
	return Task{Kind: exportNetwork, ID: NetworkTaskID(r), Payload: r}
}

// ExportNetwork is the handler of these tasks.
func ExportNetwork(exporter NetworkExporter) Handler {
	return exports(exportNetwork, ExportNetworkTask, exporter.ExportNetwork, exporter.DueNetwork)
}
