package store

import "github.com/ledgerlake/ledgerlake/schemas"

// PublishedRow counts what one export pipeline has published recently.
type PublishedRow struct {
	Pipeline string `column:"pipeline"`
	Count    uint64 `column:"published"`
	// Seconds is how long ago the first of it was published.
	Seconds float64 `column:"seconds"`
}

// ExportDisagreementRow is an object of which a peer has other bytes: a row of table
// export_disagreements. Digests are hex.
type ExportDisagreementRow struct {
	Stream string `column:"stream,low"`
	Unit   string `column:"unit"`
	Peer   string `column:"peer,low"`
	Key    string `column:"object_key"`
	Ours   string `column:"ours"`
	Theirs string `column:"theirs"`
}

// CollectionRow is a collection of garbage that has ended: a row of table collections.
type CollectionRow struct {
	Stream  string         `column:"stream,low"`
	EndedAt schemas.Micros `column:"ended_at"`
	// Expired counts segments and folders; Objects and Bytes are what was deleted, including
	// theirs; Uploads were aborted.
	Expired int64 `column:"expired"`
	Objects int64 `column:"objects"`
	Bytes   int64 `column:"bytes"`
	Uploads int64 `column:"uploads"`
}

// NetworkFolderRow is a version of one kind of objects in a folder of the network's layout: a
// row of table network_folders.
type NetworkFolderRow struct {
	Stream string `column:"stream,low"`
	Kind   string `column:"kind,low"`
	// Start (exclusive) and End (inclusive) bound the record times, in microseconds.
	Start   int64  `column:"start_time"`
	End     int64  `column:"end_time"`
	Version int64  `column:"version"`
	State   string `column:"state,enum"`
	// Objects is JSON and describes Count objects: see docs/formats/network.md.
	Objects string `column:"objects"`
	Count   int64  `column:"object_count"`
	Rows    int64  `column:"total_rows"`
	Bytes   int64  `column:"total_bytes"`
}

// Ref names the kind of objects and the folder.
func (r *NetworkFolderRow) Ref() schemas.NetworkRef {
	return schemas.NetworkRef{
		Stream: r.Stream, Kind: schemas.NetworkKind(r.Kind), Start: schemas.Micros(r.Start), End: schemas.Micros(r.End),
	}
}

// DisagreementRow is what one upstream answered to a range that others answered
// differently: a row of table disagreements.
type DisagreementRow struct {
	Stream string `column:"stream,low"`
	// FoundAt is when the answers were compared; Compared says what of them.
	FoundAt  schemas.Micros   `column:"found_at"`
	Compared string           `column:"compared,low"`
	After    schemas.Position `column:"after_,public"`
	Through  schemas.Position `column:"through_,public"`
	// Resolved means that enough others agreed; Agreed that this answer was theirs.
	Resolved bool   `column:"resolved"`
	Agreed   bool   `column:"agreed"`
	Upstream string `column:"upstream,low"`
	Items    uint64 `column:"items"`
	Digest   string `column:"digest"`
}

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
	// Derived is the description of the segment's derived tables and DerivedHash its SHA-256 in
	// hex; both are "" while it has none.
	Derived     string `column:"derived"`
	DerivedHash string `column:"derived_sha256"`
}

// Ref names the segment.
func (r *SegmentRow) Ref() schemas.SegmentRef {
	return schemas.SegmentRef{Stream: r.Stream, MigrationID: r.MigrationID, Date: r.Date}
}
