package history

import _ "embed"

var (
	//go:embed sql/updates.sql
	updatesQuery string
	//go:embed sql/updates_before.sql
	updatesBeforeQuery string
	//go:embed sql/updates_by_id.sql
	updatesByIDQuery string
	//go:embed sql/updates_by_offset.sql
	updatesByOffsetQuery string
	//go:embed sql/events_by_offset.sql
	eventsByOffsetQuery string
	//go:embed sql/events.sql
	eventsQuery string
	//go:embed sql/verdicts.sql
	verdictsQuery string
	//go:embed sql/verdicts_by_id.sql
	verdictsByIDQuery string
	//go:embed sql/transaction_positions.sql
	transactionPositionsQuery string
	//go:embed sql/verdict_positions.sql
	verdictPositionsQuery string
	//go:embed sql/imports.sql
	importsQuery string
	//go:embed sql/watermark.sql
	watermarkQuery string
	//go:embed sql/synchronizer_ranges.sql
	synchronizerRangesQuery string
	//go:embed sql/last_update_of_synchronizer.sql
	lastUpdateOfSynchronizerQuery string
	//go:embed sql/import_counts.sql
	importCountsQuery string
	//go:embed sql/import_counts_within.sql
	importCountsWithinQuery string
	//go:embed sql/active_contracts.sql
	activeContractsQuery string
	//go:embed sql/active_at_offset.sql
	activeAtOffsetQuery string
	//go:embed sql/streams.sql
	streamsQuery string
	//go:embed sql/milestones.sql
	milestonesQuery string
)
