package store

import (
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// BenchmarkSplit spreads the rows of a batch over three shards.
func BenchmarkSplit(b *testing.B) {
	rows := NewBatchRows()
	rows.Fill(&schemas.Batch{Stream: schemas.ScanStream, Items: schematest.New(schematest.Config{Seed: 3, Items: 2000}).Items})
	b.ReportAllocs()
	for b.Loop() {
		for table, block := range rows.Blocks() {
			split(block, shardColumn(table), 3)
		}
	}
}

// BenchmarkFill makes those rows.
func BenchmarkFill(b *testing.B) {
	rows, items := NewBatchRows(), schematest.New(schematest.Config{Seed: 3, Items: 2000}).Items
	b.ReportAllocs()
	for b.Loop() {
		rows.Fill(&schemas.Batch{Stream: schemas.ScanStream, Items: items})
	}
}
