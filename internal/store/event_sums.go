package store

import (
	"github.com/ClickHouse/ch-go/proto"
	"github.com/zeebo/xxh3"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// EventSums are rows of table events as numbers, but for what is needed of them to follow
// contracts and coins.
type EventSums struct {
	Events
	row, contract, create proto.ColUInt64
}

// NewEventSums returns a block without rows.
func NewEventSums() *EventSums { return &EventSums{Events: *NewEvents()} }

func (b *EventSums) columns() []column {
	return []column{
		{"migration_id", &b.migration}, {"record_time", b.recordTime}, {"update_id", &b.updateID}, {"node", &b.node},
		{"kind", b.kind}, {"template_id", b.template}, {"package_name", b.packageName}, {"choice", b.choice}, {"interface_id", b.iface},
		{"consuming", &b.consuming}, {"children", b.children}, {"node_offset", &b.offset}, {"acs_delta", &b.acsDelta},
		{"last_descendant", &b.lastDescendant}, {"body_shape", b.body.shape}, {"body_scalars", &b.body.scalars},
		{"contract_hash", &b.contract}, {"create_hash", &b.create}, {"row_hash", &b.row},
	}
}

// Hash is the hash of row i, the same as Events.AppendHashes gives.
func (b *EventSums) Hash(i int) uint64 { return b.row[i] }

// Position returns where the update of row i stands, until the block is read into again.
func (b *EventSums) Position(i int) schemas.Position {
	if offset := b.offset[i]; offset > 0 {
		return schemas.AtOffset(offset)
	}
	return schemas.Position{MigrationID: b.migration[i], RecordTime: timeAt(b.recordTime, i), UpdateID: sharedText(&b.updateID, i)}
}

// Fill fills e from row i; what e.Local points to is used again. It has no ids, no parties, no
// argument and no result.
func (b *EventSums) Fill(i int, e *schemas.Event) {
	local := e.Local
	*e = schemas.Event{
		Node: b.node[i], Kind: schemas.EventKind(b.kind.Row(i)), TemplateID: b.template.Row(i), PackageName: b.packageName.Row(i),
		Choice: b.choice.Row(i), InterfaceID: b.iface.Row(i), Consuming: b.consuming[i],
		Children: rowOf(*b.children.Data.(*proto.ColInt32), b.children.Offsets, i),
	}
	if b.offset[i] > 0 {
		if local == nil {
			local = new(schemas.LocalEvent)
		}
		*local = schemas.LocalEvent{ACSDelta: b.acsDelta[i], LastDescendant: b.lastDescendant[i]}
		e.Local = local
	}
}

// Contract is the XXH3 of the contract id of row i.
func (b *EventSums) Contract(i int) uint64 {
	s := b.body.shapeOf(i)
	if len(s.text) > 0 && s.text[0] == idMark {
		return b.contract[i]
	}
	v := values{scalars: b.body.scalars.RowBytes(i)}
	return xxh3.Hash(v.appendPart(nil, s.text, &s.lines[0]))
}

// CreateKey tells what row i, a created event, creates a contract with from all else.
func (b *EventSums) CreateKey(i int) CreateKey {
	s := b.body.shapeOf(i)
	v := values{scalars: b.body.scalars.RowBytes(i)}
	for _, mark := range s.lines[0].steps {
		v.skip(mark)
	}
	return CreateKey{Shape: s.argument, Scalars: xxh3.Hash(v.scalars), Rest: b.create[i]}
}

// Body returns the shape of the body of row i and its scalars.
func (b *EventSums) Body(i int) (*Shape, []byte) {
	return b.body.shapeOf(i), b.body.scalars.RowBytes(i)
}
