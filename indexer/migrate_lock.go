package indexer

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// lockQuery runs for as long as a migration. The server refuses a second query with the same id, and
// ends this one when its client is gone: no crash leaves anything locked.
const lockQuery = "SELECT sleepEachRow(0.2) FROM system.numbers SETTINGS max_block_size = 1, max_execution_time = 0, max_rows_to_read = 0"

// alreadyRunning is the server's error for a second query with an id.
const alreadyRunning = 216

// lock waits until no other process migrates the database. It calls waiting before it waits. The
// context that it returns ends, with the cause, if the lock is lost. The caller calls unlock.
func lock(ctx context.Context, db *sql.DB, waiting func()) (held context.Context, unlock func(), err error) {
	var database string
	if err := db.QueryRowContext(ctx, "SELECT currentDatabase()").Scan(&database); err != nil {
		return nil, nil, fmt.Errorf("locking the store for a migration: %w", err)
	}
	for first := true; ; first = false {
		querying, stop := context.WithCancel(clickhouse.Context(ctx, clickhouse.WithQueryID("ledgerlake-migration-"+database)))
		rows, err := db.QueryContext(querying, lockQuery)
		if err == nil {
			held, unlock = hold(ctx, rows, stop)
			return held, unlock, nil
		}
		stop()
		var refused *clickhouse.Exception
		if !errors.As(err, &refused) || refused.Code != alreadyRunning {
			return nil, nil, fmt.Errorf("locking the store for a migration: %w", err)
		}
		if first {
			waiting()
		}
		select {
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// hold reads the rows of the lock until unlock is called. If they end before that, the lock is lost.
func hold(ctx context.Context, rows *sql.Rows, stop func()) (held context.Context, unlock func()) {
	held, lose := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	guard.Go(func() error {
		for rows.Next() {
			continue // a row every 0.2 s shows that the server is there
		}
		return errors.Join(rows.Err(), rows.Close())
	}, func(err error) {
		lose(fmt.Errorf("the lock of the migration is lost: start again: %w", cmp.Or(err, errors.New("the server ended it"))))
		close(ended)
	})
	return held, func() { stop(); <-ended }
}
