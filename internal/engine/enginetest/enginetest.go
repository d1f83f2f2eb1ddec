// Package enginetest gives tests of other packages a real engine. A test binary runs
// one engine, and every test gets a database of its own in it:
//
//	func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }
//
//	func TestInsert(t *testing.T) {
//		store := enginetest.Start(t)
//		err := store.Conn.Exec(t.Context(), "CREATE TABLE ...")
//		...
//	}
package enginetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/internal/engine"
)

// Store is one test's database.
type Store struct {
	Conn driver.Conn // uses the database; closed when the test ends
	DSN  string      // of the same database
	Name string      // of the database
}

// shared is the engine of this test binary. Package state, because TestMain has no
// other way to reach what a test started.
var shared struct {
	sync.Mutex
	engine *engine.Engine
	dir    string
	err    error // of the first start, kept: a second one would fail the same way
}

var databases atomic.Int64

// patience is how long the engine may take to start or to end: to exceed it is to hang,
// whatever else the machine has to do.
const patience = 2 * time.Minute

// Run is TestMain's work: it runs the tests of m, or, in the copy of the test binary
// that is to be the engine, the engine. The result is the exit code.
func Run(m *testing.M) int {
	if len(os.Args) > 1 && os.Args[1] == engine.ChildCommand {
		return engine.ChildMain(os.Args[2:])
	}
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the tests' engine:", err)
		code = max(code, 1)
	}
	return code
}

// Start returns a new empty database. Without an engine on this machine the test is
// skipped, or fails where the environment variable CI is set.
func Start(t testing.TB) *Store {
	t.Helper()
	e, err := running()
	if err != nil {
		Unavailable(t, err)
	}
	s := &Store{Name: fmt.Sprintf("test_%d", databases.Add(1))}
	if s.DSN, err = withDatabase(e.DSN(), s.Name); err != nil {
		t.Fatal(err)
	}
	if err := exec(e.DSN(), "CREATE DATABASE "+s.Name); err != nil {
		t.Fatalf("creating database %s: %v", s.Name, err)
	}
	if s.Conn, err = engine.Open(t.Context(), s.DSN); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.drop(t) })
	return s
}

// Unavailable ends a test that could not start an engine: a skip if none is installed
// and CI is unset, else a failure.
func Unavailable(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, engine.ErrMissing) && os.Getenv("CI") == "" {
		t.Skipf("needs the embedded engine: %v", err)
	}
	t.Fatalf("starting the embedded engine: %v", err)
}

func running() (*engine.Engine, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.engine != nil || shared.err != nil {
		return shared.engine, shared.err
	}
	shared.dir, shared.err = os.MkdirTemp("", "enginetest-")
	if shared.err != nil {
		return nil, shared.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	shared.engine, shared.err = engine.Start(ctx, engine.Config{
		DataDir: shared.dir, MaxMemory: 2 << 30, StartTimeout: patience, StopGrace: patience, Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	return shared.engine, shared.err
}

func stop() error {
	shared.Lock()
	defer shared.Unlock()
	var err error
	if shared.engine != nil {
		err = shared.engine.Stop(context.Background())
	}
	if shared.dir != "" {
		err = errors.Join(err, os.RemoveAll(shared.dir))
	}
	return err
}

func (s *Store) drop(t testing.TB) {
	if err := s.Conn.Close(); err != nil {
		t.Errorf("closing the connection to %s: %v", s.Name, err)
	}
	base, err := withDatabase(s.DSN, "default")
	if err == nil {
		err = exec(base, "DROP DATABASE "+s.Name)
	}
	if err != nil {
		t.Errorf("dropping database %s: %v", s.Name, err)
	}
}

// exec runs a statement on a connection of its own.
func exec(dsn, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	conn, err := engine.Open(ctx, dsn)
	if err != nil {
		return err
	}
	return errors.Join(conn.Exec(ctx, statement), conn.Close())
}

func withDatabase(dsn, name string) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", fmt.Errorf("naming database %s in address %s", name, engine.MaskDSN(dsn))
	}
	u.Path = "/" + name
	return u.String(), nil
}
