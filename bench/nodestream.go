package main

import (
	"context"
	"errors"
	"time"

	"github.com/ledgerlake/ledgerlake/bench/lab"
)

// minNodeUpdatesPerSecond is the least that a node's own stream must be ingested at.
const minNodeUpdatesPerSecond = 10_000

// measureNodeStream ingests a node's own stream of the whole history with the product,
// from its start to its catching up, lifetimes not waited for.
func measureNodeStream(ctx context.Context, l *lab.Lab, s lab.Section) (err error) {
	n, err := l.Network(ctx)
	if err != nil {
		return err
	}
	begin := time.Now()
	p, err := l.Start(ctx, "streams", "ingest", "--data", l.Folder("node-lake"), "--node-url", n.NodeURL, "--status-listen", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	s.Add("start of the product", time.Since(begin).Seconds(), "s")
	begin = time.Now()
	var state lab.Stream
	err = lab.Until(ctx, 10*time.Millisecond, 10*time.Minute, "ingesting the node's stream", func() (bool, error) {
		state, err = p.Stream(ctx, "node:")
		return state.Live.Phase == "following", err
	})
	if err != nil {
		return err
	}
	seconds := time.Since(begin).Seconds()
	s.Add("updates", float64(state.Live.Updates), "")
	s.Add("events", float64(state.Live.Events), "")
	s.AtLeast(minNodeUpdatesPerSecond, "updates", float64(state.Live.Updates)/seconds, "1/s")
	return nil
}
