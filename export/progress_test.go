package export

import (
	"errors"
	"reflect"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

func TestProgress(t *testing.T) {
	src := largeDays(71)
	e := newTestExporter(t, src, openMemory(openBucket(t)), &memoryCatalog{}, nil)
	e.catalog.Journal = &memoryJournal{Published: []store.PublishedRow{
		{Pipeline: published.ParquetPipeline, Count: 4, Seconds: 8}, {Pipeline: published.NetworkUpdatesPipeline, Count: 1, Seconds: 0.1},
	}}
	segments, err := e.DueSegments(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	folders, err := e.catalog.DueFolders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.ExportSegment(t.Context(), segments[0]), e.ExportSegment(t.Context(), segments[1]),
		e.network.Export(t.Context(), folders[0]), e.network.Export(t.Context(), folders[1])); err != nil {
		t.Fatal(err)
	}
	waiting := newOperator(t, "peer", src, nil)
	e.publisher.mustAgree, e.publisher.peers = 1, []Peer{waiting}
	if err := e.network.Export(t.Context(), folders[2]); !errors.Is(err, ErrNotAgreed) {
		t.Fatal(err)
	}
	parquet, err := e.catalog.ParquetProgress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	network, err := e.catalog.NetworkProgress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, third := micros("2026-07-02T00:00:00Z"), micros("2026-07-03T00:00:00Z")
	want := []published.Pipeline{
		{Name: "parquet", Done: 2, Total: len(segments), Through: second, Rate: 0.5, ETA: float64(len(segments)-2) * 2},
		{Name: "network_updates", Done: 1, Staged: 1, Total: 2, Through: second, Rate: 1, ETA: 1},
		{Name: "network_acs", Done: 1, Total: 2, Through: second, ETA: -1},
	}
	if got := append([]published.Pipeline{parquet}, network...); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v; segments are %v, folders %v", got, want, segments, folders)
	}
	e.publisher.mustAgree = 0
	exportDueNetwork(t, e)
	if network, err = e.catalog.NetworkProgress(t.Context()); err != nil || network[0].ETA != 0 || network[0].Through != third || network[1].ETA != 0 || network[1].Done != 2 {
		t.Errorf("with all done: %+v, %v", network, err)
	}
}
