package export

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// mismatch is a published object that is not what its manifest says. Verification
// reports it and goes on with the next table.
type mismatch struct{ error }

func mismatchf(format string, args ...any) error { return mismatch{fmt.Errorf(format, args...)} }

// tableReader reads the rows of one table of a segment back from the bucket, part by
// part, and checks each part against the manifest.
type tableReader[T any, R rowOf[T]] struct {
	exporter *Exporter
	table    Table
	progress *progressMeter

	next int // part to open
	part Part
	file *spool
	rows *parquet.GenericReader[T]
	read int64 // rows of the open part

	batch   []T
	at      int
	last    schemas.RowKey
	started bool
}

const rowsPerRead = 64

func newTableReader[T any, R rowOf[T]](e *Exporter, table Table, progress *progressMeter) *tableReader[T, R] {
	return &tableReader[T, R]{exporter: e, table: table, progress: progress}
}

// row returns the next row, which stays valid, or io.EOF. Errors of type mismatch say
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
	if r.started && compareKeys(key, r.last) <= 0 {
		return nil, mismatchf("%s is not sorted: %+v follows %+v", r.part.Key, key, r.last)
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
		return mismatchf("reading %s: %w", r.part.Key, err)
	}
	return nil
}

// open fetches the next part into a temporary file and checks its bytes.
func (r *tableReader[T, R]) open(ctx context.Context) error {
	r.part, r.read = r.table.Parts[r.next], 0
	r.next++
	file, err := r.exporter.fetch(ctx, r.part)
	if err != nil {
		return err
	}
	r.file = file
	opened, err := parquet.OpenFile(file.file, file.size)
	if err != nil {
		return mismatchf("opening %s: %w", r.part.Key, err)
	}
	if got := len(opened.RowGroups()); got != r.part.RowGroups {
		return mismatchf("%s has %d row groups, the manifest says %d", r.part.Key, got, r.part.RowGroups)
	}
	r.rows = parquet.NewGenericReader[T](opened)
	r.progress.object(r.part.Bytes)
	return nil
}

func (r *tableReader[T, R]) endPart() error {
	if r.read != r.part.Rows {
		return mismatchf("%s has %d rows, the manifest says %d", r.part.Key, r.read, r.part.Rows)
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
		errs = append(errs, r.file.close())
	}
	r.rows, r.file = nil, nil
	return errors.Join(errs...)
}

// fetch copies an object into a temporary file and checks its size and SHA-256.
func (e *Exporter) fetch(ctx context.Context, p Part) (*spool, error) {
	want, err := p.sum()
	if err != nil {
		return nil, mismatch{err}
	}
	body, err := e.cfg.Objects.Get(ctx, p.Key, 0, -1)
	if errors.Is(err, bucket.ErrNotFound) {
		return nil, mismatchf("%s is missing", p.Key)
	}
	if err != nil {
		return nil, err
	}
	file, err := newSpool(e.cfg.TempDir)
	if err != nil {
		return nil, errors.Join(err, body.Close())
	}
	sum, err := file.copyFrom(body)
	if err = errors.Join(err, body.Close()); err == nil && (sum != want || file.size != p.Bytes) {
		err = mismatchf("%s has %d bytes with SHA-256 %x, the manifest says %d with %x", p.Key, file.size, sum, p.Bytes, want)
	}
	if err != nil {
		if errors.Is(err, bucket.ErrChecksum) {
			err = mismatch{err}
		}
		return nil, errors.Join(err, file.close())
	}
	return file, nil
}

func (s *spool) copyFrom(body io.Reader) ([sha256.Size]byte, error) {
	if _, err := io.Copy(s, body); err != nil {
		return [sha256.Size]byte{}, fmt.Errorf("copying an object: %w", err)
	}
	return s.finish()
}
