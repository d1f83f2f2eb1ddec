package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// SegmentRow is a version of a segment of the exported history: a row of table segments.
type SegmentRow struct {
	Stream      string
	MigrationID int64
	// Date names the segment within the migration, as in schemas.SegmentRef.
	Date    string
	Version int64
	State   string
	// Start (exclusive) and End (inclusive) bound the record times, in microseconds.
	Start, End int64
	// ManifestHash is the SHA-256 of Manifest in hex.
	ManifestKey, ManifestHash, Manifest string
	Objects, Rows, Bytes                int64
	// Root is the manifest's, and Link the segment's link in the chain, "" while it has none.
	Root, Link string
	// LookupIndex is the content of the segment's lookup index and LookupObjects the number
	// of lookup objects, including the index; "" and 0 if the segment has none.
	LookupIndex   string
	LookupObjects int64
}

// Ref names the segment.
func (r *SegmentRow) Ref() schemas.SegmentRef {
	return schemas.SegmentRef{Stream: r.Stream, MigrationID: r.MigrationID, Date: r.Date}
}

// Segments are rows of table segments.
type Segments struct {
	stream                                                                *lowCardinality
	state                                                                 proto.ColEnum
	migration, version, start, end, objects, rows, bytes, lookups         proto.ColInt64
	date, manifestKey, manifestHash, manifest, root, chainLink, lookupIdx proto.ColStr
}

// NewSegments returns a block without rows.
func NewSegments() *Segments { return &Segments{stream: newLowCardinality()} }

func (b *Segments) columns() []column {
	return []column{
		{"stream", b.stream}, {"migration_id", &b.migration}, {"segment_date", &b.date}, {"version", &b.version}, {"state", &b.state},
		{"start_time", &b.start}, {"end_time", &b.end},
		{"manifest_key", &b.manifestKey}, {"manifest_sha256", &b.manifestHash}, {"manifest", &b.manifest},
		{"object_count", &b.objects}, {"total_rows", &b.rows}, {"total_bytes", &b.bytes},
		{"root", &b.root}, {"chain_link", &b.chainLink}, {"lookup_index", &b.lookupIdx}, {"lookup_objects", &b.lookups},
	}
}

// Rows returns the number of rows.
func (b *Segments) Rows() int { return b.version.Rows() }

// Append adds r.
func (b *Segments) Append(r SegmentRow) {
	b.stream.Append(r.Stream)
	b.migration.Append(r.MigrationID)
	b.date.Append(r.Date)
	b.version.Append(r.Version)
	b.state.Append(r.State)
	b.start.Append(r.Start)
	b.end.Append(r.End)
	b.manifestKey.Append(r.ManifestKey)
	b.manifestHash.Append(r.ManifestHash)
	b.manifest.Append(r.Manifest)
	b.objects.Append(r.Objects)
	b.rows.Append(r.Rows)
	b.bytes.Append(r.Bytes)
	b.root.Append(r.Root)
	b.chainLink.Append(r.Link)
	b.lookupIdx.Append(r.LookupIndex)
	b.lookups.Append(r.LookupObjects)
}

// AppendTo appends the block's rows to list.
func (b *Segments) AppendTo(list []SegmentRow) []SegmentRow {
	for i := range b.Rows() {
		list = append(list, SegmentRow{
			Stream: b.stream.Row(i), MigrationID: b.migration.Row(i), Date: b.date.Row(i), Version: b.version.Row(i), State: b.state.Row(i),
			Start: b.start.Row(i), End: b.end.Row(i),
			ManifestKey: b.manifestKey.Row(i), ManifestHash: b.manifestHash.Row(i), Manifest: b.manifest.Row(i),
			Objects: b.objects.Row(i), Rows: b.rows.Row(i), Bytes: b.bytes.Row(i),
			Root: b.root.Row(i), Link: b.chainLink.Row(i), LookupIndex: b.lookupIdx.Row(i), LookupObjects: b.lookups.Row(i),
		})
	}
	return list
}
