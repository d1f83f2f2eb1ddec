package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// NetworkFolderRow is a version of one kind of objects in a folder of the network's layout: a
// row of table network_folders.
type NetworkFolderRow struct {
	Stream, Kind string
	// Start (exclusive) and End (inclusive) bound the record times, in microseconds.
	Start, End int64
	Version    int64
	State      string
	// Objects is JSON and describes Count objects: see docs/formats/network.md.
	Objects            string
	Count, Rows, Bytes int64
}

// Ref names the kind of objects and the folder.
func (r *NetworkFolderRow) Ref() schemas.NetworkRef {
	return schemas.NetworkRef{
		Stream: r.Stream, Kind: schemas.NetworkKind(r.Kind), Start: schemas.Micros(r.Start), End: schemas.Micros(r.End),
	}
}

// NetworkFolders are rows of table network_folders.
type NetworkFolders struct {
	stream, kind                            *lowCardinality
	state                                   proto.ColEnum
	start, end, version, count, rows, bytes proto.ColInt64
	objects                                 proto.ColStr
}

// NewNetworkFolders returns a block without rows.
func NewNetworkFolders() *NetworkFolders {
	return &NetworkFolders{stream: newLowCardinality(), kind: newLowCardinality()}
}

func (b *NetworkFolders) columns() []column {
	return []column{
		{"stream", b.stream}, {"kind", b.kind}, {"start_time", &b.start}, {"end_time", &b.end}, {"version", &b.version}, {"state", &b.state},
		{"objects", &b.objects}, {"object_count", &b.count}, {"total_rows", &b.rows}, {"total_bytes", &b.bytes},
	}
}

// Rows returns the number of rows.
func (b *NetworkFolders) Rows() int { return b.version.Rows() }

// Append adds r.
func (b *NetworkFolders) Append(r NetworkFolderRow) {
	b.stream.Append(r.Stream)
	b.kind.Append(r.Kind)
	b.start.Append(r.Start)
	b.end.Append(r.End)
	b.version.Append(r.Version)
	b.state.Append(r.State)
	b.objects.Append(r.Objects)
	b.count.Append(r.Count)
	b.rows.Append(r.Rows)
	b.bytes.Append(r.Bytes)
}

// AppendTo appends the block's rows to list.
func (b *NetworkFolders) AppendTo(list []NetworkFolderRow) []NetworkFolderRow {
	for i := range b.Rows() {
		list = append(list, NetworkFolderRow{
			Stream: b.stream.Row(i), Kind: b.kind.Row(i), Start: b.start.Row(i), End: b.end.Row(i), Version: b.version.Row(i),
			State: b.state.Row(i), Objects: b.objects.Row(i), Count: b.count.Row(i), Rows: b.rows.Row(i), Bytes: b.bytes.Row(i),
		})
	}
	return list
}
