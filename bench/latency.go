package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/bench/lab"

	"golang.org/x/sync/errgroup"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
)

const (
	// maxVisibleSeconds is the most that may pass at the 99th percentile from when an
	// update is visible at its source until a query answers with it.
	maxVisibleSeconds = 1
	tailRate          = 200 // updates a second
	tailUpdates       = 8000
	tailHistory       = 2000 // updates before the measured ones
)

// measureLatency lets a network go on at a steady rate, and follows it with the product
// while another stream's backfill keeps a core busy.
func measureLatency(ctx context.Context, l *lab.Lab, s lab.Section) (err error) {
	n, err := l.Network(ctx)
	if err != nil {
		return err
	}
	ledger, err := l.StartLive(ctx, devnet.Config{Updates: tailHistory, Dir: l.Folder("tail")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	p, err := l.Start(ctx, "scan interface", "up", "--data", l.Folder("tail-lake"),
		"--scan-url", ledger.URL, "--node-url", n.NodeURL, "--listen", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	t := tail{client: lab.NewReadClient(p.URL)}
	if err := lab.Until(ctx, 20*time.Millisecond, time.Minute, "catching up", func() (bool, error) {
		return t.read(ctx) == nil && t.count >= tailHistory, ctx.Err()
	}); err != nil {
		return err
	}
	before, err := p.Stream(ctx, "node:")
	if err != nil {
		return err
	}
	l.Say("following %d updates a second for %d s", tailRate, tailUpdates/tailRate)
	begin := time.Now()
	delays, err := t.follow(ctx, ledger)
	if err != nil {
		return err
	}
	after, err := p.Stream(ctx, "node:")
	if err != nil {
		return err
	}
	slices.Sort(delays)
	percentile := func(of int) float64 { return delays[len(delays)*of/100].Seconds() }
	s.Add("updates a second at the source", tailUpdates/time.Since(begin).Seconds(), "1/s")
	s.Add("updates a second of the backfill beside", float64(after.Live.Updates-before.Live.Updates)/time.Since(begin).Seconds(), "1/s")
	s.Add("from visible at the source to queryable, median", percentile(50), "s")
	s.AtMost(maxVisibleSeconds, "from visible at the source to queryable, 99th percentile", percentile(99), "s")
	s.Add("from visible at the source to queryable, worst", delays[len(delays)-1].Seconds(), "s")
	return nil
}

// tail reads the product's history page by page.
type tail struct {
	client *lab.ReadClient
	after  *lab.Cursor
	count  int
}

// read takes the next pages until one is short.
func (t *tail) read(ctx context.Context) (err error) {
	var updates int64
	t.after, updates, _, err = t.client.UpdatesAfter(ctx, t.after)
	t.count += int(updates)
	return err
}

// follow makes updates at the source and returns how long each took to be answered.
func (t *tail) follow(ctx context.Context, ledger *lab.Live) ([]time.Duration, error) {
	const perTick = 2 // the last of a run is never a reassignment
	visible := make(chan time.Time, tailUpdates)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return ledger.AdvanceSteadily(ctx, tailUpdates, tailRate, perTick, func() {
			for range perTick {
				visible <- time.Now()
			}
		})
	})
	var delays []time.Duration
	group.Go(func() error {
		return lab.Until(ctx, 10*time.Millisecond, 2*time.Minute, "following the tail", func() (bool, error) {
			had := t.count
			if err := t.read(ctx); err != nil {
				return false, err
			}
			now := time.Now()
			for range t.count - had {
				delays = append(delays, now.Sub(<-visible))
			}
			return len(delays) >= tailUpdates, nil
		})
	})
	err := group.Wait()
	return delays, err
}
