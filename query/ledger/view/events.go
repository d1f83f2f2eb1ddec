package view

import (
	"errors"
	"strconv"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// eventWriter writes the events of one update.
type eventWriter struct {
	format *EventFormat
	update *schemas.Update
	// offset is that of the events, unless they say otherwise.
	offset int64
	// time stands, as a short text, between timeAt and timeEnd of the buffer: most contracts
	// are created at the time of their transaction.
	time            schemas.Micros
	timeAt, timeEnd int
	extras          extras
}

var errNotLocal = errors.New("it is not of a node's stream")

// append appends an event of a transaction as far as the format lets it through.
func (w *eventWriter) append(dst []byte, e *schemas.Event, as shape) (out []byte, visible bool, err error) {
	if e.Local == nil {
		return dst, false, errNotLocal
	}
	if as == acsDelta {
		return w.appendDelta(dst, e)
	}
	s, ok := w.format.look(e.Local.Witnesses, w.format.templates.of(e.PackageName, e.TemplateID))
	if !ok {
		return dst, false, nil
	}
	if err := w.extras.read(e.Local.Extras); err != nil {
		return dst, false, err
	}
	delta := w.format.isDelta(e, &s)
	kind, end := "", `}`
	if as == tree {
		dst = append(w.appendNode(append(dst, '"'), e), `":`...)
		kind, end = `Tree`, `}}`
	}
	if e.Kind == schemas.Created {
		dst = w.appendCreated(beginEvent(dst, "Created", kind), e, &s, delta)
	} else {
		dst = w.appendExercised(beginEvent(dst, "Exercised", kind), e, &s, delta)
	}
	return append(dst, end...), true, nil
}

// beginEvent appends the key of an event; that of a tree has its object as a value.
func beginEvent(dst []byte, name, kind string) []byte {
	dst = append(append(append(append(dst, `{"`...), name...), kind...), `Event":`...)
	if kind != "" {
		dst = append(dst, `{"value":`...)
	}
	return dst
}

// appendDelta does so in the shape ACS_DELTA.
func (w *eventWriter) appendDelta(dst []byte, e *schemas.Event) (out []byte, visible bool, err error) {
	if !e.Local.ACSDelta {
		return dst, false, nil
	}
	t := w.format.templateOf(e)
	stakeholders, _ := w.format.stakeholders(e)
	s, ok := w.format.look(stakeholders, t)
	if !ok {
		return dst, false, nil
	}
	if err := w.extras.read(e.Local.Extras); err != nil {
		return dst, false, err
	}
	if e.Kind == schemas.Created {
		dst = w.appendCreated(append(dst, `{"CreatedEvent":`...), e, &s, true)
	} else {
		dst = w.appendArchived(append(dst, `{"ArchivedEvent":`...), e, &s, t.id)
	}
	return append(dst, '}'), true, nil
}

// appendCreated appends the object of a created event.
func (w *eventWriter) appendCreated(dst []byte, e *schemas.Event, s *shown, delta bool) []byte {
	dst = strconv.AppendBool(append(dst, `{"acsDelta":`...), delta)
	dst = appendText(append(dst, `,"contractId":`...), e.ContractID)
	dst = appendRaw(dst, `"contractKey":`, w.extras.contractKey)
	dst = appendRaw(dst, `"contractKeyHash":`, w.extras.contractKeyHash)
	dst = append(append(dst, `,"createArgument":`...), e.Argument...)
	dst = append(dst, `,"createdAt":"`...)
	if e.CreatedAt == w.time && w.timeEnd > w.timeAt {
		dst = append(dst, dst[w.timeAt:w.timeEnd]...)
	} else {
		dst = schemas.AppendShortTime(dst, e.CreatedAt)
	}
	dst = append(dst, '"')
	if s.blob {
		dst = appendRaw(dst, `"createdEventBlob":`, w.extras.blob)
	}
	if len(s.views) > 0 {
		dst = appendViews(dst, s.views, e.Argument, w.extras.interfaceViews)
	}
	dst = w.appendNode(append(dst, `,"nodeId":`...), e)
	dst = appendTexts(append(dst, `,"observers":`...), e.Observers)
	dst = w.appendOffset(dst)
	dst = appendText(append(dst, `,"packageName":`...), e.PackageName)
	dst = appendRaw(dst, `"representativePackageId":`, w.extras.representativePackageID)
	dst = appendTexts(append(dst, `,"signatories":`...), e.Signatories)
	return w.appendLast(dst, e.TemplateID, s)
}

// appendExercised appends the object of an exercised event.
func (w *eventWriter) appendExercised(dst []byte, e *schemas.Event, s *shown, delta bool) []byte {
	dst = strconv.AppendBool(append(dst, `{"acsDelta":`...), delta)
	dst = appendTexts(append(dst, `,"actingParties":`...), e.ActingParties)
	dst = appendText(append(dst, `,"choice":`...), e.Choice)
	dst = append(append(dst, `,"choiceArgument":`...), e.Argument...)
	dst = strconv.AppendBool(append(dst, `,"consuming":`...), e.Consuming)
	dst = appendText(append(dst, `,"contractId":`...), e.ContractID)
	dst = append(append(dst, `,"exerciseResult":`...), e.Result...)
	if e.Consuming {
		dst = appendImplemented(dst, s.views)
	}
	if e.InterfaceID != "" {
		dst = appendText(append(dst, `,"interfaceId":`...), e.InterfaceID)
	}
	dst = strconv.AppendInt(append(dst, `,"lastDescendantNodeId":`...), int64(e.Local.LastDescendant), 10)
	dst = w.appendNode(append(dst, `,"nodeId":`...), e)
	dst = w.appendOffset(dst)
	dst = appendText(append(dst, `,"packageName":`...), e.PackageName)
	return w.appendLast(dst, e.TemplateID, s)
}

// appendArchived appends the object of what a consuming exercise is in ACS_DELTA.
func (w *eventWriter) appendArchived(dst []byte, e *schemas.Event, s *shown, templateID string) []byte {
	dst = appendText(append(dst, `{"contractId":`...), e.ContractID)
	dst = appendImplemented(dst, s.views)
	dst = w.appendNode(append(dst, `,"nodeId":`...), e)
	dst = w.appendOffset(dst)
	dst = appendText(append(dst, `,"packageName":`...), e.PackageName)
	dst = appendText(append(dst, `,"templateId":`...), templateID)
	return append(appendTexts(append(dst, `,"witnessParties":`...), s.parties), '}')
}

// appendLast appends what created and exercised events end with, and the brace.
func (w *eventWriter) appendLast(dst []byte, templateID string, s *shown) []byte {
	dst = appendText(append(dst, `,"templateId":`...), templateID)
	dst = appendTexts(append(dst, `,"witnessParties":`...), s.parties)
	if w.format.anyParty != nil { // it is not known what they tell of whom
		dst = append(dst, w.extras.other...)
	}
	return append(dst, '}')
}

// appendNode appends the node number of an event.
func (w *eventWriter) appendNode(dst []byte, e *schemas.Event) []byte {
	if w.extras.nodeID != nil {
		return append(dst, w.extras.nodeID...)
	}
	return strconv.AppendInt(dst, int64(e.Node), 10)
}

func (w *eventWriter) appendOffset(dst []byte) []byte {
	dst = append(dst, `,"offset":`...)
	if w.extras.offset != nil {
		return append(dst, w.extras.offset...)
	}
	return strconv.AppendInt(dst, w.offset, 10)
}
