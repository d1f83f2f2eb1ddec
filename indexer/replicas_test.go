package indexer

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/ledgerlake/ledgerlake/internal/cluster"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/schemas"
)

var golden = flag.Bool("update", false, "rewrite testdata/replicas")

// twoByTwo is a cluster of two shards with two replicas each.
func twoByTwo(t *testing.T) *cluster.Cluster {
	t.Helper()
	nodes := []cluster.Node{
		{Cluster: "main", Shard: 1, Weight: 1, Host: "a1", Port: 9000}, {Cluster: "main", Shard: 1, Weight: 1, Host: "a2", Port: 9000},
		{Cluster: "main", Shard: 2, Weight: 1, Host: "b1", Port: 9000}, {Cluster: "main", Shard: 2, Weight: 1, Host: "b2", Port: 9000},
	}
	c, err := cluster.New("main", "ledger", "clickhouse://a1:9000/ledger", "a1:9000", nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var (
	comments = regexp.MustCompile(`(?m)^--.*\n`)
	made     = regexp.MustCompile(`(?m)^CREATE (?:TABLE|VIEW) (?:IF NOT EXISTS )?(\w+)`)
)

// statements are all that a new server of a shard is sent to make its tables, each under the name of its
// step.
func statements(t *testing.T, c *cluster.Cluster, shard, replica int, shared bool) (list []string) {
	t.Helper()
	m := &clusterMigration{cluster: c}
	tables := c.Tables(shard, replica, shared)
	write := func(step string, texts ...string) {
		for _, statement := range texts {
			if statement = strings.TrimSuffix(strings.TrimSpace(comments.ReplaceAllString(statement, "")), ";"); statement == "" {
				statement = "-- comes by replication"
			}
			list = append(list, fmt.Sprintf("-- %s\n%s\n\n", step, statement))
		}
	}
	write("databases", m.databases(cluster.Server{Shard: shard, Replica: replica})...)
	files, err := fs.Sub(schemas.Migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var readers []string
	for _, name := range append(names, "0179_small_granules") {
		if strings.HasPrefix(name, "0179") {
			write(name, tables.DDL("0179", createEventsNext), tables.DDL("0179", createVerdictsNext))
			continue
		}
		sql, err := fs.ReadFile(migrationFiles{files, tables}, name)
		if err != nil {
			t.Fatal(err)
		}
		write(strings.TrimSuffix(name, ".sql"), string(sql))
		if table := made.FindSubmatch(sql); table != nil && strings.Contains(string(sql), "MergeTree") && string(table[1]) != "party_offsets" {
			readers = append(readers, m.reader(string(table[1])))
		}
	}
	write("readers", readers...)
	return list
}

// differing are the statements of list that are not those of first.
func differing(t *testing.T, list, first []string) (others []string) {
	t.Helper()
	if len(list) != len(first) {
		t.Fatalf("%d statements, and %d on the first server", len(list), len(first))
	}
	for i, statement := range list {
		if statement != first[i] {
			others = append(others, statement)
		}
	}
	return others
}

// TestDDLOfReplicas compares the statements that new servers are sent with those in testdata: all of the
// first one, and of others what differs from that. No engine of ours can run them: a person looked at them.
func TestDDLOfReplicas(t *testing.T) {
	c := twoByTwo(t)
	first := statements(t, c, 0, 0, false)
	for name, list := range map[string][]string{
		"shard_1_replica_1.sql": first,
		"shard_1_replica_2.sql": differing(t, statements(t, c, 0, 1, false), first),
		"shard_2_replica_1.sql": differing(t, statements(t, c, 1, 0, false), first),
		"shared_tables.sql":     differing(t, statements(t, c, 0, 0, true)[:5], first[:5]),
	} {
		text := strings.Join(list, "")
		file := filepath.Join("testdata", "replicas", name)
		if *golden {
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if text != string(want) {
			got, want := strings.Split(text, "\n"), strings.Split(string(want), "\n")
			n := 0
			for n < min(len(got), len(want)) && got[n] == want[n] {
				n++
			}
			t.Errorf("%s differs from line %d on: %q; if that is meant, run with -update and look at each statement", name, n+1, got[min(n, len(got)-1)])
		}
	}
}

// TestEngineReadsTheDDLOfReplicas has the engine make each replicated table. It takes all of the statement,
// and fails for want of Keeper only.
func TestEngineReadsTheDDLOfReplicas(t *testing.T) {
	s := enginetest.Start(t)
	if err := Migrate(t.Context(), s.DSN); err != nil {
		t.Fatal(err)
	}
	inPath := strings.NewReplacer("{shard}", "1", "{replica}", "r", "CREATE TABLE IF NOT EXISTS ", "CREATE TABLE replicated_")
	tables := 0
	for _, statement := range statements(t, twoByTwo(t), 0, 0, false) {
		if !strings.Contains(statement, "ENGINE = Replicated") {
			continue
		}
		tables++
		var e *clickhouse.Exception
		if err := s.Conn.Exec(t.Context(), inPath.Replace(statement)); !errors.As(err, &e) || proto.Error(e.Code) != proto.ErrNoZookeeper {
			t.Errorf("%s\n%v", statement, err)
		}
	}
	if tables < 20 {
		t.Errorf("%d replicated tables", tables)
	}
}

// TestOtherReplicas migrates a server as one to which changes come from another replica, and another one
// that adopts tables. The engine has no replicas: what would come by replication is missing.
func TestOtherReplicas(t *testing.T) {
	whole, following, adopting := enginetest.Start(t), enginetest.Start(t), enginetest.Start(t)
	migrate := func(s *enginetest.Store, tables cluster.Tables) *sql.DB {
		t.Helper()
		db, err := open(s.DSN)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		m, err := newMigrator(db, s.DSN, tables, func(Migration) {})
		if err == nil {
			err = migrateAll(t.Context(), m)
		}
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	describe := func(s *enginetest.Store, db *sql.DB) []string {
		t.Helper()
		list, err := texts(t.Context(), db, adoptedTables)
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			list[i] = strings.ReplaceAll(list[i], s.Name+".", "")
		}
		return list
	}
	from := migrate(whole, cluster.Tables{Shared: true})
	followed := strings.Join(describe(following, migrate(following, cluster.Tables{Shared: true, Follows: true})), "\n")
	if strings.Contains(followed, "place_rows") || !strings.Contains(followed, "replicated_deduplication_window_seconds") || !strings.Contains(followed, "events") {
		t.Errorf("a replica to which changes come has\n%s", followed)
	}
	to, err := open(adopting.DSN)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(adopt(t.Context(), from, to, whole.Name, adopting.Name), adopt(t.Context(), from, to, whole.Name, adopting.Name)); err != nil {
		t.Fatal(err)
	}
	if got, want := describe(adopting, to), describe(whole, from); !slices.Equal(got, want) || len(want) < 20 {
		t.Errorf("adopted\n%s\nof\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if version, err := Version(t.Context(), adopting.Conn); err != nil || version != int64(schemas.StoreVersion()) {
		t.Errorf("adopted version %d, %v", version, err)
	}
	if err := to.Close(); err != nil {
		t.Error(err)
	}
}
