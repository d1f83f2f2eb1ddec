package archive

import (
	"context"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// tableReader reads the rows of one table of a segment back from the bucket, part by
// part, and checks each part against the manifest.
type tableReader[T any, R published.RowOf[T]] struct {
	parts Parts
	table published.Table
	// onPart, if set, is called with the size of each part that was fetched.
	onPart func(bytes int64)

	next int // part to open
	part published.Part
	file *bucket.Spool
	rows *parquet.GenericReader[T]
	read int64 // rows of the open part

	batch   []T
	at      int
	last    schemas.RowKey
	started bool
}

const rowsPerRead = 64

func newTableReader[T any, R published.RowOf[T]](parts Parts, table published.Table, onPart func(bytes int64)) *tableReader[T, R] {
	return &tableReader[T, R]{parts: parts, table: table, onPart: onPart}
}

// row returns the next row, which stays valid, or io.EOF. Errors of type Mismatch say
// what is wrong with the object.
func (r *tableReader[T, R]) row(ctx context.Context) (R, error) {
	for r.at == len(r.batch) {
		if err := r.fill(ctx); err != nil {
			return nil, err
		}
	}
	row := R(&r.batch[r.at])
	r.at++
	key := row.Key()
	if r.started && published.CompareKeys(key, r.last) <= 0 {
		return nil, published.Mismatchf("%s is not sorted: %+v follows %+v", r.part.Key, key, r.last)
	}
	r.last, r.started = key, true
	return row, nil
}

// fill reads the next rows of the open part, or opens the next one.
func (r *tableReader[T, R]) fill(ctx context.Context) error {
	if r.rows == nil {
		if r.next == len(r.table.Parts) {
			return io.EOF
		}
		return r.open(ctx)
	}
	batch := make([]T, rowsPerRead) // new, because the last rows stay valid
	n, err := r.rows.Read(batch)
	r.batch, r.at = batch[:n], 0
	r.read += int64(n)
	switch {
	case errors.Is(err, io.EOF):
		return r.endPart()
	case err != nil:
		return published.Mismatchf("reading %s: %w", r.part.Key, err)
	}
	return nil
}

// open fetches the next part into a temporary file and checks its bytes.
func (r *tableReader[T, R]) open(ctx context.Context) error {
	r.part, r.read = r.table.Parts[r.next], 0
	r.next++
	file, err := r.parts.fetch(ctx, r.part)
	if err != nil {
		return err
	}
	r.file = file
	opened, err := parquet.OpenFile(file.File(), file.Size())
	if err != nil {
		return published.Mismatchf("opening %s: %w", r.part.Key, err)
	}
	if got := len(opened.RowGroups()); got != r.part.RowGroups {
		return published.Mismatchf("%s has %d row groups, the manifest says %d", r.part.Key, got, r.part.RowGroups)
	}
	r.rows = parquet.NewGenericReader[T](opened)
	if r.onPart != nil {
		r.onPart(r.part.Bytes)
	}
	return nil
}

func (r *tableReader[T, R]) endPart() error {
	if r.read != r.part.Rows {
		return published.Mismatchf("%s has %d rows, the manifest says %d", r.part.Key, r.read, r.part.Rows)
	}
	return r.close()
}

// close removes the temporary file of the open part.
func (r *tableReader[T, R]) close() error {
	var errs []error
	if r.rows != nil {
		errs = append(errs, r.rows.Close())
	}
	if r.file != nil {
		errs = append(errs, r.file.Close())
	}
	r.rows, r.file = nil, nil
	return errors.Join(errs...)
}
