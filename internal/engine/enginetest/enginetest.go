// Package enginetest gives tests of other packages a real engine. A test binary runs
// one engine, or several with LEDGERLAKE_TEST_SHARDS=3, and every test gets a database of its own:
//
//	func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }
//
//	func TestInsert(t *testing.T) {
//		store := enginetest.StartMigrated(t, indexer.MigrateCluster)
//		db := storetest.Open(t, store)
//		...
//	}
package enginetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strconv"
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
	// Cluster is what the store is spread over, "" for none. Shards use the databases that have the
	// rows, each of which is called RowsIn: without a cluster they are Conn and Name.
	Cluster string
	Shards  []driver.Conn
	RowsIn  string
}

// shared are the engines of this test binary: one, or one for each shard. Package state, because
// TestMain has no other way to reach what a test started.
var shared struct {
	sync.Mutex
	engines  []*engine.Engine
	dir      string
	err      error         // of the first start, kept: a second one would fail the same way
	admins   []driver.Conn // of each engine; they create and drop the databases
	template *Template     // of the databases of StartMigrated, nil before the first
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

// Start returns a new empty database, on one engine. Without an engine on this machine the test is
// skipped, or fails where the environment variable CI is set.
func Start(t testing.TB) *Store {
	t.Helper()
	s := newStore(t)
	if err := shared.admins[0].Exec(t.Context(), "CREATE DATABASE "+s.Name); err != nil {
		t.Fatalf("creating database %s: %v", s.Name, err)
	}
	s.connect(t)
	return s
}

// StartMigrated returns a new store with the empty tables that migrate makes, which is
// indexer.MigrateCluster. It runs once in a test binary: the stores of all tests repeat what it made.
func StartMigrated[Progress any](t testing.TB, migrate func(ctx context.Context, dsn, cluster string, report func(Progress)) error) *Store {
	t.Helper()
	s := newStore(t)
	if len(shared.engines) > 1 {
		s.Cluster, s.RowsIn = ClusterName, s.Name+shardSuffix
	}
	template, err := migrated(t.Context(), s.DSN, func(ctx context.Context, dsn string) error {
		return migrate(ctx, dsn, s.Cluster, func(Progress) {})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, admin := range shared.admins {
		if err := template.Create(t.Context(), admin, s.Name); err != nil {
			t.Fatal(err)
		}
	}
	s.connect(t)
	return s
}

// newStore names a database, and starts the engines if nobody has.
func newStore(t testing.TB) *Store {
	t.Helper()
	engines, err := running()
	if err != nil {
		Unavailable(t, err)
	}
	name := fmt.Sprintf("test_%d", databases.Add(1))
	s := &Store{Name: name, RowsIn: name}
	if s.Relayed, err = withDatabase(engines[0].OwnerDSN(), name); err != nil {
		t.Fatal(err)
	}
	s.DSN = s.Relayed // the others know a shard by no other address
	if len(engines) > 1 {
		return s
	}
	if s.DSN, err = withDatabase(engines[0].DSN(), name); err != nil {
		t.Fatal(err)
	}
	return s
}

// connect connects to the databases, which are dropped when the test ends.
func (s *Store) connect(t testing.TB) {
	t.Helper()
	dsn := s.DSN
	if s.Cluster != "" {
		dsn += "?distributed_product_mode=global" // as store.ReaderDSN
	}
	var err error
	if s.Conn, err = engine.Open(t.Context(), dsn); err != nil {
		t.Fatal(err)
	}
	defer t.Cleanup(func() { s.drop(t) })
	if s.Cluster == "" {
		s.Shards = []driver.Conn{s.Conn}
		return
	}
	for _, e := range shared.engines {
		dsn, err := withDatabase(e.OwnerDSN(), s.RowsIn)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := engine.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		s.Shards = append(s.Shards, conn)
	}
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
	if err := shared.admins[0].Exec(ctx, "CREATE DATABASE IF NOT EXISTS "+templateName); err != nil {
		return nil, err
	}
	if err := migrate(ctx, dsn); err != nil {
		return nil, err
	}
	shared.template, err = ReadTemplate(ctx, shared.admins[0], templateName)
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

func running() ([]*engine.Engine, error) {
	shared.Lock()
	defer shared.Unlock()
	if len(shared.engines) == 0 && shared.err == nil {
		shared.err = startShared()
	}
	return shared.engines, shared.err
}

// startShared starts the engines of this test binary.
func startShared() (err error) {
	if shared.dir, err = os.MkdirTemp("", "enginetest-"); err != nil {
		return err
	}
	configs := []engine.Config{config(shared.dir)}
	if n := shards(); n > 1 {
		if configs, err = shardConfigs(shared.dir, n); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	if shared.engines, err = startAll(ctx, configs); err != nil {
		return err
	}
	for _, e := range shared.engines {
		admin, err := engine.Open(ctx, e.DSN())
		if err != nil {
			return err
		}
		shared.admins = append(shared.admins, admin)
	}
	return nil
}

// shards is how many shards the stores of tests have.
func shards() int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("LEDGERLAKE_TEST_SHARDS"), "1"))
	if err != nil || n < 1 {
		panic("LEDGERLAKE_TEST_SHARDS is not a number of shards")
	}
	return n
}

// NotOnShards skips a test of what only a store on a single server has.
func NotOnShards(t testing.TB) {
	t.Helper()
	if shards() > 1 {
		t.Skip("this is for stores on a single server")
	}
}

// config is that of an engine of tests.
func config(dir string) engine.Config {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return engine.Config{DataDir: dir, MaxMemory: 2 << 30, StartTimeout: maxWait, StopGrace: maxWait, Log: log}
}

func stop() error {
	shared.Lock()
	defer shared.Unlock()
	var errs []error
	for _, admin := range shared.admins {
		errs = append(errs, admin.Close())
	}
	for _, e := range shared.engines {
		errs = append(errs, e.Stop(context.Background()))
	}
	if shared.dir != "" {
		errs = append(errs, os.RemoveAll(shared.dir))
	}
	return errors.Join(errs...)
}

func (s *Store) drop(t testing.TB) {
	conns, names := s.Shards, []string{s.Name}
	if s.Cluster != "" {
		conns, names = append(conns, s.Conn), append(names, s.RowsIn)
	}
	for _, conn := range conns {
		if err := conn.Close(); err != nil {
			t.Errorf("closing a connection to %s: %v", s.Name, err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	for _, admin := range shared.admins {
		for _, name := range names {
			if err := admin.Exec(ctx, "DROP DATABASE IF EXISTS "+name); err != nil {
				t.Errorf("dropping database %s: %v", name, err)
			}
		}
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
