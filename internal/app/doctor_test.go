package app

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/indexer/lease"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/cluster"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// TestDoctorNamesTheVersionOfTheStore has a store without tables, one of today and one that a later
// version has made.
func TestDoctorNamesTheVersionOfTheStore(t *testing.T) {
	s := enginetest.Start(t)
	cfg := new(settings.Config)
	cfg.ClickHouseDSN = s.DSN
	a := New(cfg, Build{}, slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		if err := a.p.close(); err != nil {
			t.Error(err)
		}
	})
	known := schemas.StoreVersion()
	check := func(ok bool, want string) {
		t.Helper()
		if f := a.checkStore(t.Context()); f.OK != ok || f.Detail != want || ok == (f.Fix != "") {
			t.Errorf("%+v, want %v with %q", f, ok, want)
		}
	}
	check(true, "no tables yet")
	if err := indexer.Migrate(t.Context(), s.DSN); err != nil {
		t.Fatal(err)
	}
	check(true, fmt.Sprintf("schema %d", known))
	setVersion := func(version int) {
		t.Helper()
		if err := s.Conn.Exec(t.Context(), "TRUNCATE TABLE goose_db_version"); err != nil {
			t.Fatal(err)
		}
		if err := s.Conn.Exec(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (?, 1)", version); err != nil {
			t.Fatal(err)
		}
	}
	setVersion(150)
	check(true, fmt.Sprintf("schema 150, which the next start migrates to %d; for the way back, make a backup first", known))
	setVersion(known + 1)
	check(false, fmt.Sprintf("schema %d", known+1))
}

// TestDoctorNamesTheWriters has a store that nobody has written, and one with a writer.
func TestDoctorNamesTheWriters(t *testing.T) {
	s := enginetest.StartMigrated(t, indexer.MigrateCluster)
	a := &App{p: &process{cfg: &settings.Config{}}}
	a.p.cfg.ClickHouseDSN = s.DSN
	check := func(want string) {
		t.Helper()
		if f := a.checkWriters(t.Context()); !f.OK || !strings.Contains(f.Detail, want) {
			t.Errorf("%+v, want %q", f, want)
		}
	}
	check("no process has written")
	db, err := store.Open(t.Context(), s.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	hold, err := lease.New(lease.Config{DB: db, Log: slog.New(slog.DiscardHandler), Process: "db1, process 7"}).Seize(t.Context(), schemas.ScanStream)
	if err != nil {
		t.Fatal(err)
	}
	check("scan: db1, process 7, showed life ")
	hold.Release()
	check("scan: db1, process 7, has ended")
}

// TestDoctorNamesEveryServer has the servers of a cluster as they should be, and with what is wrong.
func TestDoctorNamesEveryServer(t *testing.T) {
	nodes := []cluster.Node{{Cluster: "main", Shard: 1, Weight: 1, Host: "a", Port: 9000}, {Cluster: "main", Shard: 1, Weight: 1, Host: "b", Port: 9000}}
	c, err := cluster.New("main", "ledger", "clickhouse://a:9000/ledger", "a:9000", nodes)
	if err != nil {
		t.Fatal(err)
	}
	s := cluster.Server{Shard: 0, Replica: 1, Version: "26.7", Ahead: -20 * time.Millisecond, ShardMacro: "1", ReplicaMacro: "b"}
	good := store.ServerState{Replicated: 18, Queue: 2, DictionarySize: 512, CacheSize: 256 << 20}
	readOnly, behind, dictionary, cache := good, good, good, good
	readOnly.ReadOnly, behind.Delay, dictionary.DictionarySize, cache.CacheSize = 3, 60, 8192, 0
	for name, test := range map[string]struct {
		state    store.ServerState
		ok       bool
		optional bool
		says     string
	}{
		"as it should be": {good, true, false, `shard 1, ClickHouse 26.7, its clock -20ms ahead of ours, {shard} "1", {replica} "b", 18 replicated tables, 0 s behind, 2 entries in their queues`},
		"without Keeper":  {readOnly, false, false, "3 tables take no inserts"},
		"behind":          {behind, false, false, "wait until it has caught up"},
		"dictionaries":    {dictionary, false, true, "set it to 512"},
		"cache":           {cache, false, true, "uncompressed_cache_size is 0"},
	} {
		f := serverFinding("clickhouse b:9000", c, &s, test.state)
		if f.OK != test.ok || f.Optional != test.optional || !strings.Contains(f.Detail+f.Fix, test.says) {
			t.Errorf("%s: %+v, want %q", name, f, test.says)
		}
	}
}
