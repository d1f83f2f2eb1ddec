package iceberg

import (
	_ "embed"
	"fmt"
	"strconv"

	"github.com/twmb/avro"
)

//go:embed manifest_list.avsc
var manifestListLayout string

// manifestFile is a row of a manifest list: the manifest of one group.
type manifestFile struct {
	Path              string         `avro:"manifest_path"`
	Bytes             int64          `avro:"manifest_length"`
	SpecID            int32          `avro:"partition_spec_id"`
	Content           int32          `avro:"content"`
	SequenceNumber    int64          `avro:"sequence_number"`
	MinSequenceNumber int64          `avro:"min_sequence_number"`
	SnapshotID        int64          `avro:"added_snapshot_id"`
	AddedFiles        int32          `avro:"added_files_count"`
	ExistingFiles     int32          `avro:"existing_files_count"`
	DeletedFiles      int32          `avro:"deleted_files_count"`
	AddedRows         int64          `avro:"added_rows_count"`
	ExistingRows      int64          `avro:"existing_rows_count"`
	DeletedRows       int64          `avro:"deleted_rows_count"`
	Partitions        []fieldSummary `avro:"partitions"`
}

// fieldSummary sums up a partition field over a manifest.
type fieldSummary struct {
	ContainsNull bool   `avro:"contains_null"`
	ContainsNaN  *bool  `avro:"contains_nan"`
	LowerBound   []byte `avro:"lower_bound"`
	UpperBound   []byte `avro:"upper_bound"`
}

// newManifestFile describes a manifest that a snapshot adds, but for the snapshot's id.
func newManifestFile(path string, size int, migrationID, sequence int64, entries []manifestEntry) manifestFile {
	m := manifestFile{
		Path: path, Bytes: int64(size), SequenceNumber: sequence, MinSequenceNumber: sequence,
		Partitions: []fieldSummary{{LowerBound: long(migrationID), UpperBound: long(migrationID)}},
	}
	for _, e := range entries {
		if e.Status == added {
			m.AddedFiles++
			m.AddedRows += e.DataFile.Rows
			continue
		}
		m.ExistingFiles++
		m.ExistingRows += e.DataFile.Rows
		m.MinSequenceNumber = min(m.MinSequenceNumber, *e.SequenceNumber)
	}
	return m
}

func encodeManifestList(snap snapshot, manifests []manifestFile) ([]byte, error) {
	layout, err := avro.Parse(manifestListLayout)
	if err != nil {
		return nil, err
	}
	parent := "null"
	if snap.Parent != nil {
		parent = strconv.FormatInt(*snap.Parent, 10)
	}
	return encodeAvro(layout, []header{
		{"snapshot-id", fmt.Sprint(snap.ID)}, {"parent-snapshot-id", parent},
		{"sequence-number", fmt.Sprint(snap.SequenceNumber)}, {"format-version", "2"},
	}, manifests)
}

// totals counts the objects and rows of some manifests.
func totals(manifests []manifestFile) (files, rows int64) {
	for _, m := range manifests {
		files += int64(m.AddedFiles) + int64(m.ExistingFiles)
		rows += m.AddedRows + m.ExistingRows
	}
	return files, rows
}
