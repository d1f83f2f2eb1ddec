package main

import (
	"context"
	"errors"
	"time"
)

// minNodeUpdatesPerSecond is the least that a node's own stream must be ingested at.
const minNodeUpdatesPerSecond = 10_000

// measureNodeStream ingests a node's own stream of the whole history with the product,
// from its start to its catching up, lifetimes not waited for.
func measureNodeStream(ctx context.Context, l *lab, s section) (err error) {
	n, err := l.network(ctx)
	if err != nil {
		return err
	}
	begin := time.Now()
	p, err := l.start(ctx, "streams", "ingest", "--data", l.folder("node-lake"), "--node-url", n.NodeURL, "--status-listen", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	s.add("start of the product", time.Since(begin).Seconds(), "s")
	begin = time.Now()
	var state stream
	err = until(ctx, 10*time.Millisecond, 10*time.Minute, "ingesting the node's stream", func() (bool, error) {
		state, err = p.stream(ctx, "node:")
		return state.Live.Phase == "following", err
	})
	if err != nil {
		return err
	}
	seconds := time.Since(begin).Seconds()
	s.add("updates", float64(state.Live.Updates), "")
	s.add("events", float64(state.Live.Events), "")
	s.atLeast(minNodeUpdatesPerSecond, "updates", float64(state.Live.Updates)/seconds, "1/s")
	return nil
}
