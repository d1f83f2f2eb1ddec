package view

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// appendReassignment appends an update with one half of a reassignment, of one contract or
// several. Its events are always in the shape ACS_DELTA.
func (f *EventFormat) appendReassignment(dst []byte, u *schemas.Update) ([]byte, bool, error) {
	if u.Reassignment == nil {
		return dst, false, errors.New("it does not say what it reassigns")
	}
	submitter := f.isSubmitter(u)
	dst = append(dst, `{"update":{"Reassignment":{"value":{`...)
	if submitter && u.Local.CommandID != "" {
		dst = append(appendText(append(dst, `"commandId":`...), u.Local.CommandID), ',')
	}
	dst = append(dst, `"events":[`...)
	w := eventWriter{format: f, update: u, offset: u.Local.Offset}
	visible := false
	for i := range u.Events {
		e := &u.Events[i]
		if e.Local == nil {
			return dst, false, fmt.Errorf("event %d: %w", e.Node, errNotLocal)
		}
		stakeholders, _ := f.stakeholders(e)
		s, ok := f.look(stakeholders, f.templateOf(e))
		if !ok {
			continue
		}
		if err := w.extras.read(e.Local.Extras); err != nil {
			return dst, false, fmt.Errorf("event %d: %w", e.Node, err)
		}
		if visible {
			dst = append(dst, ',')
		}
		visible = true
		if e.Kind == schemas.Created {
			dst = append(w.appendAssigned(append(dst, `{"JsAssignmentEvent":`...), e, &s), '}')
		} else {
			dst = append(w.appendUnassigned(append(dst, `{"JsUnassignedEvent":{"value":`...), e, &s), '}')
			dst = append(w.appendAround(dst), '}')
		}
	}
	if !visible {
		return dst, false, nil
	}
	return append(f.appendTail(append(dst, ']'), u, submitter), endOfUpdate...), true, nil
}

// appendAssigned appends the object of an assignment.
func (w *eventWriter) appendAssigned(dst []byte, e *schemas.Event, s *shown) []byte {
	dst = w.appendCreated(append(dst, `{"createdEvent":`...), e, s, true)
	dst = w.appendReassigned(append(dst, ','))
	return append(w.appendAround(dst), '}')
}

// appendUnassigned appends the object of an unassigned event.
func (w *eventWriter) appendUnassigned(dst []byte, e *schemas.Event, s *shown) []byte {
	dst = append(dst, '{')
	if w.extras.exclusivity != nil {
		dst = append(append(append(dst, `"assignmentExclusivity":`...), w.extras.exclusivity...), ',')
	}
	dst = appendText(append(dst, `"contractId":`...), e.ContractID)
	dst = w.appendNode(append(dst, `,"nodeId":`...), e)
	dst = w.appendOffset(dst)
	dst = appendText(append(dst, `,"packageName":`...), e.PackageName)
	dst = w.appendReassigned(append(dst, ','))
	return w.appendLast(dst, e.TemplateID, s)
}

// appendReassigned appends the members that both halves have, without a comma before them.
func (w *eventWriter) appendReassigned(dst []byte) []byte {
	r, x := w.update.Reassignment, &w.extras
	dst = append(dst, `"reassignmentCounter":`...)
	if x.reassignmentCounter != nil {
		dst = append(dst, x.reassignmentCounter...)
	} else {
		dst = strconv.AppendInt(dst, r.Counter, 10)
	}
	dst = appendEither(append(dst, `,"reassignmentId":`...), x.reassignmentID, r.UnassignID)
	dst = appendEither(append(dst, `,"source":`...), x.source, r.SourceSynchronizer)
	if x.submitter != nil || r.Submitter != "" && x.reassignmentID == nil {
		dst = appendEither(append(dst, `,"submitter":`...), x.submitter, r.Submitter)
	}
	return appendEither(append(dst, `,"target":`...), x.target, r.TargetSynchronizer)
}

// appendAround appends what stood around an event, after its other members.
func (w *eventWriter) appendAround(dst []byte) []byte {
	if w.format.anyParty == nil {
		return dst
	}
	return appendMembers(dst, w.extras.around)
}

// appendEither appends what the event says of itself, else what the update says.
func appendEither(dst, own []byte, common string) []byte {
	if own != nil {
		return append(dst, own...)
	}
	return appendText(dst, common)
}
