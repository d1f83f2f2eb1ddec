package app

import (
	"context"
	"errors"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/indexer/typed"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/history/typedviews"
	"github.com/ledgerlake/ledgerlake/internal/packages/kept"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// OpenSQL connects to the ClickHouse that is given, to an engine that runs on the data
// folder, or to one that it starts.
func (a *App) OpenSQL(ctx context.Context) (driver.Conn, error) {
	if err := a.db.given(); err != nil {
		return nil, err
	}
	if a.db.dsn != "" {
		if err := a.db.reach(ctx); err != nil {
			return nil, err
		}
		if err := a.db.checkFilled(ctx); err != nil {
			return nil, err
		}
	} else {
		conn, err := a.db.openRunning(ctx)
		if conn != nil || err != nil {
			return conn, err
		}
		if err := a.db.checkLocal(ctx); err != nil {
			return nil, err
		}
		if err := a.db.startEngine(ctx); err != nil {
			return nil, err
		}
	}
	return a.db.connect(ctx, a.db.readerDSN())
}

// openRunning connects to the engine that another process runs on the data folder; the
// connection is nil if none answers.
func (d *database) openRunning(ctx context.Context) (driver.Conn, error) {
	dsn, err := engine.RunningDSN(d.p.cfg.EngineFolder())
	if errors.Is(err, engine.ErrNotRunning) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	conn, err := d.connect(ctx, dsn)
	if err != nil {
		d.p.log.DebugContext(ctx, "the engine that was running does not answer", "err", err)
		return nil, nil
	}
	return conn, nil
}

func (d *database) connect(ctx context.Context, dsn string) (driver.Conn, error) {
	conn, err := engine.Open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	d.p.onClose(conn.Close)
	return conn, nil
}

// OpenPackages opens the packages of the store, beside a process that runs on the data folder, too.
func OpenPackages(ctx context.Context, a *App) (*kept.Packages, error) {
	db, _, err := openBeside(ctx, a.db)
	if err != nil {
		return nil, err
	}
	return kept.New(db), nil
}

// openBeside opens the store, once. beside says that another process runs on the data folder.
func openBeside(ctx context.Context, d *database) (db *store.DB, beside bool, err error) {
	switch {
	case d.besideDB != nil:
		return d.besideDB, true, nil
	case d.db != nil:
		return d.db, false, nil
	}
	if d.p.cfg.ClickHouseDSN == "" {
		dsn, err := engine.RunningOwnerDSN(d.p.cfg.EngineFolder())
		if err != nil && !errors.Is(err, engine.ErrNotRunning) {
			return nil, false, err
		}
		if err == nil {
			db, err := store.Open(ctx, dsn)
			if err == nil {
				d.p.onClose(func() error { db.Close(); return nil })
				d.besideDB = db
				return db, true, nil
			}
			d.p.log.DebugContext(ctx, "the engine that was running does not answer", "err", err)
		}
	}
	err = d.open(ctx)
	return d.db, false, err
}

// NodeOfPackages returns the node of the settings, and its address without credentials.
func NodeOfPackages(a *App) (kept.Node, string, error) {
	if a.p.nodeURL() == "" {
		return nil, "", settings.Usage("--packages-from-node needs --node-url, the JSON API of the node")
	}
	p, err := a.wallets.find()
	if err != nil {
		return nil, "", err
	}
	return p.client, settings.MaskURL(a.p.nodeURL()), nil
}

// ErrNoTypedTables says that the store has no typed tables, as it is on a cluster.
var ErrNoTypedTables = typed.ErrCluster

// TypedViews are the names of views that can be added as typed tables are.
func TypedViews() []string { return typedviews.Names() }

// TypedTables are the typed tables of the store.
type TypedTables struct {
	*typed.Tables
	// Cluster says that there are none, as the store is on a cluster.
	Cluster bool

	d       *database
	catalog *values.Catalog
	beside  bool
}

// OpenTypedTables opens the typed tables of the store, beside a process that runs on the data folder, too.
// They are planned by the packages that the store has now.
func OpenTypedTables(ctx context.Context, a *App) (*TypedTables, error) {
	db, beside, err := openBeside(ctx, a.db)
	if err != nil {
		return nil, err
	}
	files, err := a.p.catalog()
	if err != nil {
		return nil, err
	}
	packages, err := kept.Follow(ctx, db, files, a.p.log)
	if err != nil {
		return nil, err
	}
	return &TypedTables{typed.NewTables(db, packages.Catalog), db.IsCluster(), a.db, packages.Catalog, beside}, nil
}

// Fill fills tables that were added, if no other process can be at it: that is where the data folder is this
// process's own. Else a process that ingests does so, and filled is false.
func (t *TypedTables) Fill(ctx context.Context) (filled bool, err error) {
	if t.beside || t.d.p.cfg.ClickHouseDSN != "" {
		return false, nil
	}
	return true, deriveTyped(ctx, t.d, t.catalog)
}
