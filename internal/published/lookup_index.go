package published

import (
	"encoding/json"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// LookupEntryBytes is the size of an entry of a lookup object's index.
const LookupEntryBytes = 15

// LookupPart describes a lookup object: see Part, where a row is an update and a row
// group a frame.
type LookupPart struct {
	Part
	// The index begins at IndexOffset and has Buckets buckets of BucketBytes each.
	IndexOffset int64 `json:"index_offset"`
	Buckets     int   `json:"buckets"`
	BucketBytes int   `json:"bucket_bytes"`
	// The filter begins at FilterOffset.
	FilterOffset int64  `json:"filter_offset"`
	FilterBytes  int    `json:"filter_bytes"`
	FilterSHA256 string `json:"filter_sha256"`
}

// LookupIndex describes the lookup objects of a segment. It is stored beside them, and it
// is not part of the manifest, so that manifests are equal whoever has lookup objects.
type LookupIndex struct {
	FormatVersion string             `json:"format_version"`
	Segment       schemas.SegmentRef `json:"segment"`
	// Root is that of the segment's manifest: the objects have the rows of no other.
	Root string `json:"root"`
	// Parts are the objects in the order of their updates; none if there are no updates.
	Parts []LookupPart `json:"parts"`
}

// Encode returns the bytes that are published.
func (x *LookupIndex) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the lookup index of %s: %w", x.Segment, err)
	}
	return append(data, '\n'), nil
}

// DecodeLookupIndex returns the index that Encode wrote.
func DecodeLookupIndex(data []byte) (*LookupIndex, error) {
	var x LookupIndex
	if err := json.Unmarshal(data, &x); err != nil {
		return nil, fmt.Errorf("decoding a lookup index: %w", err)
	}
	if x.FormatVersion != schemas.ParquetVersion {
		return nil, fmt.Errorf("the lookup index of %s has format version %q, this program reads %q", x.Segment, x.FormatVersion, schemas.ParquetVersion)
	}
	return &x, nil
}

// Check makes sure that the index is that of a segment and that its parts fit.
func (x *LookupIndex) Check(m *Manifest) error {
	if x.Segment != m.Ref() || x.Root != m.Root {
		return fmt.Errorf("the lookup index is for segment %s with root %s, not for %s with %s", x.Segment, x.Root, m.Ref(), m.Root)
	}
	var rows int64
	for n, p := range x.Parts {
		index := int64(p.Buckets) * int64(p.BucketBytes)
		if p.Key != schemas.LookupKey(x.Segment, n) || p.Buckets <= 0 || p.BucketBytes <= 0 || p.BucketBytes%LookupEntryBytes != 0 || p.FilterBytes <= 0 ||
			p.IndexOffset < 0 || p.IndexOffset+index > p.FilterOffset || p.FilterOffset+int64(p.FilterBytes) != p.Bytes {
			return fmt.Errorf("the index or the filter of %s does not fit into its %d bytes", p.Key, p.Bytes)
		}
		rows += p.Rows
	}
	if want := m.Table(schemas.ParquetUpdates).Rows + m.Table(schemas.ParquetImports).Rows; rows != want {
		return fmt.Errorf("the lookup objects of %s have %d updates, its tables %d", x.Segment, rows, want)
	}
	return nil
}

// LookupIndexOf returns the index that the row holds, or nil if the segment has no lookup
// objects.
func LookupIndexOf(r *store.SegmentRow) (*LookupIndex, error) {
	if r.LookupIndex == "" {
		return nil, nil
	}
	return DecodeLookupIndex([]byte(r.LookupIndex))
}

// LookupKeys lists the segment's lookup objects, the index last.
func LookupKeys(r *store.SegmentRow) ([]string, error) {
	x, err := LookupIndexOf(r)
	if x == nil || err != nil {
		return nil, err
	}
	var keys []string
	for _, p := range x.Parts {
		keys = append(keys, p.Key)
	}
	return append(keys, schemas.LookupIndexKey(x.Segment)), nil
}

// Enter enters the index into a version of its segment.
func (x *LookupIndex) Enter(r *store.SegmentRow) error {
	data, err := x.Encode()
	r.LookupIndex, r.LookupObjects = string(data), int64(len(x.Parts)+1)
	return err
}
