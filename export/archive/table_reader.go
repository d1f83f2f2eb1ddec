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

// updateReader rebuilds the updates of a segment from tables updates and events, which
// have the same order.
type updateReader struct {
	segment schemas.SegmentRef
	updates *tableReader[schemas.UpdateRow, *schemas.UpdateRow]
	events  *tableReader[schemas.EventRow, *schemas.EventRow]
	mine    []schemas.EventRow
}

func newUpdateReader(parts Parts, m *published.Manifest, onPart func(bytes int64)) *updateReader {
	return &updateReader{
		segment: m.Ref(),
		updates: newTableReader[schemas.UpdateRow](parts, m.Table(schemas.ParquetUpdates), onPart),
		events:  newTableReader[schemas.EventRow](parts, m.Table(schemas.ParquetEvents), onPart),
	}
}

// next returns the next update, which stays valid, or io.EOF once both tables have
// ended. Errors of type Mismatch say what is wrong with the objects.
func (r *updateReader) next(ctx context.Context) (*schemas.Update, error) {
	row, err := r.updates.row(ctx)
	if errors.Is(err, io.EOF) {
		return nil, r.noMoreEvents(ctx)
	}
	if err != nil {
		return nil, err
	}
	r.mine = r.mine[:0]
	for range row.EventCount {
		event, err := r.events.row(ctx)
		if errors.Is(err, io.EOF) {
			return nil, published.Mismatchf("events of update %s are missing from segment %s", row.UpdateID, r.segment)
		}
		if err != nil {
			return nil, err
		}
		r.mine = append(r.mine, *event)
	}
	u, err := row.Update(r.mine)
	if err != nil {
		return nil, published.AsMismatch(err)
	}
	return &u, nil
}

// noMoreEvents returns io.EOF, or what is wrong with an event that has no update.
func (r *updateReader) noMoreEvents(ctx context.Context) error {
	event, err := r.events.row(ctx)
	if err != nil {
		return err
	}
	return published.Mismatchf("event %d of update %s belongs to no update of segment %s", event.Node, event.UpdateID, r.segment)
}

func (r *updateReader) close() error { return errors.Join(r.updates.close(), r.events.close()) }

// verdictReader rebuilds the verdicts of a segment with their side data from tables
// verdicts, traffic and app_activity, which have the same order.
type verdictReader struct {
	segment  schemas.SegmentRef
	verdicts *tableReader[schemas.VerdictRow, *schemas.VerdictRow]
	traffic  *peeked[schemas.TrafficRow, *schemas.TrafficRow]
	activity *peeked[schemas.AppActivityRow, *schemas.AppActivityRow]
}

func newVerdictReader(parts Parts, m *published.Manifest, onPart func(bytes int64)) *verdictReader {
	return &verdictReader{
		segment:  m.Ref(),
		verdicts: newTableReader[schemas.VerdictRow](parts, m.Table(schemas.ParquetVerdicts), onPart),
		traffic: &peeked[schemas.TrafficRow, *schemas.TrafficRow]{
			rows: newTableReader[schemas.TrafficRow](parts, m.Table(schemas.ParquetTraffic), onPart)},
		activity: &peeked[schemas.AppActivityRow, *schemas.AppActivityRow]{
			rows: newTableReader[schemas.AppActivityRow](parts, m.Table(schemas.ParquetAppActivity), onPart)},
	}
}

// next returns the next verdict, or io.EOF once all three tables have ended.
func (r *verdictReader) next(ctx context.Context) (*schemas.Item, error) {
	row, err := r.verdicts.row(ctx)
	if errors.Is(err, io.EOF) {
		return nil, r.noMoreSideData(ctx)
	}
	if err != nil {
		return nil, err
	}
	verdict := row.Verdict()
	it := &schemas.Item{Verdict: &verdict}
	traffic, err := r.traffic.take(ctx, row.Key())
	if err != nil {
		return nil, err
	}
	if traffic != nil {
		t := traffic.Traffic()
		it.Traffic = &t
	}
	activity, err := r.activity.take(ctx, row.Key())
	if err != nil {
		return nil, err
	}
	if activity != nil {
		a := activity.AppActivity()
		it.AppActivity = &a
	}
	return it, nil
}

// noMoreSideData returns io.EOF, or what is wrong with side data that has no verdict.
func (r *verdictReader) noMoreSideData(ctx context.Context) error {
	traffic, err := r.traffic.peek(ctx)
	if err != nil {
		return err
	}
	activity, err := r.activity.peek(ctx)
	if err != nil {
		return err
	}
	if traffic != nil || activity != nil {
		return published.Mismatchf("traffic or app activity of segment %s belongs to no verdict", r.segment)
	}
	return io.EOF
}

func (r *verdictReader) close() error {
	return errors.Join(r.verdicts.close(), r.traffic.rows.close(), r.activity.rows.close())
}

// peeked reads rows of a table that goes along with another one.
type peeked[T any, R published.RowOf[T]] struct {
	rows *tableReader[T, R]
	head R
	read bool // head is the next row, or nil at the end
}

// peek returns the next row without taking it, nil at the end.
func (p *peeked[T, R]) peek(ctx context.Context) (R, error) {
	if p.read {
		return p.head, nil
	}
	row, err := p.rows.row(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	p.head, p.read = row, true // row is nil at the end
	return row, nil
}

// take returns the next row if it has the given key, else nil. A row that stands
// before the key belongs to nothing.
func (p *peeked[T, R]) take(ctx context.Context, key schemas.RowKey) (R, error) {
	row, err := p.peek(ctx)
	if err != nil || row == nil {
		return nil, err
	}
	switch order := published.CompareKeys(row.Key(), key); {
	case order > 0:
		return nil, nil
	case order < 0:
		return nil, published.Mismatchf("a row of table %s, %+v, belongs to no verdict", p.rows.table.Name, row.Key())
	}
	p.read = false
	return row, nil
}
