package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Server is what a server of a cluster says of itself.
type Server struct {
	// Shard and Replica say which one it is, from 0.
	Shard, Replica int
	// Err is why it does not answer, nil if it does. Nothing else is known then.
	Err error
	// Version is that of ClickHouse.
	Version string
	// Ahead is how far its clock is ahead of ours.
	Ahead time.Duration
	// ShardMacro and ReplicaMacro are what it puts for {shard} and {replica}, "" for nothing.
	ShardMacro, ReplicaMacro string
	// Shared says that it makes SharedMergeTree of MergeTree, which a service replicates.
	Shared bool
	// Keeper is why it cannot use Keeper, nil if it can.
	Keeper error
}

// maxClocks is how far the clocks of two servers may differ. Times by them are shown to people, and say
// when a deduplication token is forgotten, after years.
const maxClocks = 5 * time.Second

// Check returns nil if the store can be on these servers, which are all of the cluster. One replica of
// each shard must answer: what the others are is not known.
func (c *Cluster) Check(servers []Server) error {
	var answer []Server
	for n := range c.Shards {
		of := slices.DeleteFunc(slices.Clone(servers), func(s Server) bool { return s.Shard != n })
		up := slices.DeleteFunc(slices.Clone(of), func(s Server) bool { return s.Err != nil })
		if len(up) == 0 {
			return fmt.Errorf("%s, cannot be reached: start it, and let it accept the user of --clickhouse-dsn: %w", c.Place(n, of[0].Replica), of[0].Err)
		}
		answer = append(answer, up...)
	}
	return cmp.Or(c.checkVersions(answer), c.checkClocks(answer), c.checkReplicas(answer))
}

func (c *Cluster) checkVersions(servers []Server) error {
	for _, s := range servers {
		if first := servers[0]; s.Version != first.Version {
			return fmt.Errorf("%s, runs ClickHouse %s, and %s %s: run one version on all shards", c.Place(s.Shard, s.Replica), s.Version, c.Shards[first.Shard][first.Replica], first.Version)
		}
	}
	return nil
}

func (c *Cluster) checkClocks(servers []Server) error {
	byClock := func(a, b Server) int { return cmp.Compare(a.Ahead, b.Ahead) }
	first, last := slices.MinFunc(servers, byClock), slices.MaxFunc(servers, byClock)
	if apart := last.Ahead - first.Ahead; apart > maxClocks {
		return fmt.Errorf("the clock of %s, is %s ahead of that of %s: set both by the same time servers", c.Place(last.Shard, last.Replica), apart.Round(time.Second/10), c.Shards[first.Shard][first.Replica])
	}
	return nil
}

// checkReplicas checks what tables need to be replicated. Where a service does it, they need nothing.
func (c *Cluster) checkReplicas(servers []Server) error {
	if !c.HasReplicas() {
		return nil
	}
	shards := make(map[string]Server)   // by their {shard}
	replicas := make(map[string]Server) // by their {shard} and {replica}
	for _, s := range servers {
		place := c.Place(s.Shard, s.Replica)
		switch {
		case s.Shared != servers[0].Shared:
			return fmt.Errorf("%s, and %s are of different services: one makes SharedMergeTree tables, the other does not", place, c.Shards[servers[0].Shard][servers[0].Replica])
		case s.Shared:
			continue
		case s.Keeper != nil:
			return fmt.Errorf("%s, cannot use Keeper, by which tables are replicated: start Keeper and name it in <zookeeper> of its configuration: %w", place, s.Keeper)
		case s.ShardMacro == "" || s.ReplicaMacro == "":
			return fmt.Errorf("%s, has no macro %s: add it to <macros> of its configuration", place, missingMacro(s))
		}
		if other, ok := shards[s.ShardMacro]; ok && other.Shard != s.Shard {
			return fmt.Errorf("%s, and %s both have %s as macro {shard}, and are of two shards: give each shard its own", place, c.Place(other.Shard, other.Replica), s.ShardMacro)
		}
		if first := servers[slices.IndexFunc(servers, func(o Server) bool { return o.Shard == s.Shard })]; first.ShardMacro != s.ShardMacro {
			return fmt.Errorf("%s, has %s as macro {shard}, and %s has %s: give all replicas of a shard the same", place, s.ShardMacro, c.Shards[first.Shard][first.Replica], first.ShardMacro)
		}
		shards[s.ShardMacro] = s
		key := s.ShardMacro + " " + s.ReplicaMacro
		if other, ok := replicas[key]; ok {
			return fmt.Errorf("%s, and %s both have %s as macro {replica}: give each replica its own", place, c.Shards[other.Shard][other.Replica], s.ReplicaMacro)
		}
		replicas[key] = s
	}
	return nil
}

func missingMacro(s Server) string {
	if s.ShardMacro == "" {
		return "{shard}"
	}
	return "{replica}"
}
