package enginetest

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// ClusterName is what the engines of a Cluster call it.
const ClusterName = "shards"

// Cluster is several engines, each of which is a shard. They end with the test.
type Cluster struct {
	configs []engine.Config
	engines []*engine.Engine // nil while one is stopped
}

// StartCluster starts as many engines as there are to be shards.
func StartCluster(t testing.TB, shards int) *Cluster {
	t.Helper()
	configs, err := shardConfigs(t.TempDir(), shards)
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{configs: configs, engines: make([]*engine.Engine, shards)}
	t.Cleanup(func() {
		for n := range c.engines {
			c.Stop(t, n)
		}
	})
	if c.engines, err = startAll(t.Context(), configs); err != nil {
		Unavailable(t, err)
	}
	return c
}

// shardConfigs are the configurations of engines that are shards, with their data below dir.
func shardConfigs(dir string, shards int) (configs []engine.Config, err error) {
	addrs, err := freeAddrs(shards)
	for own := range addrs {
		c := config(filepath.Join(dir, fmt.Sprint("shard-", own+1)))
		c.MaxMemory = 1 << 30
		c.Cluster = &engine.Cluster{Name: ClusterName, Shards: addrs, Own: own, Password: "of-the-shards"}
		configs = append(configs, c)
	}
	return configs, err
}

// startAll starts engines at once. Those that it returns beside an error have to be stopped, too; the
// others are nil.
func startAll(ctx context.Context, configs []engine.Config) ([]*engine.Engine, error) {
	engines := make([]*engine.Engine, len(configs))
	group, ctx := guard.WithContext(ctx)
	for n := range configs {
		group.Go(func() (err error) {
			engines[n], err = engine.Start(ctx, configs[n])
			return err
		})
	}
	return engines, group.Wait()
}

// DSN names a database on shard n.
func (c *Cluster) DSN(t testing.TB, n int, database string) string {
	t.Helper()
	dsn, err := withDatabase(c.engines[n].OwnerDSN(), database)
	if err != nil {
		t.Fatal(err)
	}
	return dsn
}

// Stop stops shard n, if it runs.
func (c *Cluster) Stop(t testing.TB, n int) {
	t.Helper()
	if c.engines[n] == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	if err := c.engines[n].Stop(ctx); err != nil {
		t.Errorf("stopping shard %d: %v", n, err)
	}
	c.engines[n] = nil
}

// Start starts shard n again.
func (c *Cluster) Start(t testing.TB, n int) {
	t.Helper()
	var err error
	if c.engines[n], err = engine.Start(t.Context(), c.configs[n]); err != nil {
		t.Fatal(err)
	}
}

// PID is the process of shard n. When it is killed it is started again.
func (c *Cluster) PID(n int) int { return c.engines[n].PID() }

// freeAddrs are addresses of this machine at which nobody listens, on hosts that no other test uses.
func freeAddrs(n int) (addrs []string, err error) {
	for i := range n {
		pid := os.Getpid()
		l, err := net.Listen("tcp4", fmt.Sprintf("127.%d.%d.%d:0", 101+i, pid>>8&0xff, 1+pid%254))
		if err != nil {
			return nil, err
		}
		addrs = append(addrs, l.Addr().String())
		if err := l.Close(); err != nil {
			return nil, err
		}
	}
	return addrs, nil
}
