package store

import (
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
	// Node is the number of the creating event within its update; it is not stored.
	Node int32
}

// Lifetimes are rows of tables contracts_live and contracts_archived.
type Lifetimes struct {
	Contracts
	stream, synchronizer, template *lowCardinality
	migration                      proto.ColInt64
	createdTime, archivedAt        *proto.ColDateTime64
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
		column{"archived_at", b.archivedAt}, column{"synchronizer_id", b.synchronizer}, column{"template", b.template})
}

// Append adds l.
func (b *Lifetimes) Append(stream string, l *Lifetime) {
	b.Contracts.append(&l.ContractRow)
	b.stream.Append(stream)
	b.migration.Append(l.MigrationID)
	appendTime(b.createdTime, l.CreatedTime)
	appendTime(b.archivedAt, l.ArchivedAt)
	b.synchronizer.Append(l.SynchronizerID)
	b.template.Append(schemas.TemplateName(l.Event.PackageName, l.Event.TemplateID))
}

// Creates are result rows over the creating events of a range, in history order.
type Creates struct {
	Contracts
	synchronizer *lowCardinality
	migration    proto.ColInt64
	createdTime  *proto.ColDateTime64
	node         proto.ColInt32
}

// NewCreates returns a block without rows.
func NewCreates() *Creates {
	return &Creates{Contracts: *NewContracts(), synchronizer: newLowCardinality(), createdTime: newTime()}
}

func (b *Creates) columns() []column {
	return append(b.Contracts.columns(),
		column{"migration_id", &b.migration}, column{"created_time", b.createdTime},
		column{"synchronizer_id", b.synchronizer}, column{"node", &b.node})
}

// AppendTo appends the block's rows to list as lifetimes that have not ended.
func (b *Creates) AppendTo(list []Lifetime) []Lifetime {
	for i, row := range b.Contracts.AppendTo(make([]ContractRow, 0, b.Rows())) {
		list = append(list, Lifetime{
			ContractRow: row, MigrationID: b.migration.Row(i), SynchronizerID: b.synchronizer.Row(i),
			CreatedTime: timeAt(b.createdTime, i), ArchivedAt: NeverArchived, Node: b.node.Row(i),
		})
	}
	return list
}

// End is the end of a lifetime: a consuming exercise or an unassignment.
type End struct {
	ContractID string
	At         schemas.Micros
	UpdateID   string
	Node       int32
}

// Ends are result rows over the ends in a range, and rows of table contract_ends.
type Ends struct {
	contractID, updateID proto.ColStr
	archivedAt           *proto.ColDateTime64
	node                 proto.ColInt32
	stored               bool
}

// NewEnds returns a block for reading ends.
func NewEnds() *Ends { return &Ends{archivedAt: newTime()} }

// NewStoredEnds returns a block for writing table contract_ends.
func NewStoredEnds() *Ends { return &Ends{archivedAt: newTime(), stored: true} }

func (b *Ends) columns() []column {
	list := []column{{"contract_id", &b.contractID}, {"archived_at", b.archivedAt}}
	if b.stored {
		return list
	}
	return append(list, column{"update_id", &b.updateID}, column{"node", &b.node})
}

// Rows returns the number of rows.
func (b *Ends) Rows() int { return b.contractID.Rows() }

// Append adds e to a block of NewStoredEnds.
func (b *Ends) Append(e End) {
	b.contractID.Append(e.ContractID)
	appendTime(b.archivedAt, e.At)
}

// AppendTo appends the rows of a block of NewEnds to list.
func (b *Ends) AppendTo(list []End) []End {
	contractID, updateID := stringsOf(&b.contractID), stringsOf(&b.updateID)
	for i := range b.Rows() {
		list = append(list, End{contractID(i), timeAt(b.archivedAt, i), updateID(i), b.node.Row(i)})
	}
	return list
}
