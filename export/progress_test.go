package export

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// fixedPace says what was published lately.
type fixedPace []recent

func (p fixedPace) recently(context.Context, string) ([]recent, error) { return p, nil }

func TestProgress(t *testing.T) {
	src := largeDays(71)
	e := newTestExporter(t, src, openMemory(openBucket(t)), &memoryCatalog{}, nil)
	pace := fixedPace{{Pipeline: ParquetPipeline, Published: 4, Seconds: 8}, {Pipeline: NetworkUpdatesPipeline, Published: 1, Seconds: 0.1}}
	e.pace = pace
	segments, err := e.DueSegments(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	folders, err := e.DueNetwork(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.ExportSegment(t.Context(), segments[0]), e.ExportSegment(t.Context(), segments[1]),
		e.ExportNetwork(t.Context(), folders[0]), e.ExportNetwork(t.Context(), folders[1])); err != nil {
		t.Fatal(err)
	}
	waiting := newOperator(t, "peer", src, nil)
	e.cfg.Agree, e.cfg.Peers = 1, []Peer{waiting}
	if err := e.ExportNetwork(t.Context(), folders[2]); !errors.Is(err, ErrNotAgreed) {
		t.Fatal(err)
	}
	parquet, err := e.ParquetProgress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	network, err := e.NetworkProgress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, third := micros("2026-07-02T00:00:00Z"), micros("2026-07-03T00:00:00Z")
	want := []Pipeline{
		{Name: "parquet", Done: 2, Total: len(segments), Through: second, Rate: 0.5, ETA: float64(len(segments)-2) * 2},
		{Name: "network_updates", Done: 1, Staged: 1, Total: 2, Through: second, Rate: 1, ETA: 1},
		{Name: "network_acs", Done: 1, Total: 2, Through: second, ETA: -1},
	}
	if got := append([]Pipeline{parquet}, network...); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v; segments are %v, folders %v", got, want, segments, folders)
	}
	e.cfg.Agree = 0
	exportDueNetwork(t, e)
	if network, err = e.NetworkProgress(t.Context()); err != nil || network[0].ETA != 0 || network[0].Through != third || network[1].ETA != 0 || network[1].Done != 2 {
		t.Errorf("with all done: %+v, %v", network, err)
	}
}

// testPace is for a store in which two segments of another stream are published.
func testPace(t *testing.T, conn driver.Conn) {
	t.Helper()
	p := storePace{conn}
	if lately, err := p.recently(t.Context(), "pace"); err != nil || len(lately) > 0 {
		t.Errorf("of a stream without objects: %+v, %v", lately, err)
	}
	segments := storeCatalog{conn: conn, stream: "pace"}
	for i, date := range []string{"2026-06-29", "2026-06-30"} {
		row := unpublishedRow(schemas.SegmentRef{Stream: "pace", MigrationID: 1, Date: date})
		row.Version, row.State = int64(i+1), published
		if err := segments.append(t.Context(), row); err != nil {
			t.Fatal(err)
		}
	}
	row := newNetworkRow(crashFolder)
	row.Stream, row.Version, row.State = "pace", 1, published
	if err := (storeNetworkCatalog{conn: conn, stream: "pace"}).append(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	lately, err := p.recently(t.Context(), "pace")
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]uint64)
	for _, r := range lately {
		counts[r.Pipeline] = r.Published
		if r.Seconds < 0 || r.Seconds > rateSeconds {
			t.Errorf("%+v was published %f s ago", r, r.Seconds)
		}
	}
	if want := map[string]uint64{ParquetPipeline: 2, NetworkUpdatesPipeline: 1}; !reflect.DeepEqual(counts, want) {
		t.Errorf("published lately are %v, want %v", counts, want)
	}
}
