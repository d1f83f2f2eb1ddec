package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// peer reads the history that verify compares with.
type peer struct{ *scan.Client }

// peerGiveUp ends the retries of one request to a peer.
const peerGiveUp = 2 * time.Minute

func (s *verifier) newPeer(address string) (*peer, error) {
	cfg := s.p.cfg
	catalog, err := s.p.catalog()
	if err != nil {
		return nil, err
	}
	client, err := scan.NewClient(scan.ClientConfig{
		BaseURL: address, RequestsPerSecond: cfg.ScanRate, MaxPageBytes: cfg.ScanPageBytes, Values: catalog,
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

// layoutCheck is the name of the check of files against what is published in the network's layout.
const layoutCheck = "layout"

// NetworkLayout is the layout that Against can have.
const NetworkLayout = "network"

// checkAgainst refuses what cannot be done beside a comparison with files.
func (f *VerifyConfig) checkAgainst() error {
	switch {
	case f.Layout != NetworkLayout:
		return fmt.Errorf("--layout is %s, not %q", NetworkLayout, f.Layout)
	case len(f.Checks) > 0 || f.Stream != "" || f.Peer != "":
		return errors.New("--against compares files alone: leave --check, --stream and --peer out")
	}
	return checkFolder("--against", f.Against)
}

// checkFolder refuses the value of a flag that is not a folder.
func checkFolder(flag, dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder", dir)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
}

// verifyAgainst compares files in the network's layout with what this store would publish.
func (s *verifier) verifyAgainst(ctx context.Context, dir string, p *console.Progress) (*Verification, error) {
	exporter, err := s.objects.newExporter()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	p.Begin("verify layout", "lines", 0)
	compared, err := exporter.Network().Against(ctx, os.DirFS(dir), func(lines int64) { p.Set(lines, 0) })
	if err != nil {
		return nil, fmt.Errorf("comparing with %s: %w", dir, err)
	}
	p.End(fmt.Sprintf("%d lines", compared.Lines))
	check := verify.NewCheck(layoutCheck, 0)
	check.Count("folders", compared.Folders)
	check.Count("lines", compared.Lines)
	check.Count("lines_with_other_nulls", compared.OtherNulls)
	for _, d := range compared.Findings {
		check.Add(verify.Finding{What: d.What, Where: d.Where, Expected: d.Expected, Found: d.Found})
	}
	v := &Verification{OK: true, Schema: int64(schemas.StoreVersion()), MigratedFrom: s.db.migratedFrom, Checks: []*verify.Check{check},
		Seconds: map[string]float64{layoutCheck: time.Since(start).Seconds()}}
	v.take("", v.Checks)
	return v, nil
}
