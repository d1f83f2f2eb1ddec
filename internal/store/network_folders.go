package store

import "github.com/ledgerlake/ledgerlake/schemas"

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
