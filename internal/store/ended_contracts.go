package store

import "github.com/ClickHouse/ch-go/proto"

// EndedContract is a contract of a node's own stream as it was when it ended.
type EndedContract struct {
	ArchivedOffset int64
	// Key is that of its id.
	Key                    uint64
	TemplateID             string
	Signatories, Observers []string
}

// EndedContracts are rows of table ended_contracts.
type EndedContracts struct {
	stream, template       *lowCardinality
	archivedOffset         proto.ColInt64
	key                    proto.ColUInt64
	signatories, observers *proto.ColArr[string]
}

// NewEndedContracts returns a block without rows.
func NewEndedContracts() *EndedContracts {
	return &EndedContracts{stream: newLowCardinality(), template: newLowCardinality(), signatories: newParties(), observers: newParties()}
}

func (b *EndedContracts) columns() []column {
	return []column{
		{"stream", b.stream}, {"archived_offset", &b.archivedOffset}, {"contract_key", &b.key}, {"template_id", b.template},
		{"signatories", b.signatories}, {"observers", b.observers},
	}
}

// Rows returns the number of rows.
func (b *EndedContracts) Rows() int { return b.key.Rows() }

// Append adds c.
func (b *EndedContracts) Append(stream string, c EndedContract) {
	b.stream.Append(stream)
	b.archivedOffset.Append(c.ArchivedOffset)
	b.key.Append(c.Key)
	b.template.Append(c.TemplateID)
	b.signatories.Append(c.Signatories)
	b.observers.Append(c.Observers)
}

// AppendTo appends the block's rows to list.
func (b *EndedContracts) AppendTo(list []EndedContract) []EndedContract {
	for i := range b.Rows() {
		list = append(list, EndedContract{
			ArchivedOffset: b.archivedOffset.Row(i), Key: b.key.Row(i), TemplateID: b.template.Row(i),
			Signatories: b.signatories.Row(i), Observers: b.observers.Row(i),
		})
	}
	return list
}
