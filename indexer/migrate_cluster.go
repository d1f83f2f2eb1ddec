package indexer

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"slices"
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

// MigrateCluster is MigrateAndReport for a store on a cluster, or without one if name is "". The replicas
// of each shard get the tables, one shard after another, and then all servers the Distributed tables
// that read all of them. Each server knows its own version, so that a call that was cut off is continued
// by the next one.
func MigrateCluster(ctx context.Context, dsn, name string, report func(Migration)) error {
	if name == "" {
		return MigrateAndReport(ctx, dsn, report)
	}
	c, servers, err := store.ReadCluster(ctx, dsn, name)
	if err != nil {
		return err
	}
	m := &clusterMigration{cluster: c, servers: servers, report: report}
	return m.migrate(ctx)
}

// migrate makes what servers lack.
func (m *clusterMigration) migrate(ctx context.Context) error {
	done, err := m.isDone(ctx)
	if err != nil || done {
		return err
	}
	for _, s := range m.servers {
		if s.Err != nil {
			return fmt.Errorf("%s, cannot be reached, and tables are made or changed on all servers: start it: %w", m.cluster.Place(s.Shard, s.Replica), s.Err)
		}
	}
	return m.locked(ctx, m.run)
}

type clusterMigration struct {
	cluster *cluster.Cluster
	servers []cluster.Server // by shard and replica
	report  func(Migration)
	fills   bool // the process copies a store into the cluster, and others wait until it has
}

// dsn names a database on a server.
func (m *clusterMigration) dsn(s cluster.Server, database string) string {
	return m.cluster.DSN(m.cluster.Shards[s.Shard][s.Replica], database)
}

// on calls do with a connection to a database on a server.
func (m *clusterMigration) on(s cluster.Server, database string, do func(*sql.DB) error) (err error) {
	db, err := open(m.dsn(s, database))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := do(db); err != nil {
		return fmt.Errorf("%s: %w", m.cluster.Place(s.Shard, s.Replica), err)
	}
	return nil
}

// isDone reports whether all servers that answer have the version of this binary. It refuses a cluster on
// which the rows would not be where they are looked for, and a store that is newer.
func (m *clusterMigration) isDone(ctx context.Context) (bool, error) {
	all := true
	for _, s := range m.servers {
		if s.Err != nil {
			continue
		}
		err := m.on(s, "system", func(db *sql.DB) error {
			if err := m.checkPlace(ctx, db, s); err != nil {
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

// checkPlace refuses a server that was another one, a database that has a store of its own, and a store that
// is not filled completely.
func (m *clusterMigration) checkPlace(ctx context.Context, db *sql.DB, s cluster.Server) error {
	var comment string
	err := db.QueryRowContext(ctx, clusterShard, m.cluster.ShardDatabase()).Scan(&comment)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("reading which shard it was: %w", err)
	}
	if mark := m.cluster.Mark(s.Shard, s.Replica); err == nil && comment != mark {
		return fmt.Errorf("database %s is marked %q, and should be %q: keep the number of the shards and the order of the servers, or use another database; nothing was changed", m.cluster.ShardDatabase(), comment, mark)
	}
	var own uint64
	if err := db.QueryRowContext(ctx, ownTables, m.cluster.Database).Scan(&own); err != nil {
		return fmt.Errorf("reading the tables of database %s: %w", m.cluster.Database, err)
	}
	if own > 0 {
		return fmt.Errorf("database %s has a store without a cluster: name another database in --clickhouse-dsn; nothing was changed", m.cluster.Database)
	}
	return m.checkFilled(ctx, db, s.Shard)
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

// locked calls run while no other process migrates the cluster: the lock is on the first server.
func (m *clusterMigration) locked(ctx context.Context, run func(context.Context) error) error {
	first := m.servers[0]
	return m.on(first, "system", func(system *sql.DB) error {
		if err := m.createDatabase(ctx, system, first); err != nil {
			return err
		}
		return m.on(first, m.cluster.ShardDatabase(), func(db *sql.DB) error {
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

func (m *clusterMigration) createDatabase(ctx context.Context, db *sql.DB, s cluster.Server) error {
	for _, statement := range m.databases(s) {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("creating its databases: %w", err)
		}
	}
	return nil
}

func (m *clusterMigration) databases(s cluster.Server) []string {
	return []string{
		"CREATE DATABASE IF NOT EXISTS " + quoted(m.cluster.ShardDatabase()) + " COMMENT " + quotedText(m.cluster.Mark(s.Shard, s.Replica)),
		"CREATE DATABASE IF NOT EXISTS " + quoted(m.cluster.Database),
	}
}

// run makes the tables of all shards, and only then what reads them.
func (m *clusterMigration) run(ctx context.Context) error {
	for _, s := range m.servers {
		err := m.on(s, "system", func(db *sql.DB) error {
			if err := m.createDatabase(ctx, db, s); err != nil {
				return err
			}
			return m.checkPlace(ctx, db, s) // another process may have made it, for servers in another order
		})
		if err != nil {
			return err
		}
	}
	for shard := range m.cluster.Shards {
		servers := slices.DeleteFunc(slices.Clone(m.servers), func(s cluster.Server) bool { return s.Shard != shard })
		if servers[0].Shared {
			servers = servers[:1] // the service makes the tables on the others
		}
		if err := m.migrateShard(ctx, servers, nil); err != nil {
			return err
		}
	}
	for _, s := range m.servers {
		if err := m.on(s, m.cluster.Database, func(db *sql.DB) error { return m.makeReaders(ctx, db) }); err != nil {
			return fmt.Errorf("making the tables that read the cluster: %w", err)
		}
	}
	return nil
}

// migrateShard migrates the tables on the servers of one shard, connecting to one after another.
func (m *clusterMigration) migrateShard(ctx context.Context, servers []cluster.Server, replicas []*migrator) error {
	if len(servers) == 0 {
		if err := adoptTables(ctx, replicas, m.cluster.ShardDatabase()); err != nil {
			return err
		}
		return migrateAll(ctx, replicas...)
	}
	s := servers[0]
	return m.on(s, m.cluster.ShardDatabase(), func(db *sql.DB) error {
		next, err := newMigrator(db, m.dsn(s, m.cluster.ShardDatabase()), m.cluster.Tables(s.Shard, s.Replica, s.Shared), m.report)
		if err != nil {
			return err
		}
		return m.migrateShard(ctx, servers[1:], append(replicas, next))
	})
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
		statements = append(statements, m.reader(name))
	}
	return statements, rows.Err()
}

// reader is the statement that makes the table by which the rows of all shards are read.
func (m *clusterMigration) reader(table string) string {
	return fmt.Sprintf("CREATE OR REPLACE TABLE %s AS %s.%[1]s ENGINE = Distributed(%[3]s, %[4]s, %[5]s, %[6]s)",
		quoted(table), quoted(m.cluster.ShardDatabase()), quotedText(m.cluster.Name), quotedText(m.cluster.ShardDatabase()), quotedText(table), store.ShardingExpression(table))
}

var nameEscaper = strings.NewReplacer("\\", "\\\\", "`", "\\`", "'", "\\'")

// quoted is a name in a statement, quotedText a text.
func quoted(name string) string     { return "`" + nameEscaper.Replace(name) + "`" }
func quotedText(text string) string { return "'" + nameEscaper.Replace(text) + "'" }
