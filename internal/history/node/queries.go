package node

import _ "embed"

var (
	//go:embed sql/updates.sql
	updatesQuery string
	//go:embed sql/updates_descending.sql
	updatesDescendingQuery string
	//go:embed sql/updates_at.sql
	updatesAtQuery string
	//go:embed sql/update_by_id.sql
	updateByIDQuery string
	//go:embed sql/events.sql
	eventsQuery string
	//go:embed sql/run_events.sql
	runEventsQuery string
	//go:embed sql/events_at.sql
	eventsAtQuery string
	//go:embed sql/find_events.sql
	findEventsQuery string
	//go:embed sql/find_reassigned.sql
	findReassignedQuery string
	//go:embed sql/find_parties.sql
	findPartiesQuery string
	//go:embed sql/find_parties_descending.sql
	findPartiesDescendingQuery string
	//go:embed sql/find_updates.sql
	findUpdatesQuery string
	//go:embed sql/find_updates_descending.sql
	findUpdatesDescendingQuery string
	//go:embed sql/templates.sql
	templatesQuery string
	//go:embed sql/imported_templates.sql
	importedTemplatesQuery string
	//go:embed sql/begin.sql
	beginQuery string
	//go:embed sql/synchronizer_time.sql
	synchronizerTimeQuery string
	//go:embed sql/contract_events.sql
	contractEventsQuery string
	//go:embed sql/imports_at.sql
	importsAtQuery string
	//go:embed sql/active_keys.sql
	activeKeysQuery string
	//go:embed sql/left_keys.sql
	leftKeysQuery string
	//go:embed sql/ended.sql
	endedQuery string
	//go:embed sql/ended_between.sql
	endedBetweenQuery string
	//go:embed sql/in_flight.sql
	inFlightQuery string
	//go:embed sql/active_at_offset.sql
	activeAtOffsetQuery string
)

// directed picks by the direction in which offsets are read.
func directed(descending bool, up, down string) string {
	if descending {
		return down
	}
	return up
}
