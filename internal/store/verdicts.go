package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Verdicts are rows of table verdicts.
type Verdicts struct {
	stream, synchronizer, participant, result *lowCardinality
	migration, round                          proto.ColInt64
	recordTime, finalization                  *proto.ColDateTime64
	updateID, views                           proto.ColStr
	parties                                   *proto.ColArr[string]
	group                                     proto.ColInt32
}

// NewVerdicts returns a block without rows.
func NewVerdicts() *Verdicts {
	return &Verdicts{
		stream: newLowCardinality(), synchronizer: newLowCardinality(), participant: newLowCardinality(), result: newLowCardinality(),
		recordTime: newTime(), finalization: newTime(), parties: newParties(),
	}
}

func (b *Verdicts) columns() []column {
	return []column{
		{"stream", b.stream}, {"migration_id", &b.migration}, {"record_time", b.recordTime}, {"update_id", &b.updateID},
		{"synchronizer_id", b.synchronizer}, {"finalization_time", b.finalization}, {"submitting_parties", b.parties},
		{"submitting_participant_uid", b.participant}, {"result", b.result}, {"mediator_group", &b.group},
		{"round_number", &b.round}, {"views", &b.views},
	}
}

// Rows returns the number of rows.
func (b *Verdicts) Rows() int { return b.updateID.Rows() }

// Append adds the row of v.
func (b *Verdicts) Append(stream string, v *schemas.Verdict) {
	b.stream.Append(stream)
	b.migration.Append(v.MigrationID)
	appendTime(b.recordTime, v.RecordTime)
	b.updateID.Append(v.UpdateID)
	b.synchronizer.Append(v.SynchronizerID)
	appendTime(b.finalization, v.FinalizationTime)
	b.parties.Append(v.SubmittingParties)
	b.participant.Append(v.SubmittingParticipantUID)
	b.result.Append(v.Result)
	b.group.Append(v.MediatorGroup)
	b.round.Append(v.RoundNumber)
	b.views.AppendBytes(v.Views)
}

// AppendTo appends the block's rows to list.
func (b *Verdicts) AppendTo(list []schemas.Verdict) []schemas.Verdict {
	views := bytesOf(&b.views)
	for i := range b.Rows() {
		list = append(list, schemas.Verdict{
			UpdateID: b.updateID.Row(i), MigrationID: b.migration.Row(i), SynchronizerID: b.synchronizer.Row(i),
			RecordTime: timeAt(b.recordTime, i), FinalizationTime: timeAt(b.finalization, i),
			SubmittingParties: b.parties.Row(i), SubmittingParticipantUID: b.participant.Row(i), Result: b.result.Row(i),
			MediatorGroup: b.group.Row(i), RoundNumber: b.round.Row(i), Views: views(i),
		})
	}
	return list
}
