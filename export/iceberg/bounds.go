package iceberg

import (
	"encoding/binary"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// valueRange is the least and the greatest value of a column without nulls in a file, both
// of which are there, in Iceberg's form of single values.
type valueRange struct {
	column       string
	lower, upper []byte
}

// boundsOf tells what is known of a file's columns without opening it: their order, and
// what is the same in all rows.
func boundsOf(table schemas.ParquetTable, ref schemas.SegmentRef, f File) ([]valueRange, error) {
	ranges := []valueRange{{"migration_id", long(ref.MigrationID), long(ref.MigrationID)}}
	switch table {
	case schemas.ParquetImports:
		return append(ranges, valueRange{"update_id", []byte(f.First.ID), []byte(f.Last.ID)}), nil
	case schemas.ParquetACS:
		start, _, err := ref.Bounds()
		return append(ranges,
			valueRange{"record_time", long(int64(start)), long(int64(start))},
			valueRange{"created_at", long(int64(f.First.Time)), long(int64(f.Last.Time))}), err
	}
	return append(ranges, valueRange{"record_time", long(int64(f.First.Time)), long(int64(f.Last.Time))}), nil
}

// long is the form of 64-bit numbers and of instants in microseconds.
func long(v int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(v)) }
