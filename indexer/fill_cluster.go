package indexer

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"fmt"

	"github.com/ledgerlake/ledgerlake/internal/store"
)

//go:embed sql/is_unfinished.sql
var isUnfinished string

// FillCluster makes a store on a cluster, as MigrateCluster does, and calls fill, which copies rows into
// it, while no other process migrates or fills it. MigrateCluster refuses what is not filled completely.
func FillCluster(ctx context.Context, dsn, name string, report func(Migration), fill func(context.Context) error) error {
	c, servers, err := store.ReadCluster(ctx, dsn, name)
	if err != nil {
		return err
	}
	m := &clusterMigration{cluster: c, servers: servers, report: report, fills: true}
	if err := m.migrate(ctx); err != nil {
		return err
	}
	var filling error
	err = m.locked(ctx, func(held context.Context) error {
		if filling = fill(held); filling != nil {
			filling = cmp.Or(context.Cause(held), filling)
		}
		return nil // which shard has the lock says nothing about it
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
	var unfinished uint64
	if err := db.QueryRowContext(ctx, isUnfinished, m.cluster.ShardDatabase()).Scan(&unfinished); err != nil {
		return fmt.Errorf("reading whether the store is complete: %w", err)
	}
	if unfinished > 0 {
		return fmt.Errorf("the store in database %s is being filled by ledgerlake reshard: run that again to finish it", m.cluster.Database)
	}
	return nil
}
