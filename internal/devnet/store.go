package devnet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"
)

// entry is the index of one entry of the history. Offsets are those of its bytes
// in the data files; the bytes end where those of the next entry start.
type entry struct {
	time                    int64 // record time, µs
	protobuf, compact, side int64
	tail                    uint16 // length of a transaction item from record_time on
	extras                  uint16 // length of the side data before the verdict member
	synchronizer            uint8
	kind                    updateKind
	external                bool // has a transaction hash
}

// importEntry is the index of one import update.
type importEntry struct {
	number uint64 // of the contract
	offset int64
}

// fileNumber numbers the data files.
type fileNumber int

const (
	protobufFile fileNumber = iota
	compactFile
	sideFile
	importsFile
	nodeFile       // updates as a participant's own stream has them
	nodeRecordFile // and a record of each
	fileCount
)

var fileNames = [fileCount]string{"updates_protobuf", "updates_compact", "verdicts", "imports", "node", "node_records"}

// sizes are sizes of the data files.
type sizes [fileCount]int64

// store holds the rendered history: files to which it appends, and an index in
// memory. Reading and appending may happen at the same time; what is read is
// always a prefix of the history.
type store struct {
	names *names
	files [fileCount]*blockFile // nil for those that are not kept

	mu         sync.RWMutex
	chunks     [][]entry
	count      int
	ends       sizes // sizes of what the files hold
	importsAt  []importEntry
	migrations []migration
	tables     tables
	node       *nodeIndex    // nil if no participant's view is kept
	grown      chan struct{} // closed and replaced when a batch becomes visible
}

// migration is the part of the index that belongs to one migration.
type migration struct {
	first int // number of the first entry
	end   int // number after the last entry
	// updates are the numbers of the entries with an update, by synchronizer.
	updates                 [][]uint32
	lastUpdate, lastVerdict int64 // record times, 0 without any
}

// entriesPerChunk keeps growth from copying the index.
const entriesPerChunk = 1 << 16

// openStore creates the data files in dir, but for those that skip names.
func openStore(dir string, n *names, skip ...fileNumber) (*store, error) {
	s := &store{names: n, grown: make(chan struct{})}
	for number, name := range fileNames {
		if slices.Contains(skip, fileNumber(number)) {
			continue
		}
		file, err := os.Create(filepath.Join(dir, name+".s2"))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("creating data file of devnet: %w", err), s.close())
		}
		s.files[number] = &blockFile{file: file}
	}
	return s, nil
}

func (s *store) close() error {
	var errs []error
	for _, f := range s.files {
		if f != nil {
			errs = append(errs, f.file.Close())
		}
	}
	return errors.Join(errs...)
}

// startMigration makes the entries to come belong to the next migration.
func (s *store) startMigration() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.migrations = append(s.migrations, migration{
		first: s.count, end: s.count, updates: make([][]uint32, len(s.names.synchronizers)),
	})
}

// end returns the sizes that the files have on disk, behind which the next batch goes.
func (s *store) end() sizes {
	var at sizes
	for i, f := range s.files {
		if f != nil {
			f.mu.RLock()
			at[i] = f.packed
			f.mu.RUnlock()
		}
	}
	return at
}

// write writes a packed batch behind the given sizes of the files. Batches may
// be written concurrently and in any order; they become visible by publish.
func (s *store) write(out *rendered, at sizes) error {
	for i, f := range s.files {
		if f == nil {
			continue
		}
		if err := f.write(&out.packed[i], at[i]); err != nil {
			return err
		}
	}
	return nil
}

// behind returns the sizes of the files after out was written at s.
func (s sizes) behind(out *rendered) sizes {
	for i := range s {
		s[i] += int64(len(out.packed[i].data))
	}
	return s
}

