// Package cluster knows the servers of a ClickHouse cluster: which of them are replicas of which shard,
// and what must be true of them before anything is written. It asks no server itself: package store does.
package cluster

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Cluster is several ClickHouse servers that hold one store. Each has the rows of its shard in database
// ShardDatabase, and in database Database a Distributed table for each table, which reads all shards.
type Cluster struct {
	Name, Database string
	// Shards are in the order of the cluster. There is at least one.
	Shards []Shard

	dsn *url.URL
}

// Shard is the addresses of the servers that have the same rows, its replicas, in the order of the
// cluster, such as one:9000. There is at least one; the first is the one that is written to.
type Shard []string

// Node is a server as system.clusters describes it.
type Node struct {
	Cluster string `column:"cluster"`
	Shard   uint32 `column:"shard_num"`
	Weight  uint32 `column:"weight"`
	Host    string `column:"host_name"`
	Port    uint32 `column:"port"`
}

// New returns the cluster of that name out of the servers of all clusters, which are those that the
// server at addr knows: by cluster, shard and replica. Other servers are reached with the user, the
// password and the parameters of dsn.
func New(name, database, dsn, addr string, nodes []Node) (*Cluster, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, errors.New("the ClickHouse DSN cannot be read") // what is wrong with it may be the password
	}
	c := &Cluster{Name: name, Database: database, dsn: u}
	var names []string
	last := uint32(0)
	for _, n := range nodes {
		names = append(names, n.Cluster)
		if n.Cluster != name {
			continue
		}
		if n.Weight != 1 {
			return nil, fmt.Errorf("shard %s of cluster %s has weight %d: give all shards the weight 1, rows are looked for where that puts them", n.Host, name, n.Weight)
		}
		if len(c.Shards) == 0 || n.Shard != last {
			c.Shards, last = append(c.Shards, nil), n.Shard
		}
		shard := &c.Shards[len(c.Shards)-1]
		*shard = append(*shard, net.JoinHostPort(n.Host, strconv.Itoa(int(n.Port))))
	}
	if len(c.Shards) > 0 {
		return c, nil
	}
	known := "it knows none"
	if len(names) > 0 {
		known = "it knows " + strings.Join(slices.Compact(names), ", ")
	}
	return nil, fmt.Errorf("ClickHouse at %s knows no cluster %s, %s: add it to remote_servers of its configuration, or give another --clickhouse-cluster", addr, name, known)
}

// HasReplicas reports whether a shard has more than one server.
func (c *Cluster) HasReplicas() bool {
	return slices.ContainsFunc(c.Shards, func(s Shard) bool { return len(s) > 1 })
}

// ShardDatabase is the database that has the rows of a shard.
func (c *Cluster) ShardDatabase() string { return c.Database + "_shard" }

// Mark is the comment of database ShardDatabase on a server, by its shard and replica, from 0. It tells
// when the order of the servers or the number of the shards has changed: rows are looked for on a shard,
// and processes agree on who writes on its first replica.
func (c *Cluster) Mark(shard, replica int) string {
	mark := fmt.Sprintf("ledgerlake: shard %d of %d", shard+1, len(c.Shards))
	if len(c.Shards[shard]) > 1 {
		mark += fmt.Sprintf(", replica %d", replica+1)
	}
	return mark
}

// DSN names a database on the server at an address of Shards.
func (c *Cluster) DSN(addr, database string) string {
	u := *c.dsn
	u.Host, u.Path = addr, "/"+database
	return u.String()
}

// Place names a server in messages, by its shard and replica, from 0.
func (c *Cluster) Place(shard, replica int) string {
	of := fmt.Sprintf("shard %d of cluster %s", shard+1, c.Name)
	if len(c.Shards[shard]) > 1 {
		of = fmt.Sprintf("replica %d of %s", replica+1, of)
	}
	return of + ", " + c.Shards[shard][replica]
}
