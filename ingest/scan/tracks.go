package scan

import (
	"math"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// maxCoordinate lies behind all of any track.
const maxCoordinate = math.MaxInt64

func (ing *Ingester) imports(migrationID int64) track {
	return &importTrack{client: ing.client, migrationID: migrationID}
}

// historyTrack reads a migration's history with the chosen source.
func (ing *Ingester) historyTrack(migrationID int64) track {
	switch ing.source {
	case UpdatesBefore:
		info := ing.chain.infos[migrationID]
		t := &beforeTrack{client: ing.client, migrationID: migrationID}
		t.first, _, _ = info.Span()
		for _, r := range info.Ranges {
			t.synchronizers = append(t.synchronizers, r.SynchronizerID)
		}
		return t
	case Updates:
		return &historyTrack{client: ing.client, migrationID: migrationID, page: ing.client.UpdatesPage, operation: updatesOperation}
	}
	return &historyTrack{client: ing.client, migrationID: migrationID, page: ing.client.EventsPage, operation: eventsOperation}
}

// operation is the one that history is read with.
func (ing *Ingester) operation() string {
	switch ing.source {
	case UpdatesBefore:
		return updatesBeforeOperation
	case Updates:
		return updatesOperation
	}
	return eventsOperation
}

// trackOf is the track that the position p lies on.
func (ing *Ingester) trackOf(p schemas.Position) (t track, kind string) {
	if p.RecordTime == schemas.MinMicros {
		return ing.imports(p.MigrationID), "imports"
	}
	return ing.historyTrack(p.MigrationID), "history"
}

func (ing *Ingester) patient(t track, kind string) *patientTrack {
	return &patientTrack{track: t, pages: ing.pages[kind], log: ing.log, onRetry: ing.status.retried}
}
