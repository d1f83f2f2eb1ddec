package schemas

// TrafficRow is a row of table traffic: what the transaction of a verdict cost.
type TrafficRow struct {
	MigrationID int64  `parquet:"migration_id,delta" doc:"Migration that the verdict belongs to."`
	RecordTime  int64  `parquet:"record_time,timestamp(microsecond:utc),delta" doc:"Sequencing time of the transaction."`
	UpdateID    string `parquet:"update_id,plain" doc:"Update whose verdict carries the summary."`
	TotalCost   int64  `parquet:"total_traffic_cost,delta" doc:"Traffic that the transaction cost, in bytes."`
	Envelopes   []byte `parquet:"envelope_traffic_summaries,string,plain" doc:"Cost and views of each envelope as canonical JSON."`
}

// Set fills the row with the traffic summary of v.
func (r *TrafficRow) Set(v *Verdict, t *TrafficSummary) {
	*r = TrafficRow{
		MigrationID: v.MigrationID, RecordTime: int64(v.RecordTime), UpdateID: v.UpdateID,
		TotalCost: t.TotalCost, Envelopes: t.Envelopes,
	}
}

// Key returns the row's sort key.
func (r *TrafficRow) Key() RowKey { return RowKey{Time: Micros(r.RecordTime), ID: r.UpdateID} }

// Size returns about how many bytes the row takes before encoding.
func (r *TrafficRow) Size() int { return rowOverhead + len(r.UpdateID) + len(r.Envelopes) }

// Traffic rebuilds the summary.
func (r *TrafficRow) Traffic() TrafficSummary {
	return TrafficSummary{TotalCost: r.TotalCost, Envelopes: r.Envelopes}
}
