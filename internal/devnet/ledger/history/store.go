package history

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// Entry is the index of one entry of the history. Offsets are those of its bytes
// in the data files; the bytes end where those of the next entry start.
type Entry struct {
	Time                    int64 // record time, µs
	protobuf, compact, side int64
	tail                    uint16 // length of a transaction item from record_time on
	extras                  uint16 // length of the side data before the verdict member
	synchronizer            uint8
	Kind                    sim.UpdateKind
	external                bool // has a transaction hash
}

// importEntry is the index of one import update.
type importEntry struct {
	Number uint64 // of the contract
	offset int64
}

// FileNumber numbers the data files.
type FileNumber int

const (
	protobufFile FileNumber = iota
	CompactFile
	sideFile
	importsFile
	NodeFile       // updates as a participant's own stream has them
	NodeRecordFile // and a record of each
	FileCount
)

var FileNames = [FileCount]string{"updates_protobuf", "updates_compact", "verdicts", "imports", "node", "node_records"}

// Sizes are sizes of the data files.
type Sizes [FileCount]int64

// Store holds the rendered history: files to which it appends, and an index in
// memory. Reading and appending may happen at the same time; what is read is
// always a prefix of the history.
type Store struct {
	Names *model.Names
	Files [FileCount]*blockFile // nil for those that are not kept

	Mu         sync.RWMutex
	chunks     [][]Entry
	Count      int
	Ends       Sizes // sizes of what the files hold
	ImportsAt  []importEntry
	Migrations []migration
	tables     Tables
	Node       *nodeIndex    // nil if no participant's view is kept
	Grown      chan struct{} // closed and replaced when a batch becomes visible
}

// migration is the part of the index that belongs to one migration.
type migration struct {
	First int // number of the first entry
	end   int // number after the last entry
	// updates are the numbers of the entries with an update, by synchronizer.
	Updates                 [][]uint32
	lastUpdate, lastVerdict int64 // record times, 0 without any
}

// entriesPerChunk keeps growth from copying the index.
const entriesPerChunk = 1 << 16

// OpenStore creates the data files in dir, but for those that skip names.
func OpenStore(dir string, n *model.Names, skip ...FileNumber) (*Store, error) {
	s := &Store{Names: n, Grown: make(chan struct{})}
	for number, name := range FileNames {
		if slices.Contains(skip, FileNumber(number)) {
			continue
		}
		file, err := os.Create(filepath.Join(dir, name+".s2"))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("creating the data file of devnet: %w", err), s.Close())
		}
		s.Files[number] = &blockFile{file: file}
	}
	return s, nil
}

// Close closes the data files.
func (s *Store) Close() error {
	var errs []error
	for _, f := range s.Files {
		if f != nil {
			errs = append(errs, f.file.Close())
		}
	}
	return errors.Join(errs...)
}

// StartMigration makes the entries to come belong to the next migration.
func (s *Store) StartMigration() {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Migrations = append(s.Migrations, migration{
		First: s.Count, end: s.Count, Updates: make([][]uint32, len(s.Names.Synchronizers)),
	})
}

// End returns the sizes that the files have on disk, behind which the next batch goes.
func (s *Store) End() Sizes {
	var at Sizes
	for i, f := range s.Files {
		if f != nil {
			f.mu.RLock()
			at[i] = f.packed
			f.mu.RUnlock()
		}
	}
	return at
}

// Write writes a packed batch behind the given sizes of the files. Batches may
// be written concurrently and in any order; they become visible by publish.
func (s *Store) Write(out *Rendered, at Sizes) error {
	for i, f := range s.Files {
		if f == nil {
			continue
		}
		if err := f.write(&out.packed[i], at[i]); err != nil {
			return err
		}
	}
	return nil
}

// Behind returns the sizes of the files after out was written at s.
func (s Sizes) Behind(out *Rendered) Sizes {
	for i := range s {
		s[i] += int64(len(out.packed[i].data))
	}
	return s
}

