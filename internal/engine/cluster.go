package engine

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
)

// Cluster is several embedded engines that know each other, each of which is one shard without
// replicas. It shows on one machine what the product does on a cluster of servers.
type Cluster struct {
	// Name is what the engines call the cluster, a word of letters, digits and underscores.
	Name string
	// Shards are the addresses of all engines, such as 127.20.0.1:9000: the same list for each of them.
	// Own is the index of this one, which listens there.
	Shards []string
	Own    int
	// Password is that of the engines' owner, one for all of them.
	Password string
}

// shard is an address in two parts.
type shard struct{ Host, Port string }

var clusterName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check refuses what cannot be configured; nil is right.
func (c *Cluster) check() error {
	if c == nil {
		return nil
	}
	if !clusterName.MatchString(c.Name) || c.Password == "" || c.Own < 0 || c.Own >= len(c.Shards) {
		return errors.New("engine: Cluster needs a Name that is a word, a Password, and an Own that is one of its Shards")
	}
	for _, addr := range c.Shards {
		host, port, err := net.SplitHostPort(addr)
		if err != nil || net.ParseIP(host) == nil {
			return fmt.Errorf("engine: %q is not the address of a shard", addr)
		}
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return fmt.Errorf("engine: %q is not the address of a shard", addr)
		}
	}
	return nil
}

// shards are the addresses of all shards, which were checked.
func (c *Cluster) shards() (list []shard) {
	for _, addr := range c.Shards {
		host, port, _ := net.SplitHostPort(addr)
		list = append(list, shard{host, port})
	}
	return list
}
