package store

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/ch-go"
)

var (
	//go:embed sql/ping.sql
	selectPing string
	//go:embed sql/size.sql
	selectSize string
)

// maxPing is how long a store may take to answer Ping.
const maxPing = 5 * time.Second

// quickly are settings by which a server soon says which other one does not answer.
var quickly = []ch.Setting{
	{Key: "connections_with_failover_max_tries", Value: "1", Important: true},
	{Key: "handshake_timeout_ms", Value: "2000", Important: true},
	{Key: "receive_timeout", Value: "2", Important: true},
}

// PingAll is Ping that also asks each server to which rows are written.
func (db *DB) PingAll(ctx context.Context) error {
	err := db.Ping(ctx)
	for _, shard := range db.shards {
		for _, server := range append([]*DB{shard}, shard.others...) {
			err = errors.Join(err, server.Ping(ctx))
		}
	}
	return err
}

// Ping returns nil if the store answers, on a cluster each of its shards. It reads no row.
func (db *DB) Ping(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, maxPing)
	defer cancel()
	err := db.selectInto(asking, selectPing, nil, NewRecords[Count](), quickly, func() error { return nil })
	if asking.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: no answer in %s: %w", ErrAway, maxPing, err)
	}
	return err
}

// Size is how many bytes the tables take on disk, on a cluster those of all shards.
func (db *DB) Size(ctx context.Context) (bytes uint64, err error) {
	for _, shard := range db.Shards() {
		size, _, err := SelectOne(ctx, shard, selectSize, nil, NewRecords[Count]())
		if err != nil {
			return 0, fmt.Errorf("measuring the store: %w", err)
		}
		bytes += size.N
	}
	return bytes, nil
}
