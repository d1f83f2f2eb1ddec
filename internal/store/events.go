package store

import (
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Events are rows of table events.
type Events struct {
	stream, kind, synchronizer, encoding *lowCardinality
	template, packageName, choice, iface *lowCardinality
	migration                            proto.ColInt64
	recordTime, createdAt                *proto.ColDateTime64
	updateID, eventID                    texts
	node                                 proto.ColInt32
	signatories, observers, acting       *proto.ColArr[string]
	consuming                            proto.ColBool
	body                                 packed
	children                             *proto.ColArr[int32]

	// Told by a node's own stream only.
	offset         proto.ColInt64
	witnesses      *proto.ColArr[string]
	acsDelta       proto.ColBool
	lastDescendant proto.ColInt32
	extras         texts
}

// ShareShapes lets the block find the shapes of its bodies where others find theirs.
func (b *Events) ShareShapes(s *Shapes) { b.body.shape.shapes = s }

// NewEvents returns a block without rows.
func NewEvents() *Events {
	return &Events{
		stream: newLowCardinality(), kind: newLowCardinality(), synchronizer: newLowCardinality(), encoding: newLowCardinality(), template: newLowCardinality(), packageName: newLowCardinality(),
		choice: newLowCardinality(), iface: newLowCardinality(), recordTime: newTime(), createdAt: newTime(),
		signatories: newParties(), observers: newParties(), acting: newParties(),
		children: proto.NewArray[int32](new(proto.ColInt32)), body: newPacked("body"), witnesses: newParties(),
	}
}

func (b *Events) columns() []column {
	return append([]column{
		{"stream", b.stream}, {"migration_id", &b.migration}, {"record_time", b.recordTime}, {"update_id", &b.updateID},
		{"node", &b.node}, {"kind", b.kind}, {"synchronizer_id", b.synchronizer}, {"encoding", b.encoding}, {"event_id", &b.eventID},
		{"template_id", b.template}, {"package_name", b.packageName}, {"created_at", b.createdAt},
		{"signatories", b.signatories}, {"observers", b.observers}, {"choice", b.choice}, {"interface_id", b.iface},
		{"consuming", &b.consuming}, {"acting_parties", b.acting}, {"children", b.children},
		{"node_offset", &b.offset}, {"witness_parties", b.witnesses}, {"acs_delta", &b.acsDelta},
		{"last_descendant", &b.lastDescendant}, {"extras", &b.extras},
	}, b.body.columns()...)
}

// Rows returns the number of rows.
func (b *Events) Rows() int { return b.node.Rows() }

// AppendHashes appends the hash of each row, of all that it has but the stream.
func (b *Events) AppendHashes(list []uint64) []uint64 {
	return appendHashes(list, b.columns()[1:], b.Rows())
}

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
		b.body.appendBody(e.ContractID, e.Argument, e.Result)
		b.appendLocal(u, e)
	}
}

// storedEventID leaves out an id that follows from the update id and the node.
func storedEventID(u *schemas.Update, e *schemas.Event) string {
	if schemas.IsEventID(e.EventID, u.UpdateID, e.Node) {
		return ""
	}
	return e.EventID
}

// appendLocal adds what a node's own stream tells of e.
func (b *Events) appendLocal(u *schemas.Update, e *schemas.Event) {
	l := e.Local
	if l == nil {
		l = &schemas.LocalEvent{}
	}
	b.offset.Append(offsetOf(u))
	b.witnesses.Append(l.Witnesses)
	b.acsDelta.Append(l.ACSDelta)
	b.lastDescendant.Append(l.LastDescendant)
	b.extras.AppendBytes(l.Extras)
}

// offsetOf is 0 in public history.
func offsetOf(u *schemas.Update) int64 {
	if u.Local == nil {
		return 0
	}
	return u.Local.Offset
}

// appendBody adds the row contractID, argument and result, each on a line of its own:
// canonical JSON has no line breaks, and neither has a contract id.
func (p *packed) appendBody(contractID string, argument, result []byte) {
	start := p.beginRow()
	p.takeID(contractID)
	p.making = append(p.making, '\n')
	p.take(argument)
	p.making = append(p.making, '\n')
	p.take(result)
	p.endRow(start)
}

// cutLine splits text behind its first line.
func cutLine(text string) (line, rest string) {
	line, rest, _ = strings.Cut(text, "\n")
	return line, rest
}

// orNil is nil for a text that is absent.
func orNil(text []byte) []byte {
	if len(text) == 0 {
		return nil
	}
	return text
}

// NodeEvents are rows of table events of a node's own stream, by offset: without the
// columns that repeat what stands in the update, of which each costs time to read. Event ids
// that follow from the update's id are empty.
type NodeEvents struct{ Events }

// NewNodeEvents returns a block without rows.
func NewNodeEvents() *NodeEvents { return &NodeEvents{*NewEvents()} }

func (b *NodeEvents) columns() []column {
	return append([]column{
		{"node_offset", &b.offset}, {"node", &b.node}, {"kind", b.kind}, {"event_id", &b.eventID},
		{"template_id", b.template}, {"package_name", b.packageName}, {"created_at", b.createdAt},
		{"signatories", b.signatories}, {"observers", b.observers}, {"choice", b.choice}, {"interface_id", b.iface},
		{"consuming", &b.consuming}, {"acting_parties", b.acting}, {"witness_parties", b.witnesses},
		{"acs_delta", &b.acsDelta}, {"last_descendant", &b.lastDescendant}, {"extras", &b.extras},
	}, b.body.columns()...)
}
