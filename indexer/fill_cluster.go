package indexer

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"log/slog"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/internal/store"
)

var (
	//go:embed sql/create_reshard.sql
	createReshard string
	//go:embed sql/has_reshard.sql
	hasReshard string
)

const (
	// fillPatience is for how long a copy waits for a server, or tries again after it has answered.
	fillPatience = 5 * time.Minute
	// longFill is for how long a copy has gone on that has come further.
	longFill = time.Minute
)

// Filler copies rows into a store. Once it has called begin, which makes table reshard on the first shard,
// nobody uses the store until a row of that table says that it is complete. It goes on where an earlier
// call was cut off.
type Filler func(ctx context.Context, begin func(context.Context) error) error

// FillCluster makes a store on a cluster, as MigrateCluster does, and calls fill while no other process
// migrates or fills it. While a server is away it waits, and calls fill again.
func FillCluster(ctx context.Context, dsn, name string, log *slog.Logger, report func(Migration), fill Filler) error {
	c, servers, err := store.ReadCluster(ctx, dsn, name)
	if err != nil {
		return err
	}
	m := &clusterMigration{cluster: c, servers: servers, report: report, fills: true}
	if err := m.migrate(ctx); err != nil {
		return err
	}
	for since := time.Now(); ; {
		began := time.Now()
		err := m.fill(ctx, fill)
		if time.Since(began) > longFill {
			since = time.Now()
		}
		if err == nil || ctx.Err() != nil || !store.Passes(err) || time.Since(since) > fillPatience {
			return err
		}
		log.WarnContext(ctx, "a server does not answer; the copy goes on when it does", "err", err)
		_ = remote.Sleep(ctx, time.Second) // the next call finds that ctx has ended
	}
}

// fill calls f with the lock.
func (m *clusterMigration) fill(ctx context.Context, f Filler) error {
	var filling error
	err := m.locked(ctx, func(held context.Context) error {
		if filling = f(held, m.beginFilling); filling != nil {
			filling = cmp.Or(context.Cause(held), filling)
		}
		return nil // which server has the lock says nothing about it
	})
	return cmp.Or(filling, err)
}

// CheckFilled returns an error if a store is being copied into a cluster. Nothing is changed.
func CheckFilled(ctx context.Context, dsn, name string) error {
	c, servers, err := store.ReadCluster(ctx, dsn, name)
	if err != nil {
		return err
	}
	m := &clusterMigration{cluster: c, servers: servers}
	return m.on(servers[0], "system", func(db *sql.DB) error { return m.checkFilled(ctx, db, 0) })
}

// checkFilled refuses a store that is being filled. The first shard knows.
func (m *clusterMigration) checkFilled(ctx context.Context, db *sql.DB, shard int) error {
	if m.fills || shard > 0 {
		return nil
	}
	var tables, complete uint64
	if err := db.QueryRowContext(ctx, hasReshard, m.cluster.ShardDatabase()).Scan(&tables); err != nil {
		return fmt.Errorf("reading whether the store was copied here: %w", err)
	}
	if tables == 0 {
		return nil
	}
	query := "SELECT count() FROM " + quoted(m.cluster.ShardDatabase()) + ".reshard WHERE table_name = '' AND done"
	if err := db.QueryRowContext(ctx, query).Scan(&complete); err != nil {
		return fmt.Errorf("reading whether the store is complete: %w", err)
	}
	if complete == 0 {
		return fmt.Errorf("the store in database %s is being filled by ledgerlake reshard: run that again to finish it", m.cluster.Database)
	}
	return nil
}

// beginFilling makes the table of notes on the servers of the first shard.
func (m *clusterMigration) beginFilling(ctx context.Context) error {
	for _, s := range m.servers {
		if s.Shard > 0 || s.Shared && s.Replica > 0 {
			continue
		}
		statement := m.cluster.Tables(s.Shard, s.Replica, s.Shared).DDL("reshard", createReshard)
		err := m.on(s, m.cluster.ShardDatabase(), func(db *sql.DB) error {
			_, err := db.ExecContext(ctx, statement)
			return err
		})
		if err != nil {
			return fmt.Errorf("making table reshard: %w", err)
		}
	}
	return nil
}