// publish makes a batch visible that was written. Batches are published in order,
// by one goroutine; all entries belong to the newest migration.
func (s *store) publish(out *rendered) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.files {
		if f != nil {
			f.publish(&out.packed[i])
		}
	}
	for _, e := range out.importEntries {
		e.offset += s.ends[importsFile]
		s.importsAt = append(s.importsAt, e)
	}
	for _, e := range out.entries {
		e.protobuf += s.ends[protobufFile]
		e.compact += s.ends[compactFile]
		e.side += s.ends[sideFile]
		s.index(e)
	}
	if s.node != nil {
		s.node.publish(&out.node, s.ends)
	}
	for i := range s.ends {
		s.ends[i] += int64(len(out.data[i]))
	}
	s.tables.merge(&out.tables)
	close(s.grown)
	s.grown = make(chan struct{})
}

// index adds an entry; the caller holds the lock.
func (s *store) index(e entry) {
	m := &s.migrations[len(s.migrations)-1]
	if e.hasUpdate() {
		m.updates[e.synchronizer] = append(m.updates[e.synchronizer], uint32(s.count))
		m.lastUpdate = e.time
	}
	if e.hasVerdict() {
		m.lastVerdict = e.time
	}
	if s.count%entriesPerChunk == 0 {
		s.chunks = append(s.chunks, make([]entry, 0, entriesPerChunk))
	}
	last := &s.chunks[len(s.chunks)-1]
	*last = append(*last, e)
	s.count++
	m.end = s.count
}

// hasUpdate reports whether public history has an update for the entry.
func (e *entry) hasUpdate() bool { return e.kind != verdictOnly && e.kind != topologyUpdate }

func (e *entry) hasVerdict() bool { return e.kind == transactionUpdate || e.kind == verdictOnly }

// at returns an entry; the caller holds the lock.
func (s *store) at(i int) *entry { return &s.chunks[i/entriesPerChunk][i%entriesPerChunk] }

// offsets returns where the bytes of entry i start, or where the files end if i is
// the number of entries; the caller holds the lock.
func (s *store) offsets(i int) (protobuf, compact, side int64) {
	if i == s.count {
		return s.ends[protobufFile], s.ends[compactFile], s.ends[sideFile]
	}
	e := s.at(i)
	return e.protobuf, e.compact, e.side
}

// search returns the first entry in [first, end) with a record time of at least t,
// or end; the caller holds the lock.
func (s *store) search(first, end int, t int64) int {
	return first + sort.Search(end-first, func(i int) bool { return s.at(first+i).time >= t })
}

// cursor is the position after which a page starts.
type cursor struct {
	migration int64
	time      int64
}

// after returns the first entry behind c, or all entries if c is nil; the caller
// holds the lock.
func (s *store) after(c *cursor) int {
	switch {
	case c == nil || c.migration < 0:
		return 0
	case c.migration >= int64(len(s.migrations)):
		return s.count
	}
	m := &s.migrations[c.migration]
	return s.search(m.first, m.end, c.time+1)
}

// extent is a piece of a file.
type extent struct {
	file  *blockFile
	start int64
	size  int64
}

// file returns the file that holds the items in one encoding, nil if it was not kept.
func (s *store) file(enc encoding) *blockFile {
	if enc == compactJSON {
		return s.files[compactFile]
	}
	return s.files[protobufFile]
}

// item returns the extent of the item of entry i without its comma, empty for an
// entry without an update; the caller holds the lock.
func (s *store) item(i int, enc encoding) extent {
	p, c, _ := s.offsets(i)
	pEnd, cEnd, _ := s.offsets(i + 1)
	e := extent{s.file(enc), p, pEnd - p - 1}
	if enc == compactJSON {
		e.start, e.size = c, cEnd-c-1
	}
	e.size = max(0, e.size)
	return e
}

// sideOf returns the extent of the side data of entry i; the caller holds the lock.
func (s *store) sideOf(i int) extent {
	_, _, start := s.offsets(i)
	_, _, end := s.offsets(i + 1)
	return extent{s.files[sideFile], start, end - start}
}

// digests returns the digests of all rows that were appended.
func (s *store) digests() tables {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.tables
}
