package history

import _ "embed"

var (
	//go:embed sql/updates_before.sql
	updatesBeforeQuery string
	//go:embed sql/places.sql
	placesQuery string
	//go:embed sql/verdicts_at.sql
	verdictsAtQuery string
	//go:embed sql/updates_at.sql
	updatesAtQuery string
	//go:embed sql/events_at.sql
	eventsAtQuery string
	//go:embed sql/update_by_hash.sql
	updateByHashQuery string
	//go:embed sql/party_places.sql
	partyPlacesQuery string
	//go:embed sql/party_ends.sql
	partyEndsQuery string
	//go:embed sql/contract_events.sql
	contractEventsQuery string
	//go:embed sql/contract_unassignments.sql
	contractUnassignmentsQuery string
	//go:embed sql/contract_imports.sql
	contractImportsQuery string
	//go:embed sql/active_keys.sql
	activeKeysQuery string
	//go:embed sql/verdicts_by_id.sql
	verdictsByIDQuery string
	//go:embed sql/transaction_positions.sql
	transactionPositionsQuery string
	//go:embed sql/verdict_positions.sql
	verdictPositionsQuery string
	//go:embed sql/last_update_of_synchronizer.sql
	lastUpdateOfSynchronizerQuery string
	//go:embed sql/import_counts.sql
	importCountsQuery string
	//go:embed sql/import_counts_within.sql
	importCountsWithinQuery string
	//go:embed sql/active.sql
	activeQuery string
	//go:embed sql/movements.sql
	movementsQuery string
)
