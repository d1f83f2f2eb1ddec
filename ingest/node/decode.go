package node

import (
	"fmt"
	"slices"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// element is what one frame of the updates stream says: an update, or that the stream
// is complete up to an offset.
type element struct {
	// update is nil for a checkpoint.
	update *schemas.Update
	offset int64
	// size is that of the frame in bytes.
	size int64
}

// unknownKind means an update of a kind that did not exist when this was written.
// Skipping it would leave a gap that goes unnoticed.
type unknownKind struct{ what, name string }

func (e *unknownKind) Error() string {
	return fmt.Sprintf("%s %q is unknown: reading on needs a newer release of ledgerlake", e.what, e.name)
}

// decodeElement reads a frame {"update": {...}} of the updates stream. The result refers
// to body, which must not change any more. Errors wrap schemas.ErrMalformed, or are an
// *Error if the frame is one of the node's own errors.
func (d *decoder) decodeElement(body []byte) (element, error) {
	el := element{size: int64(len(body))}
	found := false
	err := d.in.text(body, func(key []byte) error {
		if string(key) != "update" {
			return d.in.unknown("a frame", key)
		}
		found = true
		return d.in.oneOf("update", func(kind []byte) error { return d.update(string(kind), &el) })
	})
	if err == nil && found && el.offset > 0 {
		return el, nil
	}
	if own := ownErrorOf(body); own != nil {
		return el, own
	}
	switch {
	case err != nil:
		return el, malformedAt(&el, err)
	case !found:
		return el, fmt.Errorf("%w: a frame has no member \"update\"", schemas.ErrMalformed)
	}
	return el, fmt.Errorf("%w: an update has no offset", schemas.ErrMalformed)
}

// offsetOf reads no more of an element than its offset, and whether it is an update or a
// checkpoint. Errors are those of decodeElement.
func (d *decoder) offsetOf(body []byte) (offset int64, isUpdate bool, err error) {
	err = d.in.text(body, func(key []byte) error {
		if string(key) != "update" {
			return d.in.skip()
		}
		return d.in.oneOf("update", func(kind []byte) error {
			isUpdate = string(kind) != "OffsetCheckpoint"
			return d.in.wrapped(func(key []byte) (err error) {
				if string(key) != "offset" {
					return d.in.skip()
				}
				offset, err = d.in.positive("offset")
				return err
			})
		})
	})
	if err == nil && offset > 0 {
		return offset, isUpdate, nil
	}
	el, err := d.decodeElement(body) // says what is wrong
	return el.offset, el.update != nil, err
}

// malformedAt says where an element is malformed, if that has been read.
func malformedAt(el *element, err error) error {
	switch {
	case el.update != nil && el.offset > 0:
		return fmt.Errorf("%w: update %q at offset %d: %w", schemas.ErrMalformed, el.update.UpdateID, el.offset, err)
	case el.update != nil && el.update.UpdateID != "":
		return fmt.Errorf("%w: update %q: %w", schemas.ErrMalformed, el.update.UpdateID, err)
	}
	return fmt.Errorf("%w: %w", schemas.ErrMalformed, err)
}

// update reads one of the kinds of update, each {"value": {...}}.
func (d *decoder) update(kind string, el *element) error {
	switch kind {
	case "OffsetCheckpoint":
		return d.in.wrapped(func(key []byte) (err error) {
			if string(key) == "offset" {
				el.offset, err = d.in.positive("offset")
				return err
			}
			return d.in.skip() // times of synchronizers are not history
		})
	case "Transaction", "Reassignment", "TopologyTransaction":
		return d.localUpdate(kind, el)
	}
	return &unknownKind{"an update of kind", kind}
}

// localUpdate reads the three kinds that have events.
func (d *decoder) localUpdate(kind string, el *element) error {
	u := &schemas.Update{
		Kind: schemas.Transaction, MigrationID: d.migrationID, Encoding: schemas.CompactJSON,
		Local: &schemas.LocalUpdate{PaidTrafficCost: -1},
	}
	el.update = u
	if kind == "TopologyTransaction" {
		u.Kind = schemas.Topology
	}
	d.events, d.locals, d.offsets = d.events[:0], d.locals[:0], d.offsets[:0]
	d.members, d.outerMembers = d.members[:0], d.outerMembers[:0]
	d.sawTime = timesSeen{}
	count := 0
	err := d.in.wrapped(func(key []byte) error {
		if string(key) == "events" {
			var err error
			count, err = d.updateEvents(kind, u)
			return err
		}
		known, err := d.updateMember(key, u)
		if !known && err == nil {
			err = d.addMember(&d.members, key)
		}
		return err
	})
	el.offset = u.Local.Offset
	switch {
	case err != nil:
		return err
	case u.UpdateID == "" || u.SynchronizerID == "" || el.offset == 0:
		return fmt.Errorf("updateId, synchronizerId or offset is missing")
	case !d.sawTime.record || kind == "Transaction" && !d.sawTime.effective:
		return fmt.Errorf("recordTime or effectiveAt is missing")
	case count == 0:
		return fmt.Errorf("it has no events")
	}
	if u.Local.Extras, err = d.membersObject(d.members); err != nil {
		return err
	}
	return d.finish(u)
}

// updateMember reads a member that the kinds of update share; known is false for any
// other, which is then still to be read.
func (d *decoder) updateMember(key []byte, u *schemas.Update) (known bool, err error) {
	switch string(key) {
	case "updateId":
		u.UpdateID, err = d.in.string("updateId")
	case "commandId":
		u.Local.CommandID, err = d.in.string("commandId")
	case "workflowId":
		u.WorkflowID, err = d.in.string("workflowId")
	case "synchronizerId":
		u.SynchronizerID, err = d.in.string("synchronizerId")
	case "offset":
		u.Local.Offset, err = d.in.positive("offset")
	case "recordTime":
		d.sawTime.record = true
		u.RecordTime, err = d.in.time("recordTime")
	case "effectiveAt":
		d.sawTime.effective = true
		u.EffectiveAt, err = d.in.time("effectiveAt")
	case "paidTrafficCost":
		if !d.in.null() {
			u.Local.PaidTrafficCost, err = d.in.cost("paidTrafficCost")
		}
	case "traceContext":
		if !d.in.null() {
			u.Local.TraceContext, err = d.in.canonical("traceContext")
		}
	case "externalTransactionHash":
		u.ExternalTransactionHash, err = d.in.hash("externalTransactionHash")
	default:
		return false, nil
	}
	return true, err
}

// updateEvents reads the list of events of an update and returns their number.
func (d *decoder) updateEvents(kind string, u *schemas.Update) (count int, err error) {
	if kind == "TopologyTransaction" {
		if u.Local.Topology, err = d.in.canonical("events"); err != nil {
			return 0, err
		}
		if len(u.Local.Topology) < 2 || u.Local.Topology[0] != '[' {
			return 0, fmt.Errorf("events are not a list")
		}
		return len(u.Local.Topology) - 2, nil
	}
	err = d.in.list("events", func() error {
		count++
		return d.in.oneOf("event", func(name []byte) error {
			if kind == "Transaction" {
				return d.transactionEvent(string(name))
			}
			return d.reassignmentEvent(string(name), u)
		})
	})
	return count, err
}

// transactionEvent reads one node of a transaction into d.events.
func (d *decoder) transactionEvent(name string) error {
	switch name {
	case "CreatedEvent":
		return d.created(false)
	case "ExercisedEvent":
		return d.exercised()
	case "ArchivedEvent":
		return fmt.Errorf("the node returned archived events, but the requested shape has exercises")
	}
	return &unknownKind{"an event of kind", name}
}

// finish completes u with the events that were read.
func (d *decoder) finish(u *schemas.Update) error {
	if u.Kind == schemas.Topology {
		return nil
	}
	u.Events = d.eventSlab.copyOf(d.events)
	locals := d.localSlab.copyOf(d.locals)
	for i := range u.Events {
		e := &u.Events[i]
		e.Local = &locals[i]
		e.EventID = d.eventID(u.UpdateID, e.Node)
		if d.offsets[i] == u.Local.Offset || d.offsets[i] == 0 {
			continue
		}
		// Only events from elsewhere have an offset that differs.
		if err := d.addExtras(e.Local, `"offset":`, d.offsets[i]); err != nil {
			return err
		}
	}
	if !slices.IsSortedFunc(u.Events, byNode) {
		slices.SortFunc(u.Events, byNode)
	}
	if u.Kind == schemas.Transaction {
		return d.tree(u)
	}
	for i := 1; i < len(u.Events); i++ {
		if u.Events[i].Node == u.Events[i-1].Node {
			return fmt.Errorf("two events have node number %d", u.Events[i].Node)
		}
	}
	return nil
}

func byNode(a, b schemas.Event) int { return int(a.Node) - int(b.Node) }

// tree checks that subtrees lie within each other and finds the roots: the events that
// are not below another one that is visible.
func (d *decoder) tree(u *schemas.Update) error {
	open := d.open[:0] // last descendants of the events around the current one
	roots := d.nodes[:0]
	for i := range u.Events {
		e := &u.Events[i]
		if i > 0 && e.Node == u.Events[i-1].Node {
			return fmt.Errorf("two events have node number %d", e.Node)
		}
		for len(open) > 0 && open[len(open)-1] < e.Node {
			open = open[:len(open)-1]
		}
		last := e.Local.LastDescendant
		switch {
		case last < e.Node:
			return fmt.Errorf("event %d has last descendant %d, which is before it", e.Node, last)
		case len(open) == 0:
			roots = append(roots, e.Node)
		case last > open[len(open)-1]:
			return fmt.Errorf("event %d has last descendant %d, beyond that of the event that contains it, %d", e.Node, last, open[len(open)-1])
		}
		open = append(open, last)
	}
	d.open, d.nodes = open, roots
	u.RootEvents = d.nodeSlab.copyOf(roots)
	return nil
}
