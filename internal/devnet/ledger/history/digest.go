package history

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// table numbers the tables whose rows a ledger digests.
type table int

const (
	TableUpdates table = iota
	TableEvents
	tableImports
	tableVerdicts
	tableTraffic
	tableAppActivity
	TableActiveContracts
	tableCount
)

var tableNames = [tableCount]string{
	"updates", "events", "imports", "verdicts", "traffic", "app_activity", "active_contracts",
}

// TableDigest identifies the rows of one table whatever their order.
type TableDigest struct {
	// Rows is the number of rows.
	Rows uint64 `json:"rows"`
	// Hash is the sum modulo 2^256 of the SHA-256 of each row, read as a big-endian
	// number, in lower-case hex.
	Hash string `json:"hash"`
}

// Digests says what a ledger has served so far. Rows are canonical JSON, values in
// protobuf_json:
//
//	updates           each item of /v2/updates
//	events            each node of events_by_id; the event member of a reassignment
//	imports           each item of import-updates
//	verdicts          the verdict member of each item of /v0/events
//	traffic           {"traffic_summary":...,"update_id":...}
//	app_activity      {"app_activity_records":...,"update_id":...}
//	active_contracts  {"contract_id","create_arguments","created_at","observers",
//	                  "package_name","signatories","template_id"} of the contracts
//	                  that are active at the end
type Digests struct {
	Tables map[string]TableDigest `json:"tables"`
	Counts Counts                 `json:"counts"`
	Supply sim.Supply             `json:"supply"`
}

// Counts are sizes of a ledger.
type Counts struct {
	// Updates are transactions and reassignments, without import updates.
	Updates uint64 `json:"updates"`
	// Events are the rows of the events table.
	Events uint64 `json:"events"`
	// ContractsCreated counts creations; carrying a contract over is none.
	ContractsCreated uint64 `json:"contracts_created"`
	ActiveContracts  uint64 `json:"active_contracts"`
	// Rounds counts the mining rounds opened so far.
	Rounds uint64 `json:"rounds"`
}

// Tables are the digests of all tables.
type Tables [tableCount]schemas.Digest

// Merge adds the rows of o.
func (t *Tables) Merge(o *Tables) {
	for i := range t {
		t[i].Merge(o[i])
	}
}

// Export returns the digests by the name of the table.
func (t *Tables) Export() map[string]TableDigest {
	m := make(map[string]TableDigest, tableCount)
	for i, d := range t {
		m[tableNames[i]] = TableDigest{d.Rows, d.Hash()}
	}
	return m
}
