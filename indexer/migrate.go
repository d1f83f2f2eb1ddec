package indexer

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net"
	"path"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/pressly/goose/v3"

	"github.com/ledgerlake/ledgerlake/internal/cluster"
	"github.com/ledgerlake/ledgerlake/internal/native"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// ErrNewerStore says that a later version of the product has made the store's tables.
var ErrNewerStore = errors.New("the store was made by a later version of ledgerlake")

// Migration is how far the migration of a store has come.
type Migration struct {
	// From and To are the versions of the store's tables before all steps and after them. From is 0
	// for a store without tables.
	From, To int64
	// Name is that of the step that is running, such as "0160_batch_rows"; it is number Step, from 1,
	// of Steps.
	Name        string
	Step, Steps int
	// Done of Total are what a long step counts, such as batches. Total is 0 when a step begins, and
	// where there is nothing to count.
	Done, Total int64
	// Waiting says that another process migrates the store, and this one waits for it.
	Waiting bool
}

// Migrate brings the store's tables up to the version of this binary, or returns ErrNewerStore. It is
// safe to repeat, also after it was interrupted at any point: each file holds one repeatable statement,
// because ClickHouse rolls no DDL back. Of several processes that start it, one does the work and
// the others wait.
func Migrate(ctx context.Context, dsn string) error {
	return MigrateAndReport(ctx, dsn, func(Migration) {})
}

// MigrateAndReport is Migrate, and calls report before each step, and not at all if there is nothing to
// do.
func MigrateAndReport(ctx context.Context, dsn string, report func(Migration)) (err error) {
	db, err := open(dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var distributed uint64
	if err := db.QueryRowContext(ctx, isDistributed).Scan(&distributed); err != nil {
		return fmt.Errorf("reading whether the store is on a cluster: %w", err)
	}
	if distributed > 0 {
		return errors.New("the store is spread over a cluster: name it with --clickhouse-cluster; nothing was changed")
	}
	m, err := newMigrator(db, dsn, cluster.Tables{}, report)
	if err != nil {
		return err
	}
	current, target, err := m.versions(ctx)
	if err != nil || current == target {
		return err
	}
	held, unlock, err := lock(ctx, db, func() { report(Migration{From: current, To: target, Waiting: true}) })
	if err != nil {
		return err
	}
	defer unlock()
	if err := migrateAll(held, m); err != nil {
		return cmp.Or(context.Cause(held), err)
	}
	return nil
}

func open(dsn string) (*sql.DB, error) {
	opts, err := clickhouse.ParseDSN(dsn)
	if err != nil {
		return nil, errors.New("the ClickHouse DSN cannot be read")
	}
	if opts.TLS == nil {
		opts.DialContext = func(ctx context.Context, addr string) (net.Conn, error) {
			return native.Dialer{Timeout: opts.DialTimeout}.DialContext(ctx, "tcp", addr)
		}
	}
	// A change is complete when all replicas have it.
	opts.Settings["alter_sync"], opts.Settings["mutations_sync"] = 2, 2
	return clickhouse.OpenDB(opts), nil
}

// Version is the version of the tables of the store that conn reaches, 0 if it has none. It changes
// nothing.
func Version(ctx context.Context, conn driver.Conn) (version int64, err error) {
	var tables uint64
	if err := conn.QueryRow(ctx, "SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = 'goose_db_version'").Scan(&tables); err != nil || tables == 0 {
		return 0, err
	}
	err = conn.QueryRow(ctx, "SELECT max(version_id) FROM goose_db_version WHERE is_applied = 1").Scan(&version)
	return version, err
}

// Steps that are no files, by version, and their names.
const (
	fillingPlaces  = 172
	makingGranules = 179
)

var stepNames = map[int64]string{fillingPlaces: "0172_fill_places", makingGranules: "0179_small_granules"}

// migrator migrates the tables of one server.
type migrator struct {
	db       *sql.DB
	provider *goose.Provider // has all steps
	report   func(Migration)
	step     Migration // that is running
}

func newMigrator(db *sql.DB, dsn string, tables cluster.Tables, report func(Migration)) (*migrator, error) {
	m := &migrator{db: db, report: report}
	files, err := fs.Sub(schemas.Migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("opening migrations: %w", err)
	}
	fill := goose.NewGoMigration(fillingPlaces, &goose.GoFunc{RunDB: func(ctx context.Context, _ *sql.DB) error {
		if tables.Follows {
			return nil
		}
		return fillAllPlaces(ctx, dsn, func(done, total int64) {
			m.step.Done, m.step.Total = done, total
			m.report(m.step)
		})
	}}, nil)
	granules := goose.NewGoMigration(makingGranules, &goose.GoFunc{RunDB: func(ctx context.Context, _ *sql.DB) error { return smallGranules(ctx, dsn, tables) }}, nil)
	if m.provider, err = goose.NewProvider(goose.DialectClickHouse, db, migrationFiles{files, tables}, goose.WithGoMigrations(fill, granules)); err != nil {
		return nil, fmt.Errorf("reading migrations: %w", err)
	}
	return m, nil
}

// versions are the version of the store and that of this binary. The store may have no later one.
func (m *migrator) versions(ctx context.Context) (current, target int64, err error) {
	if current, target, err = m.provider.GetVersions(ctx); err != nil {
		return 0, 0, fmt.Errorf("reading the version of the store: %w", err)
	}
	if current > target {
		return 0, 0, fmt.Errorf("%w: its tables have version %d, this one knows up to %d: install that version, or use another store; nothing was changed", ErrNewerStore, current, target)
	}
	if _, err := m.provider.HasPending(ctx); err != nil { // an earlier migration was left out
		return 0, 0, fmt.Errorf("reading the migrations of the store: %w", err)
	}
	return current, target, nil
}

// migrateAll runs the steps that are left, and comments what they made, on all replicas of a shard: each
// step on all of them before the next one, because a table must exist on all before it is changed. Nobody
// else may do so meanwhile.
func migrateAll(ctx context.Context, replicas ...*migrator) error {
	at, from, target := make([]int64, len(replicas)), int64(math.MaxInt64), int64(0)
	for i, m := range replicas {
		var err error
		if at[i], target, err = m.versions(ctx); err != nil {
			return err
		}
		from = min(from, at[i])
	}
	pending := slices.DeleteFunc(replicas[0].provider.ListSources(), func(s *goose.Source) bool { return s.Version <= from })
	for i, source := range pending {
		step := Migration{From: from, To: target, Name: stepName(source), Step: i + 1, Steps: len(pending)}
		replicas[0].report(step)
		for r, m := range replicas {
			if source.Version <= at[r] {
				continue
			}
			m.step = step
			if _, err := m.provider.ApplyVersion(ctx, source.Version, true); err != nil {
				return fmt.Errorf("migrating the store from version %d to %d: step %s: %w", from, target, step.Name, err)
			}
		}
	}
	// Replicas repeat the comments of the first one, but for those of views.
	for _, m := range replicas {
		if err := comment(ctx, m.db); err != nil {
			return err
		}
	}
	return nil
}

func stepName(source *goose.Source) string {
	if name, ok := stepNames[source.Version]; ok {
		return name
	}
	return strings.TrimSuffix(path.Base(source.Path), ".sql")
}
