package app

import (
	"context"
	"slices"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/facts"
)

// newFacts prepares the questions to scan services for what history does not tell. The answers go
// into a store.
func (d *database) newFacts(urls []string, into *store.DB) (*scan.Facts, error) {
	cfg := d.p.cfg
	return scan.NewFacts(scan.FactsConfig{
		URLs: urls, Agree: cfg.ScanAgree, Store: factStore{d.reader, into}, Synchronizers: d.synchronizers, Log: d.p.log,
		Interval: cfg.FactsInterval, RequestsPerSecond: cfg.ScanRate, Version: d.p.build.Version,
	})
}

// synchronizers names those of public history.
func (d *database) synchronizers(ctx context.Context) ([]string, error) {
	migrations, err := d.reader.Migrations(ctx)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, m := range migrations {
		for _, r := range m.Synchronizers {
			ids = append(ids, r.SynchronizerID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// factStore keeps facts of the public history's network.
type factStore struct {
	reader *history.Reader
	db     *store.DB
}

// LatestFact returns the last fact of a key.
func (s factStore) LatestFact(ctx context.Context, key facts.Key) (facts.Fact, error) {
	return s.reader.State().LatestFact(ctx, key)
}

// KeepFact stores a fact that is another one than before.
func (s factStore) KeepFact(ctx context.Context, f facts.Fact, previous string) error {
	return indexer.KeepFact(ctx, s.db, schemas.ScanStream, f, previous)
}

// askedFacts returns what asks upstreams on behalf of clients, nil without any.
func (d *database) askedFacts(scanURLs []string) (*scan.Facts, error) {
	if len(scanURLs) == 0 || d.p.cfg.FactsInterval == 0 {
		return nil, nil
	}
	return d.newFacts(scanURLs, d.db)
}
