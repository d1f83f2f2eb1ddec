package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/ledgerlake/ledgerlake/bench/lab"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
)

const postgresConnections = 16

// postgresLookups loads a network's events as rows of JSONB and looks them up by update id,
// once each, and returns how many that makes a second.
func postgresLookups(ctx context.Context, l *lab.Lab, url string, ids []string) (rate float64, err error) {
	l.Say("loading the history into Postgres")
	server, err := l.StartPostgres(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	config, err := pgxpool.ParseConfig(server.DSN)
	if err != nil {
		return 0, err
	}
	config.MaxConns = postgresConnections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return 0, err
	}
	defer pool.Close()
	if err := loadPostgres(ctx, pool, url); err != nil {
		return 0, fmt.Errorf("loading Postgres: %w", err)
	}
	ids = ids[:min(coldLookups, len(ids))]
	begin := time.Now()
	if err := lookUpPostgres(ctx, pool, ids); err != nil {
		return 0, fmt.Errorf("looking up rows in Postgres: %w", err)
	}
	return float64(len(ids)) / time.Since(begin).Seconds(), nil
}

// loadPostgres makes the table that anybody would: a row for each event, by update id.
func loadPostgres(ctx context.Context, pool *pgxpool.Pool, url string) error {
	if _, err := pool.Exec(ctx, `CREATE TABLE events (update_id text PRIMARY KEY, event jsonb NOT NULL)`); err != nil {
		return err
	}
	const perCopy = 5000
	var rows [][]any
	flush := func() error {
		_, err := pool.CopyFrom(ctx, pgx.Identifier{"events"}, []string{"update_id", "event"}, pgx.CopyFromRows(rows))
		rows = rows[:0]
		return err
	}
	err := lab.EachEvent(ctx, url, func(id string, event []byte) error {
		rows = append(rows, []any{id, event})
		if len(rows) < perCopy {
			return nil
		}
		return flush()
	})
	if err := errors.Join(err, flush()); err != nil {
		return err
	}
	_, err = pool.Exec(ctx, `VACUUM ANALYZE events`)
	return err
}

func lookUpPostgres(ctx context.Context, pool *pgxpool.Pool, ids []string) error {
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range postgresConnections {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(ids) {
					return nil
				}
				var event []byte
				if err := pool.QueryRow(ctx, `SELECT event FROM events WHERE update_id = $1`, ids[i]).Scan(&event); err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}
