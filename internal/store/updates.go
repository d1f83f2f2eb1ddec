package store

import (
	"slices"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Updates are rows of table updates.
type Updates struct {
	stream, kind, synchronizer, encoding *lowCardinality
	migration, counter                   proto.ColInt64
	recordTime, effectiveAt              *proto.ColDateTime64
	updateID, workflow, hash             texts
	roots                                *proto.ColArr[int32]
	submitter, source, target            *lowCardinality
	unassignID, contractID               texts

	// Told by a node's own stream only.
	offset, paidTraffic                proto.ColInt64
	commandID, trace, topology, extras texts
}

// NewUpdates returns a block without rows.
func NewUpdates() *Updates {
	return &Updates{
		stream: newLowCardinality(), kind: newLowCardinality(), synchronizer: newLowCardinality(), encoding: newLowCardinality(),
		recordTime: newTime(), effectiveAt: newTime(), roots: proto.NewArray[int32](new(proto.ColInt32)),
		submitter: newLowCardinality(), source: newLowCardinality(), target: newLowCardinality(),
	}
}

func (b *Updates) columns() []column {
	return []column{
		{"stream", b.stream}, {"migration_id", &b.migration}, {"record_time", b.recordTime}, {"update_id", &b.updateID},
		{"kind", b.kind}, {"synchronizer_id", b.synchronizer}, {"encoding", b.encoding}, {"workflow_id", &b.workflow},
		{"effective_at", b.effectiveAt}, {"external_transaction_hash", &b.hash}, {"root_events", b.roots},
		{"submitter", b.submitter}, {"source_synchronizer", b.source}, {"target_synchronizer", b.target},
		{"unassign_id", &b.unassignID}, {"reassignment_counter", &b.counter}, {"contract_id", &b.contractID},
		{"node_offset", &b.offset}, {"command_id", &b.commandID}, {"paid_traffic_cost", &b.paidTraffic},
		{"trace_context", &b.trace}, {"topology", &b.topology}, {"extras", &b.extras},
	}
}

// Rows returns the number of rows.
func (b *Updates) Rows() int { return b.updateID.Rows() }

// AppendHashes appends the hash of each row, of all that it has but the stream.
func (b *Updates) AppendHashes(list []uint64) []uint64 {
	return appendHashes(list, b.columns()[1:], b.Rows())
}

// Append adds the row of u, without its events.
func (b *Updates) Append(stream string, u *schemas.Update) {
	b.stream.Append(stream)
	b.migration.Append(u.MigrationID)
	appendTime(b.recordTime, u.RecordTime)
	b.updateID.Append(u.UpdateID)
	b.kind.Append(string(u.Kind))
	b.synchronizer.Append(u.SynchronizerID)
	b.encoding.Append(string(u.Encoding))
	b.workflow.Append(u.WorkflowID)
	appendTime(b.effectiveAt, u.EffectiveAt)
	b.hash.Append(u.ExternalTransactionHash)
	b.roots.Append(u.RootEvents)
	r := u.Reassignment
	if r == nil {
		r = &schemas.Reassignment{}
	}
	b.submitter.Append(r.Submitter)
	b.source.Append(r.SourceSynchronizer)
	b.target.Append(r.TargetSynchronizer)
	b.unassignID.Append(r.UnassignID)
	b.counter.Append(r.Counter)
	b.contractID.Append(r.ContractID)
	l := u.Local
	if l == nil {
		l = &schemas.LocalUpdate{PaidTrafficCost: -1}
	}
	b.offset.Append(l.Offset)
	b.commandID.Append(l.CommandID)
	b.paidTraffic.Append(l.PaidTrafficCost)
	b.trace.AppendBytes(l.TraceContext)
	b.topology.AppendBytes(l.Topology)
	b.extras.AppendBytes(l.Extras)
}

// AppendTo appends the block's rows to list. Events are left empty.
func (b *Updates) AppendTo(list []schemas.Update) []schemas.Update {
	updateID, workflow, hash := stringsOf(&b.updateID), stringsOf(&b.workflow), stringsOf(&b.hash)
	trace, topology, extras := bytesOf(&b.trace), bytesOf(&b.topology), bytesOf(&b.extras)
	roots := slices.Clone(*b.roots.Data.(*proto.ColInt32))
	list = slices.Grow(list, b.Rows())
	for i := range b.Rows() {
		u := schemas.Update{
			Kind: schemas.UpdateKind(b.kind.Row(i)), MigrationID: b.migration.Row(i), SynchronizerID: b.synchronizer.Row(i),
			RecordTime: timeAt(b.recordTime, i), UpdateID: updateID(i), Encoding: schemas.Encoding(b.encoding.Row(i)),
			WorkflowID: workflow(i), EffectiveAt: timeAt(b.effectiveAt, i),
			ExternalTransactionHash: hash(i), RootEvents: rowOf(roots, b.roots.Offsets, i),
		}
		if u.Kind == schemas.Assignment || u.Kind == schemas.Unassignment {
			u.Reassignment = &schemas.Reassignment{
				Submitter: b.submitter.Row(i), SourceSynchronizer: b.source.Row(i), TargetSynchronizer: b.target.Row(i),
				UnassignID: b.unassignID.Row(i), Counter: b.counter.Row(i), ContractID: b.contractID.Row(i),
			}
		}
		if offset := b.offset.Row(i); offset > 0 {
			u.Local = &schemas.LocalUpdate{
				Offset: offset, CommandID: b.commandID.Row(i), PaidTrafficCost: b.paidTraffic.Row(i),
				TraceContext: orNil(trace(i)), Topology: orNil(topology(i)), Extras: orNil(extras(i)),
			}
		}
		list = append(list, u)
	}
	return list
}
