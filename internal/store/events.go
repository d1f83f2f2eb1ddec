package store

import (
	"bytes"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Events are rows of table events.
type Events struct {
	stream, kind, synchronizer, encoding *lowCardinality
	template, packageName, choice, iface *lowCardinality
	migration                            proto.ColInt64
	recordTime, createdAt                *proto.ColDateTime64
	updateID, eventID, body              proto.ColStr
	node                                 proto.ColInt32
	signatories, observers, acting       *proto.ColArr[string]
	consuming                            proto.ColBool
	children                             *proto.ColArr[int32]
}

// NewEvents returns a block without rows.
func NewEvents() *Events {
	return &Events{
		stream: newLowCardinality(), kind: newLowCardinality(), synchronizer: newLowCardinality(), encoding: newLowCardinality(), template: newLowCardinality(), packageName: newLowCardinality(),
		choice: newLowCardinality(), iface: newLowCardinality(), recordTime: newTime(), createdAt: newTime(),
		signatories: newParties(), observers: newParties(), acting: newParties(),
		children: proto.NewArray[int32](new(proto.ColInt32)),
	}
}

func (b *Events) columns() []column {
	return []column{
		{"stream", b.stream}, {"migration_id", &b.migration}, {"record_time", b.recordTime}, {"update_id", &b.updateID},
		{"node", &b.node}, {"kind", b.kind}, {"synchronizer_id", b.synchronizer}, {"encoding", b.encoding}, {"event_id", &b.eventID},
		{"template_id", b.template}, {"package_name", b.packageName}, {"created_at", b.createdAt},
		{"signatories", b.signatories}, {"observers", b.observers}, {"choice", b.choice}, {"interface_id", b.iface},
		{"consuming", &b.consuming}, {"acting_parties", b.acting}, {"children", b.children}, {"body", &b.body},
	}
}

// Rows returns the number of rows.
func (b *Events) Rows() int { return b.updateID.Rows() }

// Append adds the rows of all events of u.
func (b *Events) Append(stream string, u *schemas.Update) {
	for i := range u.Events {
		e := &u.Events[i]
		b.stream.Append(stream)
		b.migration.Append(u.MigrationID)
		appendTime(b.recordTime, u.RecordTime)
		b.updateID.Append(u.UpdateID)
		b.node.Append(e.Node)
		b.kind.Append(string(e.Kind))
		b.synchronizer.Append(u.SynchronizerID)
		b.encoding.Append(string(u.Encoding))
		b.eventID.Append(storedEventID(u, e))
		b.template.Append(e.TemplateID)
		b.packageName.Append(e.PackageName)
		appendTime(b.createdAt, e.CreatedAt)
		b.signatories.Append(e.Signatories)
		b.observers.Append(e.Observers)
		b.choice.Append(e.Choice)
		b.iface.Append(e.InterfaceID)
		b.consuming.Append(e.Consuming)
		b.acting.Append(e.ActingParties)
		b.children.Append(e.Children)
		appendJoined(&b.body, e.ContractID, e.Argument, e.Result)
	}
}

// storedEventID leaves out an id that follows from the update id and the node.
func storedEventID(u *schemas.Update, e *schemas.Event) string {
	if e.EventID == schemas.EventID(u.UpdateID, e.Node) {
		return ""
	}
	return e.EventID
}

// appendJoined adds the row contractID, argument and result, each on a line of its own:
// canonical JSON has no line breaks, and neither has a contract id.
func appendJoined(c *proto.ColStr, contractID string, argument, result []byte) {
	start := len(c.Buf)
	c.Buf = append(append(c.Buf, contractID...), '\n')
	c.Buf = append(append(c.Buf, argument...), '\n')
	c.Buf = append(c.Buf, result...)
	c.Pos = append(c.Pos, proto.Position{Start: start, End: len(c.Buf)})
}

// splitBody undoes appendJoined.
func splitBody(body []byte) (contractID string, argument, result []byte) {
	id, rest, _ := bytes.Cut(body, newline)
	argument, result, _ = bytes.Cut(rest, newline)
	return string(id), argument, result
}

var newline = []byte{'\n'}

// EventRow is an event with the position of its update.
type EventRow struct {
	schemas.Position
	schemas.Event
}

// AppendTo appends the block's rows to list.
func (b *Events) AppendTo(list []EventRow) []EventRow {
	updateID, body := stringsOf(&b.updateID), bytesOf(&b.body)
	for i := range b.Rows() {
		contractID, argument, result := splitBody(body(i))
		row := EventRow{
			Position: schemas.Position{MigrationID: b.migration.Row(i), RecordTime: timeAt(b.recordTime, i), UpdateID: updateID(i)},
			Event: schemas.Event{
				EventID: b.eventID.Row(i), Node: b.node.Row(i), Kind: schemas.EventKind(b.kind.Row(i)),
				ContractID: contractID, TemplateID: b.template.Row(i), PackageName: b.packageName.Row(i),
				Argument: argument, CreatedAt: timeAt(b.createdAt, i),
				Signatories: b.signatories.Row(i), Observers: b.observers.Row(i), Choice: b.choice.Row(i),
				InterfaceID: b.iface.Row(i), Result: result, Consuming: b.consuming.Row(i),
				ActingParties: b.acting.Row(i), Children: b.children.Row(i),
			},
		}
		if row.EventID == "" {
			row.EventID = schemas.EventID(row.UpdateID, row.Node)
		}
		list = append(list, row)
	}
	return list
}
