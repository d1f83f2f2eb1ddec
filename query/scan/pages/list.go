// Package pages answers with lists that are read from the store piece by piece, so that memory is
// bounded whatever the size of a list.
package pages

import (
	"context"

	"github.com/ledgerlake/ledgerlake/query"
)

// List renders a list of rows that is read in pieces. R is the type of a row, K that
// of the key after which the next piece begins.
type List[R, K any] struct {
	// Sizes are those of rows as text, Target about how many bytes of them are read at a time.
	Sizes  *query.Sizes
	Target int64
	// Read returns up to limit rows after a key; fewer mean that there are no more.
	Read func(ctx context.Context, after K, limit int) ([]R, error)
	// Write must be safe for concurrent use.
	Write func(dst []byte, row *R) []byte
	Key   func(row *R) K
	// Open and Close enclose the list.
	Open, Close string
	// Ended, unless it is nil, is called when the last row has been read.
	Ended func()
	// After is where the next piece begins, Left how many rows it and those behind it have.
	After K
	Left  int

	started bool
	rows    int
}

const (
	// pageOverhead is what a page takes whatever its size.
	pageOverhead = 256 << 10
	// RowsFactor is how many times the size of their text rows take that were read.
	RowsFactor = 3
)

// memory is about how much the page takes: the rows of a piece and the text of all of them, of
// which most is gathered.
func (p *List[R, K]) memory(most int) int64 {
	text := p.Sizes.Of(p.Left)
	return pageOverhead + RowsFactor*min(text, p.Target) + 5*min(text, int64(most))/4 // with room to grow
}

// Produce answers with a page, once there is memory for it.
func (p *List[R, K]) Produce(ctx context.Context, r *query.Request) error {
	ctx, err := r.Reserve(ctx, p.memory(r.MaxPageBytes()))
	if err != nil {
		return err
	}
	return r.Produce(ctx, p.next)
}

// next is a query.Producer.
func (p *List[R, K]) next(ctx context.Context, dst []byte) ([]byte, bool, error) {
	limit := p.Sizes.Chunk(p.Left, p.Target)
	rows, err := p.Read(ctx, p.After, limit)
	if err != nil {
		return dst, false, err
	}
	if !p.started {
		dst = append(dst, p.Open...)
		p.started = true
	}
	before := len(dst)
	if p.rows > 0 && len(rows) > 0 {
		dst = append(dst, ',')
	}
	dst = render(dst, rows, p.Sizes.Average(), p.Write)
	p.rows += len(rows)
	p.Sizes.Saw(len(rows), len(dst)-before)
	p.Left -= len(rows)
	if len(rows) < limit || p.Left <= 0 {
		if p.Ended != nil {
			p.Ended()
		}
		return append(dst, p.Close...), false, nil
	}
	p.After = p.Key(&rows[len(rows)-1])
	return dst, true, nil
}
