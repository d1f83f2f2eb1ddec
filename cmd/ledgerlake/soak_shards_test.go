package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/faults"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// soakShardsEnv is over how many engines the stores of episodes are spread.
const soakShardsEnv = "LEDGERLAKE_SOAK_SHARDS"

// shardKills is the least time between two kills of shards: an engine that ends five times a minute is
// given up.
const shardKills = 15 * time.Second

// soakShards are the engines of a lab that is on several.
type soakShards struct {
	*enginetest.Cluster
	count int

	mu     sync.Mutex
	killed time.Time // when one was killed last
}

// startShards starts the engines, if there are to be several.
func (l *lab) startShards(t *testing.T) (started bool) {
	t.Helper()
	text := os.Getenv(soakShardsEnv)
	if text == "" || text == "1" {
		return false
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q, not a number of shards", soakShardsEnv, text)
	}
	l.shards, l.cluster = &soakShards{Cluster: enginetest.StartCluster(t, n), count: n}, enginetest.ClusterName
	for i := range n {
		l.connect(t, l.shards.DSN(t, i, "default"))
	}
	return true
}

// connect adds a server to those that hold the databases. The first is the one that episodes use.
func (l *lab) connect(t *testing.T, dsn string) {
	t.Helper()
	conn, err := engine.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	if l.admins = append(l.admins, conn); len(l.admins) == 1 {
		l.dsn = dsn
	}
}

// kill kills a shard, unless one was killed a moment ago. It is started again by itself.
func (s *soakShards) kill(seed faults.Seed, tally *faults.Tally) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.killed) < shardKills {
		return
	}
	s.killed = time.Now()
	if syscall.Kill(s.PID(int(seed)%s.count), syscall.SIGKILL) == nil {
		tally.Add("shard: kill")
	}
}

// open opens a database of the store behind an address. The shards are reached without a proxy.
func (l *lab) open(ctx context.Context, database, address string) (db *store.DB, err error) {
	err = l.awaitShards(ctx, func() error {
		db, err = store.OpenOn(ctx, l.database(database, address), l.cluster)
		return err
	})
	return db, err
}

// create makes a database, or only some of its tables.
func (l *lab) create(ctx context.Context, database string, only ...string) error {
	return l.onAll(ctx, func(conn driver.Conn) error {
		if err := l.template.Drop(ctx, conn, database); err != nil { // of an attempt that a kill ended
			return err
		}
		return l.template.Create(ctx, conn, database, only...)
	})
}

func (l *lab) dropDatabase(ctx context.Context, name string) error {
	return l.onAll(ctx, func(conn driver.Conn) error { return l.template.Drop(ctx, conn, name) })
}

// onAll calls do for each server.
func (l *lab) onAll(ctx context.Context, do func(driver.Conn) error) error {
	for _, conn := range l.admins {
		if err := l.awaitShards(ctx, func() error { return do(conn) }); err != nil {
			return err
		}
	}
	return nil
}

// awaitShards calls ask, again and again while another episode has killed a shard that it needs.
func (l *lab) awaitShards(ctx context.Context, ask func() error) error {
	began := time.Now()
	for {
		err := ask()
		if err == nil || l.shards == nil || ctx.Err() != nil || !isAway(err) {
			return err
		}
		if time.Since(began) > lifeTimeout {
			return fmt.Errorf("a shard does not come back: %w", err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// isAway reports whether an error is that of a shard that is being started again.
func isAway(err error) bool {
	return errors.Is(err, schemas.ErrUnavailable) || store.Passes(err)
}
