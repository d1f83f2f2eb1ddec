package devnet

import (
	"io"
	"sync"
)

// answer is a body that consists of texts and pieces of the data files.
type answer struct {
	pieces []piece
	size   int64
}

// piece is a text, or an extent of a file if that has a size. With a tail, the
// offset member of V1 is put in front of the last tail bytes.
type piece struct {
	text   string
	extent extent
	tail   uint16
}

func (a *answer) text(s string) {
	a.pieces = append(a.pieces, piece{text: s})
	a.size += int64(len(s))
}

func (a *answer) extent(e extent) {
	a.pieces = append(a.pieces, piece{extent: e})
	a.size += e.size
}

// separator adds a comma in front of all elements of a list but number 0.
func (a *answer) separator(n int) {
	if n > 0 {
		a.text(`,`)
	}
}

// item adds the item of entry i; the caller holds the lock of s.
func (a *answer) item(s *store, i int, enc encoding, v1 bool) {
	e := s.at(i)
	a.extent(s.item(i, enc))
	if v1 && e.kind == transactionUpdate {
		a.pieces[len(a.pieces)-1].tail = e.tail
		a.size += int64(len(importOffset))
	}
}

// run adds the items of the entries first to end, end excluded, separated by commas.
func (a *answer) run(s *store, first, end int, enc encoding) {
	pFirst, cFirst, _ := s.offsets(first)
	pEnd, cEnd, _ := s.offsets(end)
	e := extent{s.file(enc), pFirst, pEnd - pFirst - 1}
	if enc == compactJSON {
		e.start, e.size = cFirst, cEnd-cFirst-1
	}
	if e.size > 0 {
		a.extent(e)
	}
}

// event adds the event of entry i; the caller holds the lock of s.
func (a *answer) event(s *store, i int, enc encoding) {
	e := s.at(i)
	side := s.sideOf(i)
	before := extent{side.file, side.start, int64(e.extras)}
	after := extent{side.file, side.start + before.size, side.size - before.size}
	a.text(`{`)
	if before.size > 0 {
		a.extent(before)
	}
	if e.hasUpdate() {
		a.text(`"update":`)
		a.item(s, i, enc, false)
	}
	if after.size > 0 {
		if e.hasUpdate() {
			a.text(`,`)
		}
		a.extent(after)
	}
	a.text(`}`)
}

// blockWriters are kept for their buffers.
var blockWriters = sync.Pool{New: func() any { return &blockWriter{block: make([]byte, 0, blockBytes)} }}

// writeTo writes the answer. It needs little memory whatever the size.
func (a *answer) writeTo(w io.Writer) error {
	out := blockWriters.Get().(*blockWriter)
	defer blockWriters.Put(out)
	out.w, out.err = w, nil
	defer out.release()
	for i := range a.pieces {
		p := &a.pieces[i]
		out.text(p.text)
		if p.extent.size > 0 {
			out.copy(p.extent.file, p.extent.start, p.extent.size-int64(p.tail))
		}
		if p.tail > 0 {
			out.text(importOffset)
			out.copy(p.extent.file, p.extent.start+p.extent.size-int64(p.tail), int64(p.tail))
		}
	}
	out.flush()
	return out.err
}

// blockWriter gathers what it is given into blocks.
type blockWriter struct {
	w       io.Writer
	block   []byte
	readers [2]blockReader // an answer draws on two files at most: items and verdicts
	err     error          // first error; all later calls do nothing
}

// release drops what the answer referred to, but keeps the buffers.
func (o *blockWriter) release() {
	o.w = nil
	for i := range o.readers {
		o.readers[i].close()
	}
}

// reader returns the reader of a file.
func (o *blockWriter) reader(f *blockFile) *blockReader {
	for i := range o.readers {
		r := &o.readers[i]
		if r.source == nil {
			r.open(f)
		}
		if r.source == f {
			return r
		}
	}
	o.readers[1].open(f)
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
