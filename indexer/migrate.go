package indexer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/pressly/goose/v3"

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
	// Waiting says that another process runs the step, and this one waits for it.
	Waiting bool
}

// Migrate brings the store's tables up to the version of this binary, or returns ErrNewerStore. It is
// safe to repeat, also after it was interrupted at any point: each file holds one repeatable statement,
// because ClickHouse rolls no DDL back. Of several processes that start it, the last one does the work
// and the others wait.
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
	var last Migration
	m := &migrator{db: db, dsn: dsn, silence: maxSilence, report: func(m Migration) { last = m; report(m) }}
	for {
		err := m.run(ctx)
		if !errors.Is(err, schemas.ErrReplaced) {
			return err
		}
		last.Waiting = true
		report(last)
		if complete, err := m.awaitOther(ctx, last.To); complete || err != nil {
			return err
		}
	}
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

// migrator migrates one store.
type migrator struct {
	db     *sql.DB
	dsn    string
	report func(Migration)
	// silence is how long another process that migrates the store may show nothing before it counts as
	// ended.
	silence time.Duration
}

// maxSilence is longer than a piece of any step takes.
const maxSilence = 2 * time.Minute

// awaitOther waits until another process has brought the store to a version, and returns false if it
// ends before that.
func (m *migrator) awaitOther(ctx context.Context, version int64) (complete bool, err error) {
	var seen, now struct {
		version int64
		batches uint64
	}
	for last := time.Now(); time.Since(last) < m.silence; {
		if now.version, err = m.version(ctx); err == nil {
			err = m.db.QueryRowContext(ctx, "SELECT count() FROM batches").Scan(&now.batches)
		}
		if err != nil {
			return false, fmt.Errorf("waiting for another process that migrates the store: %w", err)
		}
		if now.version >= version {
			return true, nil
		}
		if now != seen {
			seen, last = now, time.Now()
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
	return false, nil
}

// run runs the steps that are left. It returns schemas.ErrReplaced if another process has begun a step
// that it was in.
func (m *migrator) run(ctx context.Context) error {
	files, err := fs.Sub(schemas.Migrations, "migrations")
	if err != nil {
		return fmt.Errorf("opening migrations: %w", err)
	}
	var step Migration // that is running
	fill := goose.NewGoMigration(fillingPlaces, &goose.GoFunc{RunDB: func(ctx context.Context, _ *sql.DB) error {
		return m.fill(ctx, func(done, total int64) {
			step.Done, step.Total = done, total
			m.report(step)
		})
	}}, nil)
	granules := goose.NewGoMigration(makingGranules, &goose.GoFunc{RunDB: func(ctx context.Context, _ *sql.DB) error { return smallGranules(ctx, m.dsn) }}, nil)
	provider, err := goose.NewProvider(goose.DialectClickHouse, m.db, files, goose.WithGoMigrations(fill, granules))
	if err != nil {
		return fmt.Errorf("reading migrations: %w", err)
	}
	current, target, err := provider.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("reading the version of the store: %w", err)
	}
	if current > target {
		return fmt.Errorf("%w: its tables have version %d, this one knows up to %d: install that version, or use another store; nothing was changed", ErrNewerStore, current, target)
	}
	if _, err := provider.HasPending(ctx); err != nil { // an earlier migration was left out
		return fmt.Errorf("reading the migrations of the store: %w", err)
	}
	pending := slices.DeleteFunc(provider.ListSources(), func(s *goose.Source) bool { return s.Version <= current })
	for i, source := range pending {
		step = Migration{From: current, To: target, Name: stepName(source), Step: i + 1, Steps: len(pending)}
		m.report(step)
		_, err := provider.ApplyVersion(ctx, source.Version, true)
		if err != nil && !errors.Is(err, goose.ErrAlreadyApplied) { // another process has just done it
			return fmt.Errorf("migrating the store from version %d to %d: step %s: %w", current, target, step.Name, err)
		}
	}
	return nil
}

// fill fills places. A process that has slept may find that another one has done so meanwhile, with the
// journals gone by which it would have noticed.
func (m *migrator) fill(ctx context.Context, report func(done, total int64)) error {
	filling, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err := fillAllPlaces(filling, m.dsn, func(done, total int64) {
		report(done, total)
		if version, err := m.version(ctx); err != nil {
			stop(err)
		} else if version >= fillingPlaces {
			stop(schemas.ErrReplaced)
		}
	})
	if cause := context.Cause(filling); err != nil && ctx.Err() == nil && cause != nil {
		return cause
	}
	return err
}

// version is that of the last step that a process has completed.
func (m *migrator) version(ctx context.Context) (version int64, err error) {
	err = m.db.QueryRowContext(ctx, "SELECT max(version_id) FROM goose_db_version").Scan(&version)
	return version, err
}

func stepName(source *goose.Source) string {
	if name, ok := stepNames[source.Version]; ok {
		return name
	}
	return strings.TrimSuffix(path.Base(source.Path), ".sql")
}
