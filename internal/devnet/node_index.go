package devnet

import (
	"sort"
)

// nodeIndex is the index of the node's stream. The lock of the store guards it.
type nodeIndex struct {
	entries     []nodeEntry
	activations []activation
	active      map[uint64]int // contracts that are active or in flight: their last activation
	tables      nodeTables
}

func newNodeIndex() *nodeIndex { return &nodeIndex{active: map[uint64]int{}} }

// nodeEntry is the index of one update of the node's stream.
type nodeEntry struct {
	offset        int64 // of the stream
	frame, record int64 // where bytes and record start in their files
}

// activation is a time during which a contract is active on the node.
type activation struct {
	entry, event int32 // where its created event is
	// left is the entry of the unassignment that ended it, -1 if it ended otherwise.
	left     int32
	counter  int32 // reassignment counter
	ended    int64 // offset of its end, or never
	returned int64 // after an unassignment, offset of the assignment, or never
	template int16
	version  uint8
	domain   uint8 // number of the synchronizer
}

// publish adds a batch to the index. ends are the sizes of the files before it.
func (x *nodeIndex) publish(out *nodeRendered, ends sizes) {
	first := len(x.entries)
	for _, e := range out.entries {
		e.frame += ends[nodeFile]
		e.record += ends[nodeRecordFile]
		x.entries = append(x.entries, e)
	}
	for i := range out.changes {
		x.change(&out.changes[i], first)
	}
	x.tables.merge(&out.tables)
}

// change applies a change of the active contracts; entry numbers count from first.
func (x *nodeIndex) change(c *nodeChange, first int) {
	entry := first + c.entry
	offset := x.entries[entry].offset
	last, known := x.active[c.contract]
	switch c.kind {
	case createdKind, assignedKind:
		if known { // it returns from a flight
			x.activations[last].returned = offset
		}
		x.active[c.contract] = len(x.activations)
		x.activations = append(x.activations, activation{entry: int32(entry), event: int32(c.event), left: -1,
			counter: c.counter, ended: never, returned: never, template: int16(c.template), version: c.version, domain: c.domain})
	case exercisedKind:
		x.activations[last].ended = offset
		delete(x.active, c.contract)
	case unassignedKind:
		x.activations[last].ended, x.activations[last].left = offset, int32(entry)
	}
}

// after returns the number of the first entry with an offset above the given one.
func (x *nodeIndex) after(offset int64) int {
	return sort.Search(len(x.entries), func(i int) bool { return x.entries[i].offset > offset })
}

// ledgerEnd is the offset of the last entry of history, seen or not; the caller holds
// the lock.
func (s *store) ledgerEnd(v *nodeView) int64 {
	if s.count == 0 {
		return 0
	}
	return v.offsetOf(uint64(s.count) - 1)
}

// nodeItem says where an update of the node's stream is.
type nodeItem struct {
	offset        int64
	frame, record extent
}

// nodeItem returns entry i of the node's stream; the caller holds the lock.
func (s *store) nodeItem(i int) nodeItem {
	e := s.node.entries[i]
	frameEnd, recordEnd := s.ends[nodeFile], s.ends[nodeRecordFile]
	if i+1 < len(s.node.entries) {
		frameEnd, recordEnd = s.node.entries[i+1].frame, s.node.entries[i+1].record
	}
	return nodeItem{e.offset, extent{s.files[nodeFile], e.frame, frameEnd - e.frame - 1},
		extent{s.files[nodeRecordFile], e.record, recordEnd - e.record}}
}

// timeAt returns the record time (µs) of the last entry at or below an offset; the
// caller holds the lock.
func (s *store) timeAt(v *nodeView, offset int64) int64 {
	i := v.entryAt(offset)
	if i < 0 || s.count == 0 {
		return v.start
	}
	return s.at(min(i, s.count-1)).time
}
