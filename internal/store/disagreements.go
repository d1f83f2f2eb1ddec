package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// DisagreementRow is what one upstream answered to a range that others answered
// differently.
type DisagreementRow struct {
	Stream string
	// FoundAt is when the answers were compared; Compared says what of them.
	FoundAt        schemas.Micros
	Compared       string
	After, Through schemas.Position
	// Resolved means that enough others agreed; Agreed that this answer was theirs.
	Resolved, Agreed bool
	Upstream         string
	Items            uint64
	Digest           string
}

// Disagreements are rows of table disagreements.
type Disagreements struct {
	stream, compared, upstream    *lowCardinality
	foundAt                       *proto.ColDateTime64
	afterMigration, afterTime     proto.ColInt64
	throughMigration, throughTime proto.ColInt64
	afterID, throughID, digest    proto.ColStr
	items                         proto.ColUInt64
	resolved, agreed              proto.ColBool
}

// NewDisagreements returns a block without rows.
func NewDisagreements() *Disagreements {
	return &Disagreements{stream: newLowCardinality(), compared: newLowCardinality(), upstream: newLowCardinality(), foundAt: newTime()}
}

func (b *Disagreements) columns() []column {
	return []column{
		{"stream", b.stream}, {"found_at", b.foundAt}, {"compared", b.compared},
		{"after_migration", &b.afterMigration}, {"after_time", &b.afterTime}, {"after_id", &b.afterID},
		{"through_migration", &b.throughMigration}, {"through_time", &b.throughTime}, {"through_id", &b.throughID},
		{"resolved", &b.resolved}, {"upstream", b.upstream}, {"items", &b.items}, {"digest", &b.digest}, {"agreed", &b.agreed},
	}
}

// Rows returns the number of rows.
func (b *Disagreements) Rows() int { return b.stream.Rows() }

// Append adds r.
func (b *Disagreements) Append(r DisagreementRow) {
	b.stream.Append(r.Stream)
	appendTime(b.foundAt, r.FoundAt)
	b.compared.Append(r.Compared)
	b.afterMigration.Append(r.After.MigrationID)
	b.afterTime.Append(int64(r.After.RecordTime))
	b.afterID.Append(r.After.UpdateID)
	b.throughMigration.Append(r.Through.MigrationID)
	b.throughTime.Append(int64(r.Through.RecordTime))
	b.throughID.Append(r.Through.UpdateID)
	b.resolved.Append(r.Resolved)
	b.upstream.Append(r.Upstream)
	b.items.Append(r.Items)
	b.digest.Append(r.Digest)
	b.agreed.Append(r.Agreed)
}
