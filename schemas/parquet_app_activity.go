package schemas

// AppActivityRow is a row of table app_activity: the app activity of a verdict.
type AppActivityRow struct {
	MigrationID int64  `parquet:"migration_id,delta" doc:"Migration that the verdict belongs to."`
	RecordTime  int64  `parquet:"record_time,timestamp(microsecond:utc),delta" doc:"Sequencing time of the transaction."`
	UpdateID    string `parquet:"update_id,plain" doc:"Update whose verdict carries the record."`
	RoundNumber int64  `parquet:"round_number,delta" doc:"Mining round that the activity counts for."`
	Records     []byte `parquet:"records,string,plain" doc:"Activity weight by app provider as canonical JSON."`
}

// Set fills the row with the app activity of v.
func (r *AppActivityRow) Set(v *Verdict, a *AppActivity) {
	*r = AppActivityRow{
		MigrationID: v.MigrationID, RecordTime: int64(v.RecordTime), UpdateID: v.UpdateID,
		RoundNumber: a.RoundNumber, Records: a.Records,
	}
}

// Key returns the row's sort key.
func (r *AppActivityRow) Key() RowKey { return RowKey{Time: Micros(r.RecordTime), ID: r.UpdateID} }

// Size returns about how many bytes the row takes before encoding.
func (r *AppActivityRow) Size() int { return rowOverhead + len(r.UpdateID) + len(r.Records) }

// AppActivity rebuilds the record.
func (r *AppActivityRow) AppActivity() AppActivity {
	return AppActivity{RoundNumber: r.RoundNumber, Records: r.Records}
}
