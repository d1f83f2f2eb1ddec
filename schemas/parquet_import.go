package schemas

import "fmt"

// ImportRow is a row of table imports: a contract carried over into a migration. The
// update's record time is always MinMicros and its one event is its root.
type ImportRow struct {
	MigrationID    int64    `parquet:"migration_id,delta" doc:"Migration into which the contract was carried over."`
	UpdateID       string   `parquet:"update_id,plain" doc:"Import update; its record time is 0001-01-01T00:00:00Z."`
	SynchronizerID string   `parquet:"synchronizer_id,dict" doc:"Synchronizer of the import update."`
	WorkflowID     string   `parquet:"workflow_id,optional,dict" doc:"Workflow of the import update, null for none."`
	EffectiveAt    int64    `parquet:"effective_at,timestamp(microsecond:utc),delta" doc:"Ledger effective time of the import update."`
	Hash           string   `parquet:"external_transaction_hash,optional,plain" doc:"Hash of an externally signed transaction in hex, null for none."`
	EventID        *string  `parquet:"event_id,plain" doc:"Id of the event where it is not <update_id>:0, else null."`
	ContractID     string   `parquet:"contract_id,plain" doc:"Contract that was carried over."`
	TemplateName   string   `parquet:"template_name,dict" doc:"PACKAGE_NAME:Module.Name:Entity, the same for all versions of a package."`
	TemplateID     string   `parquet:"template_id,dict" doc:"<package id>:Module.Name:Entity."`
	PackageName    string   `parquet:"package_name,dict" doc:"Name of the template's package."`
	CreatedAt      int64    `parquet:"created_at,timestamp(microsecond:utc),delta" doc:"Ledger effective time of the contract's creation."`
	Signatories    []string `parquet:"signatories,list" parquet-element:",dict" doc:"Signatories of the contract, sorted."`
	Observers      []string `parquet:"observers,list" parquet-element:",dict" doc:"Observers of the contract, sorted."`
	Arguments      []byte   `parquet:"create_arguments,string,plain" doc:"Create arguments as canonical JSON in the given encoding."`
	Encoding       string   `parquet:"encoding,dict" doc:"Encoding of the create arguments: protobuf_json or compact_json."`
}

// Set fills the row with u, which must have exactly one created event as its root.
func (r *ImportRow) Set(u *Update) error {
	if !u.IsImport() || u.Kind != Transaction || len(u.Events) != 1 || len(u.RootEvents) != 1 ||
		u.RootEvents[0] != 0 || u.Events[0].Kind != Created || u.Events[0].Node != 0 {
		return fmt.Errorf("%w: import %s does not have one created event as its root", ErrMalformed, u.UpdateID)
	}
	e := &u.Events[0]
	*r = ImportRow{
		MigrationID: u.MigrationID, UpdateID: u.UpdateID, SynchronizerID: u.SynchronizerID, WorkflowID: u.WorkflowID,
		EffectiveAt: int64(u.EffectiveAt), Hash: u.ExternalTransactionHash, ContractID: e.ContractID,
		TemplateName: TemplateName(e.PackageName, e.TemplateID), TemplateID: e.TemplateID, PackageName: e.PackageName,
		CreatedAt: int64(e.CreatedAt), Signatories: e.Signatories, Observers: e.Observers,
		Arguments: e.Argument, Encoding: string(u.Encoding),
	}
	if !isEventID(e.EventID, u.UpdateID, 0) {
		r.EventID = &e.EventID
	}
	return nil
}

// Key returns the row's sort key.
func (r *ImportRow) Key() RowKey { return RowKey{ID: r.UpdateID} }

// Size returns about how many bytes the row takes before encoding.
func (r *ImportRow) Size() int {
	return rowOverhead + len(r.UpdateID) + len(r.ContractID) + len(r.TemplateID) +
		textBytes(r.Signatories, r.Observers) + len(r.Arguments)
}

// Update rebuilds the import update. Empty lists come back as nil.
func (r *ImportRow) Update() Update {
	id := EventID(r.UpdateID, 0)
	if r.EventID != nil {
		id = *r.EventID
	}
	return Update{
		Kind: Transaction, MigrationID: r.MigrationID, SynchronizerID: r.SynchronizerID, RecordTime: MinMicros,
		UpdateID: r.UpdateID, Encoding: Encoding(r.Encoding), WorkflowID: r.WorkflowID, EffectiveAt: Micros(r.EffectiveAt),
		ExternalTransactionHash: r.Hash, RootEvents: []int32{0},
		Events: []Event{{
			EventID: id, Kind: Created, ContractID: r.ContractID, TemplateID: r.TemplateID, PackageName: r.PackageName,
			Argument: r.Arguments, CreatedAt: Micros(r.CreatedAt),
			Signatories: listOrNil(r.Signatories), Observers: listOrNil(r.Observers),
		}},
	}
}
