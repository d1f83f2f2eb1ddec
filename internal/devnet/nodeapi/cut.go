package nodeapi

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/history"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// cutter cuts what a client wants out of updates that are kept in full.
type cutter struct {
	names *model.Names
	// Of the event in work.
	named []model.Party
	views []model.InterfaceName
}

// wanted is what a client wants of an event beside what all get.
type wanted struct {
	blob  bool
	views []model.InterfaceName
}

// matching returns those of the parties that the format names, none if the filters of
// none of them match, and what any of them asks for. They are valid until the next call.
func (c *cutter) matching(f *eventFormat, ps []model.Party, template int, version uint8) (named []model.Party, w wanted) {
	c.named, c.views = c.named[:0], c.views[:0]
	at, joined := template*model.Versions+int(version), uint8(0)
	for _, p := range ps {
		own := f.byParty[p]
		if own != nil {
			joined |= own.flags[at]
			c.views = append(c.views, own.views[at]...)
		}
		if f.any != nil {
			joined |= f.any.flags[at]
			c.views = append(c.views, f.any.views[at]...)
		}
		if own != nil || f.any != nil {
			c.named = append(c.named, p)
		}
	}
	if joined&matches == 0 {
		return nil, wanted{}
	}
	return c.named, wanted{joined&withBlob != 0, distinctInterfaces(c.views)}
}

// update appends the element for an update, or nothing if the client sees none of it.
func (c *cutter) update(dst []byte, f *updateFormat, frame []byte, r *history.NodeRecord) []byte {
	switch {
	case r.Kind == sim.TopologyUpdate:
		if !f.topology.wants(frame, r) {
			return dst
		}
		return append(dst, frame...)
	case r.Kind == sim.TransactionUpdate || r.Kind == sim.VerdictOnly:
		return c.events(dst, f.transactions, f.effects, frame, r)
	}
	return c.events(dst, f.reassignments, false, frame, r)
}

// events appends an update with the events that match; without any it appends nothing.
func (c *cutter) events(dst []byte, f *eventFormat, effects bool, frame []byte, r *history.NodeRecord) []byte {
	if f == nil {
		return dst
	}
	start, found := len(dst), false
	submitter := r.Submitter != model.NoParty && (f.any != nil || f.byParty[r.Submitter] != nil)
	dst = appendWithout(dst, frame[:r.Events.Start], r.Command, submitter)
	for i := range r.List {
		before := len(dst)
		if found {
			dst = append(dst, ',')
		}
		comma := len(dst)
		dst = c.event(dst, f, effects, r.Offset, frame, &r.List[i])
		if len(dst) == comma {
			dst = dst[:before]
			continue
		}
		found = true
	}
	if !found {
		return dst[:start]
	}
	tail, cost := frame[r.Events.End:], r.Cost
	if cost.End > 0 {
		cost.Start, cost.End = cost.Start-r.Events.End, cost.End-r.Events.End
	}
	return appendWithout(dst, tail, cost, submitter)
}

// appendWithout appends b without a stretch of it, unless that is to be kept.
func appendWithout(dst, b []byte, s history.Stretch, keep bool) []byte {
	if keep || s.Start == s.End {
		return append(dst, b...)
	}
	return append(append(dst, b[:s.Start]...), b[s.End:]...)
}

func (c *cutter) event(dst []byte, f *eventFormat, effects bool, offset int64, frame []byte, e *history.EventRecord) []byte {
	seenBy, version := e.Witnesses, e.Version
	if !effects {
		if !e.AcsDelta {
			return dst
		}
		seenBy, version = e.Stakeholders, e.ContractVersion
	}
	ps, w := c.matching(f, seenBy, e.Template, version)
	switch {
	case len(ps) == 0:
		return dst
	case e.Kind == history.ExercisedKind && !effects:
		return c.archived(dst, offset, e, ps, w)
	}
	start := e.All.Start
	if e.AcsDelta && !slices.ContainsFunc(ps, func(p model.Party) bool { return slices.Contains(e.Stakeholders, p) }) {
		dst, start = withoutDelta(dst, frame, start)
	}
	dst = c.uptoWitnesses(dst, frame, start, e, w)
	return append(c.parties(dst, ps), frame[e.Witness.End:e.All.End]...)
}

// withoutDelta appends the beginning of an event that is no change for those who are shown
// it, and returns where to go on.
func withoutDelta(dst, frame []byte, start int) ([]byte, int) {
	const yes = `"acsDelta":true`
	at := start + bytes.Index(frame[start:], []byte(yes))
	return append(append(dst, frame[start:at]...), `"acsDelta":false`...), at + len(yes)
}

// uptoWitnesses appends an event from start to its list of witness parties.
func (c *cutter) uptoWitnesses(dst, frame []byte, start int, e *history.EventRecord, w wanted) []byte {
	const last = `,"witnessParties":`
	end, created := e.Witness.Start-len(last), e.Blob.Start < e.Blob.End
	if w.blob || !created {
		dst = append(dst, frame[start:end]...)
	} else {
		dst = append(append(dst, frame[start:e.Blob.Start]...), frame[e.Blob.End:end]...)
	}
	switch {
	case len(w.views) == 0:
	case created:
		dst = c.interfaceViews(dst, w.views, frame[start:e.Blob.Start])
	case bytes.Contains(frame[start:end], []byte(`,"consuming":true,`)):
		dst = c.implemented(dst, w.views)
	}
	return append(dst, last...)
}

// createdEvent appends the object that describes the creation in a created or assigned
// event, with the given witnesses.
func (c *cutter) createdEvent(dst, frame []byte, e *history.EventRecord, ps []model.Party, w wanted) []byte {
	start := e.All.Start + len(`{"CreatedEvent":`)
	if e.Kind == history.AssignedKind {
		start = e.All.Start + len(`{"JsAssignmentEvent":{"createdEvent":`)
	}
	return append(c.parties(c.uptoWitnesses(dst, frame, start, e, w), ps), '}')
}

// archived appends what a consuming exercise is among changes of the active contracts.
func (c *cutter) archived(dst []byte, offset int64, e *history.EventRecord, ps []model.Party, w wanted) []byte {
	t := model.Templates[e.Template]
	dst = append(c.names.IDs.AppendContractID(append(dst, `{"ArchivedEvent":{"contractId":"`...), e.Contract), '"')
	if len(w.views) > 0 {
		dst = c.implemented(dst, w.views)
	}
	dst = strconv.AppendInt(append(dst, `,"nodeId":`...), int64(e.Node), 10)
	dst = strconv.AppendInt(append(dst, `,"offset":`...), offset, 10)
	dst = append(append(dst, `,"packageName":"`...), t.Pkg.Name...)
	dst = append(append(dst, `","templateId":"`...), c.names.TemplateIDs[e.Template][e.ContractVersion]...)
	return append(c.parties(append(dst, `","witnessParties":`...), ps), `}}`...)
}

// wants reports whether a client wants a topology transaction, which has one event.
func (t *topologyFormat) wants(frame []byte, r *history.NodeRecord) bool {
	if t == nil || t.parties == nil {
		return t != nil
	}
	const member = `"partyId":"`
	_, rest, _ := bytes.Cut(r.Events.Of(frame), []byte(member))
	name, _, _ := bytes.Cut(rest, []byte{'"'})
	return t.parties[string(name)]
}

func (c *cutter) parties(dst []byte, ps []model.Party) []byte {
	dst = append(dst, '[')
	for _, p := range ps {
		dst = append(model.AppendPlain(dst, c.names.Name(p)), ',')
	}
	return model.Closing(dst, ']')
}
