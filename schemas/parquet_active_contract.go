package schemas

// ActiveContractRow is a row of table acs: a contract that is active at a segment's
// start. The update that created it is left out: whether a store knows it depends on
// how far back its history goes, and objects of the same range must not differ.
type ActiveContractRow struct {
	MigrationID  int64    `parquet:"migration_id,delta" doc:"Migration of the snapshot."`
	RecordTime   int64    `parquet:"record_time,timestamp(microsecond:utc),delta" doc:"Instant of the snapshot: after all updates up to and including it."`
	CreatedAt    int64    `parquet:"created_at,timestamp(microsecond:utc),delta" doc:"Ledger effective time of the contract's creation."`
	ContractID   string   `parquet:"contract_id,plain" doc:"Identifies the contract."`
	TemplateName string   `parquet:"template_name,dict" doc:"PACKAGE_NAME:Module.Name:Entity, the same for all versions of a package."`
	TemplateID   string   `parquet:"template_id,dict" doc:"<package id>:Module.Name:Entity."`
	PackageName  string   `parquet:"package_name,dict" doc:"Name of the template's package."`
	Signatories  []string `parquet:"signatories,list" parquet-element:",dict" doc:"Signatories of the contract, sorted."`
	Observers    []string `parquet:"observers,list" parquet-element:",dict" doc:"Observers of the contract, sorted."`
	Arguments    []byte   `parquet:"create_arguments,string,plain" doc:"Create arguments as canonical JSON in the given encoding."`
	Encoding     string   `parquet:"encoding,dict" doc:"Encoding of the create arguments: protobuf_json or compact_json."`
}

// Set fills the row with the contract that e created, active at the instant at.
func (r *ActiveContractRow) Set(migrationID int64, at Micros, e *Event, enc Encoding) {
	*r = ActiveContractRow{
		MigrationID: migrationID, RecordTime: int64(at), CreatedAt: int64(e.CreatedAt), ContractID: e.ContractID,
		TemplateName: TemplateName(e.PackageName, e.TemplateID), TemplateID: e.TemplateID, PackageName: e.PackageName,
		Signatories: e.Signatories, Observers: e.Observers, Arguments: e.Argument, Encoding: string(enc),
	}
}

// Key returns the row's sort key.
func (r *ActiveContractRow) Key() RowKey { return RowKey{Time: Micros(r.CreatedAt), ID: r.ContractID} }

// Size returns about how many bytes the row takes before encoding.
func (r *ActiveContractRow) Size() int {
	return rowOverhead + len(r.ContractID) + len(r.TemplateID) + textBytes(r.Signatories, r.Observers) + len(r.Arguments)
}

// Event rebuilds the created event, without its id and node.
func (r *ActiveContractRow) Event() Event {
	return Event{
		Kind: Created, ContractID: r.ContractID, TemplateID: r.TemplateID, PackageName: r.PackageName,
		Argument: r.Arguments, CreatedAt: Micros(r.CreatedAt),
		Signatories: listOrNil(r.Signatories), Observers: listOrNil(r.Observers),
	}
}
