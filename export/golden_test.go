package export

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// TestGoldenObjects pins the bytes of one object per table, with a readable dump of
// what is in them. If it fails, the format has changed: objects would no longer compare
// with those that are published.
func TestGoldenObjects(t *testing.T) {
	objects, c := openMemory(openBucket(t)), &memoryCatalog{}
	e := newTestExporter(t, withMovements(twoMigrations(42, 40)), objects, c, func(c *testConfig) {
		c.Lookups = true
		c.Layout = published.Layout{RowsPerGroup: 100, BytesPerGroup: 64 << 20, GroupsPerPart: 100}
	})
	day := schemas.SegmentRef{Stream: "scan", MigrationID: 1, Date: "2026-07-03"}
	imports := schemas.SegmentRef{Stream: "scan", MigrationID: 1}
	for _, ref := range []schemas.SegmentRef{day, imports} {
		if err := e.ExportSegment(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(objects.objects)) {
		data := objects.objects[key]
		name := strings.Split(key, "/")[0] + "_v1"
		switch segment := filepath.Base(filepath.Dir(key)); {
		case strings.HasSuffix(key, ".jsonl.zst"):
			golden(t, name+"_"+segment+".jsonl.zst", data)
			continue
		case strings.HasSuffix(key, "/index.json"):
			golden(t, name+"_"+segment+".json", data)
			continue
		case strings.HasSuffix(key, ".json"):
			golden(t, name+"_"+filepath.Base(key), data)
			continue
		}
		if _, ref, _, _ := schemas.ParseObjectKey(key); ref.IsImports() && strings.HasPrefix(name, "movements") {
			name += "_openings"
		}
		golden(t, name+".parquet", data)
		golden(t, name+".dump.txt", dump(t, data))
	}
}

// golden compares data with a file in testdata, or writes it with -update.
func golden(t *testing.T, name string, data []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, want) {
		t.Errorf("%s differs: got SHA-256 %x, want %x", path, sha256.Sum256(data), sha256.Sum256(want))
		if strings.HasSuffix(name, ".txt") {
			t.Errorf("got\n%s", data)
		}
	}
}

// dump writes schema, metadata, row groups and the first rows of an object as text.
func dump(t *testing.T, data []byte) []byte {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	meta := f.Metadata()
	fmt.Fprintf(&b, "created by %s\nrows %d\nsha256 %x\n\n%s\n", meta.CreatedBy, meta.NumRows, sha256.Sum256(data), f.Schema())
	for _, kv := range meta.KeyValueMetadata {
		fmt.Fprintf(&b, "%s = %s\n", kv.Key, kv.Value)
	}
	leaves := f.Schema().Columns()
	for i, group := range f.RowGroups() {
		fmt.Fprintf(&b, "\nrow group %d: %d rows, sorted by", i, group.NumRows())
		for _, s := range group.SortingColumns() {
			fmt.Fprintf(&b, " %s", strings.Join(s.Path(), "."))
		}
		b.WriteByte('\n')
		for j, chunk := range group.ColumnChunks() {
			dumpChunk(t, &b, strings.Join(leaves[j], "."), chunk, fmt.Sprint(meta.RowGroups[i].Columns[j].MetaData.Encoding))
		}
	}
	b.WriteString("\nfirst row\n")
	rows := f.RowGroups()[0].Rows()
	defer func() {
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}()
	row := make([]parquet.Row, 1)
	if _, err := rows.ReadRows(row); err != nil && row[0] == nil {
		t.Fatal(err)
	}
	for _, v := range row[0] {
		text := v.String()
		if v.Kind() == parquet.FixedLenByteArray {
			text = hex.EncodeToString(v.ByteArray())
		}
		fmt.Fprintf(&b, "  %s = %s\n", strings.Join(leaves[v.Column()], "."), text)
	}
	return b.Bytes()
}

func dumpChunk(t *testing.T, b *bytes.Buffer, name string, chunk parquet.ColumnChunk, encodings string) {
	t.Helper()
	index, err := chunk.ColumnIndex()
	if err != nil {
		t.Fatalf("column %s has no page index: %v", name, err)
	}
	bloom := ""
	if filter := chunk.BloomFilter(); filter != nil {
		bloom = fmt.Sprintf(", Bloom filter of %d bytes", filter.Size())
	}
	fmt.Fprintf(b, "  %s: %d values, %d pages, %s%s\n", name, chunk.NumValues(), index.NumPages(), encodings, bloom)
}

// TestOldObjectsAreStillRead reads the pinned objects, which stay when the format moves on.
func TestOldObjectsAreStillRead(t *testing.T) {
	updates := parquetFile[schemas.UpdateRow](t, "updates_v1.parquet")
	events := parquetFile[schemas.EventRow](t, "events_v1.parquet")
	var sum published.Digester
	for _, row := range updates {
		u, err := row.Update(events[:row.EventCount])
		if err != nil {
			t.Fatal(err)
		}
		events = events[row.EventCount:]
		addUpdate(&sum, &u)
	}
	const want = "3be4209787b32810"
	if got := sum.Sum.Hash(); len(events) > 0 || !strings.HasPrefix(got, want) {
		t.Errorf("the pinned updates have digest %s, want %s...; %d events are left over", got, want, len(events))
	}
	for _, row := range parquetFile[schemas.VerdictRow](t, "verdicts_v1.parquet") {
		if v := row.Verdict(); v.UpdateID == "" || !bytes.HasPrefix(v.Views, []byte("{")) {
			t.Errorf("a pinned verdict reads as %+v", v)
		}
	}
}

