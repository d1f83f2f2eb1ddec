package iceberg

import "github.com/ledgerlake/ledgerlake/schemas"

// partitionSpec partitions a table by migration_id, whose values are in the files as well.
// Days are told apart by the bounds of record_time: a date would be a column that files
// lack, which readers show as null, and the transform day(record_time) is that of the
// next day for a row of exactly midnight.
type partitionSpec struct {
	ID     int              `json:"spec-id"`
	Fields []partitionField `json:"fields"`
}

type partitionField struct {
	Source    int    `json:"source-id"`
	ID        int    `json:"field-id"`
	Name      string `json:"name"`
	Transform string `json:"transform"`
}

// migrationPartition is the number of the only partition field, in manifest.avsc as well.
const migrationPartition = 1000

func (s schema) partitionSpec() partitionSpec {
	return partitionSpec{Fields: []partitionField{{
		Source: s.column("migration_id"), ID: migrationPartition, Name: "migration_id", Transform: "identity",
	}}}
}

// sortOrder is the order of rows within a file.
type sortOrder struct {
	ID     int         `json:"order-id"`
	Fields []sortField `json:"fields"`
}

type sortField struct {
	Transform string `json:"transform"`
	Source    int    `json:"source-id"`
	Direction string `json:"direction"`
	Nulls     string `json:"null-order"`
}

// rowOrder is the number of the order that all files have.
const rowOrder = 1

func (s schema) sortOrder(table schemas.ParquetTable) sortOrder {
	order := sortOrder{ID: rowOrder}
	for _, name := range table.SortKey() {
		order.Fields = append(order.Fields, sortField{Transform: "identity", Source: s.column(name), Direction: "asc", Nulls: "nulls-first"})
	}
	return order
}
