package scan

import (
	"math"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// maxCoordinate lies behind all of any track.
const maxCoordinate = math.MaxInt64

// imports reads a migration's import updates.
func (ing *Ingester) imports(migrationID int64) track {
	end := schemas.Position{MigrationID: migrationID, RecordTime: schemas.MinMicros}
	if ing.chain != nil && ing.chain.has(migrationID) {
		end.UpdateID = ing.chain.infos[migrationID].LastImportID
	}
	return ing.shared(importUpdatesOperation, migrationID, end)
}

// historyTrack reads a migration's history with the chosen source.
func (ing *Ingester) historyTrack(migrationID int64) track {
	end := schemas.Start
	if ing.chain != nil {
		end = ing.chain.end()
	}
	return ing.shared(ing.operation(), migrationID, end)
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

// trackFrom reads a stretch of history from one upstream. What follows on the end of the
// stream is taken only together with that end, and what lies beyond the horizon only where
// beyond is nil, which is for what was announced already.
func (ing *Ingester) trackFrom(p *peer, operation string, migrationID int64, beyond *beyonds) track {
	pages, tries := ing.pages["history"], malformedTries
	var t track
	switch operation {
	case importUpdatesOperation:
		t, pages = &importTrack{client: p.client, migrationID: migrationID}, ing.pages["imports"]
	case updatesBeforeOperation:
		t = ing.beforeTrack(p, migrationID)
	case updatesOperation:
		t = &historyTrack{client: p.client, migrationID: migrationID, page: p.client.UpdatesPage, operation: operation,
			horizon: ing.horizon(migrationID), beyond: beyond}
	default:
		t = &historyTrack{client: p.client, migrationID: migrationID, page: p.client.EventsPage, operation: operation,
			horizon: ing.horizon(migrationID), beyond: beyond}
	}
	if ing.peers.several() {
		tries = 1
	}
	if a := ing.anchor.get(); a.hash != "" && a.position.MigrationID == migrationID && ing.at.MigrationID == migrationID &&
		(operation == eventsOperation || operation == updatesOperation) {
		t = &anchoredTrack{track: t, client: p.client, operation: operation, anchor: a, start: ing.at}
	}
	onRetry := func(err error) { p.retried(); ing.status.retried(err) }
	return &patientTrack{track: t, tries: tries, pages: pages, log: ing.log, onRetry: onRetry, backoff: ing.cfg.Backoff}
}

func (ing *Ingester) beforeTrack(p *peer, migrationID int64) track {
	info := ing.chain.infos[migrationID]
	t := &beforeTrack{client: p.client, migrationID: migrationID}
	t.first, _, _ = info.Span()
	for _, r := range info.Ranges {
		t.synchronizers = append(t.synchronizers, r.SynchronizerID)
	}
	return t
}

// shared reads a stretch of history that goes through end from all upstreams, with the
// agreement that the configuration asks for.
func (ing *Ingester) shared(operation string, migrationID int64, end schemas.Position) track {
	if !ing.peers.several() {
		return ing.trackFrom(ing.peers.list[0], operation, migrationID, &ing.beyond)
	}
	t := ing.sharedBy(operation, migrationID, end)
	if ing.cfg.Agree < 2 {
		return t
	}
	proof := t
	if operation == eventsOperation && ing.cfg.AgreeOn == AgreeOnUpdates {
		proof = ing.sharedBy(updatesOperation, migrationID, end)
	}
	return &agreeTrack{
		sharedTrack: t, k: ing.cfg.Agree, on: ing.cfg.AgreeOn, proof: proof,
		stream: ing.cfg.Stream, poll: ing.cfg.Poll, record: ing.disagreed,
	}
}

func (ing *Ingester) sharedBy(operation string, migrationID int64, end schemas.Position) *sharedTrack {
	t := &sharedTrack{
		peers: ing.peers, of: map[*peer]track{}, operation: operation, end: end, status: ing.status,
		giveUp: ing.cfg.GiveUpAfter, poll: ing.cfg.Poll, backoff: ing.cfg.Backoff, stripes: map[int64]*peer{}, apart: ing.apart(operation),
	}
	for _, p := range ing.peers.list {
		t.of[p] = ing.trackFrom(p, operation, migrationID, &ing.beyond)
	}
	if operation == updatesBeforeOperation {
		t.ranges = ing.chain.infos[migrationID].Ranges
	}
	t.track = t.of[ing.peers.list[0]]
	return t
}

// apart reports whether honest upstreams may give an operation's items with different
// side data, so that what came from one must not be mixed with what came from another.
func (ing *Ingester) apart(operation string) bool {
	agreed := ing.cfg.Agree > 1 && ing.cfg.AgreeOn == AgreeOnEvents
	return ing.peers.several() && operation == eventsOperation && !agreed
}
