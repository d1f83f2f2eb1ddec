package store

import (
	"slices"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// Verdicts are rows of table verdicts: verdicts with their traffic summary and app activity.
type Verdicts struct {
	stream, synchronizer, participant, result *lowCardinality
	migration, round, cost, activityRound     proto.ColInt64
	recordTime, finalization                  *proto.ColDateTime64
	updateID, envelopes, records              texts
	views                                     packed
	parties                                   *proto.ColArr[string]
	group                                     proto.ColInt32
}

// NewVerdicts returns a block without rows.
func NewVerdicts() *Verdicts {
	return &Verdicts{
		stream: newLowCardinality(), synchronizer: newLowCardinality(), participant: newLowCardinality(), result: newLowCardinality(),
		recordTime: newTime(), finalization: newTime(), parties: newParties(),
		views: newPacked("views"),
	}
}

func (b *Verdicts) columns() []column {
	return append([]column{
		{"stream", b.stream}, {"migration_id", &b.migration}, {"record_time", b.recordTime}, {"update_id", &b.updateID},
		{"synchronizer_id", b.synchronizer}, {"finalization_time", b.finalization}, {"submitting_parties", b.parties},
		{"submitting_participant_uid", b.participant}, {"result", b.result}, {"mediator_group", &b.group},
		{"round_number", &b.round}, {"traffic_cost", &b.cost}, {"traffic_envelopes", &b.envelopes},
		{"activity_round", &b.activityRound}, {"activity_records", &b.records},
	}, b.views.columns()...)
}

// Rows returns the number of rows.
func (b *Verdicts) Rows() int { return b.updateID.Rows() }

// AppendHashes appends the hash of each row, of all that it has but the stream.
func (b *Verdicts) AppendHashes(list []uint64) []uint64 {
	return appendHashes(list, b.columns()[1:], b.Rows())
}

// Append adds the row of it, which has a verdict.
func (b *Verdicts) Append(stream string, it *schemas.Item) {
	v := it.Verdict
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
	b.views.appendText(v.Views)
	traffic := schemas.TrafficSummary{TotalCost: absent}
	if it.Traffic != nil {
		traffic = *it.Traffic
	}
	b.cost.Append(traffic.TotalCost)
	b.envelopes.AppendBytes(traffic.Envelopes)
	activity := schemas.AppActivity{RoundNumber: absent}
	if it.AppActivity != nil {
		activity = *it.AppActivity
	}
	b.activityRound.Append(activity.RoundNumber)
	b.records.AppendBytes(activity.Records)
}

// absent is the number of a traffic summary or app activity that a verdict does not have.
const absent = -1

// AppendPositions appends where the verdict of each row stands.
func (b *Verdicts) AppendPositions(list []schemas.Position) []schemas.Position {
	updateID := stringsOf(&b.updateID)
	for i := range b.Rows() {
		list = append(list, schemas.Position{MigrationID: b.migration.Row(i), RecordTime: timeAt(b.recordTime, i), UpdateID: updateID(i)})
	}
	return list
}

// acceptedResult is the result of a verdict on a transaction that was committed.
const acceptedResult = "VERDICT_RESULT_ACCEPTED"

// AppendInforms appends, of each row, whether its transaction was committed and the party is
// one of those that its views name.
func (b *Verdicts) AppendInforms(list []bool, party string) []bool {
	names, ends := b.views.names, b.views.parties.Offsets
	number := slices.Index(names.terms, party)
	for i := range b.Rows() {
		informed := party != "" && number >= 0 && b.result.Row(i) == acceptedResult &&
			slices.Contains(names.keys[rowStart(ends, i):ends[i]], uint32(number))
		list = append(list, informed)
	}
	return list
}

// AppendTo appends the block's rows to list, as items without updates.
func (b *Verdicts) AppendTo(list []schemas.Item) []schemas.Item {
	views, envelopes, records := b.views.rows(), bytesOf(&b.envelopes), bytesOf(&b.records)
	updateID, verdicts, traffic := stringsOf(&b.updateID), make([]schemas.Verdict, b.Rows()), make([]schemas.TrafficSummary, b.Rows())
	_, parties := partiesOf(b.parties, nil)
	list = slices.Grow(list, b.Rows())
	for i := range b.Rows() {
		verdicts[i] = schemas.Verdict{
			UpdateID: updateID(i), MigrationID: b.migration.Row(i), SynchronizerID: b.synchronizer.Row(i),
			RecordTime: timeAt(b.recordTime, i), FinalizationTime: timeAt(b.finalization, i),
			SubmittingParties: parties(i), SubmittingParticipantUID: b.participant.Row(i), Result: b.result.Row(i),
			MediatorGroup: b.group.Row(i), RoundNumber: b.round.Row(i), Views: views(i),
		}
		it := schemas.Item{Verdict: &verdicts[i]}
		if b.cost.Row(i) != absent {
			traffic[i] = schemas.TrafficSummary{TotalCost: b.cost.Row(i), Envelopes: envelopes(i)}
			it.Traffic = &traffic[i]
		}
		if text := records(i); len(text) > 0 {
			it.AppActivity = &schemas.AppActivity{RoundNumber: b.activityRound.Row(i), Records: text}
		}
		list = append(list, it)
	}
	return list
}
