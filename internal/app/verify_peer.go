package app

import (
	"context"
	"fmt"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// peer reads the history that verify compares with.
type peer struct{ *scan.Client }

// peerGiveUp ends the retries of one request to a peer.
const peerGiveUp = 2 * time.Minute

func (s *verifier) newPeer(address string) (*peer, error) {
	cfg := s.p.cfg
	client, err := scan.NewClient(scan.ClientConfig{
		BaseURL: address, RequestsPerSecond: cfg.ScanRate, MaxPageBytes: cfg.ScanPageBytes,
		GiveUpAfter: peerGiveUp, Version: s.p.build.Version, Log: s.p.log,
	})
	if err != nil {
		return nil, fmt.Errorf("--peer: %w", err)
	}
	return &peer{client}, nil
}

// Items reads a page of events, or of updates where the peer gives no verdicts.
func (p *peer) Items(ctx context.Context, after schemas.Position, limit int) ([]schemas.Item, error) {
	page, err := p.EventsPage(ctx, scan.PageRequest{After: after, Size: limit})
	if err != nil {
		return nil, err
	}
	items, err := page.Items()
	if err != nil || len(items) < limit {
		return items, err
	}
	// The next page starts after a record time: what shares the last one must not be cut.
	last := items[len(items)-1].Position()
	for len(items) > 0 && sameTime(items[len(items)-1].Position(), last) {
		items = items[:len(items)-1]
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("more than %d items are at %s: %w", limit, last, schemas.ErrMalformed)
	}
	return items, nil
}

func sameTime(a, b schemas.Position) bool {
	return a.MigrationID == b.MigrationID && a.RecordTime == b.RecordTime
}

// Imports reads a page of import updates.
func (p *peer) Imports(ctx context.Context, migrationID int64, afterID string, limit int) ([]schemas.Update, error) {
	page, err := p.ImportUpdates(ctx, scan.ImportsRequest{MigrationID: migrationID, AfterUpdateID: afterID, Limit: limit})
	if err != nil {
		return nil, err
	}
	items, err := page.Items()
	if err != nil {
		return nil, err
	}
	updates := make([]schemas.Update, 0, len(items))
	for _, it := range items {
		if it.Update != nil {
			updates = append(updates, *it.Update)
		}
	}
	return updates, nil
}
