package history

import (
	"sort"
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// nodeIndex is the index of the node's stream. The lock of the store guards it.
type nodeIndex struct {
	Entries     []nodeEntry
	Activations []Activation
	Active      map[uint64]int // contracts that are active or in flight: their last activation
	Tables      NodeTables
}

// NewNodeIndex returns an empty index.
func NewNodeIndex() *nodeIndex { return &nodeIndex{Active: map[uint64]int{}} }

// nodeEntry is the index of one update of the node's stream.
type nodeEntry struct {
	Offset        int64 // of the stream
	frame, record int64 // where bytes and record start in their files
}

// Activation is a time during which a contract is active on the node.
type Activation struct {
	Entry, Event int32 // where its created event is
	// left is the entry of the unassignment that ended it, -1 if it ended otherwise.
	Left     int32
	Counter  int32 // reassignment counter
	Ended    int64 // offset of its end, or never
	Returned int64 // after an unassignment, offset of the assignment, or never
	template int16
	version  uint8
	Domain   uint8 // number of the synchronizer
}

// publish adds a batch to the index. ends are the sizes of the files before it.
func (x *nodeIndex) publish(out *nodeRendered, ends Sizes) {
	first := len(x.Entries)
	for _, e := range out.entries {
		e.frame += ends[NodeFile]
		e.record += ends[NodeRecordFile]
		x.Entries = append(x.Entries, e)
	}
	for i := range out.changes {
		x.change(&out.changes[i], first)
	}
	x.Tables.merge(&out.tables)
}

// change applies a change of the active contracts; entry numbers count from first.
func (x *nodeIndex) change(c *nodeChange, first int) {
	entry := first + c.entry
	offset := x.Entries[entry].Offset
	last, known := x.Active[c.contract]
	switch c.kind {
	case CreatedKind, AssignedKind:
		if known { // it returns from a flight
			x.Activations[last].Returned = offset
		}
		x.Active[c.contract] = len(x.Activations)
		x.Activations = append(x.Activations, Activation{Entry: int32(entry), Event: int32(c.event), Left: -1,
			Counter: c.counter, Ended: sim.Never, Returned: sim.Never, template: int16(c.template), version: c.version, Domain: c.domain})
	case ExercisedKind:
		x.Activations[last].Ended = offset
		delete(x.Active, c.contract)
	case unassignedKind:
		x.Activations[last].Ended, x.Activations[last].Left = offset, int32(entry)
	}
}

// After returns the number of the first entry with an offset above the given one.
func (x *nodeIndex) After(offset int64) int {
	return sort.Search(len(x.Entries), func(i int) bool { return x.Entries[i].Offset > offset })
}

// LedgerEnd is the offset of the last entry of history, seen or not; the caller holds
// the lock.
func (s *Store) LedgerEnd(v *NodeView) int64 {
	if s.Count == 0 {
		return 0
	}
	return v.OffsetOf(uint64(s.Count) - 1)
}

// NodeItem says where an update of the node's stream is.
type NodeItem struct {
	Offset        int64
	Frame, Record Extent
}

// NodeItem returns entry i of the node's stream; the caller holds the lock.
func (s *Store) NodeItem(i int) NodeItem {
	e := s.Node.Entries[i]
	frameEnd, recordEnd := s.Ends[NodeFile], s.Ends[NodeRecordFile]
	if i+1 < len(s.Node.Entries) {
		frameEnd, recordEnd = s.Node.Entries[i+1].frame, s.Node.Entries[i+1].record
	}
	return NodeItem{e.Offset, Extent{s.Files[NodeFile], e.frame, frameEnd - e.frame - 1},
		Extent{s.Files[NodeRecordFile], e.record, recordEnd - e.record}}
}

// TimeAt returns the record time (µs) of the last entry at or below an offset; the
// caller holds the lock.
func (s *Store) TimeAt(v *NodeView, offset int64) int64 {
	i := v.entryAt(offset)
	if i < 0 || s.Count == 0 {
		return v.start
	}
	return s.At(min(i, s.Count-1)).Time
}

// AppendCheckpoint appends what a stream has come to at an offset.
func (s *Store) AppendCheckpoint(dst []byte, v *NodeView, offset int64) []byte {
	s.Mu.RLock()
	t := s.TimeAt(v, offset)
	s.Mu.RUnlock()
	dst = strconv.AppendInt(append(dst, `{"OffsetCheckpoint":{"value":{"offset":`...), offset, 10)
	dst = append(dst, `,"synchronizerTimes":[`...)
	for _, name := range v.Names.Synchronizers {
		dst = schemas.AppendRecordTime(append(dst, `{"recordTime":"`...), schemas.Micros(t))
		dst = append(append(append(dst, `","synchronizerId":"`...), name...), `"},`...)
	}
	return append(model.Closing(dst, ']'), `}}}`...)
}
