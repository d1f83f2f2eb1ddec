package lab

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
	"github.com/ledgerlake/ledgerlake/internal/store"
)

// EngineStore is an embedded engine with the product's tables, a connection to it for
// questions about them, and the product's own.
type EngineStore struct {
	Engine *engine.Engine
	Conn   driver.Conn
	DB     *store.DB
}

const stopTimeout = 20 * time.Second

// OpenEngine starts an engine on a data folder. The caller closes it.
func OpenEngine(ctx context.Context, dir string) (*EngineStore, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	e, err := engine.Start(ctx, engine.Config{DataDir: dir, HTTPPort: port, Log: NewLogger()})
	if err != nil {
		return nil, err
	}
	s := &EngineStore{Engine: e}
	if err := indexer.Migrate(ctx, e.DSN()); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if s.Conn, err = engine.Open(ctx, e.DSN()); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if s.DB, err = store.Open(ctx, e.DSN()); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close closes the connections and stops the engine.
func (s *EngineStore) Close() error {
	var err error
	if s.DB != nil {
		s.DB.Close()
	}
	if s.Conn != nil {
		err = s.Conn.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return errors.Join(err, s.Engine.Stop(ctx))
}

// NewLogger logs warnings and errors; progress is reported by Say.
func NewLogger() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// version is that of ClickHouse.
func (s *EngineStore) version(ctx context.Context) (string, error) {
	var v string
	if err := s.Conn.QueryRow(ctx, "SELECT version()").Scan(&v); err != nil {
		return "", fmt.Errorf("reading the engine's version: %w", err)
	}
	return v, nil
}

// Execute executes statements one after another.
func (s *EngineStore) Execute(ctx context.Context, statements ...string) error {
	for _, statement := range statements {
		if err := s.Conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("executing %.60q: %w", statement, err)
		}
	}
	return nil
}
