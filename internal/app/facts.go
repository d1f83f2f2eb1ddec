package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/internal/blobs"
	"github.com/ledgerlake/ledgerlake/internal/history"
	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/query/ledger"
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

// streamFor is for how long the stream of the node is believed to be that one, or not to be there.
const streamFor = 10 * time.Second

// blobsFrom finds the blobs of public contracts, in the node's stream and with a scan service, ""
// for none. A process has one finder for each, which remembers what it has found.
func (d *database) blobsFrom(scanURL string) (*blobs.Finder, error) {
	d.findersMu.Lock()
	defer d.findersMu.Unlock()
	if f := d.finders[scanURL]; f != nil {
		return f, nil
	}
	f, err := blobs.New(blobs.Config{ScanURL: scanURL, Stream: d.streamedBlobs(), Log: d.p.log})
	if err != nil {
		return nil, err
	}
	if d.finders == nil {
		d.finders = map[string]*blobs.Finder{}
	}
	d.finders[scanURL] = f
	return f, nil
}

// streamedBlobs finds blobs in the stream of the node, if there is one.
func (d *database) streamedBlobs() func(context.Context, []string) (map[string]string, error) {
	reader := &memo.Value[*wallethistory.Reader]{TTL: streamFor, Now: time.Now, Load: func(ctx context.Context) (*wallethistory.Reader, error) {
		participant, err := d.participant(ctx)
		if errors.Is(err, ledger.ErrNoStream) {
			return nil, nil
		}
		return wallethistory.NewReader(d.db, schemas.NodeStream(participant)).Remembering(wallethistory.Fresh), err
	}}
	return func(ctx context.Context, ids []string) (map[string]string, error) {
		r, err := reader.Get(ctx)
		if r == nil || err != nil {
			return nil, err
		}
		return r.Blobs(ctx, ids)
	}
}
