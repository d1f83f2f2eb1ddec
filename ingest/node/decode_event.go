package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// nextEvent makes room for an event in d.events, with its local part and offset.
func (d *decoder) nextEvent(kind schemas.EventKind) (*schemas.Event, *schemas.LocalEvent, *int64) {
	d.events = append(d.events, schemas.Event{Kind: kind, Node: -1})
	d.locals = append(d.locals, schemas.LocalEvent{LastDescendant: -1})
	d.offsets = append(d.offsets, 0)
	n := len(d.events) - 1
	return &d.events[n], &d.locals[n], &d.offsets[n]
}

// required members, a bit each.
const (
	hasDelta = 1 << iota
	hasConsuming
	hasCreatedAt
)

// created reads a created event. In the active contract set, where it says nothing
// new, acsDelta may be missing.
func (d *decoder) created(active bool) error {
	e, l, offset := d.nextEvent(schemas.Created)
	has := 0
	err := d.withExtras(l, func(key []byte) (known bool, err error) {
		switch string(key) {
		case "createArgument":
			e.Argument, err = d.in.canonical("createArgument")
		case "signatories":
			e.Signatories, err = d.parties("signatories", true)
		case "observers":
			e.Observers, err = d.parties("observers", true)
		case "createdAt":
			has |= hasCreatedAt
			e.CreatedAt, err = d.in.time("createdAt")
		default:
			return d.eventMember(key, e, l, offset, &has)
		}
		return true, err
	})
	if err != nil {
		return fmt.Errorf("created event %d: %w", e.Node, err)
	}
	d.dropComputed(e, l)
	l.LastDescendant = e.Node
	if active && has&hasDelta == 0 {
		has, l.ACSDelta = has|hasDelta, true
	}
	switch {
	case e.Argument == nil:
		return fmt.Errorf("created event %d: createArgument is missing", e.Node)
	case has&hasCreatedAt == 0 || has&hasDelta == 0:
		return fmt.Errorf("created event %d: createdAt or acsDelta is missing", e.Node)
	}
	return checkEvent(e)
}

// exercised reads an exercised event of a transaction.
func (d *decoder) exercised() error {
	e, l, offset := d.nextEvent(schemas.Exercised)
	has := 0
	err := d.withExtras(l, func(key []byte) (known bool, err error) {
		switch string(key) {
		case "choice":
			e.Choice, err = d.in.string("choice")
		case "choiceArgument":
			e.Argument, err = d.in.canonical("choiceArgument")
		case "exerciseResult":
			e.Result, err = d.in.canonical("exerciseResult")
		case "interfaceId":
			e.InterfaceID, err = d.in.string("interfaceId")
		case "actingParties":
			e.ActingParties, err = d.parties("actingParties", false)
		case "consuming":
			has |= hasConsuming
			e.Consuming, err = d.in.bool("consuming")
		case "lastDescendantNodeId":
			l.LastDescendant, err = d.in.node("lastDescendantNodeId")
		default:
			return d.eventMember(key, e, l, offset, &has)
		}
		return true, err
	})
	if err != nil {
		return fmt.Errorf("exercised event %d: %w", e.Node, err)
	}
	if e.Result == nil {
		e.Result = []byte("null")
	}
	d.dropComputed(e, l)
	switch {
	case e.Choice == "" || e.Argument == nil || has&hasConsuming == 0:
		return fmt.Errorf("exercised event %d: choice, choiceArgument or consuming is missing", e.Node)
	case l.LastDescendant < 0 || has&hasDelta == 0:
		return fmt.Errorf("exercised event %d: lastDescendantNodeId or acsDelta is missing", e.Node)
	}
	return checkEvent(e)
}

// eventMember reads a member that all kinds of event share.
func (d *decoder) eventMember(key []byte, e *schemas.Event, l *schemas.LocalEvent, offset *int64, has *int) (known bool, err error) {
	switch string(key) {
	case "offset":
		*offset, err = d.in.positive("offset")
	case "nodeId":
		e.Node, err = d.in.node("nodeId")
	case "contractId":
		e.ContractID, err = d.in.string("contractId")
	case "templateId":
		e.TemplateID, err = d.in.string("templateId")
	case "packageName":
		e.PackageName, err = d.in.string("packageName")
	case "witnessParties":
		l.Witnesses, err = d.parties("witnessParties", true)
	case "acsDelta":
		*has |= hasDelta
		l.ACSDelta, err = d.in.bool("acsDelta")
	default:
		return false, nil
	}
	return true, err
}

// checkEvent makes sure of what all kinds of event need.
func checkEvent(e *schemas.Event) error {
	switch {
	case e.Node < 0:
		return fmt.Errorf("an event has no nodeId")
	case e.ContractID == "" || e.TemplateID == "":
		return fmt.Errorf("event %d: contractId or templateId is missing", e.Node)
	case strings.IndexByte(e.ContractID, '\n') >= 0:
		return fmt.Errorf("event %d: contract id %q has a line break", e.Node, e.ContractID)
	}
	return nil
}

// reassigned has the members around the event of one contract that changes its
// synchronizer.
type reassigned struct {
	schemas.Reassignment
	exclusivity []byte // canonical JSON
	hasCounter  bool
}

