package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// PublishedRow counts what one export pipeline has published recently.
type PublishedRow struct {
	Pipeline string
	Count    uint64
	// Seconds is how long ago the first of it was published.
	Seconds float64
}

// Published are result rows over tables segments and network_folders.
type Published struct {
	pipeline proto.ColStr
	count    proto.ColUInt64
	seconds  proto.ColFloat64
}

func (b *Published) columns() []column {
	return []column{{"pipeline", &b.pipeline}, {"published", &b.count}, {"seconds", &b.seconds}}
}

// Rows returns the number of rows.
func (b *Published) Rows() int { return b.count.Rows() }

// AppendTo appends the block's rows to list.
func (b *Published) AppendTo(list []PublishedRow) []PublishedRow {
	for i := range b.Rows() {
		list = append(list, PublishedRow{b.pipeline.Row(i), b.count.Row(i), b.seconds.Row(i)})
	}
	return list
}

// ExportDisagreementRow is an object of which a peer has other bytes. Digests are hex.
type ExportDisagreementRow struct{ Stream, Unit, Peer, Key, Ours, Theirs string }

// ExportDisagreements are rows of table export_disagreements.
type ExportDisagreements struct {
	stream, peer            *lowCardinality
	unit, key, ours, theirs proto.ColStr
}

// NewExportDisagreements returns a block without rows.
func NewExportDisagreements() *ExportDisagreements {
	return &ExportDisagreements{stream: newLowCardinality(), peer: newLowCardinality()}
}

func (b *ExportDisagreements) columns() []column {
	return []column{
		{"stream", b.stream}, {"unit", &b.unit}, {"peer", b.peer}, {"object_key", &b.key}, {"ours", &b.ours}, {"theirs", &b.theirs},
	}
}

// Rows returns the number of rows.
func (b *ExportDisagreements) Rows() int { return b.stream.Rows() }

// Append adds r.
func (b *ExportDisagreements) Append(r ExportDisagreementRow) {
	b.stream.Append(r.Stream)
	b.unit.Append(r.Unit)
	b.peer.Append(r.Peer)
	b.key.Append(r.Key)
	b.ours.Append(r.Ours)
	b.theirs.Append(r.Theirs)
}

// CollectionRow is a collection of garbage that has ended.
type CollectionRow struct {
	Stream  string
	EndedAt schemas.Micros
	// Expired counts segments and folders; Objects and Bytes are what was deleted, including
	// theirs; Uploads were aborted.
	Expired, Objects, Bytes, Uploads int64
}

// Collections are rows of table collections.
type Collections struct {
	stream                           *lowCardinality
	endedAt                          *proto.ColDateTime64
	expired, objects, bytes, uploads proto.ColInt64
}

// NewCollections returns a block without rows.
func NewCollections() *Collections {
	return &Collections{stream: newLowCardinality(), endedAt: newTime()}
}

func (b *Collections) columns() []column {
	return []column{
		{"stream", b.stream}, {"ended_at", b.endedAt},
		{"expired", &b.expired}, {"objects", &b.objects}, {"bytes", &b.bytes}, {"uploads", &b.uploads},
	}
}

// Rows returns the number of rows.
func (b *Collections) Rows() int { return b.stream.Rows() }

// Append adds r.
func (b *Collections) Append(r CollectionRow) {
	b.stream.Append(r.Stream)
	appendTime(b.endedAt, r.EndedAt)
	b.expired.Append(r.Expired)
	b.objects.Append(r.Objects)
	b.bytes.Append(r.Bytes)
	b.uploads.Append(r.Uploads)
}

// AppendTo appends the block's rows to list.
func (b *Collections) AppendTo(list []CollectionRow) []CollectionRow {
	for i := range b.Rows() {
		list = append(list, CollectionRow{
			Stream: b.stream.Row(i), EndedAt: timeAt(b.endedAt, i), Expired: b.expired.Row(i),
			Objects: b.objects.Row(i), Bytes: b.bytes.Row(i), Uploads: b.uploads.Row(i),
		})
	}
	return list
}
