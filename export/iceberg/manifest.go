package iceberg

import (
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"github.com/twmb/avro"

	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed manifest.avsc
var manifestLayout string

// manifestEntry is a row of a manifest: one Parquet object. An entry of status added has no
// ids and sequence numbers: they are those of the snapshot that the manifest list names.
type manifestEntry struct {
	Status             int32    `avro:"status"`
	SnapshotID         *int64   `avro:"snapshot_id"`
	SequenceNumber     *int64   `avro:"sequence_number"`
	FileSequenceNumber *int64   `avro:"file_sequence_number"`
	DataFile           dataFile `avro:"data_file"`
}

// Statuses of objects: existing ones were added by an earlier snapshot.
const (
	existing = 0
	added    = 1
)

type dataFile struct {
	Content     int32        `avro:"content"`
	Path        string       `avro:"file_path"`
	Format      string       `avro:"file_format"`
	Partition   partition    `avro:"partition"`
	Rows        int64        `avro:"record_count"`
	Bytes       int64        `avro:"file_size_in_bytes"`
	Values      []countEntry `avro:"value_counts"`
	Nulls       []countEntry `avro:"null_value_counts"`
	LowerBounds []boundEntry `avro:"lower_bounds"`
	UpperBounds []boundEntry `avro:"upper_bounds"`
	SortOrder   *int32       `avro:"sort_order_id"`
}

type partition struct {
	MigrationID *int64 `avro:"migration_id"`
}

type countEntry struct {
	Column int32 `avro:"key"`
	Count  int64 `avro:"value"`
}

type boundEntry struct {
	Column int32  `avro:"key"`
	Value  []byte `avro:"value"`
}

// membersKey is where the header of a manifest says which segments it describes, those
// without rows as well: a JSON object of their contents by their names.
const membersKey = "ledgerlake.segments"

// encodeManifest returns the manifest of a group with the given entries.
func encodeManifest(s schema, g group, entries []manifestEntry) ([]byte, error) {
	layout, err := avro.Parse(manifestLayout)
	if err != nil {
		return nil, err
	}
	columns, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	spec, err := json.Marshal(s.partitionSpec().Fields)
	if err != nil {
		return nil, err
	}
	contents := make(map[string]string, len(g.segments))
	for _, segment := range g.segments {
		contents[segment.Ref.String()] = segment.Content
	}
	members, err := json.Marshal(contents)
	if err != nil {
		return nil, err
	}
	return encodeAvro(layout, []header{
		{"schema", string(columns)}, {"schema-id", fmt.Sprint(s.ID)},
		{"partition-spec", string(spec)}, {"partition-spec-id", "0"},
		{"format-version", "2"}, {"content", "data"}, {membersKey, string(members)},
	}, entries)
}

// manifest is a manifest as it was read.
type manifest struct {
	// members has the contents of its segments by their names.
	members map[string]string
	// entries are its objects by path, as those that a later snapshot takes over.
	entries map[string]manifestEntry
}

// decodeManifest reads a manifest, given how a manifest list describes it.
func decodeManifest(data []byte, listed *manifestFile) (manifest, error) {
	rows, meta, err := decodeAvro[manifestEntry](data)
	if err != nil {
		return manifest{}, err
	}
	m := manifest{entries: make(map[string]manifestEntry, len(rows))}
	if err := json.Unmarshal(meta[membersKey], &m.members); err != nil {
		return m, fmt.Errorf("reading the list of segments that it describes: %w", err)
	}
	for _, e := range rows {
		if e.Status == added {
			e.Status, e.SnapshotID = existing, &listed.SnapshotID
			e.SequenceNumber, e.FileSequenceNumber = &listed.SequenceNumber, &listed.SequenceNumber
		}
		m.entries[e.DataFile.Path] = e
	}
	return m, nil
}

// newEntry describes an object that is new.
func newEntry(table schemas.ParquetTable, s schema, ref schemas.SegmentRef, f File, path string) (manifestEntry, error) {
	ranges, err := boundsOf(table, ref, f)
	if err != nil {
		return manifestEntry{}, err
	}
	order := int32(rowOrder)
	d := dataFile{
		Path: path, Format: "PARQUET", Partition: partition{&ref.MigrationID}, Rows: f.Rows, Bytes: f.Bytes, SortOrder: &order,
	}
	for _, r := range ranges {
		id := int32(s.column(r.column))
		d.Values = append(d.Values, countEntry{id, f.Rows})
		d.Nulls = append(d.Nulls, countEntry{id, 0})
		d.LowerBounds = append(d.LowerBounds, boundEntry{id, r.lower})
		d.UpperBounds = append(d.UpperBounds, boundEntry{id, r.upper})
	}
	return manifestEntry{Status: added, DataFile: d}, nil
}

// valueRange is the least and the greatest value of a column without nulls in a file, both
// of which are there, in Iceberg's form of single values.
type valueRange struct {
	column       string
	lower, upper []byte
}

// boundsOf tells what is known of a file's columns without opening it: their order, and
// what is the same in all rows.
func boundsOf(table schemas.ParquetTable, ref schemas.SegmentRef, f File) ([]valueRange, error) {
	ranges := []valueRange{{"migration_id", long(ref.MigrationID), long(ref.MigrationID)}}
	switch table {
	case schemas.ParquetImports:
		return append(ranges, valueRange{"update_id", []byte(f.First.ID), []byte(f.Last.ID)}), nil
	case schemas.ParquetACS:
		start, _, err := ref.Bounds()
		return append(ranges,
			valueRange{"record_time", long(int64(start)), long(int64(start))},
			valueRange{"created_at", long(int64(f.First.Time)), long(int64(f.Last.Time))}), err
	}
	return append(ranges, valueRange{"record_time", long(int64(f.First.Time)), long(int64(f.Last.Time))}), nil
}

// long is the form of 64-bit numbers and of instants in microseconds.
func long(v int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(v)) }
