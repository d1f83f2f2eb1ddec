package indexer

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/cluster"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var (
	//go:embed sql/cluster_shard.sql
	clusterShard string
	//go:embed sql/cluster_tables.sql
	clusterTables string
	//go:embed sql/own_tables.sql
	ownTables string
	//go:embed sql/is_distributed.sql
	isDistributed string
	//go:embed sql/create_version.sql
	createVersion string
)

// MigrateCluster is MigrateAndReport for a store on a cluster, or without one if name is "". Each
// shard gets the tables, one after another, and then the Distributed tables that read all of them.
// Each shard knows its own version, so that a call that was cut off is continued by the next one.
func MigrateCluster(ctx context.Context, dsn, name string, report func(Migration)) error {
	if name == "" {
		return MigrateAndReport(ctx, dsn, report)
	}
	c, err := store.ReadCluster(ctx, dsn, name)
	if err != nil {
		return err
	}
	m := &clusterMigration{cluster: c, report: report}
	done, err := m.isDone(ctx)
	if err != nil || done {
		return err
	}
	return m.locked(ctx, m.run)
}

type clusterMigration struct {
	cluster *cluster.Cluster
	report  func(Migration)
	fills   bool // the process copies a store into the cluster, and others wait until it has
}

// on calls do with a connection to a database on shard n.
func (m *clusterMigration) on(n int, database string, do func(*sql.DB) error) (err error) {
	addr := m.cluster.Shards[n][0]
	db, err := open(m.cluster.DSN(addr, database))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := do(db); err != nil {
		return fmt.Errorf("shard %d of cluster %s, %s: %w", n+1, m.cluster.Name, addr, err)
	}
	return nil
}

// isDone reports whether all shards have the version of this binary. It refuses a cluster on which the
// rows would not be where they are looked for, and a store that is newer.
func (m *clusterMigration) isDone(ctx context.Context) (bool, error) {
	all := true
	for n := range m.cluster.Shards {
		err := m.on(n, "system", func(db *sql.DB) error {
			if err := m.checkPlace(ctx, db, n); err != nil {
				return err
			}
			version, err := m.version(ctx, db)
			if known := int64(schemas.StoreVersion()); version > known {
				return fmt.Errorf("%w: its tables have version %d, this one knows up to %d: install that version; nothing was changed", ErrNewerStore, version, known)
			} else if version < known {
				all = false
			}
			return err
		})
		if err != nil {
			return false, err
		}
	}
	return all, nil
}

// checkPlace refuses a shard that was another one, a database that has a store of its own, and a store that
// is not filled completely.
func (m *clusterMigration) checkPlace(ctx context.Context, db *sql.DB, n int) error {
	var comment string
	err := db.QueryRowContext(ctx, clusterShard, m.cluster.ShardDatabase()).Scan(&comment)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("reading which shard it was: %w", err)
	}
	if mark := m.cluster.Mark(n); err == nil && comment != mark {
		return fmt.Errorf("database %s is marked %q, and should be %q: keep the number and the order of the shards, or use another database; nothing was changed", m.cluster.ShardDatabase(), comment, mark)
	}
	var own uint64
	if err := db.QueryRowContext(ctx, ownTables, m.cluster.Database).Scan(&own); err != nil {
		return fmt.Errorf("reading the tables of database %s: %w", m.cluster.Database, err)
	}
	if own > 0 {
		return fmt.Errorf("database %s has a store without a cluster: name another database in --clickhouse-dsn; nothing was changed", m.cluster.Database)
	}
	return m.checkFilled(ctx, db, n)
}

// version is that of the tables that readers use on a shard, 0 if there are none.
func (m *clusterMigration) version(ctx context.Context, db *sql.DB) (version int64, err error) {
	var tables uint64
	const exists = "SELECT count() FROM system.tables WHERE database = ? AND name = 'goose_db_version'"
	if err := db.QueryRowContext(ctx, exists, m.cluster.Database).Scan(&tables); err != nil || tables == 0 {
		return 0, err
	}
	err = db.QueryRowContext(ctx, "SELECT max(version_id) FROM "+quoted(m.cluster.Database)+".goose_db_version WHERE is_applied = 1").Scan(&version)
	return version, err
}

