package app

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/app/outage"
	"github.com/ledgerlake/ledgerlake/internal/app/probe"
	"github.com/ledgerlake/ledgerlake/internal/blobs"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/packages/kept"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// database is the ClickHouse of a process, embedded or given.
type database struct {
	p *process

	dsn    string
	engine *engine.Engine // nil unless it is our own
	db     *store.DB
	reader *history.Reader
	// besideDB is the store of another process that runs on the data folder, if openBeside met one.
	besideDB *store.DB

	// migratedFrom is the version that the store's tables had when this process migrated them, 0 if it
	// did not, or made them.
	migratedFrom int64
	// finders are of blobs, by the scan service that they ask.
	findersMu sync.Mutex
	finders   map[string]*blobs.Finder

	// packages has a catalogue of what --catalog and the store's packages say of templates.
	packages *kept.Follower

	// makes says that the command makes a store where there is none.
	makes bool
	// damage is what is known of rows that the store has lost.
	damage damageWatch
}

// StopTimeout is how long an embedded engine may take to end before it is killed. Those who
// stop us, such as docker compose, wait for 30 s.
const StopTimeout = 25 * time.Second

// open connects to ClickHouse, embedded or given, and brings its tables up to date.
func (d *database) open(ctx context.Context) error {
	if err := d.checkLocal(ctx); err != nil {
		return err
	}
	if err := d.given(); err != nil {
		return err
	}
	if d.dsn == "" {
		if err := d.startEngine(ctx); err != nil {
			return err
		}
	} else if err := d.reach(ctx); err != nil {
		return err
	}
	if err := d.migrate(ctx); err != nil {
		return err
	}
	db, err := store.OpenOn(ctx, d.dsn, d.p.cfg.ClickHouseCluster)
	if err != nil {
		return err
	}
	d.p.onClose(func() error { db.Close(); return nil })
	d.db, d.reader = db, history.NewReader(db, schemas.ScanStream)
	var stop func() error
	d.p.log, stop = outage.Watch(d.p.log, db.PingAll)
	d.p.onClose(stop)
	catalog, err := d.p.catalog()
	if err != nil {
		return err
	}
	if d.packages, err = kept.Follow(ctx, db, catalog, d.p.log); err != nil {
		return err
	}
	if d.p.cfg.LookupRows {
		return indexer.CreateLookupRows(ctx, db)
	}
	return nil
}

// given names the ClickHouse that is given, "" if none is.
func (d *database) given() (err error) {
	d.dsn, err = store.ReaderDSN(d.p.cfg.ClickHouseDSN, d.p.cfg.ClickHouseCluster)
	return err
}

// reach makes sure that the ClickHouse that is given answers and lets us in.
func (d *database) reach(ctx context.Context) error {
	conn, err := engine.Open(ctx, d.dsn)
	if err != nil {
		return fmt.Errorf("--clickhouse-dsn: %w", err)
	}
	return conn.Close()
}

func (d *database) startEngine(ctx context.Context) error {
	cfg := d.p.cfg
	if err := probe.MakeFolder(cfg.Data); err != nil {
		return err
	}
	e, err := engine.Start(ctx, engine.Config{
		DataDir: cfg.EngineFolder(), Library: cfg.Engine, MaxMemory: cfg.EngineMemory, StopGrace: StopTimeout, Log: d.p.log,
	})
	if err != nil {
		return err
	}
	d.p.onClose(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), StopTimeout)
		defer cancel()
		return e.Stop(ctx)
	})
	d.p.deaths = append(d.p.deaths, death{"embedded ClickHouse engine", e.Done(), e.Err})
	d.engine, d.dsn = e, e.DSN()
	return nil
}

// readerDSN names the store for who only reads it, and for other processes.
func (d *database) readerDSN() string {
	if d.engine != nil {
		return d.engine.ReaderDSN()
	}
	return d.dsn
}

// setMerges lets the embedded engine STOP or START merges: an engine that has just been
// started, or filled, has some to do, and they would take half the machine while history is
// read. It leaves an engine alone that is not ours.
func (d *database) setMerges(ctx context.Context, to string) error {
	if d.p.cfg.ClickHouseDSN != "" {
		return nil
	}
	if err := d.db.Exec(ctx, "SYSTEM "+to+" MERGES", "", nil); err != nil {
		return fmt.Errorf("letting the engine %s merges: %w", strings.ToLower(to), err)
	}
	return nil
}

// checkLocal refuses what this machine does not have: files that settings name, an engine, and a
// data folder that is ours and that nobody else uses. A folder that is new is ours where a command
// makes the store. Nothing is made.
func (d *database) checkLocal(ctx context.Context) error {
	cfg := d.p.cfg
	if _, err := d.p.catalog(); err != nil {
		return err
	}
	if err := cfg.CheckTokenFile(); err != nil {
		return err
	}
	if cfg.ClickHouseDSN != "" {
		return nil
	}
	if err := probe.CheckFolder(cfg.Data, cfg.EngineFolder(), d.makes); err != nil {
		return err
	}
	if _, err := engine.Locate(cfg.Engine, nil); err != nil {
		return err
	}
	return engine.CheckFree(ctx, cfg.EngineFolder())
}

// reachUpstreams refuses upstreams that are something else, or nothing, when a store is begun in
// the data folder: whoever types their addresses is there to correct them. Of a store that exists,
// and of one on a ClickHouse that is given, ingest goes on whatever an upstream answers just now.
func (d *database) reachUpstreams(ctx context.Context) error {
	cfg := d.p.cfg
	if _, err := os.Stat(cfg.EngineFolder()); err == nil || cfg.ClickHouseDSN != "" {
		return nil
	}
	group, ctx := guard.WithContext(ctx)
	for _, raw := range cfg.ScanURLs {
		group.Go(func() error { return probe.Scan(ctx, "scan-url", raw) })
	}
	if cfg.NodeURL != "" {
		group.Go(func() error { return probe.Node(ctx, cfg.NodeURL) })
	}
	return group.Wait()
}
