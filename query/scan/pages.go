package scan

import (
	"context"

	"github.com/ledgerlake/ledgerlake/query"
)

// page renders a list of rows that is read in pieces. R is the type of a row, K that
// of the key after which the next piece begins.
type page[R, K any] struct {
	sizes  *query.Sizes
	target int64
	// read returns up to limit rows after a key; fewer mean that there are no more.
	read func(ctx context.Context, after K, limit int) ([]R, error)
	// write must be safe for concurrent use.
	write func(dst []byte, row *R) []byte
	key   func(row *R) K
	// open and close enclose the list.
	open, close string

	after   K
	left    int
	started bool
	rows    int
}

const (
	// pageOverhead is what a page takes whatever its size.
	pageOverhead = 256 << 10
	// rowsFactor is how many times the size of their text rows take that were read.
	rowsFactor = 3
)

// memory is about how much the page takes: the rows of a piece and the text of all of them, of
// which most is gathered.
func (p *page[R, K]) memory(most int) int64 {
	text := p.sizes.Of(p.left)
	return pageOverhead + rowsFactor*min(text, p.target) + 5*min(text, int64(most))/4 // with room to grow
}

// produce answers with a page, once there is memory for it.
func produce[R, K any](ctx context.Context, r *query.Request, p *page[R, K]) error {
	return produceBy(ctx, r, p, p.next)
}

// produceBy is produce with a Producer around that of the page.
func produceBy[R, K any](ctx context.Context, r *query.Request, p *page[R, K], next query.Producer) error {
	ctx, err := r.Reserve(ctx, query.Page, p.memory(r.MaxPageBytes()))
	if err != nil {
		return err
	}
	return r.Produce(ctx, next)
}

// next is a query.Producer.
func (p *page[R, K]) next(ctx context.Context, dst []byte) ([]byte, bool, error) {
	limit := p.sizes.Chunk(p.left, p.target)
	rows, err := p.read(ctx, p.after, limit)
	if err != nil {
		return dst, false, err
	}
	if !p.started {
		dst = append(dst, p.open...)
		p.started = true
	}
	before := len(dst)
	if p.rows > 0 && len(rows) > 0 {
		dst = append(dst, ',')
	}
	dst = render(dst, rows, p.sizes.Average(), p.write)
	p.rows += len(rows)
	p.sizes.Saw(len(rows), len(dst)-before)
	p.left -= len(rows)
	if len(rows) < limit || p.left <= 0 {
		return append(dst, p.close...), false, nil
	}
	p.after = p.key(&rows[len(rows)-1])
	return dst, true, nil
}
