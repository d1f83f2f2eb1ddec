package schemas

// VerdictRow is a row of table verdicts.
type VerdictRow struct {
	MigrationID      int64    `parquet:"migration_id,delta" doc:"Migration that the verdict belongs to."`
	RecordTime       int64    `parquet:"record_time,timestamp(microsecond:utc),delta" doc:"Sequencing time of the transaction."`
	UpdateID         string   `parquet:"update_id,plain" doc:"Update that was decided on; rejected and private ones are in no other table."`
	SynchronizerID   string   `parquet:"synchronizer_id,dict" doc:"Synchronizer whose mediator decided."`
	FinalizationTime int64    `parquet:"finalization_time,timestamp(microsecond:utc),delta" doc:"When the decision was final."`
	Parties          []string `parquet:"submitting_parties,list" parquet-element:",dict" doc:"Parties that submitted the transaction."`
	Participant      string   `parquet:"submitting_participant_uid,dict" doc:"Participant that submitted the transaction."`
	Result           string   `parquet:"verdict_result,dict" doc:"VERDICT_RESULT_ACCEPTED, VERDICT_RESULT_REJECTED or VERDICT_RESULT_UNSPECIFIED."`
	MediatorGroup    int32    `parquet:"mediator_group,delta" doc:"Group of mediators that decided."`
	RoundNumber      *int64   `parquet:"round_number,plain" doc:"Mining round, null for none."`
	Views            []byte   `parquet:"transaction_views,string,plain" doc:"Views of the transaction as canonical JSON."`
}

// Set fills the row with v.
func (r *VerdictRow) Set(v *Verdict) {
	*r = VerdictRow{
		MigrationID: v.MigrationID, RecordTime: int64(v.RecordTime), UpdateID: v.UpdateID, SynchronizerID: v.SynchronizerID,
		FinalizationTime: int64(v.FinalizationTime), Parties: v.SubmittingParties, Participant: v.SubmittingParticipantUID,
		Result: v.Result, MediatorGroup: v.MediatorGroup, Views: v.Views,
	}
	if v.RoundNumber != -1 {
		r.RoundNumber = &v.RoundNumber
	}
}

// Key returns the row's sort key.
func (r *VerdictRow) Key() RowKey { return RowKey{Time: Micros(r.RecordTime), ID: r.UpdateID} }

// Size returns about how many bytes the row takes before encoding.
func (r *VerdictRow) Size() int {
	return rowOverhead + len(r.UpdateID) + len(r.Participant) + textBytes(r.Parties) + len(r.Views)
}

// Verdict rebuilds the verdict. Empty lists come back as nil.
func (r *VerdictRow) Verdict() Verdict {
	return Verdict{
		UpdateID: r.UpdateID, MigrationID: r.MigrationID, SynchronizerID: r.SynchronizerID, RecordTime: Micros(r.RecordTime),
		FinalizationTime: Micros(r.FinalizationTime), SubmittingParties: listOrNil(r.Parties),
		SubmittingParticipantUID: r.Participant, Result: r.Result, MediatorGroup: r.MediatorGroup,
		RoundNumber: valueOr(r.RoundNumber, -1), Views: r.Views,
	}
}
