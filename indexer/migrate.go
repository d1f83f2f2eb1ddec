package indexer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/pressly/goose/v3"

	"github.com/ledgerlake/ledgerlake/internal/native"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// ErrNewerStore says that a later version of the product has made the store's tables.
var ErrNewerStore = errors.New("the store was made by a later version of ledgerlake")

// Migrate brings the store's tables up to the version of this binary, or returns ErrNewerStore. It is
// safe to repeat. Each file holds one repeatable statement, because ClickHouse rolls no DDL back.
func Migrate(ctx context.Context, dsn string) (err error) {
	opts, err := clickhouse.ParseDSN(dsn)
	if err != nil {
		return errors.New("the ClickHouse DSN cannot be read")
	}
	if opts.TLS == nil {
		opts.DialContext = func(ctx context.Context, addr string) (net.Conn, error) {
			return native.Dialer{Timeout: opts.DialTimeout}.DialContext(ctx, "tcp", addr)
		}
	}
	db := clickhouse.OpenDB(opts)
	defer func() { err = errors.Join(err, db.Close()) }()
	return migrate(ctx, db)
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

func migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(schemas.Migrations, "migrations")
	if err != nil {
		return fmt.Errorf("opening migrations: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectClickHouse, db, files)
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
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrating the store: %w", err)
	}
	return nil
}
