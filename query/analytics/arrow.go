package analytics

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/ledgerlake/ledgerlake/internal/columnar"
	"github.com/ledgerlake/ledgerlake/internal/history/tables"
)

// encodeArrow writes a stream of one record batch.
func encodeArrow(dst []byte, of []string, page tables.Page, _ string) ([]byte, error) {
	fields := make([]arrow.Field, len(page.Columns))
	for i, c := range page.Columns {
		fields[i] = columnar.Field(c.Name, c.Type)
	}
	schema := arrow.NewSchema(fields, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer builder.Release()
	for _, row := range page.Rows {
		for i, value := range row {
			if _, err := columnar.Append(builder.Field(i), value); err != nil {
				return nil, fmt.Errorf("column %s of %s: %w", page.Columns[i].Name, of[1], err)
			}
		}
	}
	batch := builder.NewRecordBatch()
	defer batch.Release()
	text := bytes.NewBuffer(dst)
	w := ipc.NewWriter(text, ipc.WithSchema(schema))
	if err := w.Write(batch); err != nil {
		return nil, fmt.Errorf("writing rows of %s as Arrow: %w", of[1], err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("ending an Arrow stream of %s: %w", of[1], err)
	}
	return text.Bytes(), nil
}