// locked calls run while no other process migrates the cluster: the lock is on the first shard.
func (m *clusterMigration) locked(ctx context.Context, run func(context.Context) error) error {
	return m.on(0, "system", func(system *sql.DB) error {
		if err := m.createDatabase(ctx, system, 0); err != nil {
			return err
		}
		return m.on(0, m.cluster.ShardDatabase(), func(db *sql.DB) error {
			held, unlock, err := lock(ctx, db, func() { m.report(Migration{To: int64(schemas.StoreVersion()), Waiting: true}) })
			if err != nil {
				return err
			}
			defer unlock()
			if err := run(held); err != nil {
				return cmp.Or(context.Cause(held), err)
			}
			return nil
		})
	})
}

func (m *clusterMigration) createDatabase(ctx context.Context, db *sql.DB, n int) error {
	for _, statement := range []string{
		"CREATE DATABASE IF NOT EXISTS " + quoted(m.cluster.ShardDatabase()) + " COMMENT " + quotedText(m.cluster.Mark(n)),
		"CREATE DATABASE IF NOT EXISTS " + quoted(m.cluster.Database),
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("creating its databases: %w", err)
		}
	}
	return nil
}

// run makes the tables of all shards, and only then what reads them.
func (m *clusterMigration) run(ctx context.Context) error {
	for n := range m.cluster.Shards {
		if err := m.on(n, "system", func(db *sql.DB) error { return m.createDatabase(ctx, db, n) }); err != nil {
			return err
		}
		dsn := m.cluster.DSN(m.cluster.Shards[n][0], m.cluster.ShardDatabase())
		if err := m.on(n, m.cluster.ShardDatabase(), func(db *sql.DB) error { return migrateShard(ctx, db, dsn, m.report) }); err != nil {
			return err
		}
	}
	for n := range m.cluster.Shards {
		if err := m.on(n, m.cluster.Database, func(db *sql.DB) error { return m.makeReaders(ctx, db) }); err != nil {
			return fmt.Errorf("making the tables that read the cluster: %w", err)
		}
	}
	return nil
}

// migrateShard runs the steps that one shard still needs.
func migrateShard(ctx context.Context, db *sql.DB, dsn string, report func(Migration)) error {
	m, err := newMigrator(db, dsn, report)
	if err != nil {
		return err
	}
	return m.run(ctx)
}

// makeReaders makes a Distributed table, or a view, for each table of a shard, and notes the version.
func (m *clusterMigration) makeReaders(ctx context.Context, db *sql.DB) error {
	statements, err := m.readers(ctx, db)
	if err != nil {
		return err
	}
	statements = append(statements, createVersion,
		fmt.Sprintf("INSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, 1)", schemas.StoreVersion()))
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// readers are the statements that make what reads the tables of all shards. They hold no rows, so each
// replaces what an earlier version made.
func (m *clusterMigration) readers(ctx context.Context, db *sql.DB) (statements []string, err error) {
	rows, err := db.QueryContext(ctx, clusterTables, m.cluster.ShardDatabase())
	if err != nil {
		return nil, fmt.Errorf("listing the tables of a shard: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name, engine, create string
		if err := rows.Scan(&name, &engine, &create); err != nil {
			return nil, fmt.Errorf("listing the tables of a shard: %w", err)
		}
		if engine == "View" {
			create = strings.ReplaceAll(create, m.cluster.ShardDatabase()+".", m.cluster.Database+".")
			statements = append(statements, strings.Replace(create, "CREATE VIEW", "CREATE OR REPLACE VIEW", 1))
			continue
		}
		statements = append(statements, fmt.Sprintf("CREATE OR REPLACE TABLE %s AS %s.%[1]s ENGINE = Distributed(%[3]s, %[4]s, %[5]s, %[6]s)",
			quoted(name), quoted(m.cluster.ShardDatabase()), quotedText(m.cluster.Name), quotedText(m.cluster.ShardDatabase()), quotedText(name), store.ShardingExpression(name)))
	}
	return statements, rows.Err()
}

var nameEscaper = strings.NewReplacer("\\", "\\\\", "`", "\\`", "'", "\\'")

// quoted is a name in a statement, quotedText a text.
func quoted(name string) string     { return "`" + nameEscaper.Replace(name) + "`" }
func quotedText(text string) string { return "'" + nameEscaper.Replace(text) + "'" }
