package devnet

import "encoding/binary"

// nodeRecord describes the bytes of one update as the node's stream has them for a
// client that asks for everything. From both, any narrower form is cut without parsing.
// Positions count from the start of the update's bytes.
type nodeRecord struct {
	kind updateKind
	// submitter is noParty if the update was submitted on another node.
	submitter party
	// command and cost are the members that only the submitter is told, comma included;
	// empty without.
	command, cost stretch
	events        stretch // between the brackets of the list
	list          []eventRecord
	offset        int64 // of the stream; known from the index, not stored
}

// stretch is a run of bytes, end excluded.
type stretch struct{ start, end int }

func (s stretch) of(b []byte) []byte { return b[s.start:s.end] }

// eventRecord describes one event of an update.
type eventRecord struct {
	kind     eventKind
	acsDelta bool // whether it changes the set of contracts active on the node
	all      stretch
	witness  stretch // the list of witness parties
	blob     stretch // the member createdEventBlob, comma included; empty without
	contract uint64
	template int
	// version is that of templateId in the event, contractVersion the contract's own.
	version, contractVersion uint8
	node                     int
	last                     int     // node number of its last descendant; only while rendering
	witnesses, stakeholders  []party // of this node, sorted by text
}

type eventKind uint8

const (
	createdKind eventKind = iota
	exercisedKind
	assignedKind
	unassignedKind
)

// append appends the record in binary form.
func (r *nodeRecord) append(dst []byte) []byte {
	dst = append(dst, byte(r.kind))
	dst = binary.AppendUvarint(dst, uint64(r.submitter+1))
	for _, s := range []stretch{r.command, r.cost, r.events} {
		dst = appendStretch(dst, s)
	}
	dst = binary.AppendUvarint(dst, uint64(len(r.list)))
	for i := range r.list {
		dst = r.list[i].append(dst)
	}
	return dst
}

func appendStretch(dst []byte, s stretch) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(s.start)), uint64(s.end-s.start))
}

func (e *eventRecord) append(dst []byte) []byte {
	delta := byte(0)
	if e.acsDelta {
		delta = 1
	}
	dst = append(dst, byte(e.kind), delta, e.version, e.contractVersion)
	for _, s := range []stretch{e.all, e.witness, e.blob} {
		dst = appendStretch(dst, s)
	}
	for _, n := range []uint64{e.contract, uint64(e.template), uint64(e.node)} {
		dst = binary.AppendUvarint(dst, n)
	}
	return appendPartyNumbers(appendPartyNumbers(dst, e.witnesses), e.stakeholders)
}

func appendPartyNumbers(dst []byte, ps []party) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(ps)))
	for _, p := range ps {
		dst = binary.AppendUvarint(dst, uint64(p))
	}
	return dst
}

// recordReader reads what append wrote.
type recordReader struct {
	b       []byte
	parties []party // backing of all lists
}

func (d *recordReader) byte() byte {
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *recordReader) number() uint64 {
	n, size := binary.Uvarint(d.b)
	d.b = d.b[size:]
	return n
}

func (d *recordReader) stretch() stretch {
	start := int(d.number())
	return stretch{start, start + int(d.number())}
}

func (d *recordReader) partyNumbers() []party {
	n, first := int(d.number()), len(d.parties)
	for range n {
		d.parties = append(d.parties, party(d.number()))
	}
	return d.parties[first:len(d.parties):len(d.parties)]
}

// decode reads a record; it keeps the memory of an earlier one.
func (r *nodeRecord) decode(d *recordReader, b []byte) {
	d.b, d.parties = b, d.parties[:0]
	r.kind = updateKind(d.byte())
	r.submitter = party(d.number()) - 1
	r.command, r.cost, r.events = d.stretch(), d.stretch(), d.stretch()
	r.list = r.list[:0]
	for range d.number() {
		e := eventRecord{kind: eventKind(d.byte()), acsDelta: d.byte() == 1, version: d.byte(), contractVersion: d.byte()}
		e.all, e.witness, e.blob = d.stretch(), d.stretch(), d.stretch()
		e.contract, e.template, e.node = d.number(), int(d.number()), int(d.number())
		e.witnesses, e.stakeholders = d.partyNumbers(), d.partyNumbers()
		r.list = append(r.list, e)
	}
}
