package view

import (
	"fmt"
	"strconv"

	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// AppendActive appends an element {"contractEntry": {...}} of a set of active contracts, with
// what the format lets through and, unless it is "", a token for going on after the element.
// visible is false, and nothing is appended, when nothing is let through. An error means that the
// stored event is damaged.
func (f *EventFormat) AppendActive(dst []byte, c *nodehistory.Contract, token string) (out []byte, visible bool, err error) {
	e := &c.Event
	if e.Local == nil {
		return dst, false, fmt.Errorf("writing active contract %s: %w", e.ContractID, errNotLocal)
	}
	stakeholders, _ := f.stakeholders(e)
	s, ok := f.look(stakeholders, f.templateOf(e))
	if !ok {
		return dst, false, nil
	}
	start := len(dst)
	w := eventWriter{format: f, offset: c.Offset}
	if err := w.extras.read(e.Local.Extras); err != nil {
		return dst, false, fmt.Errorf("writing active contract %s: %w", e.ContractID, err)
	}
	dst = append(dst, `{"contractEntry":{`...)
	switch {
	case c.Unassigned != nil:
		dst = w.appendCreated(append(dst, `"JsIncompleteUnassigned":{"createdEvent":`...), e, &s, true)
		if dst, err = f.appendDeparture(append(dst, `,"unassignedEvent":`...), &c.Unassigned.Update, &s); err != nil {
			return dst[:start], false, fmt.Errorf("writing contract %s, which is in flight: %w", e.ContractID, err)
		}
	case c.Assigned != nil:
		w.update = &schemas.Update{Reassignment: c.Assigned}
		if w.extras.reassignmentCounter == nil {
			w.extras.reassignmentCounter = strconv.AppendInt(nil, c.Counter, 10)
		}
		dst = w.appendAssigned(append(dst, `"JsIncompleteAssigned":{"assignedEvent":`...), e, &s)
	default:
		dst = w.appendCreated(append(dst, `"JsActiveContract":{"createdEvent":`...), e, &s, true)
		dst = strconv.AppendInt(append(dst, `,"reassignmentCounter":`...), c.Counter, 10)
		dst = appendText(append(dst, `,"synchronizerId":`...), c.SynchronizerID)
	}
	dst = append(dst, `}}`...)
	if token != "" {
		dst = appendText(append(dst, `,"streamContinuationToken":`...), token)
	}
	if c.WorkflowID != "" {
		dst = appendText(append(dst, `,"workflowId":`...), c.WorkflowID)
	}
	return append(dst, '}'), true, nil
}

// appendDeparture appends the unassigned event by which a contract in flight left, for
// those who see its creation.
func (f *EventFormat) appendDeparture(dst []byte, u *schemas.Update, s *shown) ([]byte, error) {
	if len(u.Events) != 1 || u.Reassignment == nil || u.Events[0].Local == nil || u.Local == nil {
		return dst, fmt.Errorf("update %q does not say how the contract left", u.UpdateID)
	}
	w := eventWriter{format: f, update: u, offset: u.Local.Offset}
	if err := w.extras.read(u.Events[0].Local.Extras); err != nil {
		return dst, err
	}
	return w.appendUnassigned(dst, &u.Events[0], s), nil
}

// AppendContractEvents appends {"created": {...}, "archived": {...}}: the events by which a
// contract began and ended on this node, of which each may be nil. visible is false, and
// nothing is appended, when the format lets neither through. An error means that a stored
// event is damaged.
func (f *EventFormat) AppendContractEvents(dst []byte, created, archived *nodehistory.Event) (out []byte, visible bool, err error) {
	start := len(dst)
	dst = append(dst, '{')
	for _, half := range []struct {
		name, event string
		of          *nodehistory.Event
	}{{"archived", "archivedEvent", archived}, {"created", "createdEvent", created}} {
		if half.of == nil {
			continue
		}
		e := half.of.Event()
		if created != nil && half.of == archived && e.Local != nil && e.Local.Contract == nil {
			e = endOf(e, created.Event())
		}
		before := len(dst)
		if visible {
			dst = append(dst, ',')
		}
		dst = append(append(append(append(dst, '"'), half.name...), `":{"`...), half.event...)
		out, ok, err := f.appendContractEvent(append(dst, `":`...), &half.of.Update, e)
		if err != nil {
			return dst[:start], false, fmt.Errorf("writing the events of contract %s: %w", e.ContractID, err)
		}
		if dst = out; !ok {
			dst = dst[:before]
			continue
		}
		visible = true
		dst = append(appendText(append(dst, `,"synchronizerId":`...), half.of.Update.SynchronizerID), '}')
	}
	if !visible {
		return dst[:start], false, nil
	}
	return append(dst, '}'), true, nil
}

// endOf is the event that ended a contract, with what its creation tells of the contract.
func endOf(end, created *schemas.Event) *schemas.Event {
	e, l := *end, *end.Local
	l.Contract = &schemas.EndedContract{TemplateID: created.TemplateID, Signatories: created.Signatories, Observers: created.Observers}
	e.Local = &l
	return &e
}

func (f *EventFormat) appendContractEvent(dst []byte, u *schemas.Update, e *schemas.Event) ([]byte, bool, error) {
	if e.Local == nil || u.Local == nil {
		return dst, false, errNotLocal
	}
	t := f.templateOf(e)
	stakeholders, _ := f.stakeholders(e)
	s, ok := f.look(stakeholders, t)
	if !ok {
		return dst, false, nil
	}
	w := eventWriter{format: f, update: u, offset: u.Local.Offset}
	if err := w.extras.read(e.Local.Extras); err != nil {
		return dst, false, err
	}
	if e.Kind == schemas.Created {
		return w.appendCreated(dst, e, &s, e.Local.ACSDelta), true, nil
	}
	return w.appendArchived(dst, e, &s, t.id), true, nil
}
