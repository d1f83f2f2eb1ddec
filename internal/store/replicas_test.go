package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/chpool"

	"github.com/ledgerlake/ledgerlake/internal/cluster"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
)

// TestSettingsOfReplicas pins with what a shard is written to.
func TestSettingsOfReplicas(t *testing.T) {
	for _, test := range []struct {
		replicas int
		shared   bool
		want     string
	}{
		{1, false, ""},
		{1, true, ""},
		{2, false, "insert_quorum=2 insert_quorum_parallel=1 insert_quorum_timeout=60000"},
		{3, false, "insert_quorum=3 insert_quorum_parallel=1 insert_quorum_timeout=60000"},
		{2, true, "select_sequential_consistency=1"},
	} {
		var got []string
		for _, s := range onReplicas(test.replicas, test.shared) {
			got = append(got, s.Key+"="+s.Value)
			if !s.Important {
				t.Errorf("setting %s may be ignored by a server that does not know it", s.Key)
			}
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%d replicas, shared %v: %q, want %q", test.replicas, test.shared, got, test.want)
		}
	}
}

// TestReplicasAreAwaited opens a shard whose other replicas are one that has no replicated table and one
// that is away. What changes its tables is done when both have it, and so fails; scratch tables and
// inserts do not ask them.
func TestReplicasAreAwaited(t *testing.T) {
	s := enginetest.Start(t)
	for _, statement := range []string{
		"CREATE TABLE contracts_live (n Int64) ENGINE = MergeTree ORDER BY n",
		"CREATE TABLE contract_ends_1 (n Int64) ENGINE = MergeTree ORDER BY n",
	} {
		if err := s.Conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	c, err := cluster.New("main", s.Name, s.DSN, "a:1", []cluster.Node{{Cluster: "main", Shard: 1, Weight: 1, Host: "127.0.0.1", Port: 1}})
	if err != nil {
		t.Fatal(err)
	}
	// It connects to nothing yet.
	away, err := openShard(t.Context(), c, cluster.Shard{"127.0.0.1:1", "127.0.0.1:2"}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer away.Close()
	if len(away.others) != 1 {
		t.Fatalf("%d other replicas, want 1", len(away.others))
	}
	first, err := open(t.Context(), chpool.New, s.DSN, onReplicas(2, false))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := Open(t.Context(), s.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	db := &DB{pool: plain.pool, inserts: plain.inserts, commits: plain.commits, database: s.Name, shards: []*DB{first}}
	defer first.Close()
	change := func(table string, others ...*DB) error {
		first.others = others
		defer func() { first.others = nil }()
		return db.Change(t.Context(), table, fmt.Sprintf("INSERT INTO %s SELECT 1", table), "", nil)
	}
	for name, test := range map[string]struct {
		err  error
		says string // "" for no error
	}{
		"no other replica":   {change("contracts_live"), ""},
		"scratch":            {change("contract_ends_1", plain, away.others[0]), ""},
		"a table of no kind": {change("contracts_live", plain), "is not replicated"},
		"a replica is away":  {change("contracts_live", away.others[0]), "waiting until all replicas of the shard have what was done to contracts_live"},
	} {
		switch {
		case test.says == "" && test.err != nil:
			t.Errorf("%s: %v", name, test.err)
		case test.says != "" && (test.err == nil || !strings.Contains(test.err.Error(), test.says)):
			t.Errorf("%s: %v, want %q", name, test.err, test.says)
		}
	}
}
