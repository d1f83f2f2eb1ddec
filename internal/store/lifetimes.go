package store

import (
	"cmp"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// NeverArchived is the archival time of a contract that is still live.
const NeverArchived schemas.Micros = 10413705600 * 1e6 // 2299-12-31T00:00:00Z

// BeforeHistory is the creation record time of a contract that was carried over
// into a migration, and the earliest instant that the store can hold.
const BeforeHistory schemas.Micros = -2208988800 * 1e6 // 1900-01-01T00:00:00Z

// Lifetime is one contract's time on one synchronizer within one migration.
type Lifetime struct {
	ContractRow
	MigrationID    int64
	SynchronizerID string
	// CreatedTime is the record time from which the contract is active, BeforeHistory
	// if it was carried over; ArchivedAt the one from which it no longer is.
	CreatedTime, ArchivedAt schemas.Micros
	// CreatedOffset and ArchivedOffset say the same of a node's own stream by its offsets,
	// which are all that it is ordered by; ArchivedOffset is 0 until it ends. Of public
	// history both are 0.
	CreatedOffset, ArchivedOffset int64
	// LookupKey is the text by which contracts of its template are looked up, usually "".
	LookupKey string
}

// Begun reports whether the lifetime was ever active: one that ends with the record time
// or offset at which it began was not.
func (l *Lifetime) Begun() bool {
	if l.ArchivedAt == NeverArchived {
		return true
	}
	if l.CreatedOffset > 0 {
		return l.ArchivedOffset > l.CreatedOffset
	}
	return l.ArchivedAt > l.CreatedTime
}

// Argument returns the create arguments of a lifetime, also of one that carries them as
// they are stored.
func (l *Lifetime) Argument() []byte {
	if l.packed != nil {
		return l.packed.text()
	}
	return l.Event.Argument
}

// Lifetimes are rows of tables contracts_live and contracts_archived.
type Lifetimes struct {
	Contracts
	stream, synchronizer, template *lowCardinality
	migration                      proto.ColInt64
	createdTime, archivedAt        *proto.ColDateTime64
	createdOffset, archivedOffset  proto.ColInt64
	lookupKey                      texts
}

// NewLifetimes returns a block without rows.
func NewLifetimes() *Lifetimes {
	return &Lifetimes{
		Contracts: *NewContracts(), stream: newLowCardinality(), synchronizer: newLowCardinality(), template: newLowCardinality(),
		createdTime: newTime(), archivedAt: newTime(),
	}
}

func (b *Lifetimes) columns() []column {
	return append(b.Contracts.columns(),
		column{"stream", b.stream}, column{"migration_id", &b.migration}, column{"created_time", b.createdTime},
		column{"archived_at", b.archivedAt}, column{"synchronizer_id", b.synchronizer}, column{"template", b.template},
		column{"created_offset", &b.createdOffset}, column{"archived_offset", &b.archivedOffset}, column{"lookup_key", &b.lookupKey})
}

// Append adds l.
func (b *Lifetimes) Append(stream string, l *Lifetime) {
	b.Contracts.append(&l.ContractRow)
	b.stream.Append(stream)
	b.migration.Append(l.MigrationID)
	appendTime(b.createdTime, l.CreatedTime)
	appendTime(b.archivedAt, l.ArchivedAt)
	b.createdOffset.Append(l.CreatedOffset)
	b.archivedOffset.Append(l.ArchivedOffset)
	b.synchronizer.Append(l.SynchronizerID)
	b.template.Append(schemas.TemplateName(l.Event.PackageName, l.Event.TemplateID))
	b.lookupKey.Append(l.LookupKey)
}

// Carried are result rows over the contracts carried over into a migration.
type Carried struct {
	Contracts
	synchronizer      *lowCardinality
	migration, offset proto.ColInt64
}

// NewCarried returns a block without rows.
func NewCarried() *Carried {
	return &Carried{Contracts: *NewContracts(), synchronizer: newLowCardinality()}
}

func (b *Carried) columns() []column {
	return append(b.Contracts.columns(), column{"migration_id", &b.migration}, column{"node_offset", &b.offset}, column{"synchronizer_id", b.synchronizer})
}

// AppendTo appends the block's rows to list as lifetimes that have not ended.
func (b *Carried) AppendTo(list []Lifetime) []Lifetime {
	for i, row := range b.Contracts.AppendTo(make([]ContractRow, 0, b.Rows())) {
		list = append(list, Lifetime{
			ContractRow: row, MigrationID: b.migration.Row(i), SynchronizerID: b.synchronizer.Row(i),
			CreatedTime: BeforeHistory, ArchivedAt: NeverArchived, CreatedOffset: b.offset.Row(i),
		})
	}
	return list
}

// End is the end of a lifetime: a consuming exercise or an unassignment.
type End struct {
	ContractID string
	At         schemas.Micros
	Offset     int64 // 0 in public history
}

// LifetimeEvents are result rows over what begins or ends a lifetime, in history order.
type LifetimeEvents struct {
	migration, offset                                   proto.ColInt64
	recordTime, createdAt                               *proto.ColDateTime64
	updateID                                            texts
	body                                                packed
	node                                                proto.ColInt32
	kind, synchronizer, template, packageName, encoding *lowCardinality
	signatories, observers                              *proto.ColArr[string]
}

// NewLifetimeEvents returns a block without rows.
func NewLifetimeEvents() *LifetimeEvents {
	return &LifetimeEvents{
		recordTime: newTime(), createdAt: newTime(), kind: newLowCardinality(), synchronizer: newLowCardinality(),
		template: newLowCardinality(), packageName: newLowCardinality(), encoding: newLowCardinality(),
		signatories: newParties(), observers: newParties(), body: newPacked("body"),
	}
}

func (b *LifetimeEvents) columns() []column {
	return append([]column{
		{"migration_id", &b.migration}, {"record_time", b.recordTime}, {"update_id", &b.updateID}, {"node", &b.node},
		{"node_offset", &b.offset},
		{"kind", b.kind}, {"created_at", b.createdAt}, {"synchronizer_id", b.synchronizer}, {"template_id", b.template},
		{"package_name", b.packageName}, {"encoding", b.encoding}, {"signatories", b.signatories}, {"observers", b.observers},
	}, b.body.columns()...)
}

// Rows returns the number of rows.
func (b *LifetimeEvents) Rows() int { return b.migration.Rows() }

// LifetimeEvent begins a lifetime, or ends one.
type LifetimeEvent struct {
	Begins   *Lifetime // nil if it ends one
	End      End       // of one that ends; At and Offset are set in any case
	UpdateID string
	Node     int32
}

// Compare orders events as history does.
func (e LifetimeEvent) Compare(o LifetimeEvent) int {
	return cmp.Or(cmp.Compare(e.End.Offset, o.End.Offset), cmp.Compare(e.End.At, o.End.At), cmp.Compare(e.UpdateID, o.UpdateID), cmp.Compare(e.Node, o.Node))
}

// Each calls take for each row, in order. The lifetimes carry their argument as it is stored, for
// Lifetimes to store again: Event.Argument is empty.
func (b *LifetimeEvents) Each(take func(LifetimeEvent)) {
	updateID := stringsOf(&b.updateID)
	for i := range b.Rows() {
		at := End{ContractID: b.body.contractIDOf(i), At: timeAt(b.recordTime, i), Offset: b.offset.Row(i)}
		e := LifetimeEvent{End: at, UpdateID: updateID(i), Node: b.node[i]}
		if b.kind.Row(i) == string(schemas.Created) {
			e.Begins = b.lifetime(i, &e)
		}
		take(e)
	}
}

// lifetime is the one that the event of row i begins.
func (b *LifetimeEvents) lifetime(i int, e *LifetimeEvent) *Lifetime {
	argument := b.body.argumentOf(i)
	return &Lifetime{
		ContractRow: ContractRow{
			Event: schemas.Event{
				Kind: schemas.Created, ContractID: e.End.ContractID, TemplateID: b.template.Row(i), PackageName: b.packageName.Row(i),
				CreatedAt:   timeAt(b.createdAt, i),
				Signatories: b.signatories.Row(i), Observers: b.observers.Row(i),
			},
			Encoding: schemas.Encoding(b.encoding.Row(i)), CreatedIn: e.UpdateID, packed: &argument,
		},
		MigrationID: b.migration.Row(i), SynchronizerID: b.synchronizer.Row(i), CreatedTime: e.End.At, ArchivedAt: NeverArchived,
		CreatedOffset: e.End.Offset,
	}
}

// Ends are rows of a table like contract_ends.
type Ends struct {
	contractID texts
	archivedAt *proto.ColDateTime64
	offset     proto.ColInt64
}

// NewEnds returns a block without rows.
func NewEnds() *Ends { return &Ends{archivedAt: newTime()} }

func (b *Ends) columns() []column {
	return []column{{"contract_id", &b.contractID}, {"archived_at", b.archivedAt}, {"archived_offset", &b.offset}}
}

// Rows returns the number of rows.
func (b *Ends) Rows() int { return b.contractID.Rows() }

// Append adds e.
func (b *Ends) Append(e End) {
	b.contractID.Append(e.ContractID)
	appendTime(b.archivedAt, e.At)
	b.offset.Append(e.Offset)
}
