package scan

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history/copies"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/scan/horizon"
	"github.com/ledgerlake/ledgerlake/query/scan/pages"
	"github.com/ledgerlake/ledgerlake/query/scan/state"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Config says what the interface reads and how it presents itself.
type Config struct {
	Source Source       // required
	Health Health       // required
	Log    *slog.Logger // required
	// Bulk is nil when no object storage is configured; the bulk operations then
	// answer 501.
	Bulk Bulk
	// BulkFormats are the formats in which objects are published; the listings answer 501 for
	// the others. Defaults to Parquet.
	BulkFormats []Format
	// Facts is asked for what depends on the client's request and is not in history;
	// without it the store answers alone.
	Facts Facts
	// UpstreamURL is a scan that is asked for what is made of serialised contracts, which public
	// history does not have; without one that answers 501. Client is used for it; it defaults to one
	// that follows no redirects.
	UpstreamURL string
	Client      *http.Client
	// Blobs finds the blobs of contracts, which are not in history; without it there are none.
	Blobs state.Blobs
	// Naming is the spelling of members of answers; default query.Neutral.
	Naming query.Naming
	// PublicURL is how clients reach this server, such as "https://scan.example.com";
	// bulk listings need it for their URLs and answer 501 without.
	PublicURL string
	// TokenKey signs page tokens; at least 16 bytes. Servers that share clients must
	// share it, and a new key makes the tokens in use invalid.
	TokenKey []byte
	// Catalog converts values between encodings; defaults to values.Default().
	Catalog *values.Catalog
	// MaxPageSize caps page_size, limit and count; default and most is 1000.
	MaxPageSize int
	// ChunkBytes is about how much of a page is read from the store at a time;
	// default 32 MiB.
	ChunkBytes int64
	// DumpBytes is about how much memory a dump of an active set takes; default and most is
	// 104 MiB.
	DumpBytes int64
	// Spare reserves memory for what is read ahead, see query.Admission.Spare; by default there
	// is always enough.
	Spare func(bytes int64) (release func(), ok bool)
	// CacheBytes is how much memory may hold answers to lookups that never change; default
	// 64 MiB.
	CacheBytes int64
	// Copies are asked for items by update id before Source is, where there are any: that
	// takes little of the store.
	Copies *copies.Items
	// WatermarkTTL is how long a watermark may be remembered; default 50 ms.
	WatermarkTTL time.Duration
	// NodeID, Version and CommitTime are reported by /status and /version.
	NodeID     string
	Version    string
	CommitTime time.Time
	// Ports are reported by /status, by the name of the interface.
	Ports map[string]int
	// Now defaults to time.Now.
	Now func() time.Time
}

