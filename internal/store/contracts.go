package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// ContractRow is a lifetime as the active set gives it: the created event (ids,
// arguments, creation time, parties) and where it came from.
type ContractRow struct {
	Event    schemas.Event
	Encoding schemas.Encoding
	// CreatedIn is the update that created the contract, also when the contract was
	// carried over from an earlier migration that the store holds; else "".
	CreatedIn string

	packed *packedRow // in place of Event.Argument, on its way from one table to another
}

// Contracts are result rows over the tables of lifetimes.
type Contracts struct {
	createdAt                         *proto.ColDateTime64
	contractID, createdIn             texts
	argument                          packed
	templateID, packageName, encoding *lowCardinality
	signatories, observers            *proto.ColArr[string]
}

// NewContracts returns a block without rows.
func NewContracts() *Contracts {
	return &Contracts{
		createdAt: newTime(), templateID: newLowCardinality(), packageName: newLowCardinality(), encoding: newLowCardinality(),
		signatories: newParties(), observers: newParties(), argument: newPacked("argument"),
	}
}

func (b *Contracts) columns() []column {
	return append([]column{
		{"created_at", b.createdAt}, {"contract_id", &b.contractID}, {"created_in", &b.createdIn}, {"template_id", b.templateID},
		{"package_name", b.packageName}, {"encoding", b.encoding},
		{"signatories", b.signatories}, {"observers", b.observers},
	}, b.argument.columns()...)
}

// Rows returns the number of rows.
func (b *Contracts) Rows() int { return b.contractID.Rows() }

// AppendTo appends the block's rows to list.
func (b *Contracts) AppendTo(list []ContractRow) []ContractRow {
	contractID, createdIn, argument := stringsOf(&b.contractID), stringsOf(&b.createdIn), b.argument.rows()
	_, signatories := partiesOf(b.signatories, nil)
	_, observers := partiesOf(b.observers, nil)
	for i := range b.Rows() {
		list = append(list, ContractRow{
			Event: schemas.Event{
				Kind: schemas.Created, ContractID: contractID(i), TemplateID: b.templateID.Row(i), PackageName: b.packageName.Row(i),
				Argument: argument(i), CreatedAt: timeAt(b.createdAt, i),
				Signatories: signatories(i), Observers: observers(i),
			},
			Encoding: schemas.Encoding(b.encoding.Row(i)), CreatedIn: createdIn(i),
		})
	}
	return list
}

func (b *Contracts) append(r *ContractRow) {
	appendTime(b.createdAt, r.Event.CreatedAt)
	b.contractID.Append(r.Event.ContractID)
	b.createdIn.Append(r.CreatedIn)
	b.templateID.Append(r.Event.TemplateID)
	b.packageName.Append(r.Event.PackageName)
	b.encoding.Append(string(r.Encoding))
	if r.packed != nil {
		b.argument.appendPacked(*r.packed)
	} else {
		b.argument.appendText(r.Event.Argument)
	}
	b.signatories.Append(r.Event.Signatories)
	b.observers.Append(r.Event.Observers)
}

// NodeContracts are result rows over the lifetimes of a node's own stream.
type NodeContracts struct {
	Contracts
	synchronizer  *lowCardinality
	createdOffset proto.ColInt64
}

// NewNodeContracts returns a block without rows.
func NewNodeContracts() *NodeContracts {
	return &NodeContracts{Contracts: *NewContracts(), synchronizer: newLowCardinality()}
}

func (b *NodeContracts) columns() []column {
	return append(b.Contracts.columns(), column{"synchronizer_id", b.synchronizer}, column{"created_offset", &b.createdOffset})
}

// AppendTo appends the block's rows to list. They do not tell when the lifetimes end.
func (b *NodeContracts) AppendTo(list []Lifetime) []Lifetime {
	for i, row := range b.Contracts.AppendTo(make([]ContractRow, 0, b.Rows())) {
		list = append(list, Lifetime{ContractRow: row, SynchronizerID: b.synchronizer.Row(i), CreatedOffset: b.createdOffset.Row(i)})
	}
	return list
}
