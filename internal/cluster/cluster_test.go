package cluster

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// twoByTwo are the servers of a cluster of two shards with two replicas each, beside one of another.
var twoByTwo = []Node{
	{"main", 1, 1, "a1", 9000}, {"main", 1, 1, "a2", 9000}, {"main", 2, 1, "b1", 9000}, {"main", 2, 1, "b2", 9440},
	{"other", 1, 1, "c", 9000},
}

func newCluster(t *testing.T, name string, nodes []Node) *Cluster {
	t.Helper()
	c, err := New(name, "ledger", "clickhouse://user:secret@a1:9000,b1:9000/ledger?secure=true", "a1:9000", nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestNew(t *testing.T) {
	c := newCluster(t, "main", twoByTwo)
	if want := []Shard{{"a1:9000", "a2:9000"}, {"b1:9000", "b2:9440"}}; !slices.EqualFunc(c.Shards, want, slices.Equal[Shard]) || !c.HasReplicas() {
		t.Errorf("shards %v, want %v", c.Shards, want)
	}
	if got, want := c.DSN("b2:9440", c.ShardDatabase()), "clickhouse://user:secret@b2:9440/ledger_shard?secure=true"; got != want {
		t.Errorf("DSN %s, want %s", got, want)
	}
	other := newCluster(t, "other", twoByTwo)
	if other.HasReplicas() || len(other.Shards) != 1 {
		t.Errorf("shards %v, want one server", other.Shards)
	}
	if got, want := []string{c.Mark(1, 0), other.Mark(0, 0)}, []string{"ledgerlake: shard 2 of 2, replica 1", "ledgerlake: shard 1 of 1"}; !slices.Equal(got, want) {
		t.Errorf("marks %q, want %q", got, want)
	}
	for name, mistake := range map[string]struct {
		nodes []Node
		says  string
	}{
		"none":    {nil, "knows no cluster main, it knows none"},
		"another": {twoByTwo[4:], "it knows other"},
		"weight":  {[]Node{{"main", 1, 1, "a", 9000}, {"main", 2, 3, "b", 9000}}, "shard b of cluster main has weight 3"},
	} {
		if _, err := New("main", "ledger", "clickhouse://a:9000/ledger", "a:9000", mistake.nodes); err == nil || !strings.Contains(err.Error(), mistake.says) {
			t.Errorf("%s: %v, want %q", name, err, mistake.says)
		}
	}
}

// fitting are the servers of twoByTwo as they should be.
func fitting() []Server {
	return []Server{
		{Shard: 0, Replica: 0, Version: "26.7", ShardMacro: "1", ReplicaMacro: "a1"},
		{Shard: 0, Replica: 1, Version: "26.7", ShardMacro: "1", ReplicaMacro: "a2", Ahead: 2 * time.Second},
		{Shard: 1, Replica: 0, Version: "26.7", ShardMacro: "2", ReplicaMacro: "b1", Ahead: -2 * time.Second},
		{Shard: 1, Replica: 1, Version: "26.7", ShardMacro: "2", ReplicaMacro: "b2"},
	}
}

// TestCheck makes one thing wrong at a time.
func TestCheck(t *testing.T) {
	away := errors.New("connection refused")
	c := newCluster(t, "main", twoByTwo)
	for _, test := range []struct {
		name string
		make func(s []Server)
		says string // "" if it is right
	}{
		{"as it should be", func([]Server) {}, ""},
		{"a replica is away", func(s []Server) { s[0] = Server{Shard: 0, Replica: 0, Err: away} }, ""},
		{"replicas of two shards have one name", func(s []Server) { s[2].ReplicaMacro = "a1" }, ""},
		{"a service replicates", func(s []Server) {
			for i := range s {
				s[i].Shared, s[i].ShardMacro, s[i].ReplicaMacro = true, "", ""
			}
		}, ""},
		{"a shard is away", func(s []Server) { s[2].Err, s[3].Err = away, away }, "replica 1 of shard 2 of cluster main, b1:9000, cannot be reached: start it"},
		{"another version", func(s []Server) { s[3].Version = "26.6" }, "replica 2 of shard 2 of cluster main, b2:9440, runs ClickHouse 26.6, and a1:9000 26.7"},
		{"a clock", func(s []Server) { s[1].Ahead = 4 * time.Second }, "the clock of replica 2 of shard 1 of cluster main, a2:9000, is 6s ahead of that of b1:9000"},
		{"no macros", func(s []Server) { s[0].ShardMacro, s[0].ReplicaMacro = "", "" }, "a1:9000, has no macro {shard}"},
		{"no macro", func(s []Server) { s[3].ReplicaMacro = "" }, "b2:9440, has no macro {replica}"},
		{"replicas that name two shards", func(s []Server) { s[1].ShardMacro = "3" }, "a2:9000, has 3 as macro {shard}, and a1:9000 has 1"},
		{"shards of one name", func(s []Server) { s[2].ShardMacro, s[3].ShardMacro = "1", "1" }, "b1:9000, and replica 2 of shard 1 of cluster main, a2:9000 both have 1 as macro {shard}"},
		{"replicas in another order", func(s []Server) { s[1].ShardMacro, s[2].ShardMacro = "2", "1" }, "a2:9000, has 2 as macro {shard}, and a1:9000 has 1"},
		{"replicas of one name", func(s []Server) { s[3].ReplicaMacro = "b1" }, "b2:9440, and b1:9000 both have b1 as macro {replica}"},
		{"no Keeper", func(s []Server) { s[2].Keeper = errors.New("no Zookeeper configuration") }, "b1:9000, cannot use Keeper"},
		{"two services", func(s []Server) { s[2].Shared = true }, "are of different services"},
	} {
		servers := fitting()
		test.make(servers)
		err := c.Check(servers)
		switch {
		case test.says == "" && err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "\n")):
			t.Errorf("%s: %v, want one line with %q", test.name, err, test.says)
		}
	}
}
