package export

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ledgerlake/ledgerlake/export/network"
	"github.com/ledgerlake/ledgerlake/internal/bucket/buckettest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// smallCut makes several frames and objects of little data: zstd gives out 128 KiB of lines
// at a time.
var smallCut = network.Cut{FrameBytes: 1, ObjectBytes: 40 << 10}

// largeDays is twoMigrations with payloads that fill several objects a day.
func largeDays(seed uint64) *memorySource {
	g, s := newGenerator(seed), &memorySource{}
	g.payload = 2000
	g.history(s, 0, micros("2026-07-01T13:00:00Z"), micros("2026-07-02T00:00:00Z"), 36, 4)
	g.history(s, 0, micros("2026-07-02T00:00:00Z"), micros("2026-07-02T09:00:00Z"), 36, 4)
	g.history(s, 1, micros("2026-07-02T10:00:00Z"), micros("2026-07-03T20:00:00Z"), 60, 4)
	s.watermark = schemas.EndOf(1, micros("2026-07-03T20:00:00Z"))
	s.contracts = s.watermark
	return s
}

// exportDueNetwork exports all that is due in the network's layout and returns it.
func exportDueNetwork(t testing.TB, e *Exporter) []schemas.NetworkRef {
	t.Helper()
	due, err := e.catalog.DueFolders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range due {
		if err := e.network.Export(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
	return due
}

// TestNetworkLayoutHoldsHistory reads the objects back from a bucket and compares their
// lines, in order, with the history that they should hold.
func TestNetworkLayoutHoldsHistory(t *testing.T) {
	src := largeDays(31)
	client := openBucket(t)
	e := newTestExporter(t, src, client, &memoryCatalog{}, func(c *testConfig) { c.NetworkCut = smallCut })
	due := exportDueNetwork(t, e)
	var names []string
	for _, ref := range due {
		names = append(names, string(ref.Kind)+" "+ref.Folder())
	}
	wantNames := []string{
		"updates 0001-01-01T00:00:00Z~2026-07-02T00:00:00Z",
		"ACS 2026-07-02T00:00:00Z~2026-07-03T00:00:00Z",
		"updates 2026-07-02T00:00:00Z~2026-07-03T00:00:00Z",
		"ACS 2026-07-03T00:00:00Z~2026-07-04T00:00:00Z",
	}
	if !slices.Equal(names, wantNames) {
		t.Fatalf("due are %q, want %q", names, wantNames)
	}
	sums := stored(t, client)
	rows, err := e.catalog.PublishedFolders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byRef := make(map[schemas.NetworkRef][]published.NetworkLines)
	for i := range rows {
		if byRef[rows[i].Ref()], err = published.LinesOf(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	objects := 0
	for _, ref := range due {
		for i, lines := range byRef[ref] {
			if lines.Encoding != schemas.NetworkEncodings[i] {
				t.Fatalf("%s has encoding %s in place %d", ref, lines.Encoding, i)
			}
			objects += len(lines.Objects)
			checkNetworkLines(t, client, ref, &lines, wantLines(t, src, ref, lines.Encoding), sums)
		}
	}
	if objects != len(sums) || objects < 3*len(due) {
		t.Errorf("%d objects are published and %d stored, want several of each of %d", objects, len(sums), len(due))
	}
	sizes, err := e.network.Measure(t.Context(), schemas.ProtobufJSON)
	if err != nil {
		t.Fatal(err)
	}
	var want network.Sizes
	for ref, lines := range byRef {
		kind := &want.Updates
		if ref.Kind == schemas.NetworkACS {
			kind = &want.ACS
		}
		for _, o := range lines[1].Objects {
			kind.Add(network.Size{Rows: o.Rows, ZstdBytes: o.Bytes, Frames: o.Frames})
		}
		kind.JSONBytes += lines[1].JSONBytes
	}
	if sizes != want {
		t.Errorf("measured %+v, published were %+v", sizes, want)
	}
}

// checkNetworkLines compares what one encoding of a folder holds.
func checkNetworkLines(t *testing.T, client Objects, ref schemas.NetworkRef, lines *published.NetworkLines, want []string, sums map[string]string) {
	t.Helper()
	var got []string
	jsonBytes := int64(0)
	for n, o := range lines.Objects {
		if o.Key != schemas.NetworkKey(ref, lines.Encoding, n) || sums[o.Key] != o.SHA256 {
			t.Errorf("object %d of %s is %+v, stored is SHA-256 %q", n, ref, o, sums[o.Key])
		}
		body, err := client.Get(t.Context(), o.Key, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(body)
		if err != nil || int64(len(data)) != o.Bytes {
			t.Errorf("%s has %d bytes, listed are %d; %v", o.Key, len(data), o.Bytes, err)
		}
		before := len(got)
		for line := range jsonLines(t, bytes.NewReader(data)) {
			got = append(got, string(line))
			jsonBytes += int64(len(line)) + 1
		}
		if int64(len(got)-before) != o.Rows || o.Frames < 1 {
			t.Errorf("%s has %d lines, the listing says %+v", o.Key, len(got)-before, o)
		}
	}
	if lines.Rows != int64(len(got)) || lines.JSONBytes != jsonBytes {
		t.Errorf("%s in %s: listed are %d rows of %d bytes, there are %d of %d", ref, lines.Encoding, lines.Rows, lines.JSONBytes, len(got), jsonBytes)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s in %s has %d lines that differ from the %d of the source", ref, lines.Encoding, len(got), len(want))
	}
}

// wantLines are the lines of the source's history, by its own rules.
func wantLines(t *testing.T, src *memorySource, ref schemas.NetworkRef, encoding schemas.Encoding) []string {
	t.Helper()
	writer := values.Writer{Catalog: values.Default(), Want: encoding, Published: true}
	form := func(stored schemas.Encoding) schemas.UpdateForm {
		return schemas.UpdateForm{Values: writer.For(stored), Published: true}
	}
	var lines []string
	if ref.Kind == schemas.NetworkUpdates {
		for i := range src.updates {
			if u := &src.updates[i]; u.RecordTime > ref.Start && u.RecordTime <= ref.End {
				lines = append(lines, string(schemas.AppendUpdate(nil, u, form(u.Encoding))))
			}
		}
		return lines
	}
	migration := int64(0)
	if ref.Start > micros("2026-07-02T09:00:00Z") {
		migration = 1
	}
	set := src.active(history.ActiveQuery{MigrationID: migration, At: ref.Start, HideCarried: true})
	for i := range set {
		c := &set[i]
		lines = append(lines, string(schemas.AppendActiveContract(nil, &c.Event, c.CreatedIn, form(c.Encoding))))
	}
	return lines
}

func TestNetworkLayoutIsDeterministic(t *testing.T) {
	src := largeDays(32)
	g := buckettest.Gateway(t)
	var want map[string]string
	for i, tt := range []struct{ procs, page int }{{2, 1000}, {1, 1}, {8, 7}, {2, 128}} {
		previous := runtime.GOMAXPROCS(tt.procs)
		client := buckettest.Open(t, bucketConfig(g, fmt.Sprintf("run-%d/", i)))
		e := newTestExporter(t, jittery{src}, client, &memoryCatalog{}, func(c *testConfig) { c.PageRows, c.NetworkCut = tt.page, smallCut })
		exportDueNetwork(t, e)
		runtime.GOMAXPROCS(previous)
		got := stored(t, client)
		if want == nil {
			want = got
		}
		if !maps.Equal(got, want) {
			t.Errorf("%+v: objects differ: got %v, want %v", tt, got, want)
		}
	}
}

// TestGoldenNetworkObjects pins the bytes of the network's layout, as TestGoldenObjects
// does those of Parquet. A new version of the zstd library must not change them.
func TestGoldenNetworkObjects(t *testing.T) {
	objects := openMemory(nil)
	e := newTestExporter(t, twoMigrations(42, 12), objects, &memoryCatalog{}, nil)
	exportDueNetwork(t, e)
	pinned := 0
	for _, key := range slices.Sorted(maps.Keys(objects.objects)) {
		if folder, name, _ := strings.Cut(key, "/"); strings.HasPrefix(folder, "2026-07-03") {
			golden(t, "network_"+name, objects.objects[key])
			pinned++
		}
	}
	if pinned != 4 {
		t.Errorf("%d objects are pinned, want updates and contracts in two encodings", pinned)
	}
}

func jsonLines(t *testing.T, file io.Reader) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		decoder, err := zstd.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		defer decoder.Close()
		lines := bufio.NewScanner(decoder)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			if !yield(lines.Bytes()) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			t.Error(err)
		}
	}
}
