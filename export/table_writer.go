package export

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// A chunk is handed to the Parquet writer in one call, and pages end only between
// chunks. Chunks are cut by the rows alone and start anew with each row group, so
// that pages do not depend on how the rows arrived.
const (
	rowsPerChunk  = 128
	bytesPerChunk = 1 << 20
)

// ErrOrder means that a source did not give its rows in ascending order.
var ErrOrder = errors.New("rows are out of order")

// destination says where a table's objects go.
type destination struct {
	exporter *Exporter
	ref      schemas.SegmentRef
	// put stores a part.
	put func(ctx context.Context, key string, body io.ReadSeeker, size int64, sum [32]byte) error
}

// tableWriter writes the rows of one table of a segment into parts and puts each part
// into the bucket when it is full. Fill row, then commit; finish at the end; close in
// any case. The digest of the rows is for the caller to add to, and may be added to by
// another goroutine than the one that writes.
type tableWriter[T any, R published.RowOf[T]] struct {
	destination
	table  schemas.ParquetTable
	layout published.Layout
	published.Digester
	result published.Table

	// The open part.
	part    published.Part
	file    *bucket.Spool
	parquet *parquet.GenericWriter[T]
	// The open row group.
	groupRows, groupBytes int
	// The open chunk.
	chunk      []T
	chunkBytes int

	last    schemas.RowKey
	started bool
}

func newTableWriter[T any, R published.RowOf[T]](d destination, table schemas.ParquetTable) *tableWriter[T, R] {
	return &tableWriter[T, R]{
		destination: d, table: table, layout: d.exporter.cfg.Layout,
		chunk: make([]T, 0, rowsPerChunk), result: published.Table{Name: table, Parts: []published.Part{}},
	}
}

// row returns the next row to fill. The texts and lists that it refers to must never
// change: the row is encoded later.
func (w *tableWriter[T, R]) row() R { return R(&w.chunk[:len(w.chunk)+1][len(w.chunk)]) }

// commit takes in the row that was filled.
func (w *tableWriter[T, R]) commit(ctx context.Context) error {
	row := w.row()
	key, size := row.Key(), row.Size()
	if w.started && published.CompareKeys(key, w.last) <= 0 {
		return fmt.Errorf("%w: row %+v of table %s follows %+v", ErrOrder, key, w.table, w.last)
	}
	if w.file == nil {
		if err := w.open(key); err != nil {
			return err
		}
	}
	w.chunk = w.chunk[:len(w.chunk)+1]
	w.last, w.started = key, true
	w.chunkBytes += size
	w.groupRows++
	w.groupBytes += size
	w.part.Rows++
	if w.groupRows >= w.layout.RowsPerGroup || w.groupBytes >= w.layout.BytesPerGroup {
		return w.endGroup(ctx)
	}
	if len(w.chunk) == rowsPerChunk || w.chunkBytes >= bytesPerChunk {
		return w.writeChunk()
	}
	return nil
}

// open begins a part whose first row has the given key.
func (w *tableWriter[T, R]) open(first schemas.RowKey) error {
	file, err := bucket.NewSpool(w.exporter.cfg.TempDir)
	if err != nil {
		return err
	}
	w.file = file
	w.part = published.Part{Key: schemas.ObjectKey(w.table, w.ref, len(w.result.Parts)), First: published.KeyOf(w.table, first)}
	w.parquet = newParquetWriter[T](file, w.exporter.codecs, w.table, w.ref)
	return nil
}

func (w *tableWriter[T, R]) writeChunk() error {
	if _, err := w.parquet.Write(w.chunk); err != nil {
		return fmt.Errorf("writing rows of %s: %w", w.part.Key, err)
	}
	clear(w.chunk) // lets go of the page that the rows refer to
	w.chunk, w.chunkBytes = w.chunk[:0], 0
	return nil
}

func (w *tableWriter[T, R]) endGroup(ctx context.Context) error {
	if err := w.writeChunk(); err != nil {
		return err
	}
	if err := w.flushColumns(); err != nil {
		return fmt.Errorf("encoding the columns of %s: %w", w.part.Key, err)
	}
	if err := w.parquet.Flush(); err != nil {
		return fmt.Errorf("ending a row group of %s: %w", w.part.Key, err)
	}
	w.groupRows, w.groupBytes = 0, 0
	w.part.RowGroups++
	if w.part.RowGroups == w.layout.GroupsPerPart {
		return w.endPart(ctx)
	}
	return nil
}

// flushColumns encodes and compresses what is left of each column, side by side. A row group
// is small against its pages: most of it is done here.
func (w *tableWriter[T, R]) flushColumns() error {
	columns := guard.NewGroup()
	columns.SetLimit(w.exporter.cfg.Workers)
	for _, c := range w.parquet.ColumnWriters() {
		columns.Go(c.Flush)
	}
	return columns.Wait()
}

// endPart puts the open part into the bucket.
func (w *tableWriter[T, R]) endPart(ctx context.Context) (err error) {
	if err := w.parquet.Close(); err != nil {
		return fmt.Errorf("ending %s: %w", w.part.Key, err)
	}
	defer func() { err = errors.Join(err, w.close()) }()
	sum, err := w.file.Finish()
	if err != nil {
		return err
	}
	w.part.Bytes, w.part.Last = w.file.Size(), published.KeyOf(w.table, w.last)
	w.part.SetSum(sum)
	if err := w.put(ctx, w.part.Key, w.file.File(), w.part.Bytes, sum); err != nil {
		return err
	}
	w.result.Rows += w.part.Rows
	w.result.Parts = append(w.result.Parts, w.part)
	return nil
}

// finish puts the last part into the bucket and describes the table.
func (w *tableWriter[T, R]) finish(ctx context.Context) (published.Table, error) {
	if w.groupRows > 0 {
		if err := w.endGroup(ctx); err != nil {
			return published.Table{}, err
		}
	}
	if w.file != nil {
		if err := w.endPart(ctx); err != nil {
			return published.Table{}, err
		}
	}
	w.result.Digest, w.result.Root = w.Sum, w.Root()
	if int64(w.Sum.Rows) != w.result.Rows {
		return published.Table{}, fmt.Errorf("table %s has %d rows but a digest of %d", w.table, w.result.Rows, w.Sum.Rows)
	}
	return w.result, nil
}

// close removes the temporary file of an open part.
func (w *tableWriter[T, R]) close() error {
	if w.file == nil {
		return nil
	}
	file := w.file
	w.file, w.parquet = nil, nil
	return file.Close()
}
