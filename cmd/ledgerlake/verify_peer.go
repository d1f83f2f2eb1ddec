package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// peer reads the history that verify compares with.
type peer struct {
	client *scan.Client
	base   string
	http   *http.Client
}

const (
	// peerGiveUp ends the retries of one request to a peer.
	peerGiveUp = 2 * time.Minute
	// digestsTimeout bounds a peer's own digests, for which it may have to read all it has.
	digestsTimeout = 30 * time.Minute
	// maxDigestBytes bounds the answer: about a kilobyte for each day.
	maxDigestBytes = 64 << 20
)

func (s *stack) newPeer(address string) (*peer, error) {
	cfg := &s.app.cfg
	client, err := scan.NewClient(scan.ClientConfig{
		BaseURL: address, RequestsPerSecond: cfg.ScanRate, MaxPageBytes: cfg.ScanPageBytes,
		GiveUpAfter: peerGiveUp, Version: readBuild().version, Log: s.app.log,
	})
	if err != nil {
		return nil, fmt.Errorf("--peer: %w", err)
	}
	return &peer{client: client, base: strings.TrimRight(address, "/"), http: &http.Client{Timeout: digestsTimeout}}, nil
}

// Name names the peer without credentials.
func (p *peer) Name() string { return p.client.Upstream() }

// Digests asks a ledgerlake for its own. Only that operation says how it answers; anything
// else but a digest means that the peer does not offer it.
func (p *peer) Digests(ctx context.Context, through schemas.Position) (map[schemas.SegmentRef]verify.Tables, error) {
	query := url.Values{"migration_id": {strconv.FormatInt(through.MigrationID, 10)}, "record_time": {through.RecordTime.String()}, "update_id": {through.UpdateID}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base+"/v0/ledgerlake/digests?"+query.Encode(), nil)
	if err != nil {
		return nil, fmt.Errorf("asking for digests: %w", err)
	}
	response, err := p.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking for digests: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxDigestBytes))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, fmt.Errorf("reading digests: %w", err)
	}
	var answer struct {
		Segments []struct {
			schemas.SegmentRef
			Tables verify.Tables `json:"tables"`
		} `json:"segments"`
	}
	if response.StatusCode != http.StatusOK || json.Unmarshal(raw, &answer) != nil || answer.Segments == nil {
		return nil, fmt.Errorf("%s offers no digests: %w", p.Name(), schemas.ErrNotFound)
	}
	segments := make(map[schemas.SegmentRef]verify.Tables, len(answer.Segments))
	for _, s := range answer.Segments {
		segments[s.SegmentRef] = s.Tables
	}
	return segments, nil
}

// Items reads a page of events, or of updates where the peer gives no verdicts.
func (p *peer) Items(ctx context.Context, after schemas.Position, limit int) ([]schemas.Item, error) {
	page, err := p.client.EventsPage(ctx, scan.PageRequest{After: after, Size: limit})
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
		return nil, fmt.Errorf("more than %d items stand at %s: %w", limit, last, schemas.ErrMalformed)
	}
	return items, nil
}

func sameTime(a, b schemas.Position) bool {
	return a.MigrationID == b.MigrationID && a.RecordTime == b.RecordTime
}

// Imports reads a page of import updates.
func (p *peer) Imports(ctx context.Context, migrationID int64, afterID string, limit int) ([]schemas.Update, error) {
	page, err := p.client.ImportUpdates(ctx, scan.ImportsRequest{MigrationID: migrationID, AfterUpdateID: afterID, Limit: limit})
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
