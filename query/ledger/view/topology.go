package view

import (
	"errors"
	"strconv"

	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// append appends a topology transaction with those of its events that are about the
// parties asked for.
func (f *topologyFormat) append(dst []byte, u *schemas.Update) ([]byte, bool, error) {
	if f == nil {
		return dst, false, nil
	}
	dst = append(dst, `{"update":{"TopologyTransaction":{"value":{"events":[`...)
	visible := false
	c := jsonscan.NewCursor(u.Local.Topology)
	for l := c.List(); l.Next(); {
		event := c.Raw()
		if len(f.parties) > 0 && !f.parties[partyOf(event)] {
			continue
		}
		if visible {
			dst = append(dst, ',')
		}
		dst, visible = append(dst, event...), true
	}
	if c.End(); c.Failed() {
		return dst, false, errors.New("its topology events are damaged")
	}
	if !visible {
		return dst, false, nil
	}
	dst = strconv.AppendInt(append(dst, `],"offset":`...), u.Local.Offset, 10)
	dst = schemas.AppendRecordTime(append(dst, `,"recordTime":"`...), u.RecordTime)
	dst = appendText(append(dst, `","synchronizerId":`...), u.SynchronizerID)
	dst = appendTrace(dst, u)
	dst = appendText(append(dst, `,"updateId":`...), u.UpdateID)
	if len(f.parties) == 0 {
		dst = appendMembers(dst, u.Local.Extras)
	}
	return append(dst, `}}}}`...), true, nil
}

// partyOf returns the party that {"event":{KIND:{"value":{"partyId":...}}}} is about, "" if
// it does not say.
func partyOf(event []byte) string {
	value := member(member(event, "event"), "")
	c := jsonscan.NewCursor(member(member(value, "value"), "partyId"))
	party := c.Text()
	if c.Failed() {
		return ""
	}
	return party
}

// member returns a member of a canonical object, the first one if key is "", nil when there
// is none.
func member(object []byte, key string) []byte {
	c := jsonscan.NewCursor(object)
	for m := c.Members(); m.Next(); {
		value := c.Raw()
		if !c.Failed() && (key == "" || m.Key() == key) {
			return value
		}
	}
	return nil
}
