package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// CoinEvents are result rows over events, with what of each is needed to follow coins: exercises, and
// creates of coins and of a few other contracts. Bodies may lack ids.
type CoinEvents struct {
	migration                                       proto.ColInt64
	recordTime                                      *proto.ColDateTime64
	updateID                                        texts
	node                                            proto.ColInt32
	kind, template, packageName, choice, iface, enc *lowCardinality
	consuming                                       proto.ColBool
	children                                        *proto.ColArr[int32]
	contract                                        proto.ColUInt64
	body                                            packed
}

// NewCoinEvents returns a block without rows.
func NewCoinEvents() *CoinEvents {
	return &CoinEvents{
		recordTime: newTime(), kind: newLowCardinality(), template: newLowCardinality(), packageName: newLowCardinality(),
		choice: newLowCardinality(), iface: newLowCardinality(), enc: newLowCardinality(),
		children: proto.NewArray[int32](new(proto.ColInt32)), body: newPacked("body"),
	}
}

func (b *CoinEvents) columns() []column {
	return append([]column{
		{"migration_id", &b.migration}, {"record_time", b.recordTime}, {"update_id", &b.updateID}, {"node", &b.node}, {"kind", b.kind},
		{"template_id", b.template}, {"package_name", b.packageName}, {"choice", b.choice}, {"interface_id", b.iface}, {"encoding", b.enc},
		{"consuming", &b.consuming}, {"children", b.children}, {"contract", &b.contract},
	}, b.body.columns()...)
}

// Rows returns the number of rows.
func (b *CoinEvents) Rows() int { return b.node.Rows() }

// CoinEvent is one row of CoinEvents. Its texts are valid until the block is read into again, but those of
// strings.
type CoinEvent struct {
	block *CoinEvents
	row   int

	schemas.Position
	Node                                         int32
	Kind                                         schemas.EventKind
	TemplateID, PackageName, Choice, InterfaceID string
	Encoding                                     schemas.Encoding
	Consuming                                    bool
	Children                                     []int32
	// Contract is the place_key of the contract, see table places; 0 where it is no coin.
	Contract uint64

	// Told by a node's own stream only: see schemas.LocalEvent.
	ACSDelta       bool
	LastDescendant int32
}

// Each calls take for each row, in order.
func (b *CoinEvents) Each(take func(e *CoinEvent)) {
	updateID, children := stringsOf(&b.updateID), *b.children.Data.(*proto.ColInt32)
	e := CoinEvent{block: b}
	for i := range b.Rows() {
		e.row = i
		e.Position = schemas.Position{MigrationID: b.migration.Row(i), RecordTime: timeAt(b.recordTime, i), UpdateID: updateID(i)}
		e.Node, e.Kind, e.TemplateID, e.PackageName = b.node.Row(i), schemas.EventKind(b.kind.Row(i)), b.template.Row(i), b.packageName.Row(i)
		e.Choice, e.InterfaceID, e.Encoding, e.Consuming = b.choice.Row(i), b.iface.Row(i), schemas.Encoding(b.enc.Row(i)), b.consuming.Row(i)
		e.Children, e.Contract = rowOf(children, b.children.Offsets, i), b.contract.Row(i)
		take(&e)
	}
}

// NodeCoinEvents are CoinEvents of a node's own stream.
type NodeCoinEvents struct {
	CoinEvents
	offset         proto.ColInt64
	acsDelta       proto.ColBool
	lastDescendant proto.ColInt32
}

// NewNodeCoinEvents returns a block without rows.
func NewNodeCoinEvents() *NodeCoinEvents { return &NodeCoinEvents{CoinEvents: *NewCoinEvents()} }

func (b *NodeCoinEvents) columns() []column {
	return append(b.CoinEvents.columns(), column{"node_offset", &b.offset}, column{"acs_delta", &b.acsDelta}, column{"last_descendant", &b.lastDescendant})
}

// Each calls take for each row, in order.
func (b *NodeCoinEvents) Each(take func(e *CoinEvent)) {
	b.CoinEvents.Each(func(e *CoinEvent) {
		e.Offset, e.ACSDelta, e.LastDescendant = b.offset.Row(e.row), b.acsDelta.Row(e.row), b.lastDescendant.Row(e.row)
		take(e)
	})
}

// Shape is that of the body.
func (e *CoinEvent) Shape() *Shape { return e.block.body.shapeOf(e.row) }

// AppendScalars appends the values of the body that are neither ids nor parties, in order.
func (e *CoinEvent) AppendScalars(list [][]byte) [][]byte {
	return AppendScalars(list, e.block.body.scalars.RowBytes(e.row))
}

// Party is one of the parties of the body by its number, "" if there is none.
func (e *CoinEvent) Party(n int) string {
	b := &e.block.body
	if n += rowStart(b.parties.Offsets, e.row); n < int(b.parties.Offsets[e.row]) {
		return b.names.Row(n)
	}
	return ""
}

// AppendValues appends the argument and the result, with marks in place of ids that are not there. Both
// begin and end where the returned offsets say.
func (e *CoinEvent) AppendValues(dst []byte) (_ []byte, argument, end int) {
	return e.block.body.appendValues(dst, e.row)
}

// ContractID is the contract, "" where the body lacks its ids.
func (e *CoinEvent) ContractID() string {
	b := &e.block.body
	if id := b.contractIDOf(e.row); len(id) > 1 {
		return id
	}
	return ""
}
