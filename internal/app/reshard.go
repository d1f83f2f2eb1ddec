package app

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/indexer/reshard"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Reshard says which store is copied into the cluster of the settings.
type Reshard struct {
	// From is a DSN or a data folder, FromCluster the cluster that the DSN names a server of, if any.
	From, FromCluster string
	// DryRun only lists what would be copied.
	DryRun bool
}

// ReshardReport says what was copied or, of a dry run, what would be.
type ReshardReport struct {
	*reshard.Result
	Plan    []reshard.Partition `json:"plan,omitempty"`
	Seconds float64             `json:"seconds"`
}

func (r *Reshard) check(cfg *settings.Config) error {
	switch {
	case r.From == "":
		return settings.Usage("reshard needs --from, a data folder or the DSN of a ClickHouse that has the store")
	case cfg.ClickHouseDSN == "" || cfg.ClickHouseCluster == "":
		return settings.Usage("reshard needs --clickhouse-dsn and --clickhouse-cluster, which name the cluster that the store is copied into")
	case r.FromCluster != "" && !r.fromServer():
		return settings.Usage("--from-cluster needs a DSN in --from, not the folder %s", r.From)
	}
	return nil
}

// fromServer reports whether the source is not a data folder.
func (r *Reshard) fromServer() bool { return strings.Contains(r.From, "://") }

// Reshard copies a store into the cluster of the settings.
func (a *App) Reshard(ctx context.Context, r Reshard, progress *console.Progress) (*ReshardReport, error) {
	began := time.Now()
	if err := r.check(a.p.cfg); err != nil {
		return nil, err
	}
	from, err := a.openSource(ctx, r)
	if err != nil {
		return nil, err
	}
	report := new(ReshardReport)
	err = from.p.guard(ctx, func(ctx context.Context) (err error) {
		if r.DryRun {
			report.Plan, err = reshard.Plan(ctx, from.db)
			return err
		}
		report.Result, err = a.db.fill(ctx, from.db, progress)
		return err
	})
	report.Seconds = time.Since(began).Seconds()
	return report, err
}

// openSource opens the store that is copied, which must have the version of this binary. Its tables are
// not changed.
func (a *App) openSource(ctx context.Context, r Reshard) (*database, error) {
	cfg := *a.p.cfg
	cfg.Data, cfg.ClickHouseDSN, cfg.ClickHouseCluster = r.From, "", ""
	if r.fromServer() {
		cfg.ClickHouseDSN, cfg.ClickHouseCluster = r.From, r.FromCluster
	} else if _, err := os.Stat(cfg.EngineFolder()); err != nil {
		return nil, fmt.Errorf("--from %s is not a data folder of ledgerlake: %w", r.From, err)
	}
	d := &database{p: &process{cfg: &cfg, build: a.p.build, log: a.p.log}}
	a.p.onClose(d.p.close)
	if err := d.checkLocal(ctx); err != nil {
		return nil, err
	}
	if err := d.given(); err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	if d.dsn == "" {
		if err := d.startEngine(ctx); err != nil {
			return nil, err
		}
	} else if err := d.checkFilled(ctx); err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	if err := d.checkVersion(ctx); err != nil {
		return nil, err
	}
	db, err := store.OpenOn(ctx, d.dsn, cfg.ClickHouseCluster)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	d.p.onClose(func() error { db.Close(); return nil })
	d.db = db
	return d, nil
}

// checkVersion refuses a source that this binary would have to migrate.
func (d *database) checkVersion(ctx context.Context) error {
	conn, err := engine.Open(ctx, d.dsn)
	if err != nil {
		return fmt.Errorf("--from: %w", err)
	}
	d.p.onClose(conn.Close)
	version, err := indexer.Version(ctx, conn)
	switch known := int64(schemas.StoreVersion()); {
	case err != nil:
		return fmt.Errorf("--from: reading the version of the store: %w", err)
	case version == 0:
		return fmt.Errorf("--from has no store: name the database, or the folder, that has it")
	case version < known:
		return fmt.Errorf("the store of --from has schema %d, and this ledgerlake makes %d: migrate it first, by ledgerlake verify of this version; nothing was changed", version, known)
	case version > known:
		return fmt.Errorf("%w: the store of --from has schema %d, this ledgerlake knows up to %d: install that version; nothing was changed", indexer.ErrNewerStore, version, known)
	}
	return nil
}

// checkFilled refuses a store on a cluster that is not copied completely.
func (d *database) checkFilled(ctx context.Context) error {
	if d.p.cfg.ClickHouseCluster == "" {
		return nil
	}
	return indexer.CheckFilled(ctx, d.dsn, d.p.cfg.ClickHouseCluster)
}

// fill copies a store into the one of the settings.
func (d *database) fill(ctx context.Context, source *store.DB, progress *console.Progress) (result *reshard.Result, err error) {
	if err := d.given(); err != nil {
		return nil, err
	}
	if err := d.reach(ctx); err != nil {
		return nil, err
	}
	l := migrationLog{log: d.p.log, now: time.Now}
	cluster, begun := d.p.cfg.ClickHouseCluster, false
	err = indexer.FillCluster(ctx, d.dsn, cluster, d.p.log, l.report, func(ctx context.Context, begin func(context.Context) error) error {
		target, err := store.OpenOn(ctx, d.dsn, cluster)
		if err != nil {
			return err
		}
		defer target.Close()
		result, err = reshard.New(reshard.Config{
			Source: source, Target: target, Begin: begin, Log: d.p.log,
			Report: func(p reshard.Progress) {
				if !begun {
					progress.Begin("copying the store", "rows", int64(p.Total))
				}
				begun = true
				progress.Set(int64(p.Rows), int64(p.Total))
			},
		}).Run(ctx)
		if err == nil && begun {
			progress.End(fmt.Sprintf("%d rows in %d partitions", result.Rows, result.Partitions))
		}
		return err
	})
	return result, err
}
