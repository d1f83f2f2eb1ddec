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
	// Relayed is the DSN for processes that may be killed, which the engine itself would not outlive.
	Relayed string
	Name    string // of the database
}

// shared is the engine of this test binary. Package state, because TestMain has no
// other way to reach what a test started.
var shared struct {
	sync.Mutex
	engine   *engine.Engine
	dir      string
	err      error       // of the first start, kept: a second one would fail the same way
	admin    driver.Conn // creates and drops the databases
	template *Template   // of the databases of StartMigrated, nil before the first
}

var databases atomic.Int64

// maxWait is how long the engine may take to start or to end: to exceed it is to hang,
// whatever else the machine has to do.
const maxWait = 2 * time.Minute

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
	return start(t, func(ctx context.Context, s *Store) error {
		return shared.admin.Exec(ctx, "CREATE DATABASE "+s.Name)
	})
}

// StartMigrated returns a new database with the empty tables that migrate makes. The migrations run
// once in a test binary: the databases of all tests repeat what they made.
func StartMigrated(t testing.TB, migrate func(ctx context.Context, dsn string) error) *Store {
	t.Helper()
	return start(t, func(ctx context.Context, s *Store) error {
		template, err := migrated(ctx, s.DSN, migrate)
		if err != nil {
			return err
		}
		return template.Create(ctx, shared.admin, s.Name)
	})
}

// start creates a database and connects to it.
func start(t testing.TB, create func(context.Context, *Store) error) *Store {
	t.Helper()
	e, err := running()
	if err != nil {
		Unavailable(t, err)
	}
	s := &Store{Name: fmt.Sprintf("test_%d", databases.Add(1))}
	if s.DSN, err = withDatabase(e.DSN(), s.Name); err != nil {
		t.Fatal(err)
	}
	if s.Relayed, err = withDatabase(e.OwnerDSN(), s.Name); err != nil {
		t.Fatal(err)
	}
	if err := create(t.Context(), s); err != nil {
		t.Fatalf("creating database %s: %v", s.Name, err)
	}
	if s.Conn, err = engine.Open(t.Context(), s.DSN); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.drop(t) })
	return s
}

// templateName is the database in which the migrations have run.
const templateName = "template"

// migrated returns what the migrations make, which it runs first if nobody has; dsn names any
// database of the engine.
func migrated(ctx context.Context, dsn string, migrate func(ctx context.Context, dsn string) error) (*Template, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.template != nil {
		return shared.template, nil
	}
	dsn, err := withDatabase(dsn, templateName)
	if err != nil {
		return nil, err
	}
	if err := shared.admin.Exec(ctx, "CREATE DATABASE IF NOT EXISTS "+templateName); err != nil {
		return nil, err
	}
	if err := migrate(ctx, dsn); err != nil {
		return nil, err
	}
	shared.template, err = ReadTemplate(ctx, shared.admin, templateName)
	return shared.template, err
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
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	shared.engine, shared.err = engine.Start(ctx, engine.Config{
		DataDir: shared.dir, MaxMemory: 2 << 30, StartTimeout: maxWait, StopGrace: maxWait, Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if shared.err == nil {
		shared.admin, shared.err = engine.Open(ctx, shared.engine.DSN())
	}
	return shared.engine, shared.err
}

func stop() error {
	shared.Lock()
	defer shared.Unlock()
	var err error
	if shared.admin != nil {
		err = shared.admin.Close()
	}
	if shared.engine != nil {
		err = errors.Join(err, shared.engine.Stop(context.Background()))
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
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	if err := shared.admin.Exec(ctx, "DROP DATABASE "+s.Name); err != nil {
		t.Errorf("dropping database %s: %v", s.Name, err)
	}
}

func withDatabase(dsn, name string) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", fmt.Errorf("naming database %s in address %s", name, engine.MaskDSN(dsn))
	}
	u.Path = "/" + name
	return u.String(), nil
}
