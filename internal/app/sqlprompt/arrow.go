package sqlprompt

import (
	"errors"
	"fmt"
	"io"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/ledgerlake/ledgerlake/internal/columnar"
)

// The server sends rows in blocks of its native protocol only, so Arrow and Parquet are written here.
const (
	// batchRows is how many rows a batch of Arrow has at most.
	batchRows = 8192
	// maxBytes bounds the texts of a batch of Arrow and of a row group of Parquet.
	maxBytes = 16 << 20
)

// writeArrow writes a file in Arrow's IPC format, compressed with zstd.
func writeArrow(out io.Writer, rows driver.Rows) error {
	schema := arrow.NewSchema(arrowFields(rows), nil)
	w, err := ipc.NewFileWriter(out, ipc.WithSchema(schema), ipc.WithZstd())
	if err != nil {
		return fmt.Errorf("beginning the file: %w", err)
	}
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	return errors.Join(fillBatches(w, builder, rows), w.Close())
}

// arrowFields are the columns of rows.
func arrowFields(rows driver.Rows) []arrow.Field {
	fields := make([]arrow.Field, len(rows.ColumnTypes()))
	for i, column := range rows.ColumnTypes() {
		fields[i] = columnar.Field(column.Name(), column.DatabaseTypeName())
	}
	return fields
}

// fillBatches writes all rows in batches of bounded size.
func fillBatches(w *ipc.FileWriter, builder *array.RecordBuilder, rows driver.Rows) error {
	n, bytes := 0, 0
	flush := func() error {
		batch := builder.NewRecordBatch()
		defer batch.Release()
		n, bytes = 0, 0
		return w.Write(batch)
	}
	err := eachRow(rows, func(values []any) error {
		for i, v := range values {
			size, err := columnar.Append(builder.Field(i), v)
			if err != nil {
				return fmt.Errorf("column %s: %w", rows.Columns()[i], err)
			}
			bytes += size
		}
		if n++; n < batchRows && bytes < maxBytes {
			return nil
		}
		return flush()
	})
	if err != nil || n == 0 {
		return err
	}
	return flush()
}
