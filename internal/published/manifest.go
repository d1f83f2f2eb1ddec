package published

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Manifest describes a segment: what its objects are and what rows they hold. It is
// published as JSON and depends on the history alone, so that the manifests of two
// operators can be compared byte by byte.
type Manifest struct {
	// FormatVersion is schemas.ParquetVersion.
	FormatVersion string `json:"format_version"`
	Stream        string `json:"stream"`
	MigrationID   int64  `json:"migration_id"`
	// Date is the day of the segment, "" for imports.
	Date string `json:"date,omitempty"`
	// StartExclusive and EndInclusive bound the record times.
	StartExclusive string `json:"start_exclusive"`
	EndInclusive   string `json:"end_inclusive"`
	Layout         Layout `json:"layout"`
	// Root is the Merkle root over the rows of all tables, in hex: schemas.SegmentRoot.
	Root string `json:"root"`
	// Tables are those of the segment, also the empty ones.
	Tables []Table `json:"tables"`
}

// Table describes the rows of one table of a segment.
type Table struct {
	Name schemas.ParquetTable `json:"name"`
	// Rows counts rows of the table, over all parts.
	Rows int64 `json:"rows"`
	// Digest is over the canonical JSON of the rows, see digest.go.
	Digest schemas.Digest `json:"digest"`
	// Root is the Merkle root over the rows in their order, in hex.
	Root string `json:"root"`
	// Parts are the objects in the order of their rows.
	Parts []Part `json:"parts"`
}

// Part describes one object.
type Part struct {
	Key   string `json:"key"`
	Bytes int64  `json:"bytes"`
	// SHA256 is over the object, in hex and in base64.
	SHA256       string `json:"sha256"`
	SHA256Base64 string `json:"sha256_base64"`
	Rows         int64  `json:"rows"`
	RowGroups    int    `json:"row_groups"`
	// First and Last are the sort keys of the first and the last row.
	First Key `json:"first"`
	Last  Key `json:"last"`
}

// Key is a row's sort key as texts, by the names of the columns. Members that the
// table does not sort by are left out.
type Key struct {
	RecordTime string `json:"record_time,omitempty"`
	CreatedAt  string `json:"created_at,omitempty"`
	UpdateID   string `json:"update_id,omitempty"`
	ContractID string `json:"contract_id,omitempty"`
	Node       *int32 `json:"node,omitempty"`
	Entry      *int32 `json:"entry,omitempty"`
}

// KeyOf returns the sort key of a row of a table.
func KeyOf(table schemas.ParquetTable, k schemas.RowKey) Key {
	switch table {
	case schemas.ParquetImports:
		return Key{UpdateID: k.ID}
	case schemas.ParquetACS:
		return Key{CreatedAt: k.Time.String(), ContractID: k.ID}
	case schemas.ParquetEvents:
		return Key{RecordTime: k.Time.String(), UpdateID: k.ID, Node: &k.Node}
	case schemas.ParquetMovements:
		return Key{RecordTime: k.Time.String(), UpdateID: k.ID, Entry: &k.Node}
	}
	return Key{RecordTime: k.Time.String(), UpdateID: k.ID}
}

// RowKey is the inverse of KeyOf.
func (k Key) RowKey() (r schemas.RowKey, err error) {
	r.ID = cmp.Or(k.ContractID, k.UpdateID)
	if n := cmp.Or(k.Node, k.Entry); n != nil {
		r.Node = *n
	}
	if at := cmp.Or(k.RecordTime, k.CreatedAt); at != "" {
		r.Time, err = schemas.ParseTime(at)
	}
	return r, err
}

// SetSum sets both forms of the object's SHA-256.
func (p *Part) SetSum(sum [32]byte) {
	p.SHA256, p.SHA256Base64 = hex.EncodeToString(sum[:]), base64.StdEncoding.EncodeToString(sum[:])
}

// Sum returns the object's SHA-256, or an error if the two forms of it disagree.
func (p *Part) Sum() (sum [32]byte, err error) {
	raw, err := hex.DecodeString(p.SHA256)
	if err != nil || len(raw) != len(sum) || base64.StdEncoding.EncodeToString(raw) != p.SHA256Base64 {
		return sum, fmt.Errorf("the manifest's SHA-256 of %s is malformed", p.Key)
	}
	return [32]byte(raw), nil
}

// NewManifest returns the manifest of a segment without tables.
func NewManifest(ref schemas.SegmentRef, layout Layout) (*Manifest, error) {
	start, end, err := ref.Bounds()
	if err != nil {
		return nil, err
	}
	return &Manifest{
		FormatVersion: schemas.ParquetVersion, Stream: ref.Stream, MigrationID: ref.MigrationID, Date: ref.Date,
		StartExclusive: start.String(), EndInclusive: end.String(), Layout: layout,
	}, nil
}

// Ref names the manifest's segment.
func (m *Manifest) Ref() schemas.SegmentRef {
	return schemas.SegmentRef{Stream: m.Stream, MigrationID: m.MigrationID, Date: m.Date}
}

// Table returns the table of a name, an empty one if the segment does not have it.
func (m *Manifest) Table(name schemas.ParquetTable) Table { return TableOf(m.Tables, name) }

