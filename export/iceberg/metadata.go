package iceberg

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/google/uuid"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// metadata is a version of a table, as it stands in v<N>.metadata.json.
type metadata struct {
	FormatVersion      int                `json:"format-version"`
	UUID               string             `json:"table-uuid"`
	Location           string             `json:"location"`
	LastSequenceNumber int64              `json:"last-sequence-number"`
	LastUpdated        int64              `json:"last-updated-ms"`
	LastColumnID       int                `json:"last-column-id"`
	CurrentSchemaID    int                `json:"current-schema-id"`
	Schemas            []schema           `json:"schemas"`
	DefaultSpecID      int                `json:"default-spec-id"`
	PartitionSpecs     []partitionSpec    `json:"partition-specs"`
	LastPartitionID    int                `json:"last-partition-id"`
	DefaultSortOrderID int                `json:"default-sort-order-id"`
	SortOrders         []sortOrder        `json:"sort-orders"`
	Properties         map[string]string  `json:"properties"`
	CurrentSnapshotID  *int64             `json:"current-snapshot-id,omitempty"`
	Refs               map[string]ref     `json:"refs"`
	Snapshots          []snapshot         `json:"snapshots"`
	SnapshotLog        []snapshotLogEntry `json:"snapshot-log"`
	MetadataLog        []metadataLogEntry `json:"metadata-log"`
}

// snapshot is a state of a table that can be read.
type snapshot struct {
	ID             int64             `json:"snapshot-id"`
	Parent         *int64            `json:"parent-snapshot-id,omitempty"`
	SequenceNumber int64             `json:"sequence-number"`
	Timestamp      int64             `json:"timestamp-ms"`
	ManifestList   string            `json:"manifest-list"`
	Summary        map[string]string `json:"summary"`
	SchemaID       int               `json:"schema-id"`
}

// ref names a snapshot.
type ref struct {
	SnapshotID int64  `json:"snapshot-id"`
	Type       string `json:"type"`
}

type snapshotLogEntry struct {
	Timestamp  int64 `json:"timestamp-ms"`
	SnapshotID int64 `json:"snapshot-id"`
}

type metadataLogEntry struct {
	Timestamp int64  `json:"timestamp-ms"`
	File      string `json:"metadata-file"`
}

// Properties of tables.
const (
	nameMappingProperty = "schema.name-mapping.default"
	// contentProperty is the fingerprint of the segments that the current snapshot has.
	contentProperty = "ledgerlake.content"
	formatProperty  = "ledgerlake.format_version"
)

// newMetadata returns the first version of a table, without a snapshot. Its id is random:
// readers keep what they have read by id and path, and a table that was removed and made
// again uses the same paths.
func newMetadata(table schemas.ParquetTable, location string) (*metadata, error) {
	s, err := schemaOf(table)
	if err != nil {
		return nil, err
	}
	m := &metadata{
		FormatVersion: 2, UUID: uuid.NewString(), Location: location,
		PartitionSpecs: []partitionSpec{s.partitionSpec()}, LastPartitionID: migrationPartition,
		DefaultSortOrderID: rowOrder, SortOrders: []sortOrder{s.sortOrder(table)},
		Properties: map[string]string{formatProperty: schemas.ParquetVersion},
		Refs:       map[string]ref{}, Snapshots: []snapshot{}, SnapshotLog: []snapshotLogEntry{}, MetadataLog: []metadataLogEntry{},
	}
	return m, m.setSchema(s)
}

// setSchema makes s the current schema, unless it is already.
func (m *metadata) setSchema(s schema) error {
	if current := m.schema(); current != nil && reflect.DeepEqual(current.Fields, s.Fields) {
		return nil
	}
	s.ID = len(m.Schemas)
	mapping, err := json.Marshal(s.nameMapping())
	if err != nil {
		return fmt.Errorf("encoding the names of columns: %w", err)
	}
	m.Properties[nameMappingProperty] = string(mapping)
	m.Schemas = append(m.Schemas, s)
	m.CurrentSchemaID, m.LastColumnID = s.ID, max(m.LastColumnID, s.lastID())
	return nil
}

// schema is the current schema, nil if there is none yet.
func (m *metadata) schema() *schema {
	if i := slices.IndexFunc(m.Schemas, func(s schema) bool { return s.ID == m.CurrentSchemaID }); i >= 0 {
		return &m.Schemas[i]
	}
	return nil
}

// current is the current snapshot, nil if there is none yet.
func (m *metadata) current() *snapshot {
	if m.CurrentSnapshotID == nil {
		return nil
	}
	if i := slices.IndexFunc(m.Snapshots, func(s snapshot) bool { return s.ID == *m.CurrentSnapshotID }); i >= 0 {
		return &m.Snapshots[i]
	}
	return nil
}

// snapshotID derives the id of a snapshot from what makes it: writers that make the same
// one at the same time give it the same id.
func (m *metadata) snapshotID(sequence int64, manifests []manifestFile) int64 {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s %d\n", m.UUID, sequence)
	for i := range manifests {
		fmt.Fprintln(hash, manifests[i].Path)
	}
	return int64(binary.BigEndian.Uint64(hash.Sum(nil))>>1) | 1 // positive
}

// add makes a snapshot the current one and drops those that are one too many. With alone
// all others are dropped.
func (m *metadata) add(snap snapshot, keep int, alone bool) {
	if alone {
		m.Snapshots, m.SnapshotLog = m.Snapshots[:0], m.SnapshotLog[:0]
	}
	m.Snapshots = append(m.Snapshots, snap)
	m.SnapshotLog = append(m.SnapshotLog, snapshotLogEntry{snap.Timestamp, snap.ID})
	m.Snapshots = m.Snapshots[max(0, len(m.Snapshots)-keep):]
	m.SnapshotLog = m.SnapshotLog[max(0, len(m.SnapshotLog)-keep):]
	m.CurrentSnapshotID, m.LastSequenceNumber = &snap.ID, snap.SequenceNumber
	m.Refs["main"] = ref{snap.ID, "branch"}
}

// partitionSpec partitions a table by migration_id, whose values are in the files as well.
// Days are told apart by the bounds of record_time: a date would be a column that files
// lack, which readers show as null, and the transform day(record_time) is that of the
// next day for a row of exactly midnight.
type partitionSpec struct {
	ID     int              `json:"spec-id"`
	Fields []partitionField `json:"fields"`
}

type partitionField struct {
	Source    int    `json:"source-id"`
	ID        int    `json:"field-id"`
	Name      string `json:"name"`
	Transform string `json:"transform"`
}

// migrationPartition is the number of the only partition field, in manifest.avsc as well.
const migrationPartition = 1000

func (s schema) partitionSpec() partitionSpec {
	return partitionSpec{Fields: []partitionField{{
		Source: s.column("migration_id"), ID: migrationPartition, Name: "migration_id", Transform: "identity",
	}}}
}

// sortOrder is the order of rows within a file.
type sortOrder struct {
	ID     int         `json:"order-id"`
	Fields []sortField `json:"fields"`
}

type sortField struct {
	Transform string `json:"transform"`
	Source    int    `json:"source-id"`
	Direction string `json:"direction"`
	Nulls     string `json:"null-order"`
}

// rowOrder is the number of the order that all files have.
const rowOrder = 1

func (s schema) sortOrder(table schemas.ParquetTable) sortOrder {
	order := sortOrder{ID: rowOrder}
	for _, name := range table.SortKey() {
		order.Fields = append(order.Fields, sortField{Transform: "identity", Source: s.column(name), Direction: "asc", Nulls: "nulls-first"})
	}
	return order
}
