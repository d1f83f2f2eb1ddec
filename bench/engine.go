package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/engine"
)

// engineStore is an embedded engine with the product's tables, and a connection to it
// for questions about them.
type engineStore struct {
	engine *engine.Engine
	conn   driver.Conn
}

const stopTimeout = 20 * time.Second

func openEngine(ctx context.Context, dir string) (*engineStore, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	e, err := engine.Start(ctx, engine.Config{DataDir: dir, HTTPPort: port, Log: newLogger()})
	if err != nil {
		return nil, err
	}
	s := &engineStore{engine: e}
	if err := indexer.Migrate(ctx, e.DSN()); err != nil {
		return nil, errors.Join(err, s.close())
	}
	if s.conn, err = engine.Open(ctx, e.DSN()); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *engineStore) close() error {
	var err error
	if s.conn != nil {
		err = s.conn.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return errors.Join(err, s.engine.Stop(ctx))
}

// newLogger logs what went wrong; how far the work is comes from progress.
func newLogger() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// version is that of ClickHouse.
func (s *engineStore) version(ctx context.Context) (string, error) {
	var v string
	if err := s.conn.QueryRow(ctx, "SELECT version()").Scan(&v); err != nil {
		return "", fmt.Errorf("asking the engine for its version: %w", err)
	}
	return v, nil
}

// execute executes statements one after another.
func (s *engineStore) execute(ctx context.Context, statements ...string) error {
	for _, statement := range statements {
		if err := s.conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("executing %.60q: %w", statement, err)
		}
	}
	return nil
}
