package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/cluster"
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

// checkCluster has each server of the cluster answer, compares them, and says how their tables stand.
func (a *App) checkCluster(ctx context.Context) []Finding {
	const check = "clickhouse cluster"
	c, servers, err := store.AskCluster(ctx, a.p.cfg.ClickHouseDSN, a.p.cfg.ClickHouseCluster)
	if err != nil {
		return []Finding{found(check, "", err)}
	}
	findings := []Finding{found(check, fmt.Sprintf("%s, %d shards on %d servers that fit together", c.Name, len(c.Shards), len(servers)), c.Check(servers))}
	for i := range servers {
		findings = append(findings, a.checkServer(ctx, c, &servers[i]))
	}
	return findings
}

// What a server of your own should have, see docs/operations.md.
const (
	dictionarySize = 512       // low_cardinality_max_dictionary_size
	minCacheSize   = 256 << 20 // uncompressed_cache_size
)

// checkServer says what one server of a cluster is and how its tables stand.
func (a *App) checkServer(ctx context.Context, c *cluster.Cluster, s *cluster.Server) Finding {
	check := "clickhouse " + c.Shards[s.Shard][s.Replica]
	if s.Err != nil {
		return found(check, "", s.Err)
	}
	state, err := store.AskState(ctx, c, s)
	if err != nil {
		return Finding{Check: check, Detail: fmt.Sprintf("asking how its tables stand: %v", err), Fix: "grant SELECT on system.replicas and system.settings"}
	}
	return serverFinding(check, c, s, state)
}

func serverFinding(check string, c *cluster.Cluster, s *cluster.Server, state store.ServerState) Finding {
	f := Finding{Check: check, OK: true, Detail: fmt.Sprintf("shard %d, ClickHouse %s, its clock %s ahead of ours", s.Shard+1, s.Version, s.Ahead.Round(10*time.Millisecond))}
	if len(c.Shards[s.Shard]) > 1 {
		f.Detail += fmt.Sprintf(", {shard} %q, {replica} %q, %d replicated tables, %d s behind, %d entries in their queues", s.ShardMacro, s.ReplicaMacro, state.Replicated, state.Delay, state.Queue)
	}
	switch {
	case state.ReadOnly > 0:
		f.OK, f.Fix = false, fmt.Sprintf("%d tables take no inserts: look for Keeper in its log, and see SYSTEM RESTORE REPLICA", state.ReadOnly)
	case state.Delay > store.MaxReplicaDelay:
		f.OK, f.Fix = false, "wait until it has caught up; nothing is read from it until then"
	case state.DictionarySize != dictionarySize:
		f.OK, f.Optional = false, true
		f.Fix = fmt.Sprintf("low_cardinality_max_dictionary_size is %d: set it to %d in the profile of the user, or reading a few updates costs megabytes", state.DictionarySize, dictionarySize)
	case state.CacheSize < minCacheSize:
		f.OK, f.Optional = false, true
		f.Fix = fmt.Sprintf("uncompressed_cache_size is %d: set it to %d or more in the configuration of the server, or the same few updates are decompressed again and again", state.CacheSize, minCacheSize)
	}
	return f
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
