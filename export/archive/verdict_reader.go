package archive

import (
	"context"
	"errors"
	"io"

	"github.com/ledgerlake/ledgerlake/internal/published"
	"github.com/ledgerlake/ledgerlake/schemas"
)

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
