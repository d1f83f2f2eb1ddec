package sqlprompt

import (
	"errors"
	"io"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/parquet-go/parquet-go"

	"github.com/ledgerlake/ledgerlake/internal/columnar"
)

// rowGroupRows is how many rows a row group has at most: it is held in memory until it is complete.
const rowGroupRows = 1 << 20

// writeParquet writes a file in Parquet, compressed with zstd.
func writeParquet(out io.Writer, rows driver.Rows) error {
	fields := arrowFields(rows)
	columns, err := columnar.Group(fields)
	if err != nil {
		return err
	}
	w := parquet.NewGenericWriter[any](out, parquet.NewSchema("rows", columns), parquet.Compression(&parquet.Zstd))
	return errors.Join(fillRowGroups(w, fields, rows), w.Close())
}

// fillRowGroups writes all rows in row groups of bounded size.
func fillRowGroups(w *parquet.GenericWriter[any], fields []arrow.Field, rows driver.Rows) error {
	n, bytes := 0, 0
	s := columnar.NewShredder(fields)
	return eachRow(rows, func(values []any) error {
		row, size, err := s.Shred(values)
		if err != nil {
			return err
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			return err
		}
		n, bytes = n+1, bytes+size
		if n < rowGroupRows && bytes < maxBytes {
			return nil
		}
		n, bytes = 0, 0
		return w.Flush()
	})
}
