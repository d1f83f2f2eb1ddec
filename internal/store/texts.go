package store

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ClickHouse/ch-go/proto"
)

// texts is String. Unlike the column of ch-go it is read in few large pieces: a text at a
// time costs more than what most texts hold. Their lengths stay in Buf, between the rows.
type texts struct {
	proto.ColStr
}

// maxRoom bounds the room that is made for texts that are only expected.
const maxRoom = 64 << 20

var errTextSize = errors.New("a text of more than 2 GiB")

// DecodeColumn reads a block's rows. Each row that is still to come has at least one byte,
// its length, so that many can be read at once without going beyond the column.
func (c *texts) DecodeColumn(r *proto.Reader, rows int) error {
	in := textReader{from: r, buf: c.Buf[:0], rows: rows}
	c.Pos = slices.Grow(c.Pos[:0], rows)
	for row := range rows {
		p, err := in.next(rows - row)
		if err != nil {
			return fmt.Errorf("row %d: %w", row, err)
		}
		c.Pos = append(c.Pos, p)
	}
	c.Buf = in.buf
	return nil
}

// textReader reads texts with their lengths before them.
type textReader struct {
	from *proto.Reader
	buf  []byte // all that was read
	at   int    // up to where it was looked at
	rows int
}

// next returns where the next text stands in buf. rows counts it and those after it.
func (t *textReader) next(rows int) (proto.Position, error) {
	size, shift := uint64(0), 0
	for {
		if t.at == len(t.buf) {
			if err := t.read(rows, rows); err != nil {
				return proto.Position{}, err
			}
		}
		b := t.buf[t.at]
		t.at++
		size |= uint64(b&0x7f) << shift
		if b < 0x80 {
			break
		}
		if shift += 7; shift > 28 {
			return proto.Position{}, errTextSize
		}
	}
	if size > math.MaxInt32 {
		return proto.Position{}, errTextSize
	}
	p := proto.Position{Start: t.at, End: t.at + int(size)}
	if missing := p.End - len(t.buf); missing > 0 {
		if err := t.read(missing+rows-1, rows); err != nil {
			return p, err
		}
	}
	t.at = p.End
	return p, nil
}

// read reads n bytes more. If there is no room for them it makes room for all rows, should
// those to come be like those before.
func (t *textReader) read(n, rows int) error {
	from := len(t.buf)
	if from+n > cap(t.buf) {
		all := from
		if done := t.rows - rows; done > 0 {
			all = int(float64(t.at) / float64(done) * float64(t.rows) * 1.05)
		}
		t.buf = slices.Grow(t.buf, max(n, min(all-from, maxRoom)))
	}
	t.buf = t.buf[:from+n]
	return t.from.ReadFull(t.buf[from:])
}