func parquetFile[T any](t *testing.T, name string) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return parquetRows[T](t, data)
}

func parquetRows[T any](t *testing.T, data []byte) []T {
	t.Helper()
	rows, err := parquet.Read[T](bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestDeclaredOrderAndFiltersAreTrue checks what the writer takes on trust: that rows
// are sorted as declared, and that the Bloom filters know every value and few others.
func TestDeclaredOrderAndFiltersAreTrue(t *testing.T) {
	objects := openMemory(openBucket(t))
	e := newTestExporter(t, withMovements(twoMigrations(43, 150)), objects, &memoryCatalog{}, nil)
	exportDue(t, e)
	checked := 0
	for key, data := range objects.objects {
		if !strings.HasSuffix(key, ".parquet") {
			continue
		}
		table := schemas.ParquetTable(strings.Split(key, "/")[0])
		f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range f.RowGroups() {
			checkOrder(t, key, table, group)
			checkFilters(t, key, table, group)
			checked++
		}
	}
	if checked < 30 {
		t.Errorf("only %d row groups were checked", checked)
	}
}

func checkOrder(t *testing.T, key string, table schemas.ParquetTable, group parquet.RowGroup) {
	t.Helper()
	var declared []string
	for _, s := range group.SortingColumns() {
		if s.Descending() || s.NullsFirst() {
			t.Errorf("%s: column %v is not declared as ascending", key, s.Path())
		}
		declared = append(declared, s.Path()[0])
	}
	if !slices.Equal(declared, table.SortKey()) {
		t.Errorf("%s declares order by %v, want %v", key, declared, table.SortKey())
	}
	less := group.Schema().Comparator(group.SortingColumns()...)
	rows := group.Rows()
	defer func() {
		if err := rows.Close(); err != nil {
			t.Error(err)
		}
	}()
	var last parquet.Row
	batch := make([]parquet.Row, 1)
	for {
		n, err := rows.ReadRows(batch)
		if n == 0 {
			break
		}
		if last != nil && less(last, batch[0]) >= 0 {
			t.Fatalf("%s: row %v stands behind %v", key, batch[0][:3], last[:3])
		}
		last = batch[0].Clone()
		if err != nil {
			break
		}
	}
}

func checkFilters(t *testing.T, key string, table schemas.ParquetTable, group parquet.RowGroup) {
	t.Helper()
	for i, path := range group.Schema().Columns() {
		filter := group.ColumnChunks()[i].BloomFilter()
		if !slices.Contains(table.BloomColumns(), path[0]) {
			continue
		}
		if filter == nil {
			t.Fatalf("%s: column %s has no Bloom filter", key, path[0])
		}
		g := newGenerator(uint64(i))
		passed := 0
		for range 1000 {
			if ok, err := filter.Check(parquet.ValueOf("absent " + g.hex(8))); err != nil {
				t.Fatal(err)
			} else if ok {
				passed++
			}
		}
		if passed > 100 {
			t.Errorf("%s: %d of 1000 absent values pass the filter of %s", key, passed, path[0])
		}
		checkFilterKnows(t, key, group.ColumnChunks()[i], filter)
	}
}

func checkFilterKnows(t *testing.T, key string, chunk parquet.ColumnChunk, filter parquet.BloomFilter) {
	t.Helper()
	pages := chunk.Pages()
	defer func() {
		if err := pages.Close(); err != nil {
			t.Error(err)
		}
	}()
	page, err := pages.ReadPage()
	if err != nil {
		t.Fatal(err)
	}
	values := make([]parquet.Value, page.NumValues())
	n, _ := page.Values().ReadValues(values) // io.EOF comes with the last values
	if n != len(values) {
		t.Fatalf("%s: %d of %d values of a page were read", key, n, len(values))
	}
	for _, v := range values {
		if ok, err := filter.Check(v); err != nil || !ok {
			t.Fatalf("%s: the Bloom filter does not know %s: %v", key, v, err)
		}
	}
}

// TestRowGroupsFollowTheRule checks sizes of groups and parts against the layout.
func TestRowGroupsFollowTheRule(t *testing.T) {
	c := &memoryCatalog{}
	e := newTestExporter(t, twoMigrations(44, 300), openMemory(openBucket(t)), c, func(c *testConfig) {
		c.Lookups = true
		c.Layout = published.Layout{RowsPerGroup: 40, BytesPerGroup: 1 << 30, GroupsPerPart: 3}
	})
	exportDue(t, e)
	listed := listed(t, e)
	full := 0
	for i, o := range listed {
		last := i+1 == len(listed) || listed[i+1].Table != o.Table || listed[i+1].Segment != o.Segment
		groups := int((o.Rows + 39) / 40)
		if o.RowGroups != groups || o.RowGroups > 3 || !last && o.Rows != 120 {
			t.Errorf("%s has %d rows in %d groups, last part %v", o.Key, o.Rows, o.RowGroups, last)
		}
		if !last {
			full++
		}
	}
	if full < 10 {
		t.Errorf("only %d full parts", full)
	}
}
