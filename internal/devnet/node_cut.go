package devnet

import (
	"bytes"
	"slices"
	"strconv"
)

// cutter cuts what a client wants out of updates that are kept in full.
type cutter struct {
	names *names
	named []party // by the event in work
}

// matching returns those of the parties that the format names, none if the filters of
// none of them match, and whether any of them asks for the blob. They are valid until the
// next call.
func (c *cutter) matching(f *eventFormat, ps []party, template int, version uint8) (named []party, blob bool) {
	c.named = c.named[:0]
	at, joined := template*versions+int(version), uint8(0)
	for _, p := range ps {
		own := f.byParty[p]
		if own != nil {
			joined |= own.flags[at]
		}
		if f.any != nil {
			joined |= f.any.flags[at]
		}
		if own != nil || f.any != nil {
			c.named = append(c.named, p)
		}
	}
	if joined&matches == 0 {
		return nil, false
	}
	return c.named, joined&withBlob != 0
}

// update appends the element for an update, or nothing if the client sees none of it.
func (c *cutter) update(dst []byte, f *updateFormat, frame []byte, r *nodeRecord) []byte {
	switch {
	case r.kind == topologyUpdate:
		if !f.topology.wants(frame, r) {
			return dst
		}
		return append(dst, frame...)
	case r.kind == transactionUpdate || r.kind == verdictOnly:
		return c.events(dst, f.transactions, f.effects, frame, r)
	}
	return c.events(dst, f.reassignments, false, frame, r)
}

// events appends an update with the events that match; without any it appends nothing.
func (c *cutter) events(dst []byte, f *eventFormat, effects bool, frame []byte, r *nodeRecord) []byte {
	if f == nil {
		return dst
	}
	start, found := len(dst), false
	submitter := r.submitter != noParty && (f.any != nil || f.byParty[r.submitter] != nil)
	dst = appendWithout(dst, frame[:r.events.start], r.command, submitter)
	for i := range r.list {
		before := len(dst)
		if found {
			dst = append(dst, ',')
		}
		comma := len(dst)
		dst = c.event(dst, f, effects, r.offset, frame, &r.list[i])
		if len(dst) == comma {
			dst = dst[:before]
			continue
		}
		found = true
	}
	if !found {
		return dst[:start]
	}
	tail, cost := frame[r.events.end:], r.cost
	if cost.end > 0 {
		cost.start, cost.end = cost.start-r.events.end, cost.end-r.events.end
	}
	return appendWithout(dst, tail, cost, submitter)
}

// appendWithout appends b without a stretch of it, unless that is to be kept.
func appendWithout(dst, b []byte, s stretch, keep bool) []byte {
	if keep || s.start == s.end {
		return append(dst, b...)
	}
	return append(append(dst, b[:s.start]...), b[s.end:]...)
}

func (c *cutter) event(dst []byte, f *eventFormat, effects bool, offset int64, frame []byte, e *eventRecord) []byte {
	seenBy, version := e.witnesses, e.version
	if !effects {
		if !e.acsDelta {
			return dst
		}
		seenBy, version = e.stakeholders, e.contractVersion
	}
	ps, blob := c.matching(f, seenBy, e.template, version)
	switch {
	case len(ps) == 0:
		return dst
	case e.kind == exercisedKind && !effects:
		return c.archived(dst, offset, e, ps)
	}
	start := e.all.start
	if e.acsDelta && !slices.ContainsFunc(ps, func(p party) bool { return slices.Contains(e.stakeholders, p) }) {
		dst, start = withoutDelta(dst, frame, start)
	}
	dst = c.uptoWitnesses(dst, frame, start, e, blob)
	return append(c.parties(dst, ps), frame[e.witness.end:e.all.end]...)
}

// withoutDelta appends the beginning of an event that is no change for those who are shown
// it, and returns where to go on.
func withoutDelta(dst, frame []byte, start int) ([]byte, int) {
	const yes = `"acsDelta":true`
	at := start + bytes.Index(frame[start:], []byte(yes))
	return append(append(dst, frame[start:at]...), `"acsDelta":false`...), at + len(yes)
}

// uptoWitnesses appends an event from start to its list of witness parties.
func (c *cutter) uptoWitnesses(dst, frame []byte, start int, e *eventRecord, blob bool) []byte {
	if blob || e.blob.start == e.blob.end {
		return append(dst, frame[start:e.witness.start]...)
	}
	return append(append(dst, frame[start:e.blob.start]...), frame[e.blob.end:e.witness.start]...)
}

// createdEvent appends the object that describes the creation in a created or assigned
// event, with the given witnesses.
func (c *cutter) createdEvent(dst, frame []byte, e *eventRecord, ps []party, blob bool) []byte {
	start := e.all.start + len(`{"CreatedEvent":`)
	if e.kind == assignedKind {
		start = e.all.start + len(`{"JsAssignmentEvent":{"createdEvent":`)
	}
	return append(c.parties(c.uptoWitnesses(dst, frame, start, e, blob), ps), '}')
}

// archived appends what a consuming exercise is among changes of the active contracts.
func (c *cutter) archived(dst []byte, offset int64, e *eventRecord, ps []party) []byte {
	t := templates[e.template]
	dst = c.names.ids.appendContractID(append(dst, `{"ArchivedEvent":{"contractId":"`...), e.contract)
	dst = strconv.AppendInt(append(dst, `","nodeId":`...), int64(e.node), 10)
	dst = strconv.AppendInt(append(dst, `,"offset":`...), offset, 10)
	dst = append(append(dst, `,"packageName":"`...), t.pkg.name...)
	dst = append(append(dst, `","templateId":"`...), c.names.templateIDs[e.template][e.contractVersion]...)
	return append(c.parties(append(dst, `","witnessParties":`...), ps), `}}`...)
}

// wants reports whether a client wants a topology transaction, which has one event.
func (t *topologyFormat) wants(frame []byte, r *nodeRecord) bool {
	if t == nil || t.parties == nil {
		return t != nil
	}
	const member = `"partyId":"`
	_, rest, _ := bytes.Cut(r.events.of(frame), []byte(member))
	name, _, _ := bytes.Cut(rest, []byte{'"'})
	return t.parties[string(name)]
}

func (c *cutter) parties(dst []byte, ps []party) []byte {
	dst = append(dst, '[')
	for _, p := range ps {
		dst = append(appendPlain(dst, c.names.name(p)), ',')
	}
	return closing(dst, ']')
}
