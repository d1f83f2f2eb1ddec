package indexer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/pressly/goose/v3"

	"github.com/ledgerlake/ledgerlake/internal/native"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// Migrate brings the store's tables up to the version of this binary. It is safe to
// repeat. Each file holds one repeatable statement, because ClickHouse rolls no DDL back.
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

func migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(schemas.Migrations, "migrations")
	if err != nil {
		return fmt.Errorf("opening migrations: %w", err)
	}
	provider, err := goose.NewProvider(goose.DialectClickHouse, db, files)
	if err != nil {
		return fmt.Errorf("reading migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrating the store: %w", err)
	}
	return nil
}
