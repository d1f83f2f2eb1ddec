package scan

import (
	"log/slog"
	"math"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// maxCoordinate lies behind all of any track.
const maxCoordinate = math.MaxInt64

// tracks makes the tracks that an Ingester reads, of all upstreams.
type tracks struct {
	cfg    *Config
	peers  *peers
	status *progress
	log    *slog.Logger
	view   *view
	tail   *tail
	pages  map[string]*pageSizer // by kind of track
	// beyond has what came from beyond the horizon.
	beyond earliestBeyond
}

// imports reads a migration's import updates.
func (ts *tracks) imports(migrationID int64) track {
	end := schemas.Position{MigrationID: migrationID, RecordTime: schemas.MinMicros}
	if ts.view.chain != nil && ts.view.chain.has(migrationID) {
		end.UpdateID = ts.view.chain.infos[migrationID].LastImportID
	}
	return ts.shared(importUpdatesOperation, migrationID, end)
}

// history reads a migration's history with the chosen source.
func (ts *tracks) history(migrationID int64) track {
	end := schemas.Start
	if ts.view.chain != nil {
		end = ts.view.chain.end()
	}
	return ts.shared(ts.view.operation(), migrationID, end)
}

// from reads a stretch of history from one upstream. What follows on the end of the
// stream is taken only together with that end, and what lies beyond the horizon only where
// beyond is nil, which is for what was announced already.
func (ts *tracks) from(p *peer, operation string, migrationID int64, beyond *earliestBeyond) track {
	pages, tries := ts.pages["history"], malformedTries
	var t track
	switch operation {
	case importUpdatesOperation:
		t, pages = &importTrack{client: p.client, migrationID: migrationID}, ts.pages["imports"]
	case updatesBeforeOperation:
		t = ts.before(p, migrationID)
	case updatesOperation:
		t = &historyTrack{client: p.client, migrationID: migrationID, page: p.client.UpdatesPage, operation: operation,
			horizon: ts.view.horizon(migrationID), beyond: beyond}
	default:
		t = &historyTrack{client: p.client, migrationID: migrationID, page: p.client.EventsPage, operation: operation,
			horizon: ts.view.horizon(migrationID), beyond: beyond}
	}
	if ts.peers.several() {
		tries = 1
	}
	if a, end := ts.tail.get(); a.hash != "" && a.position.MigrationID == migrationID && end.MigrationID == migrationID &&
		(operation == eventsOperation || operation == updatesOperation) {
		t = &anchoredTrack{track: t, client: p.client, operation: operation, anchor: a, start: end}
	}
	onRetry := func(err error) { p.retried(); ts.status.Retried(err) }
	return &retryTrack{track: t, tries: tries, pages: pages, log: ts.log, onRetry: onRetry, backoff: ts.cfg.Backoff}
}

func (ts *tracks) before(p *peer, migrationID int64) track {
	info := ts.view.chain.infos[migrationID]
	t := &beforeTrack{client: p.client, migrationID: migrationID}
	t.first, _, _ = info.Span()
	for _, r := range info.Ranges {
		t.synchronizers = append(t.synchronizers, r.SynchronizerID)
	}
	return t
}

// shared reads a stretch of history that goes through end from all upstreams, with the
// agreement that the configuration asks for.
func (ts *tracks) shared(operation string, migrationID int64, end schemas.Position) track {
	if !ts.peers.several() {
		return ts.from(ts.peers.list[0], operation, migrationID, &ts.beyond)
	}
	t := ts.sharedBy(operation, migrationID, end)
	if ts.cfg.Agree < 2 {
		return t
	}
	proof := t
	if operation == eventsOperation && ts.cfg.AgreeOn == AgreeOnUpdates {
		proof = ts.sharedBy(updatesOperation, migrationID, end)
	}
	return &agreeTrack{
		sharedTrack: t, k: ts.cfg.Agree, on: ts.cfg.AgreeOn, proof: proof,
		stream: schemas.ScanStream, poll: ts.cfg.Poll, record: ts.disagreed,
	}
}

func (ts *tracks) sharedBy(operation string, migrationID int64, end schemas.Position) *sharedTrack {
	t := &sharedTrack{
		peers: ts.peers, of: map[*peer]track{}, operation: operation, end: end, status: ts.status,
		giveUp: ts.cfg.GiveUpAfter, poll: ts.cfg.Poll, backoff: ts.cfg.Backoff, stripes: map[int64]*peer{}, apart: ts.apart(operation),
	}
	for _, p := range ts.peers.list {
		t.of[p] = ts.from(p, operation, migrationID, &ts.beyond)
	}
	if operation == updatesBeforeOperation {
		t.ranges = ts.view.chain.infos[migrationID].Ranges
	}
	t.track = t.of[ts.peers.list[0]]
	return t
}

// apart reports whether honest upstreams may give an operation's items with different
// side data, so that what came from one must not be mixed with what came from another.
func (ts *tracks) apart(operation string) bool {
	agreed := ts.cfg.Agree > 1 && ts.cfg.AgreeOn == AgreeOnEvents
	return ts.peers.several() && operation == eventsOperation && !agreed
}
