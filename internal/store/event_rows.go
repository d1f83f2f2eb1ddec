package store

import (
	"slices"
	"strconv"
	"unsafe"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// EventRow is an event with the position of its update.
type EventRow struct {
	schemas.Position
	schemas.Event
}

// AppendTo appends the block's rows to list.
func (b *Events) AppendTo(list []EventRow) []EventRow {
	var rows EventRows
	rows.Load(b)
	rows.keep()
	values := make([]byte, 0, b.body.size())
	list = slices.Grow(list, b.Rows())
	for i := range b.Rows() {
		list = append(list, EventRow{Position: rows.Position(i)})
		values = rows.AppendEvent(values, i, &list[len(list)-1].Event)
	}
	return list
}

// Decode returns the block's rows apart from it: each event and the position of its update.
func (b *Events) Decode() ([]schemas.Position, []schemas.Event) {
	var rows EventRows
	rows.Load(b)
	rows.keep()
	at, events := make([]schemas.Position, b.Rows()), make([]schemas.Event, b.Rows())
	values := make([]byte, 0, b.body.size())
	for i := range events {
		at[i] = rows.Position(i)
		values = rows.AppendEvent(values, i, &events[i])
	}
	return at, events
}

// EventRows are the rows of a block of events, one at a time. Texts are made for the
// whole block at once.
type EventRows struct {
	block                                *Events
	updateIDs                            func(i int) string
	contractIDs, eventIDs                pieces
	parties                              []string // of all rows
	signatories, observers, acting, seen func(i int) []string
	children                             []int32 // of all rows
	extras                               []byte  // of all rows
	buf, idBuf                           []byte
	shared                               bool // contract ids stand in idBuf
}

// pieces are texts one behind the other.
type pieces struct {
	text string
	ends []int
}

func (p *pieces) row(i int) string {
	if i == 0 {
		return p.text[:p.ends[0]]
	}
	return p.text[p.ends[i-1]:p.ends[i]]
}

// Load takes the rows of b, whose memory they share from then on: they are valid until b is
// read into again, or rows are unloaded.
func (r *EventRows) Load(b *Events) {
	r.block, r.updateIDs = b, stringsOf(&b.updateID)
	r.loadContractIDs()
	r.loadEventIDs()
	all := r.parties[:0]
	all, r.signatories = partiesOf(b.signatories, all)
	all, r.observers = partiesOf(b.observers, all)
	all, r.acting = partiesOf(b.acting, all)
	r.parties, r.seen = partiesOf(b.witnesses, all)
	r.children, r.extras = *b.children.Data.(*proto.ColInt32), b.extras.Buf
}

// LoadShared is Load, but contract ids share memory with r, too: they are valid until other
// rows are loaded.
func (r *EventRows) LoadShared(b *Events) {
	r.shared = true
	r.Load(b)
}

// keep makes the rows independent of the block's memory.
func (r *EventRows) keep() {
	r.children, r.extras = slices.Clone(r.children), slices.Clone(r.extras)
}

func (r *EventRows) loadContractIDs() {
	const usual = 138 // hexadecimal digits of an id
	r.idBuf, r.contractIDs.ends = slices.Grow(r.idBuf[:0], usual*r.block.Rows()), slices.Grow(r.contractIDs.ends[:0], r.block.Rows())
	for i := range r.block.Rows() {
		r.idBuf = r.block.body.appendContractID(r.idBuf, i)
		r.contractIDs.ends = append(r.contractIDs.ends, len(r.idBuf))
	}
	if r.shared {
		r.contractIDs.text = unsafe.String(unsafe.SliceData(r.idBuf), len(r.idBuf))
		return
	}
	r.contractIDs.text = string(r.idBuf)
}

// loadEventIDs makes the ids that are not stored, see schemas.EventID, unless those of
// updates were not read.
func (r *EventRows) loadEventIDs() {
	b := r.block
	r.buf, r.eventIDs.ends = r.buf[:0], slices.Grow(r.eventIDs.ends[:0], b.Rows())
	for i := range b.Rows() {
		if id := b.eventID.RowBytes(i); len(id) > 0 {
			r.buf = append(r.buf, id...)
		} else if b.updateID.Rows() > 0 {
			r.buf = append(append(r.buf, b.updateID.RowBytes(i)...), ':')
			r.buf = strconv.AppendInt(r.buf, int64(b.node.Row(i)), 10)
		}
		r.eventIDs.ends = append(r.eventIDs.ends, len(r.buf))
	}
	r.eventIDs.text = string(r.buf)
}

// Loaded reports whether there are rows.
func (r *EventRows) Loaded() bool { return r.block != nil }

// Unload drops the rows and keeps the memory for others.
func (r *EventRows) Unload() {
	clear(r.parties)
	*r = EventRows{
		parties: r.parties[:0], buf: r.buf[:0], idBuf: r.idBuf[:0],
		contractIDs: pieces{ends: r.contractIDs.ends[:0]}, eventIDs: pieces{ends: r.eventIDs.ends[:0]},
	}
}

// Position returns where the update of row i stands.
func (r *EventRows) Position(i int) schemas.Position {
	b := r.block
	if offset := b.offset.Row(i); offset > 0 {
		return schemas.AtOffset(offset)
	}
	return schemas.Position{MigrationID: b.migration.Row(i), RecordTime: timeAt(b.recordTime, i), UpdateID: r.updateIDs(i)}
}

// Stored returns all columns of the position of row i, also those that an offset stands for.
func (r *EventRows) Stored(i int) schemas.Position {
	b := r.block
	return schemas.Position{MigrationID: b.migration.Row(i), RecordTime: timeAt(b.recordTime, i), UpdateID: r.updateIDs(i), Offset: b.offset.Row(i)}
}

// Encoding is that of the values of row i.
func (r *EventRows) Encoding(i int) schemas.Encoding {
	return schemas.Encoding(r.block.encoding.Row(i))
}

// ArgumentKey tells the argument of row i, a created event, from all others.
func (r *EventRows) ArgumentKey(i int) PackedKey { return r.block.body.argumentKey(i) }

// Place returns the offset and the node number of row i.
func (r *EventRows) Place(i int) (offset int64, node int32) {
	return r.block.offset.Row(i), r.block.node.Row(i)
}

// Body returns the shape of the body of row i and its scalars, for AppendScalars.
func (r *EventRows) Body(i int) (*Shape, []byte) {
	return r.block.body.shapeOf(i), r.block.body.scalars.RowBytes(i)
}

// AppendEvent fills e from row i; what e.Local points to is used again. Its argument and its
// result are appended to values.
func (r *EventRows) AppendEvent(values []byte, i int, e *schemas.Event) []byte {
	b, start, local := r.block, len(values), e.Local
	values, argument, result := b.body.appendValues(values, i)
	*e = schemas.Event{
		EventID: r.eventIDs.row(i), Node: b.node.Row(i), Kind: schemas.EventKind(b.kind.Row(i)),
		ContractID: r.contractIDs.row(i), TemplateID: b.template.Row(i), PackageName: b.packageName.Row(i),
		Argument: values[start:argument:argument], CreatedAt: timeAt(b.createdAt, i),
		Signatories: r.signatories(i), Observers: r.observers(i), Choice: b.choice.Row(i),
		InterfaceID: b.iface.Row(i), Result: values[argument:result:result], Consuming: b.consuming.Row(i),
		ActingParties: r.acting(i), Children: rowOf(r.children, b.children.Offsets, i),
	}
	if b.offset.Row(i) > 0 {
		p := b.extras.Pos[i]
		if local == nil {
			local = new(schemas.LocalEvent)
		}
		*local = schemas.LocalEvent{
			Witnesses: r.seen(i), ACSDelta: b.acsDelta.Row(i), LastDescendant: b.lastDescendant.Row(i),
			Extras: orNil(r.extras[p.Start:p.End:p.End]),
		}
		e.Local = local
	}
	return values
}
