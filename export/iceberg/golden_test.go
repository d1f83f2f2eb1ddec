package iceberg

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// pinned compares bytes with those in testdata.
func pinned(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s has changed: it was\n%s\nand is now\n%s", path, want, got)
	}
}

func indented(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

// TestColumnsKeepTheirNumbers pins the schemas of all tables: what readers have once seen of
// a column's number, type and name must not change.
func TestColumnsKeepTheirNumbers(t *testing.T) {
	for _, name := range names() {
		s, err := schemaOf(name)
		if err != nil {
			t.Fatal(err)
		}
		pinned(t, string(name)+"_schema.json", indented(t, s))
		var again schema
		if err := json.Unmarshal(indented(t, s), &again); err != nil {
			t.Fatal(err)
		}
		m := &metadata{Schemas: []schema{again}, Properties: map[string]string{}}
		if err := m.setSchema(s); err != nil || len(m.Schemas) != 1 {
			t.Errorf("table %s has another schema when it is read back: %v", name, err)
		}
		s.Fields = append(s.Fields, field{ID: 400, Name: "new", Type: fieldType{name: "string"}})
		if err := m.setSchema(s); err != nil || len(m.Schemas) != 2 || m.schema().ID != 1 || m.LastColumnID < 400 {
			t.Errorf("table %s with a new column has schemas %+v, %v", name, m.Schemas, err)
		}
	}
}

// TestManifestsArePinned pins the bytes of manifests and a list, with what they say beside.
func TestManifestsArePinned(t *testing.T) {
	midnight, _, err := day(2).Bounds()
	if err != nil {
		t.Fatal(err)
	}
	imports := schemas.SegmentRef{Stream: "scan", MigrationID: 1}
	first, last := schemas.RowKey{Time: midnight + 1, ID: "1220aa"}, schemas.RowKey{Time: midnight + 24*3600*1e6, ID: "1220ff", Node: 3}
	url := func(key string) string { return "s3://lake/" + key }
	var list []manifestFile
	for _, tt := range []struct {
		table schemas.ParquetTable
		ref   schemas.SegmentRef
	}{{schemas.ParquetEvents, day(2)}, {schemas.ParquetACS, day(2)}, {schemas.ParquetImports, imports}} {
		s, err := schemaOf(tt.table)
		if err != nil {
			t.Fatal(err)
		}
		var entries []manifestEntry
		for part, f := range []File{{Bytes: 1000, Rows: 100, First: first, Last: first}, {Bytes: 500, Rows: 50, First: first, Last: last}} {
			f.Key = schemas.ObjectKey(tt.table, tt.ref, part)
			entry, err := newEntry(tt.table, s, tt.ref, f, url(f.Key))
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, entry)
		}
		data, err := encodeManifest(s, groupsOf([]Segment{{Ref: tt.ref, Content: "aa"}})[0], entries)
		if err != nil {
			t.Fatal(err)
		}
		pinned(t, string(tt.table)+"_manifest.avro", data)
		rows, _, err := decodeAvro[manifestEntry](data)
		if err != nil {
			t.Fatal(err)
		}
		pinned(t, string(tt.table)+"_manifest.dump.json", indented(t, rows))
		list = append(list, newManifestFile(url("m.avro"), len(data), tt.ref.MigrationID, 7, entries))
	}
	parent := int64(5)
	data, err := encodeManifestList(snapshot{ID: 9, Parent: &parent, SequenceNumber: 7}, list)
	if err != nil {
		t.Fatal(err)
	}
	pinned(t, "list.avro", data)
	manifests, _, err := decodeAvro[manifestFile](data)
	if err != nil {
		t.Fatal(err)
	}
	pinned(t, "list.dump.json", indented(t, manifests))
}
