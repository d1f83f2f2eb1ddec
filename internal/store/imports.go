package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Imports are rows of table imports: import updates with their only event.
type Imports struct {
	stream, synchronizer, encoding, template, packageName *lowCardinality
	migration                                             proto.ColInt64
	effectiveAt, createdAt                                *proto.ColDateTime64
	updateID, workflow, eventID, contractID, extras       texts
	argument                                              packed
	offset                                                proto.ColInt64
	signatories, observers, witnesses                     *proto.ColArr[string]
}

// NewImports returns a block without rows.
func NewImports() *Imports {
	return &Imports{
		stream: newLowCardinality(), synchronizer: newLowCardinality(), encoding: newLowCardinality(),
		template: newLowCardinality(), packageName: newLowCardinality(), effectiveAt: newTime(), createdAt: newTime(),
		signatories: newParties(), observers: newParties(), witnesses: newParties(), argument: newPacked("argument"),
	}
}

func (b *Imports) columns() []column {
	return append([]column{
		{"stream", b.stream}, {"migration_id", &b.migration}, {"update_id", &b.updateID}, {"synchronizer_id", b.synchronizer},
		{"encoding", b.encoding}, {"workflow_id", &b.workflow}, {"effective_at", b.effectiveAt}, {"event_id", &b.eventID},
		{"contract_id", &b.contractID}, {"template_id", b.template}, {"package_name", b.packageName},
		{"created_at", b.createdAt}, {"signatories", b.signatories}, {"observers", b.observers},
		{"node_offset", &b.offset}, {"witness_parties", b.witnesses}, {"extras", &b.extras},
	}, b.argument.columns()...)
}

// Rows returns the number of rows.
func (b *Imports) Rows() int { return b.updateID.Rows() }

// AppendHashes appends the hash of each row, of all that it has but the stream.
func (b *Imports) AppendHashes(list []uint64) []uint64 {
	return appendHashes(list, b.columns()[1:], b.Rows())
}

// Append adds the row of the import update u, which has exactly one created event.
func (b *Imports) Append(stream string, u *schemas.Update) {
	e := &u.Events[0]
	b.stream.Append(stream)
	b.migration.Append(u.MigrationID)
	b.updateID.Append(u.UpdateID)
	b.synchronizer.Append(u.SynchronizerID)
	b.encoding.Append(string(u.Encoding))
	b.workflow.Append(u.WorkflowID)
	appendTime(b.effectiveAt, u.EffectiveAt)
	b.eventID.Append(storedEventID(u, e))
	b.contractID.Append(e.ContractID)
	b.template.Append(e.TemplateID)
	b.packageName.Append(e.PackageName)
	b.argument.appendText(e.Argument)
	appendTime(b.createdAt, e.CreatedAt)
	b.signatories.Append(e.Signatories)
	b.observers.Append(e.Observers)
	l := e.Local
	if l == nil {
		l = &schemas.LocalEvent{}
	}
	b.offset.Append(offsetOf(u))
	b.witnesses.Append(l.Witnesses)
	b.extras.AppendBytes(l.Extras)
}

// AppendArgumentKeys appends what tells the argument of each row from all others.
func (b *Imports) AppendArgumentKeys(list []PackedKey) []PackedKey {
	for i := range b.Rows() {
		list = append(list, b.argument.key(i))
	}
	return list
}

// AppendTo appends the block's rows to list.
func (b *Imports) AppendTo(list []schemas.Update) []schemas.Update {
	argument, extras := b.argument.rows(), bytesOf(&b.extras)
	updateID, contractID := stringsOf(&b.updateID), stringsOf(&b.contractID)
	_, signatories := partiesOf(b.signatories, nil)
	_, observers := partiesOf(b.observers, nil)
	for i := range b.Rows() {
		u := schemas.Update{
			Kind: schemas.Transaction, MigrationID: b.migration.Row(i), SynchronizerID: b.synchronizer.Row(i),
			RecordTime: schemas.MinMicros, UpdateID: updateID(i), Encoding: schemas.Encoding(b.encoding.Row(i)),
			WorkflowID: b.workflow.Row(i), EffectiveAt: timeAt(b.effectiveAt, i), RootEvents: []int32{0},
			Events: []schemas.Event{{
				EventID: b.eventID.Row(i), Kind: schemas.Created, ContractID: contractID(i),
				TemplateID: b.template.Row(i), PackageName: b.packageName.Row(i), Argument: argument(i),
				CreatedAt: timeAt(b.createdAt, i), Signatories: signatories(i), Observers: observers(i),
			}},
		}
		if u.Events[0].EventID == "" {
			u.Events[0].EventID = schemas.EventID(u.UpdateID, 0)
		}
		if offset := b.offset.Row(i); offset > 0 {
			u.Local = &schemas.LocalUpdate{Offset: offset, PaidTrafficCost: -1}
			u.Events[0].Local = &schemas.LocalEvent{Witnesses: b.witnesses.Row(i), ACSDelta: true, Extras: orNil(extras(i))}
		}
		list = append(list, u)
	}
	return list
}
