package history

import (
	"encoding/binary"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// NodeRecord describes the bytes of one update as the node's stream has them for a
// client that asks for everything. From both, any narrower form is cut without parsing.
// Positions count from the start of the update's bytes.
type NodeRecord struct {
	Kind sim.UpdateKind
	// submitter is noParty if the update was submitted on another node.
	Submitter model.Party
	// command and cost are the members that only the submitter is told, comma included;
	// empty without.
	Command, Cost Stretch
	Events        Stretch // between the brackets of the list
	List          []EventRecord
	Offset        int64 // of the stream; known from the index, not stored
}

// Stretch is a run of bytes, end excluded.
type Stretch struct{ Start, End int }

// Of returns the bytes of the stretch.
func (s Stretch) Of(b []byte) []byte { return b[s.Start:s.End] }

// EventRecord describes one event of an update.
type EventRecord struct {
	Kind     eventKind
	AcsDelta bool // whether it changes the set of contracts active on the node
	All      Stretch
	Witness  Stretch // the list of witness parties
	Blob     Stretch // the member createdEventBlob, comma included; empty without
	Contract uint64
	Template int
	// version is that of templateId in the event, contractVersion the contract's own.
	Version, ContractVersion uint8
	Node                     int
	last                     int           // node number of its last descendant; only while rendering
	Witnesses, Stakeholders  []model.Party // of this node, sorted by text
}

type eventKind uint8

const (
	CreatedKind eventKind = iota
	ExercisedKind
	AssignedKind
	unassignedKind
)

// append appends the record in binary form.
func (r *NodeRecord) append(dst []byte) []byte {
	dst = append(dst, byte(r.Kind))
	dst = binary.AppendUvarint(dst, uint64(r.Submitter+1))
	for _, s := range []Stretch{r.Command, r.Cost, r.Events} {
		dst = appendStretch(dst, s)
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.List)))
	for i := range r.List {
		dst = r.List[i].append(dst)
	}
	return dst
}

func appendStretch(dst []byte, s Stretch) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(s.Start)), uint64(s.End-s.Start))
}

func (e *EventRecord) append(dst []byte) []byte {
	delta := byte(0)
	if e.AcsDelta {
		delta = 1
	}
	dst = append(dst, byte(e.Kind), delta, e.Version, e.ContractVersion)
	for _, s := range []Stretch{e.All, e.Witness, e.Blob} {
		dst = appendStretch(dst, s)
	}
	for _, n := range []uint64{e.Contract, uint64(e.Template), uint64(e.Node)} {
		dst = binary.AppendUvarint(dst, n)
	}
	return appendPartyNumbers(appendPartyNumbers(dst, e.Witnesses), e.Stakeholders)
}

func appendPartyNumbers(dst []byte, ps []model.Party) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(ps)))
	for _, p := range ps {
		dst = binary.AppendUvarint(dst, uint64(p))
	}
	return dst
}

// RecordReader reads what append wrote.
type RecordReader struct {
	b       []byte
	parties []model.Party // backing of all lists
}

func (d *RecordReader) byte() byte {
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *RecordReader) number() uint64 {
	n, size := binary.Uvarint(d.b)
	d.b = d.b[size:]
	return n
}

func (d *RecordReader) stretch() Stretch {
	start := int(d.number())
	return Stretch{start, start + int(d.number())}
}

func (d *RecordReader) partyNumbers() []model.Party {
	n, first := int(d.number()), len(d.parties)
	for range n {
		d.parties = append(d.parties, model.Party(d.number()))
	}
	return d.parties[first:len(d.parties):len(d.parties)]
}

// Decode reads a record; it keeps the memory of an earlier one.
func (r *NodeRecord) Decode(d *RecordReader, b []byte) {
	d.b, d.parties = b, d.parties[:0]
	r.Kind = sim.UpdateKind(d.byte())
	r.Submitter = model.Party(d.number()) - 1
	r.Command, r.Cost, r.Events = d.stretch(), d.stretch(), d.stretch()
	r.List = r.List[:0]
	for range d.number() {
		e := EventRecord{Kind: eventKind(d.byte()), AcsDelta: d.byte() == 1, Version: d.byte(), ContractVersion: d.byte()}
		e.All, e.Witness, e.Blob = d.stretch(), d.stretch(), d.stretch()
		e.Contract, e.Template, e.Node = d.number(), int(d.number()), int(d.number())
		e.Witnesses, e.Stakeholders = d.partyNumbers(), d.partyNumbers()
		r.List = append(r.List, e)
	}
}
