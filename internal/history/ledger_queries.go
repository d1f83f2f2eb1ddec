package history

import (
	_ "embed"
	"strings"
)

var (
	//go:embed sql/ledger_updates.sql
	ledgerUpdatesQuery string
	//go:embed sql/ledger_updates_at.sql
	ledgerUpdatesAtQuery string
	//go:embed sql/ledger_update_by_id.sql
	ledgerUpdateByIDQuery string
	//go:embed sql/ledger_events.sql
	ledgerEventsQuery string
	//go:embed sql/ledger_run_events.sql
	ledgerRunEventsQuery string
	//go:embed sql/ledger_events_at.sql
	ledgerEventsAtQuery string
	//go:embed sql/ledger_find_events.sql
	ledgerFindEventsQuery string
	//go:embed sql/ledger_find_parties.sql
	ledgerFindPartiesQuery string
	//go:embed sql/ledger_find_reassigned.sql
	ledgerFindReassignedQuery string
	//go:embed sql/ledger_find_updates.sql
	ledgerFindUpdatesQuery string
	//go:embed sql/ledger_templates.sql
	ledgerTemplatesQuery string
	//go:embed sql/ledger_imported_templates.sql
	ledgerImportedTemplatesQuery string
	//go:embed sql/ledger_begin.sql
	ledgerBeginQuery string
	//go:embed sql/ledger_synchronizer_time.sql
	ledgerSynchronizerTimeQuery string
	//go:embed sql/ledger_contract_events.sql
	ledgerContractEventsQuery string
	//go:embed sql/ledger_imports_at.sql
	ledgerImportsAtQuery string
	//go:embed sql/ledger_active_keys.sql
	ledgerActiveKeysQuery string
	//go:embed sql/ledger_left_keys.sql
	ledgerLeftKeysQuery string
	//go:embed sql/ledger_ended.sql
	ledgerEndedQuery string
	//go:embed sql/ledger_ended_between.sql
	ledgerEndedBetweenQuery string
	//go:embed sql/ledger_in_flight.sql
	ledgerInFlightQuery string
)

// directed completes a query by the direction of its order.
func directed(query string, descending bool) string {
	direction := "ASC"
	if descending {
		direction = "DESC"
	}
	return strings.ReplaceAll(query, "/* direction */", direction)
}

// matching completes a query by a condition, which is one of the constants beside
// ledgerMatch: values come as parameters.
func matching(query, condition string) string {
	return strings.ReplaceAll(query, "/* match */", condition)
}
