package node

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
)

// spool sorts any number of entries by id in bounded memory. Entries are collected in
// memory; whenever that is full they are sorted and written to a temporary file as a run.
// In the end the runs are merged.
type spool struct {
	dir   string
	limit int64

	buf     []byte
	entries []spooled
	file    *os.File
	size    int64
	runs    []run
	count   int
}

// spooled is where an entry lies in the buffer.
type spooled struct {
	start, body, end int // the id is [start, body), the content [body, end)
	counter          int64
}

// run is a sorted part of the file.
type run struct{ offset, size int64 }

// entryCost is the memory that an entry takes in addition to its bytes.
const entryCost = 48

func newSpool(dir string, limit int64) *spool { return &spool{dir: dir, limit: limit} }

// close removes the temporary file.
func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	name := s.file.Name()
	err := s.file.Close()
	if removal := os.Remove(name); err == nil {
		err = removal
	}
	s.file = nil
	if err != nil {
		return fmt.Errorf("removing the spool of active contracts: %w", err)
	}
	return nil
}

// reset forgets all entries.
func (s *spool) reset() {
	s.buf, s.entries, s.runs, s.size, s.count = s.buf[:0], s.entries[:0], nil, 0, 0
}

// add takes an entry.
func (s *spool) add(id string, counter int64, content []byte) error {
	full := int64(len(s.buf)+len(id)+len(content)+entryCost*(len(s.entries)+1)) > s.limit
	if full && len(s.entries) > 0 {
		if err := s.flush(); err != nil {
			return err
		}
	}
	start := len(s.buf)
	s.buf = append(append(s.buf, id...), content...)
	s.entries = append(s.entries, spooled{start: start, body: start + len(id), end: len(s.buf), counter: counter})
	s.count++
	return nil
}

func (s *spool) sort() {
	slices.SortStableFunc(s.entries, func(a, b spooled) int {
		return bytes.Compare(s.buf[a.start:a.body], s.buf[b.start:b.body])
	})
}

// flush writes what is in memory to the file.
func (s *spool) flush() error {
	if s.file == nil {
		file, err := os.CreateTemp(s.dir, "ledgerlake-active-*")
		if err != nil {
			return fmt.Errorf("spooling active contracts: %w", err)
		}
		s.file = file
	}
	s.sort()
	w := bufio.NewWriterSize(io.NewOffsetWriter(s.file, s.size), 256<<10)
	size := int64(0)
	var head []byte
	for _, e := range s.entries {
		head = binary.AppendUvarint(head[:0], uint64(e.body-e.start))
		head = binary.AppendUvarint(head, uint64(e.counter))
		head = binary.AppendUvarint(head, uint64(e.end-e.body))
		for _, part := range [...][]byte{head, s.buf[e.start:e.end]} {
			n, err := w.Write(part)
			size += int64(n)
			if err != nil {
				return fmt.Errorf("spooling active contracts to %s: %w", s.file.Name(), err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("spooling active contracts to %s: %w", s.file.Name(), err)
	}
	s.runs = append(s.runs, run{s.size, size})
	s.size += size
	s.buf, s.entries = s.buf[:0], s.entries[:0]
	return nil
}

// stored is an entry as it comes back. Its content is the reader's own.
type stored struct {
	id      string
	counter int64
	content []byte
}

// merge calls take for all entries by ascending id; those of one id come together, in
// no particular order.
func (s *spool) merge(take func(e stored) error) error {
	s.sort()
	queue := mergeQueue{}
	if len(s.entries) > 0 {
		queue = append(queue, &source{next: s.fromMemory()})
	}
	for _, r := range s.runs {
		size := max(4<<10, min(64<<10, int(s.limit)/(len(s.runs)+1)))
		reader := bufio.NewReaderSize(io.NewSectionReader(s.file, r.offset, r.size), size)
		queue = append(queue, &source{next: func() (stored, error) { return readStored(reader) }})
	}
	for _, src := range queue {
		if err := src.advance(); err != nil {
			return err // no run is empty
		}
	}
	heap.Init(&queue)
	for len(queue) > 0 {
		first := queue[0]
		if err := take(first.head); err != nil {
			return err
		}
		switch err := first.advance(); {
		case err == nil:
			heap.Fix(&queue, 0)
		case err == io.EOF:
			heap.Pop(&queue)
		default:
			return err
		}
	}
	return nil
}

// fromMemory returns the entries that never went to the file.
func (s *spool) fromMemory() func() (stored, error) {
	i := 0
	return func() (stored, error) {
		if i == len(s.entries) {
			return stored{}, io.EOF
		}
		e := s.entries[i]
		i++
		return stored{string(s.buf[e.start:e.body]), e.counter, bytes.Clone(s.buf[e.body:e.end])}, nil
	}
}

// readStored reads what flush wrote. It returns io.EOF after the last entry.
func readStored(r *bufio.Reader) (stored, error) {
	var head [3]uint64
	for i := range head {
		n, err := binary.ReadUvarint(r)
		if err == io.EOF && i == 0 {
			return stored{}, io.EOF
		}
		if err != nil {
			return stored{}, fmt.Errorf("reading the spool of active contracts: %w", err)
		}
		head[i] = n
	}
	text := make([]byte, head[0]+head[2])
	if _, err := io.ReadFull(r, text); err != nil {
		return stored{}, fmt.Errorf("reading the spool of active contracts: %w", err)
	}
	return stored{string(text[:head[0]]), int64(head[1]), text[head[0]:]}, nil
}

// source is a run being merged.
type source struct {
	head stored
	next func() (stored, error)
}

func (s *source) advance() (err error) {
	s.head, err = s.next()
	return err
}

// mergeQueue has the source with the lowest id first.
type mergeQueue []*source

func (q mergeQueue) Len() int           { return len(q) }
func (q mergeQueue) Less(i, j int) bool { return q[i].head.id < q[j].head.id }
func (q mergeQueue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *mergeQueue) Push(x any)        { *q = append(*q, x.(*source)) }
func (q *mergeQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
