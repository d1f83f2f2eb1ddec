package scan

import (
	"context"
	"sync/atomic"
)

// rowSizes remembers about how many bytes a row of some kind takes, so that a page
// can be read from the store in pieces of a known size.
type rowSizes struct{ average atomic.Int64 }

// chunk is how many of the wanted rows to read at once to stay near target bytes.
func (s *rowSizes) chunk(wanted int, target int64) int {
	average := s.average.Load()
	if average == 0 {
		return wanted
	}
	return int(min(int64(wanted), max(1, target/average)))
}

// saw takes in that rows rows took bytes. Larger rows count at once, smaller ones
// gradually: a stretch of large rows is to be met with small pieces.
func (s *rowSizes) saw(rows, bytes int) {
	if rows == 0 {
		return
	}
	seen, average := int64(bytes/rows), s.average.Load()
	if seen < average {
		seen = (average*7 + seen) / 8
	}
	s.average.Store(max(seen, 1))
}

// page renders a list of rows that is read in pieces. R is the type of a row, K that
// of the key after which the next piece begins.
type page[R, K any] struct {
	sizes  *rowSizes
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

// next is a query.Producer.
func (p *page[R, K]) next(ctx context.Context, dst []byte) ([]byte, bool, error) {
	limit := p.sizes.chunk(p.left, p.target)
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
	dst = render(dst, rows, p.sizes.average.Load(), p.write)
	p.rows += len(rows)
	p.sizes.saw(len(rows), len(dst)-before)
	p.left -= len(rows)
	if len(rows) < limit || p.left <= 0 {
		return append(dst, p.close...), false, nil
	}
	p.after = p.key(&rows[len(rows)-1])
	return dst, true, nil
}
