package history

import (
	"io"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// Answer is a body that consists of texts and pieces of the data files.
type Answer struct {
	pieces []piece
	Size   int64
}

// piece is a text, or an extent of a file if that has a size. With a tail, the
// offset member of V1 is put in front of the last tail bytes.
type piece struct {
	text   string
	extent Extent
	tail   uint16
}

func (a *Answer) text(s string) {
	a.pieces = append(a.pieces, piece{text: s})
	a.Size += int64(len(s))
}

// Extent adds a piece of a file.
func (a *Answer) Extent(e Extent) {
	a.pieces = append(a.pieces, piece{extent: e})
	a.Size += e.Size
}

// separator adds a comma in front of all elements of a list but number 0.
func (a *Answer) separator(n int) {
	if n > 0 {
		a.text(`,`)
	}
}

// Item adds the item of entry i; the caller holds the lock of s.
func (a *Answer) Item(s *Store, i int, enc model.Encoding, v1 bool) {
	e := s.At(i)
	a.Extent(s.items(i, i+1, enc))
	if v1 && e.Kind == sim.TransactionUpdate {
		a.pieces[len(a.pieces)-1].tail = e.tail
		a.Size += int64(len(ImportOffset))
	}
}

// event adds the event of entry i; the caller holds the lock of s.
func (a *Answer) event(s *Store, i int, enc model.Encoding) {
	e := s.At(i)
	side := s.sideOf(i)
	before := Extent{side.File, side.Start, int64(e.extras)}
	after := Extent{side.File, side.Start + before.Size, side.Size - before.Size}
	a.text(`{`)
	if before.Size > 0 {
		a.Extent(before)
	}
	if e.HasUpdate() {
		a.text(`"update":`)
		a.Item(s, i, enc, false)
	}
	if after.Size > 0 {
		if e.HasUpdate() {
			a.text(`,`)
		}
		a.Extent(after)
	}
	a.text(`}`)
}

// blockWriters are kept for their buffers.
var blockWriters = sync.Pool{New: func() any { return &blockWriter{block: make([]byte, 0, blockBytes)} }}

// SendTo writes the answer. It needs little memory whatever the size.
func (a *Answer) SendTo(w io.Writer) error {
	out := blockWriters.Get().(*blockWriter)
	defer blockWriters.Put(out)
	out.w, out.err = w, nil
	defer out.release()
	for i := range a.pieces {
		p := &a.pieces[i]
		out.text(p.text)
		if p.extent.Size > 0 {
			out.copy(p.extent.File, p.extent.Start, p.extent.Size-int64(p.tail))
		}
		if p.tail > 0 {
			out.text(ImportOffset)
			out.copy(p.extent.File, p.extent.Start+p.extent.Size-int64(p.tail), int64(p.tail))
		}
	}
	out.flush()
	return out.err
}

// blockWriter gathers what it is given into blocks.
type blockWriter struct {
	w       io.Writer
	block   []byte
	readers [2]BlockReader // an answer draws on two files at most: items and verdicts
	err     error          // first error; all later calls do nothing
}

// release drops what the answer referred to, but keeps the buffers.
func (o *blockWriter) release() {
	o.w = nil
	for i := range o.readers {
		o.readers[i].Close()
	}
}

// reader returns the reader of a file.
func (o *blockWriter) reader(f *blockFile) *BlockReader {
	for i := range o.readers {
		r := &o.readers[i]
		if r.source == nil {
			r.Open(f)
		}
		if r.source == f {
			return r
		}
	}
	o.readers[1].Open(f)
	return &o.readers[1]
}

func (o *blockWriter) text(s string) {
	for len(s) > 0 && o.err == nil {
		n := min(len(s), cap(o.block)-len(o.block))
		o.block = append(o.block, s[:n]...)
		if s = s[n:]; len(s) > 0 {
			o.flush()
		}
	}
}

// copy adds size bytes of a file.
func (o *blockWriter) copy(file *blockFile, start, size int64) {
	if size <= 0 || o.err != nil {
		return
	}
	r := o.reader(file)
	for size > 0 && o.err == nil {
		data, err := r.at(start)
		if err != nil {
			o.err = err
			return
		}
		if len(o.block) == cap(o.block) {
			o.flush()
		}
		n := min(size, int64(len(data)), int64(cap(o.block)-len(o.block)))
		o.block = append(o.block, data[:n]...)
		start, size = start+n, size-n
	}
}

func (o *blockWriter) flush() {
	if o.err == nil && len(o.block) > 0 {
		_, o.err = o.w.Write(o.block)
	}
	o.block = o.block[:0]
}