// Publish makes a batch visible that was written. Batches are published in order,
// by one goroutine; all entries belong to the newest migration.
func (s *Store) Publish(out *Rendered) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for i, f := range s.Files {
		if f != nil {
			f.publish(&out.packed[i])
		}
	}
	for _, e := range out.importEntries {
		e.offset += s.Ends[importsFile]
		s.ImportsAt = append(s.ImportsAt, e)
	}
	for _, e := range out.Entries {
		e.protobuf += s.Ends[protobufFile]
		e.compact += s.Ends[CompactFile]
		e.side += s.Ends[sideFile]
		s.index(e)
	}
	if s.Node != nil {
		s.Node.publish(&out.node, s.Ends)
	}
	for i := range s.Ends {
		s.Ends[i] += int64(len(out.data[i]))
	}
	s.tables.Merge(&out.tables)
	close(s.Grown)
	s.Grown = make(chan struct{})
}

// index adds an entry; the caller holds the lock.
func (s *Store) index(e Entry) {
	m := &s.Migrations[len(s.Migrations)-1]
	if e.HasUpdate() {
		m.Updates[e.synchronizer] = append(m.Updates[e.synchronizer], uint32(s.Count))
		m.lastUpdate = e.Time
	}
	if e.hasVerdict() {
		m.lastVerdict = e.Time
	}
	if s.Count%entriesPerChunk == 0 {
		s.chunks = append(s.chunks, make([]Entry, 0, entriesPerChunk))
	}
	last := &s.chunks[len(s.chunks)-1]
	*last = append(*last, e)
	s.Count++
	m.end = s.Count
}

// HasUpdate reports whether public history has an update for the entry.
func (e *Entry) HasUpdate() bool { return e.Kind != sim.VerdictOnly && e.Kind != sim.TopologyUpdate }

func (e *Entry) hasVerdict() bool {
	return e.Kind == sim.TransactionUpdate || e.Kind == sim.VerdictOnly
}

// At returns an entry; the caller holds the lock.
func (s *Store) At(i int) *Entry { return &s.chunks[i/entriesPerChunk][i%entriesPerChunk] }

// offsets returns where the bytes of entry i start, or where the files end if i is
// the number of entries; the caller holds the lock.
func (s *Store) offsets(i int) (protobuf, compact, side int64) {
	if i == s.Count {
		return s.Ends[protobufFile], s.Ends[CompactFile], s.Ends[sideFile]
	}
	e := s.At(i)
	return e.protobuf, e.compact, e.side
}

// search returns the first entry in [first, end) with a record time of at least t,
// or end; the caller holds the lock.
func (s *Store) search(first, end int, t int64) int {
	return first + sort.Search(end-first, func(i int) bool { return s.At(first+i).Time >= t })
}

// Cursor is the position after which a page starts.
type Cursor struct {
	Migration int64
	Time      int64
}

// After returns the first entry behind c, or all entries if c is nil; the caller
// holds the lock.
func (s *Store) After(c *Cursor) int {
	switch {
	case c == nil || c.Migration < 0:
		return 0
	case c.Migration >= int64(len(s.Migrations)):
		return s.Count
	}
	m := &s.Migrations[c.Migration]
	return s.search(m.First, m.end, c.Time+1)
}

// Extent is a piece of a file.
type Extent struct {
	File  *blockFile
	Start int64
	Size  int64
}

// File returns the file that holds the items in one encoding, nil if it was not kept.
func (s *Store) File(enc model.Encoding) *blockFile {
	if enc == model.CompactJSON {
		return s.Files[CompactFile]
	}
	return s.Files[protobufFile]
}

// items returns the extent of the items of the entries first to end, end excluded, separated
// by commas. It is empty for entries without an update. The caller holds the lock.
func (s *Store) items(first, end int, enc model.Encoding) Extent {
	p, c, _ := s.offsets(first)
	pEnd, cEnd, _ := s.offsets(end)
	e := Extent{s.File(enc), p, pEnd - p - 1}
	if enc == model.CompactJSON {
		e.Start, e.Size = c, cEnd-c-1
	}
	e.Size = max(0, e.Size)
	return e
}

// sideOf returns the extent of the side data of entry i; the caller holds the lock.
func (s *Store) sideOf(i int) Extent {
	_, _, start := s.offsets(i)
	_, _, end := s.offsets(i + 1)
	return Extent{s.Files[sideFile], start, end - start}
}

// Digests returns the digests of all rows that were appended.
func (s *Store) Digests() Tables {
	s.Mu.RLock()
	defer s.Mu.RUnlock()
	return s.tables
}
