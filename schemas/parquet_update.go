package schemas

import "fmt"

// UpdateRow is a row of table updates. The nodes of a transaction and the particulars
// of a reassignment are rows of table events with the same update_id.
type UpdateRow struct {
	MigrationID             int64   `parquet:"migration_id,delta" doc:"Migration that the update belongs to."`
	RecordTime              int64   `parquet:"record_time,timestamp(microsecond:utc),delta" doc:"Sequencing time; history is ordered by it within a migration."`
	UpdateID                string  `parquet:"update_id,plain" doc:"Identifies the update on every node."`
	Kind                    string  `parquet:"kind,dict" doc:"transaction, assignment or unassignment."`
	SynchronizerID          string  `parquet:"synchronizer_id,dict" doc:"Synchronizer that sequenced the update: target of an assignment, source of an unassignment."`
	WorkflowID              string  `parquet:"workflow_id,optional,dict" doc:"Workflow of the transaction, null for none."`
	EffectiveAt             *int64  `parquet:"effective_at,timestamp(microsecond:utc),plain" doc:"Ledger effective time of the transaction, null for reassignments."`
	ExternalTransactionHash string  `parquet:"external_transaction_hash,optional,plain" doc:"Hash of an externally signed transaction in hex, null for none."`
	RootEvents              []int32 `parquet:"root_events,list" parquet-element:",delta" doc:"Nodes without a parent, in execution order."`
	EventCount              int32   `parquet:"event_count,delta" doc:"Rows of this update in table events."`
	Encoding                string  `parquet:"encoding,dict" doc:"Encoding of the contract values of the update: protobuf_json or compact_json."`
}

// Set fills the row with u. It fails for an update that CheckShape refuses.
func (r *UpdateRow) Set(u *Update) error {
	if err := u.CheckShape(); err != nil {
		return err
	}
	*r = UpdateRow{
		MigrationID: u.MigrationID, RecordTime: int64(u.RecordTime), UpdateID: u.UpdateID, Kind: string(u.Kind),
		SynchronizerID: u.SynchronizerID, EventCount: 1, Encoding: string(u.Encoding),
	}
	if u.Kind == Transaction {
		r.WorkflowID, r.EffectiveAt, r.ExternalTransactionHash = u.WorkflowID, pointer(int64(u.EffectiveAt)), u.ExternalTransactionHash
		r.RootEvents, r.EventCount = u.RootEvents, int32(len(u.Events))
	}
	return nil
}

// Key returns the row's sort key.
func (r *UpdateRow) Key() RowKey { return RowKey{Time: Micros(r.RecordTime), ID: r.UpdateID} }

// Size returns about how many bytes the row takes before encoding.
func (r *UpdateRow) Size() int {
	return rowOverhead + len(r.UpdateID) + len(r.SynchronizerID) + len(r.WorkflowID) +
		len(r.ExternalTransactionHash) + 4*len(r.RootEvents)
}

// Update rebuilds the update from its row and its EventCount rows of table events,
// ascending by node. Empty lists come back as nil.
func (r *UpdateRow) Update(events []EventRow) (Update, error) {
	u := Update{
		Kind: UpdateKind(r.Kind), MigrationID: r.MigrationID, SynchronizerID: r.SynchronizerID,
		RecordTime: Micros(r.RecordTime), UpdateID: r.UpdateID, Encoding: Encoding(r.Encoding),
		WorkflowID: r.WorkflowID, EffectiveAt: Micros(valueOr(r.EffectiveAt, 0)),
		ExternalTransactionHash: r.ExternalTransactionHash, RootEvents: listOrNil(r.RootEvents),
	}
	if len(events) != int(r.EventCount) {
		return u, fmt.Errorf("update %s has %d events, not %d", r.UpdateID, len(events), r.EventCount)
	}
	for i := range events {
		if events[i].UpdateID != r.UpdateID || events[i].RecordTime != r.RecordTime {
			return u, fmt.Errorf("update %s has an event of update %s", r.UpdateID, events[i].UpdateID)
		}
	}
	if u.Kind == Transaction {
		for i := range events {
			u.Events = append(u.Events, events[i].Event())
		}
		return u, u.CheckShape()
	}
	if len(events) != 1 || events[0].Kind != r.Kind {
		return u, fmt.Errorf("%s %s does not have exactly one event of its kind", r.Kind, r.UpdateID)
	}
	u.Reassignment = events[0].Reassignment()
	if u.Kind == Assignment {
		u.Events = []Event{events[0].Event()}
	}
	return u, u.CheckShape()
}

// CheckShape makes sure of what the rows and the canonical JSON of u rely on. Its
// errors wrap ErrMalformed.
func (u *Update) CheckShape() error {
	switch u.Kind {
	case Transaction:
		if u.Reassignment != nil {
			return fmt.Errorf("%w: transaction %s is a reassignment as well", ErrMalformed, u.UpdateID)
		}
	case Assignment:
		if u.Reassignment == nil || len(u.Events) != 1 || u.Events[0].Kind != Created ||
			u.Events[0].ContractID != u.Reassignment.ContractID {
			return fmt.Errorf("%w: assignment %s does not have exactly its created event", ErrMalformed, u.UpdateID)
		}
	case Unassignment:
		if u.Reassignment == nil || len(u.Events) != 0 {
			return fmt.Errorf("%w: unassignment %s has events or no particulars", ErrMalformed, u.UpdateID)
		}
	default:
		return fmt.Errorf("%w: update %s is of unknown kind %q", ErrMalformed, u.UpdateID, u.Kind)
	}
	for i := range u.Events {
		if k := u.Events[i].Kind; k != Created && k != Exercised {
			return fmt.Errorf("%w: event %d of update %s is of unknown kind %q", ErrMalformed, i, u.UpdateID, k)
		}
	}
	return nil
}
