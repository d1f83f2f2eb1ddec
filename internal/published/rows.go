package published

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// UnpublishedSegment stands for a segment that was never published: version 0.
func UnpublishedSegment(ref schemas.SegmentRef) store.SegmentRow {
	start, end, _ := ref.Bounds() // the caller has checked the reference
	return store.SegmentRow{
		Stream: ref.Stream, MigrationID: ref.MigrationID, Date: ref.Date, State: Withdrawn,
		Start: int64(start), End: int64(end), ManifestKey: schemas.ManifestKey(ref),
	}
}

// SegmentRow returns a version of the manifest's segment. sum is that of the manifest's bytes.
func SegmentRow(m *Manifest, sum [32]byte, state string, version int64) (store.SegmentRow, error) {
	data, err := m.Encode()
	if err != nil {
		return store.SegmentRow{}, err
	}
	if err := m.Ref().Check(); err != nil {
		return store.SegmentRow{}, err
	}
	row := UnpublishedSegment(m.Ref())
	row.Version, row.State = version, state
	row.ManifestHash, row.Manifest, row.Root = hex.EncodeToString(sum[:]), string(data), m.Root
	for _, t := range m.Tables {
		row.Rows += t.Rows
	}
	for _, p := range m.AllParts() {
		row.Objects++
		row.Bytes += p.Bytes
	}
	return row, nil
}

// Chained reports whether a segment has its place in the chain: it is published, or it was
// and has expired.
func Chained(r *store.SegmentRow) bool {
	return r.State == Published || r.State == Expired && r.ManifestHash != ""
}

// UnpublishedFolder stands for a folder that was never published: version 0.
func UnpublishedFolder(ref schemas.NetworkRef) store.NetworkFolderRow {
	return store.NetworkFolderRow{Stream: ref.Stream, Kind: string(ref.Kind), Start: int64(ref.Start), End: int64(ref.End), State: Withdrawn}
}

// FolderRow returns a version of a folder with the given lines.
func FolderRow(ref schemas.NetworkRef, lines []NetworkLines, state string, version int64) (store.NetworkFolderRow, error) {
	row := UnpublishedFolder(ref)
	encoded, err := json.Marshal(lines)
	if err != nil {
		return row, fmt.Errorf("encoding the objects of %s: %w", ref, err)
	}
	row.Version, row.State, row.Objects = version, state, string(encoded)
	for i := range lines {
		row.Rows += lines[i].Rows
		for _, o := range lines[i].Objects {
			row.Count++
			row.Bytes += o.Bytes
		}
	}
	return row, nil
}

// LinesOf returns what the objects of a folder hold, by encoding.
func LinesOf(r *store.NetworkFolderRow) ([]NetworkLines, error) {
	if r.Objects == "" {
		return nil, nil
	}
	var lines []NetworkLines
	if err := json.Unmarshal([]byte(r.Objects), &lines); err != nil {
		return nil, fmt.Errorf("decoding the objects of %s: %w", r.Ref(), err)
	}
	return lines, nil
}

// NetworkLines says what is published of one kind and folder in one encoding.
type NetworkLines struct {
	Encoding schemas.Encoding `json:"encoding"`
	// Rows counts lines and JSONBytes is their size before compression, over all objects.
	Rows      int64 `json:"rows"`
	JSONBytes int64 `json:"json_bytes"`
	// Objects are in the order of their lines.
	Objects []NetworkObject `json:"objects"`
}

// NetworkObject is an object in the network's layout.
type NetworkObject struct {
	Key   string `json:"key"`
	Bytes int64  `json:"bytes"`
	// SHA256 is over the object, in hex.
	SHA256 string `json:"sha256"`
	// Rows counts its lines, Frames its zstd frames.
	Rows   int64 `json:"rows"`
	Frames int64 `json:"frames"`
}

// Overwrites reports whether the objects of a segment or folder may replace what is under
// their keys, given its latest version: it was published once and withdrawn. Version 1 is the
// first of all, and that of a segment that waits in staging for the first time.
func Overwrites(state string, version int64) bool {
	return version > 1 || version == 1 && state == Withdrawn
}

// Batch is what is published at once: a segment, or one kind of object in a folder.
type Batch struct {
	Name    fmt.Stringer
	Objects []Sum
	// Next are the keys that further objects would have. A peer that has one of those has
	// more rows than we.
	Next []string
}

// Sum names an object and its content.
type Sum struct {
	Key    string
	SHA256 string // hex
}

// FolderBatch returns the objects of a folder.
func FolderBatch(ref schemas.NetworkRef, lines []NetworkLines) Batch {
	b := Batch{Name: ref}
	for i := range lines {
		for _, o := range lines[i].Objects {
			b.Objects = append(b.Objects, Sum{o.Key, o.SHA256})
		}
		b.Next = append(b.Next, schemas.NetworkKey(ref, lines[i].Encoding, len(lines[i].Objects)))
	}
	return b
}