// reassignedMember reads a member that assignments and unassignments share.
func (d *decoder) reassignedMember(key []byte, r *reassigned) (known bool, err error) {
	switch string(key) {
	case "source":
		r.SourceSynchronizer, err = d.in.string("source")
	case "target":
		r.TargetSynchronizer, err = d.in.string("target")
	case "reassignmentId":
		r.UnassignID, err = d.in.string("reassignmentId")
	case "submitter":
		r.Submitter, err = d.in.string("submitter")
	case "reassignmentCounter":
		r.hasCounter = true
		r.Counter, err = d.in.int64("reassignmentCounter")
	default:
		return false, nil
	}
	return true, err
}

// reassignmentEvent reads one event of a reassignment. The first one says what the
// update is; the others must be of its kind.
func (d *decoder) reassignmentEvent(name string, u *schemas.Update) error {
	var r reassigned
	kind := schemas.Assignment
	var err error
	switch name {
	case "JsAssignmentEvent":
		err = d.assigned(&r, false)
	case "JsUnassignedEvent":
		kind = schemas.Unassignment
		err = d.unassigned(&r)
	default:
		return &unknownKind{"a reassignment event of kind", name}
	}
	if err != nil {
		return err
	}
	if len(d.events) == 1 {
		first := r.Reassignment
		u.Kind, u.Reassignment = kind, &first
	}
	if u.Kind != kind {
		return fmt.Errorf("one reassignment has assignments and unassignments")
	}
	return d.addReassigned(&r, u.Reassignment)
}

// assigned reads the members of an assignment, of which one is the created event.
func (d *decoder) assigned(r *reassigned, active bool) error {
	before := len(d.events)
	err := d.in.object("assignment", func(key []byte) error {
		known, err := d.reassignedMember(key, r)
		switch {
		case known || err != nil:
			return err
		case string(key) == "createdEvent":
			return d.created(active)
		}
		return d.addMember(&d.outerMembers, key)
	})
	switch {
	case err != nil:
		return err
	case len(d.events) != before+1:
		return fmt.Errorf("an assignment has no createdEvent")
	}
	r.ContractID = d.events[before].ContractID
	return r.check()
}

// unassigned reads an unassigned event, which is in a member value.
func (d *decoder) unassigned(r *reassigned) error {
	found := false
	err := d.in.object("unassignment", func(key []byte) error {
		if string(key) != "value" {
			return d.addMember(&d.outerMembers, key)
		}
		found = true
		return d.unassignedMembers(r)
	})
	if err == nil && !found {
		return fmt.Errorf("an unassignment has no value")
	}
	return err
}

func (d *decoder) unassignedMembers(r *reassigned) error {
	e, l, offset := d.nextEvent(schemas.Unassigned)
	has := 0
	err := d.withExtras(l, func(key []byte) (known bool, err error) {
		if string(key) == "assignmentExclusivity" && !d.in.null() {
			r.exclusivity, err = d.in.canonical("assignmentExclusivity")
			return true, err
		}
		if known, err = d.reassignedMember(key, r); known || err != nil {
			return known, err
		}
		return d.eventMember(key, e, l, offset, &has)
	})
	if err != nil {
		return fmt.Errorf("unassigned event %d: %w", e.Node, err)
	}
	// The contract leaves this synchronizer's active set.
	l.ACSDelta, l.LastDescendant = true, e.Node
	r.ContractID = e.ContractID
	if err := checkEvent(e); err != nil {
		return err
	}
	return r.check()
}

func (r *reassigned) check() error {
	if r.SourceSynchronizer == "" || r.TargetSynchronizer == "" || r.UnassignID == "" || !r.hasCounter {
		return fmt.Errorf("reassignment of contract %q: source, target, reassignmentId or reassignmentCounter is missing", r.ContractID)
	}
	return nil
}

// addReassigned puts the members of the last event's reassignment into its extras.
// Synchronizers are left to the update, unless they are not those of its first event.
func (d *decoder) addReassigned(r *reassigned, first *schemas.Reassignment) error {
	l := &d.locals[len(d.locals)-1]
	parts := []any{`"reassignmentId":`, r.UnassignID, `"reassignmentCounter":`, r.Counter}
	if r.Submitter != "" {
		parts = append(parts, `"submitter":`, r.Submitter)
	}
	if r.exclusivity != nil {
		parts = append(parts, `"assignmentExclusivity":`, r.exclusivity)
	}
	if first == nil || r.SourceSynchronizer != first.SourceSynchronizer {
		parts = append(parts, `"source":`, r.SourceSynchronizer)
	}
	if first == nil || r.TargetSynchronizer != first.TargetSynchronizer {
		parts = append(parts, `"target":`, r.TargetSynchronizer)
	}
	if err := d.addExtras(l, parts...); err != nil {
		return err
	}
	return d.addAround("reassignment")
}

// parties reads a list of parties, in text order if sorted, which digests rely on.
func (d *decoder) parties(what string, sorted bool) ([]string, error) {
	d.list1 = d.list1[:0]
	err := d.in.list(what, func() error {
		party, err := d.in.string(what)
		d.list1 = append(d.list1, party)
		return err
	})
	if err != nil || len(d.list1) == 0 {
		return nil, err
	}
	parties := d.stringSlab.copyOf(d.list1)
	if sorted {
		slices.Sort(parties)
	}
	return parties, nil
}
