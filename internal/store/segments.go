package store

import "github.com/ledgerlake/ledgerlake/schemas"

// SegmentRow is a version of a segment of the exported history: a row of table segments.
type SegmentRow struct {
	Stream      string `column:"stream,low"`
	MigrationID int64  `column:"migration_id"`
	// Date names the segment within the migration, as in schemas.SegmentRef.
	Date    string `column:"segment_date"`
	Version int64  `column:"version"`
	State   string `column:"state,enum"`
	// Start (exclusive) and End (inclusive) bound the record times, in microseconds.
	Start       int64  `column:"start_time"`
	End         int64  `column:"end_time"`
	ManifestKey string `column:"manifest_key"`
	// ManifestHash is the SHA-256 of Manifest in hex.
	ManifestHash string `column:"manifest_sha256"`
	Manifest     string `column:"manifest"`
	Objects      int64  `column:"object_count"`
	Rows         int64  `column:"total_rows"`
	Bytes        int64  `column:"total_bytes"`
	// Root is the manifest's, and Link the segment's link in the chain, "" while it has none.
	Root string `column:"root"`
	Link string `column:"chain_link"`
	// LookupIndex is the content of the segment's lookup index and LookupObjects the number
	// of lookup objects, including the index; "" and 0 if the segment has none.
	LookupIndex   string `column:"lookup_index"`
	LookupObjects int64  `column:"lookup_objects"`
}

// Ref names the segment.
func (r *SegmentRow) Ref() schemas.SegmentRef {
	return schemas.SegmentRef{Stream: r.Stream, MigrationID: r.MigrationID, Date: r.Date}
}
