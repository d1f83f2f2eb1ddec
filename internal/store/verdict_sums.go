package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// VerdictSums are rows of table verdicts as numbers: where they stand and their hashes.
type VerdictSums struct {
	migration  proto.ColInt64
	recordTime *proto.ColDateTime64
	updateID   texts
	row        proto.ColUInt64
}

// NewVerdictSums returns a block without rows.
func NewVerdictSums() *VerdictSums { return &VerdictSums{recordTime: newTime()} }

func (b *VerdictSums) columns() []column {
	return []column{{"migration_id", &b.migration}, {"record_time", b.recordTime}, {"update_id", &b.updateID}, {"row_hash", &b.row}}
}

// Rows returns the number of rows.
func (b *VerdictSums) Rows() int { return b.row.Rows() }

// AppendHashes appends the hash of each row, the same as Verdicts would.
func (b *VerdictSums) AppendHashes(list []uint64) []uint64 { return append(list, b.row...) }

// AppendPositions appends where the verdict of each row stands.
func (b *VerdictSums) AppendPositions(list []schemas.Position) []schemas.Position {
	return appendPositions(list, &b.migration, b.recordTime, &b.updateID)
}

func appendPositions(list []schemas.Position, migration *proto.ColInt64, recordTime *proto.ColDateTime64, ids *texts) []schemas.Position {
	updateID := stringsOf(ids)
	for i := range *migration {
		list = append(list, schemas.Position{MigrationID: migration.Row(i), RecordTime: timeAt(recordTime, i), UpdateID: updateID(i)})
	}
	return list
}
