package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/faults"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// lab holds the real parts that all episodes share, and what an undisturbed run of the
// product on them comes to.
type lab struct {
	dir      string
	log      *slog.Logger
	ledger   *devnet.Ledger
	upstream string // URL of the undisturbed network
	subjects []faults.Subject
	served   verify.Tables
	node     *nodeLab

	dsn     string // of the first engine's default database
	address string // of that engine, host:port
	admins  []driver.Conn
	// shards are the engines and cluster is what they call it, if there are several.
	shards  *soakShards
	cluster string
	gateway *bucket.Gateway
	redis   string // host:port of a real server

	template *enginetest.Template

	// truths are the undisturbed runs, by the source of history.
	truths map[scan.Source]truth
	// objects are those that an undisturbed export published: key to digest.
	objects     map[string]string
	segments    uint64
	extent      faults.Extent
	exportTurns int // of the engine in an undisturbed export
}

// truth is what an undisturbed run leaves in the store.
type truth struct {
	database string
	tables   fingerprints
}

const (
	labUpdates  = 150
	labDatabase = "truth"
	// templateDatabase has the tables of the migrations.
	templateDatabase = "soak_template"
)

// newLab starts the parts and runs the product on them undisturbed.
func newLab(t *testing.T) *lab {
	t.Helper()
	needEngine(t)
	l := &lab{dir: labDir(t), log: slog.New(slog.DiscardHandler), truths: make(map[scan.Source]truth)}
	l.startNetwork(t)
	l.startEngine(t)
	l.startBucket(t)
	l.startRedis(t)
	l.prepare(t)
	return l
}

// labDir is in memory where that is possible. Every insert makes files, every merge
// removes some, and on a disk that is most of an episode's time.
func labDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "ledgerlake-soak-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func (l *lab) startNetwork(t *testing.T) {
	t.Helper()
	var err error
	l.ledger, err = devnet.New(t.Context(), devnet.Config{Updates: labUpdates, Seed: 11, Days: 3, Dir: t.TempDir(), Node: &devnet.NodeConfig{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(l.ledger.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := l.ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	l.upstream = server.URL
	if l.subjects, err = faults.Survey(t.Context(), l.upstream); err != nil {
		t.Fatal(err)
	}
	l.served = served(t, l.ledger)
	l.startNode(t)
}

func (l *lab) startEngine(t *testing.T) {
	t.Helper()
	if !l.startShards(t) {
		l.startOneEngine(t)
	}
	at, err := url.Parse(l.dsn)
	if err != nil {
		t.Fatal(err)
	}
	l.address = at.Host
}

func (l *lab) startOneEngine(t *testing.T) {
	t.Helper()
	e, err := engine.Start(t.Context(), engine.Config{DataDir: filepath.Join(l.dir, "engine"), MaxMemory: 2 << 30, StartTimeout: lifeTimeout, StopGrace: lifeTimeout, Log: l.log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), lifeTimeout)
		defer cancel()
		if err := e.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	l.connect(t, e.OwnerDSN()) // behind proxies that cut connections, which the engine itself would not outlive
}

func (l *lab) startBucket(t *testing.T) {
	t.Helper()
	var err error
	l.gateway, err = bucket.StartGateway(t.Context(), bucket.GatewayConfig{DataDir: filepath.Join(l.dir, "bucket"), Log: l.log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.gateway.Close(); err != nil {
			t.Error(err)
		}
	})
	client, err := bucket.New(t.Context(), l.gateway.Config(soakBucket))
	if err != nil {
		t.Fatal(err)
	}
	if err := client.EnsureBucket(t.Context()); err != nil {
		t.Fatal(err)
	}
}

const (
	soakBucket = "soak"
	// redisDatabases is how many databases the server has: an episode uses one.
	redisDatabases = 4096
)

// startRedis runs a real server. Without the program export episodes use the queue
// within the process, but in CI the program must be there.
func (l *lab) startRedis(t *testing.T) {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("redis-server is not on PATH")
		}
		t.Log("redis-server is not on PATH: exports use the queue within the process")
		return
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().(*net.TCPAddr)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--port", fmt.Sprint(address.Port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--databases", fmt.Sprint(redisDatabases), "--dir", t.TempDir(), "--loglevel", "warning")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // says that it was killed
	})
	l.redis = address.String()
	var dialer net.Dialer
	for deadline := time.Now().Add(lifeTimeout); ; time.Sleep(10 * time.Millisecond) {
		conn, err := dialer.DialContext(t.Context(), "tcp", l.redis)
		if err == nil {
			_ = conn.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("redis-server does not answer: %v", err)
		}
	}
}

// prepare makes the template of all databases and runs the product undisturbed, once
// per source of history and once for an export.
func (l *lab) prepare(t *testing.T) {
	t.Helper()
	if err := l.admins[0].Exec(t.Context(), "CREATE DATABASE "+templateDatabase); err != nil {
		t.Fatal(err)
	}
	if err := indexer.MigrateCluster(t.Context(), l.database(templateDatabase, l.address), l.cluster, func(indexer.Migration) {}); err != nil {
		t.Fatal(err)
	}
	var err error
	if l.template, err = enginetest.ReadTemplate(t.Context(), l.admins[0], templateDatabase); err != nil {
		t.Fatal(err)
	}
	for _, source := range []scan.Source{scan.Events, scan.Updates, scan.UpdatesBefore} {
		ep := l.newEpisode(0, faults.Plan{})
		ep.database, ep.shape = labDatabase+"_"+letters(source), shape{source: source, workers: 1, batchItems: 90, pageLimit: 50}
		if err := ep.ingest(t.Context()); err != nil {
			t.Fatalf("undisturbed run from %s: %v", source, err)
		}
		tables, err := l.fingerprint(t.Context(), ep.database)
		if err != nil {
			t.Fatal(err)
		}
		l.truths[source] = truth{ep.database, tables}
		if source == scan.Events {
			l.extent.Requests, l.extent.EngineTurns = ep.upstream.Requests(), ep.engine.Turns()
			l.mustEqualNetwork(t, ep.database)
		}
		if err := ep.close(); err != nil {
			t.Fatal(err)
		}
	}
	l.prepareNode(t)
	l.prepareExport(t)
}

// letters makes a part of a name of a source.
func letters(source scan.Source) string {
	if source == scan.UpdatesBefore {
		return "before"
	}
	return string(source)
}

// mustEqualNetwork makes sure that the undisturbed run stored what the network served:
// all episodes are compared with it.
func (l *lab) mustEqualNetwork(t *testing.T, database string) {
	t.Helper()
	differences, err := l.compareWithNetwork(t.Context(), database, schemas.ScanStream, l.served)
	if err != nil {
		t.Fatal(err)
	}
	if len(differences) > 0 {
		t.Fatalf("the undisturbed run differs from the network: %q", differences)
	}
}

// database is the DSN of a database behind an address of the engine or of a proxy.
func (l *lab) database(name, address string) string {
	at, err := url.Parse(l.dsn)
	if err != nil {
		panic(err) // it was read before
	}
	at.Host, at.Path = address, "/"+name
	return at.String()
}
