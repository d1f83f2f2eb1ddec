package iceberg

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/twmb/avro"

	"github.com/ledgerlake/ledgerlake/schemas"
)

//go:embed manifest.avsc
var manifestLayout string

// manifestEntry is a row of a manifest: one Parquet object, as the snapshot has it that
// added the manifest. Its id and sequence number are those that the manifest list gives,
// so that they are left out here and the bytes depend on the segment alone.
type manifestEntry struct {
	Status             int32    `avro:"status"`
	SnapshotID         *int64   `avro:"snapshot_id"`
	SequenceNumber     *int64   `avro:"sequence_number"`
	FileSequenceNumber *int64   `avro:"file_sequence_number"`
	DataFile           dataFile `avro:"data_file"`
}

// added is the status of an object that is new.
const added = 1

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

// encodeManifest returns the manifest of a segment's files, whose keys are named by url.
func encodeManifest(table schemas.ParquetTable, s schema, ref schemas.SegmentRef, files []File, url func(key string) string) ([]byte, error) {
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
	entries := make([]manifestEntry, len(files))
	for i, f := range files {
		if entries[i], err = newEntry(table, s, ref, f, url(f.Key)); err != nil {
			return nil, err
		}
	}
	return encodeAvro(layout, []header{
		{"schema", string(columns)}, {"schema-id", fmt.Sprint(s.ID)},
		{"partition-spec", string(spec)}, {"partition-spec-id", "0"},
		{"format-version", "2"}, {"content", "data"},
	}, entries)
}

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
