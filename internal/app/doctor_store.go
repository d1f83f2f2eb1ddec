package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// checkClickHouse looks for the embedded engine, or has the ClickHouse that is given answer.
func (a *App) checkClickHouse(ctx context.Context) Finding {
	f := Finding{Check: "clickhouse"}
	dsn := a.p.cfg.ClickHouseDSN
	if dsn == "" {
		location, err := engine.Locate(a.p.cfg.Engine, nil)
		if err != nil {
			f.Detail, f.Fix = err.Error(), "run make setup, or give --engine or --clickhouse-dsn"
			return f
		}
		f.OK, f.Detail = true, fmt.Sprintf("embedded engine %s (found by %s)", location.Path, location.Source)
		return f
	}
	conn, err := engine.Open(ctx, dsn)
	if err != nil {
		return found("clickhouse", "", err)
	}
	defer conn.Close()
	v, err := conn.ServerVersion()
	if err != nil {
		f.Detail, f.Fix = err.Error(), "check --clickhouse-dsn and that the server runs"
		return f
	}
	f.OK, f.Detail = true, fmt.Sprintf("%s at %s", v, engine.MaskDSN(dsn))
	return f
}

// checkCluster has each shard answer and compares their versions.
func (a *App) checkCluster(ctx context.Context) Finding {
	const check = "clickhouse cluster"
	c, err := store.ReadCluster(ctx, a.p.cfg.ClickHouseDSN, a.p.cfg.ClickHouseCluster)
	if err != nil {
		return found(check, "", err)
	}
	return Finding{Check: check, OK: true, Detail: fmt.Sprintf("%s, %d shards of one version: %s", c.Name, len(c.Shards), strings.Join(c.Shards, ", "))}
}

// checkStore reads which version the store's tables have, and changes none of them. If no engine runs
// on the data folder, it runs one meanwhile.
func (a *App) checkStore(ctx context.Context) Finding {
	f := Finding{Check: "store"}
	if a.p.cfg.ClickHouseDSN == "" {
		if _, err := os.Stat(a.p.cfg.EngineFolder()); errors.Is(err, fs.ErrNotExist) {
			f.OK, f.Detail = true, "none yet"
			return f
		}
	}
	conn, err := a.OpenSQL(ctx)
	if err != nil {
		return found("store", "", err)
	}
	return storeFinding(ctx, conn, int64(schemas.StoreVersion()))
}

// storeFinding says which version a store has, for a binary that makes tables of version known.
func storeFinding(ctx context.Context, conn driver.Conn, known int64) Finding {
	f := Finding{Check: "store"}
	version, err := indexer.Version(ctx, conn)
	if err != nil {
		f.Detail, f.Fix = fmt.Sprintf("reading the version of the tables: %v", err), "grant SELECT on the tables of the database and on system.tables"
		return f
	}
	f.OK, f.Schema, f.KnownSchema = version <= known, &version, known
	switch {
	case version == 0:
		f.Detail = "no tables yet"
	case version < known:
		f.Detail = fmt.Sprintf("schema %d, which the next start migrates to %d; for the way back, make a backup first", version, known)
	default:
		f.Detail = fmt.Sprintf("schema %d", version)
	}
	if !f.OK {
		f.Fix = fmt.Sprintf("this ledgerlake knows schemas up to %d: install the later one", known)
	}
	return f
}