func (c *Config) setDefaults() error {
	switch {
	case c.Source == nil || c.Health == nil || c.Log == nil:
		return errors.New("scan: Config.Source, Health and Log are required")
	case len(c.TokenKey) < 16:
		return errors.New("scan: Config.TokenKey must have at least 16 bytes")
	case c.Naming != "" && c.Naming != query.Neutral && c.Naming != query.Network:
		return fmt.Errorf("scan: Config.Naming %q is neither %q nor %q", c.Naming, query.Neutral, query.Network)
	case c.MaxPageSize < 0 || c.MaxPageSize > query.MaxListItems:
		return errors.New("scan: Config.MaxPageSize must be from 1 to 1000")
	}
	if c.Catalog == nil {
		c.Catalog = values.Default()
	}
	if len(c.BulkFormats) == 0 {
		c.BulkFormats = []Format{Parquet}
	}
	if c.MaxPageSize == 0 {
		c.MaxPageSize = query.MaxListItems
	}
	if c.ChunkBytes <= 0 {
		c.ChunkBytes = 32 << 20
	}
	if c.DumpBytes <= 0 || c.DumpBytes > maxDumpBytes {
		c.DumpBytes = maxDumpBytes
	}
	if c.Spare == nil {
		c.Spare = func(int64) (func(), bool) { return func() {}, true }
	}
	if c.CacheBytes <= 0 {
		c.CacheBytes = 64 << 20
	}
	if c.WatermarkTTL <= 0 {
		c.WatermarkTTL = 50 * time.Millisecond
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.PublicURL = strings.TrimRight(c.PublicURL, "/")
	return nil
}

// API is the scan interface. It is safe for concurrent use.
type API struct {
	node        *query.Node
	updates     *updatePages
	lookups     *updateLookups
	sets        *activeSets
	snapshots   snapshotTimes
	contracts   *contractHistories
	backfilling *backfilling
	bulk        *bulkObjects
	parties     *partySets
	activities  *activities
	state       *state.API
}

// setTTL is how many times as long as a watermark the sets of contracts that tell the present
// state may be remembered: on a busy network the watermark moves all the time, and they hardly
// ever change.
const setTTL = 10

// New checks the configuration.
func New(cfg Config) (*API, error) {
	if err := cfg.setDefaults(); err != nil {
		return nil, err
	}
	parties, err := newPartySets(cfg.UpstreamURL, cfg.Client)
	if err != nil {
		return nil, err
	}
	known := horizon.New(cfg.Source, cfg.Health.Backfilled, cfg.WatermarkTTL, cfg.Now)
	tokens := tokens{query.PageTokens{Key: cfg.TokenKey}}
	updateSizes := new(query.Sizes)
	ahead := newReadAhead(cfg.Source.Updates, func(wanted int) int { return updateSizes.Chunk(wanted, cfg.ChunkBytes) })
	ahead.spare = func(rows int) (func(), bool) { return cfg.Spare(pages.RowsFactor * updateSizes.Of(rows)) }
	a := &API{
		node: &query.Node{
			ID: cfg.NodeID, Version: cfg.Version, CommitTime: cfg.CommitTime, Ports: cfg.Ports,
			Ready: cfg.Health.Ready, Log: cfg.Log, Started: cfg.Now(), Now: cfg.Now,
		},
		updates: &updatePages{
			source: cfg.Source, horizon: known, ahead: ahead, catalog: cfg.Catalog,
			maxPageSize: cfg.MaxPageSize, chunkBytes: cfg.ChunkBytes, updateSizes: updateSizes,
		},
		lookups: &updateLookups{
			source: cfg.Source, horizon: known, catalog: cfg.Catalog,
			items: memo.NewBatcher(cfg.Source.ItemsByID), answers: query.NewAnswerCache(cfg.CacheBytes),
		},
		sets: &activeSets{
			source: cfg.Source, horizon: known, catalog: cfg.Catalog, tokens: tokens, places: query.NewAnswerCache(placesBytes),
			maxPageSize: cfg.MaxPageSize, chunkBytes: cfg.ChunkBytes, dumpBytes: cfg.DumpBytes, version: cfg.Version,
		},
		snapshots: snapshotTimes{known},
		contracts: &contractHistories{
			source: cfg.Source, horizon: known, tokens: tokens, catalog: cfg.Catalog, maxPageSize: cfg.MaxPageSize, chunkBytes: cfg.ChunkBytes,
		},
		backfilling: &backfilling{
			source: cfg.Source, horizon: known, backfilled: cfg.Health.Backfilled, catalog: cfg.Catalog,
			maxPageSize: cfg.MaxPageSize, chunkBytes: cfg.ChunkBytes, updateSizes: updateSizes,
		},
		bulk: newBulkObjects(&cfg, tokens), parties: parties,
		activities: &activities{
			source: cfg.Source, horizon: known, catalog: cfg.Catalog, naming: cfg.Naming, maxPageSize: cfg.MaxPageSize, updateSizes: updateSizes,
		},
	}
	a.state = state.New(state.Config{
		Source: cfg.Source, Horizon: known, Upstream: cfg.Facts, Blobs: cfg.Blobs, Supply: newCoinSupply(a.sets, cfg.Spare, cfg.Now),
		Catalog: cfg.Catalog, Naming: cfg.Naming,
		MaxPageSize: cfg.MaxPageSize, ChunkBytes: cfg.ChunkBytes, TTL: setTTL * cfg.WatermarkTTL, Now: cfg.Now,
	})
	if cfg.Copies != nil {
		a.lookups.copies = memo.NewBatcher(cfg.Copies.ByID)
	}
	a.sets.sizes.Saw(1, firstSizeGuess) // a dump's first pieces are read before any was seen
	return a, nil
}

// Prefixes are the places where a listener of its own serves the interface. On a
// listener shared with other interfaces only the last one is free of collisions.
var Prefixes = [...]string{"", "/api/scan"}

// Mount returns the interface for both prefixes.
func (a *API) Mount() query.Mount {
	return query.Mount{Prefixes: Prefixes[:], Routes: a.Routes()}
}

// SharedMount returns the interface for the prefix that is free of collisions.
func (a *API) SharedMount() query.Mount {
	return query.Mount{Prefixes: Prefixes[len(Prefixes)-1:], Routes: a.Routes()}
}

// Routes lists the operations.
func (a *API) Routes() []query.Route {
	v0, v1, v2 := schemas.UpdateForm{NodeLocal: true}, schemas.UpdateForm{WithOffset: true}, schemas.UpdateForm{}
	return slices.Concat(a.node.Routes("scan."), a.state.Routes(), []query.Route{
		{Method: "GET", Path: "/v0/feature-support", Name: "scan.feature_support", Handle: featureSupport},

		{Method: "POST", Path: "/v2/updates", Name: "scan.v2.updates", Class: query.Page, Handle: a.updates.updates(v2)},
		{Method: "GET", Path: "/v2/updates/{update_id}", Name: "scan.v2.update", Handle: a.lookups.update(v2)},
		{Method: "GET", Path: "/v2/updates/hash/{hash}", Name: "scan.v2.update_by_hash", Handle: a.lookups.updateByHash},
		{Method: "POST", Path: "/v1/updates", Name: "scan.v1.updates", Class: query.Page, Handle: a.updates.updates(v1)},
		{Method: "GET", Path: "/v1/updates/{update_id}", Name: "scan.v1.update", Handle: a.lookups.update(v1)},
		{Method: "POST", Path: "/v0/updates", Name: "scan.v0.updates", Class: query.Page, Handle: a.updates.updates(v0)},
		{Method: "GET", Path: "/v0/updates/{update_id}", Name: "scan.v0.update", Handle: a.lookups.update(v0)},

		{Method: "POST", Path: "/v0/events", Name: "scan.events", Class: query.Page, Handle: a.updates.events},
		{Method: "GET", Path: "/v0/events/latest-record-time", Name: "scan.latest_record_time", Handle: a.updates.latestRecordTime},
		{Method: "GET", Path: "/v0/events/{update_id}", Name: "scan.event", Handle: a.lookups.event},

		{Method: "POST", Path: "/v2/state/acs", Name: "scan.v2.acs", Class: query.Page, Handle: a.sets.activeContracts(v2Set)},
		{Method: "POST", Path: "/v1/state/acs", Name: "scan.v1.acs", Class: query.Page, Handle: a.sets.activeContracts(v1Set)},
		{Method: "POST", Path: "/v0/state/acs", Name: "scan.v0.acs", Class: query.Page, Handle: a.sets.activeContracts(v0Set)},
		{Method: "GET", Path: "/v0/state/acs/dump", Name: "scan.acs_dump", Class: query.Dump, Handle: a.sets.dump, Transfer: true},
		{Method: "POST", Path: "/v2/holdings/state", Name: "scan.v2.holdings", Class: query.Page, Handle: a.sets.holdings(v2Set)},
		{Method: "POST", Path: "/v1/holdings/state", Name: "scan.v1.holdings", Class: query.Page, Handle: a.sets.holdings(v1Set)},
		{Method: "POST", Path: "/v0/holdings/state", Name: "scan.v0.holdings", Class: query.Page, Handle: a.sets.holdings(v0Set)},
		{Method: "POST", Path: "/v1/holdings/summary", Name: "scan.v1.holdings_summary", Class: query.Page, Handle: a.sets.holdingsSummary(false)},
		{Method: "POST", Path: "/v0/holdings/summary", Name: "scan.v0.holdings_summary", Class: query.Page, Handle: a.sets.holdingsSummary(true)},
		{Method: "GET", Path: "/v0/contracts/{contract_id}", Name: "scan.contract", Class: query.Page, Handle: a.contracts.history},
		{Method: "POST", Path: "/v0/parties/{party}/updates", Name: "scan.party_updates", Class: query.Page, Handle: a.updates.partyUpdates},
		{Method: "POST", Path: "/v0/activities", Name: "scan.activities", Class: query.Page, Handle: a.activities.newestFirst},
		{Method: "POST", Path: "/v0/transactions", Name: "scan.transactions", Class: query.Page, Handle: a.activities.inOrder},
		{Method: "GET", Path: "/v0/acs/{party}", Name: "scan.party_acs", Handle: a.parties.export, Transfer: true},
		{Method: "GET", Path: "/v0/state/acs/snapshot-timestamp", Name: "scan.snapshot_timestamp", Handle: a.snapshots.snapshotBefore},
		{Method: "GET", Path: "/v0/state/acs/snapshot-timestamp-after", Name: "scan.snapshot_timestamp_after", Handle: a.snapshots.snapshotAfter},
		{Method: "POST", Path: "/v0/state/acs/force", Name: "scan.force_acs", Handle: a.snapshots.forceSnapshot},

		{Method: "POST", Path: "/v0/backfilling/migration-info", Name: "scan.migration_info", Handle: a.backfilling.migrationInfo},
		{Method: "POST", Path: "/v0/backfilling/updates-before", Name: "scan.updates_before", Class: query.Page, Handle: a.backfilling.updatesBefore},
		{Method: "POST", Path: "/v0/backfilling/import-updates", Name: "scan.import_updates", Class: query.Page, Handle: a.backfilling.importUpdates},
		{Method: "GET", Path: "/v0/backfilling/status", Name: "scan.backfilling_status", Handle: a.backfilling.status},

		{Method: "GET", Path: "/v0/history/bulk/acs", Name: "scan.bulk_acs", Handle: a.bulk.activeSet},
		{Method: "POST", Path: "/v0/history/bulk/updates", Name: "scan.bulk_updates", Handle: a.bulk.updates},
		{Method: "POST", Path: "/v0/history/bulk/checksums", Name: "scan.bulk_checksums", Handle: a.bulk.checksums},
		{Method: "GET", Path: "/v0/history/bulk/progress", Name: "scan.bulk_progress", Handle: a.bulk.exportProgress},
		{Method: "GET", Path: "/v0/history/bulk/download/{object_key:*}", Name: "scan.bulk_download", Handle: a.bulk.download, Transfer: true},
	})
}

// featureSupport has no members: none is guaranteed, and clients take a missing one
// for a feature that is not there.
func featureSupport(_ context.Context, r *query.Request) error {
	return r.JSON(struct{}{})
}