// TableOf returns the table of a name, an empty one if there is none.
func TableOf(tables []Table, name schemas.ParquetTable) Table {
	for _, t := range tables {
		if t.Name == name {
			return t
		}
	}
	return Table{Name: name}
}

// ComputeRoot computes the segment's root from those of its tables.
func (m *Manifest) ComputeRoot() (schemas.Hash, error) {
	hashes, err := m.TableHashes()
	return schemas.SegmentRoot(m.Ref(), hashes), err
}

// TableHashes are what the segment's root is made of.
func (m *Manifest) TableHashes() ([]schemas.Hash, error) {
	var hashes []schemas.Hash
	for _, t := range m.Tables {
		root, err := schemas.ParseHash(t.Root)
		if err != nil {
			return nil, fmt.Errorf("the root of table %s: %w", t.Name, err)
		}
		hashes = append(hashes, schemas.TableHash(t.Name, uint64(t.Rows), root))
	}
	return hashes, nil
}

// AllParts lists the objects of all tables.
func (m *Manifest) AllParts() []Part { return allParts(m.Tables) }

func allParts(tables []Table) []Part {
	var parts []Part
	for _, t := range tables {
		parts = append(parts, t.Parts...)
	}
	return parts
}

// Encode returns the manifest's bytes: indented, because people read it.
func (m *Manifest) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding manifest of %s: %w", m.Ref(), err)
	}
	return append(data, '\n'), nil
}

// DecodeManifest returns the manifest that Encode wrote.
func DecodeManifest(data []byte) (*Manifest, error) {
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("decoding manifest: %w", err)
	}
	if m.FormatVersion != schemas.ParquetVersion {
		return nil, fmt.Errorf("manifest of %s has format version %q, this program reads %q", m.Ref(), m.FormatVersion, schemas.ParquetVersion)
	}
	return &m, nil
}

// Batch is what peers are asked about.
func (m *Manifest) Batch() Batch {
	b := Batch{Name: m.Ref()}
	for _, t := range m.Tables {
		for _, p := range t.Parts {
			b.Objects = append(b.Objects, Sum{p.Key, p.SHA256})
		}
		b.Next = append(b.Next, schemas.ObjectKey(t.Name, m.Ref(), len(t.Parts)))
	}
	return b
}

// Check makes sure of what readers of the manifest rely on.
func (m *Manifest) Check() error {
	ref := m.Ref()
	if err := ref.Check(); err != nil {
		return err
	}
	if err := checkTables(ref, m.Tables, ref.Tables()); err != nil {
		return err
	}
	if root, err := m.ComputeRoot(); err != nil || hex.EncodeToString(root[:]) != m.Root {
		return fmt.Errorf("its root %s differs from that of its tables, %x: %w", m.Root, root, err)
	}
	return nil
}

// checkTables makes sure that tables of a segment have some names, and parts that fit.
func checkTables(ref schemas.SegmentRef, tables []Table, names []schemas.ParquetTable) error {
	if len(tables) != len(names) {
		return fmt.Errorf("it has %d tables, not %d", len(tables), len(names))
	}
	for i, t := range tables {
		var rows int64
		for n, p := range t.Parts {
			if p.Key != schemas.ObjectKey(t.Name, ref, n) || p.Rows <= 0 || p.Bytes <= 0 {
				return fmt.Errorf("part %d of table %s is %s with %d rows and %d bytes", n, t.Name, p.Key, p.Rows, p.Bytes)
			}
			rows += p.Rows
		}
		if t.Name != names[i] || rows != t.Rows || uint64(rows) != t.Digest.Rows {
			return fmt.Errorf("table %s has %d rows in its parts, %d in all and %d in its digest", t.Name, rows, t.Rows, t.Digest.Rows)
		}
	}
	return nil
}

// Layout cuts the rows of a table into row groups and parts. It looks at nothing but
// the rows, so that the cuts are the same everywhere.
type Layout struct {
	// A row group is closed by the row with which it holds RowsPerGroup rows or
	// BytesPerGroup bytes before encoding, whichever comes first.
	RowsPerGroup  int `json:"rows_per_group"`
	BytesPerGroup int `json:"bytes_per_group"`
	// GroupsPerPart is the number of row groups of a part, but for the last part.
	GroupsPerPart int `json:"groups_per_part"`
}

// DefaultLayout belongs to the format version: it may change only with that.
//
// 64 MiB before encoding make about 10 MiB in the file, which a reader can fetch in
// one request, and bound the writer's memory; 16 of them make a part of at most
// about 200 MiB, which uploads in one go.
var DefaultLayout = Layout{RowsPerGroup: 128 << 10, BytesPerGroup: 64 << 20, GroupsPerPart: 16}

// RowOf is a pointer to a row type of package schemas.
type RowOf[T any] interface {
	*T
	Key() schemas.RowKey
	Size() int
}

// CompareKeys orders rows as tables are sorted.
func CompareKeys(a, b schemas.RowKey) int {
	return cmp.Or(cmp.Compare(a.Time, b.Time), strings.Compare(a.ID, b.ID), cmp.Compare(a.Node, b.Node))
}
