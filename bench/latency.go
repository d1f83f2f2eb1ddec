package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

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
func measureLatency(ctx context.Context, l *lab, s section) (err error) {
	n, err := l.network(ctx)
	if err != nil {
		return err
	}
	ledger, err := l.startLive(ctx, devnet.Config{Updates: tailHistory, Dir: l.folder("tail")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.close()) }()
	p, err := l.start(ctx, "scan interface", "up", "--data", l.folder("tail-lake"),
		"--scan-url", ledger.url, "--node-url", n.NodeURL, "--listen", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	t := tail{product: p}
	if err := until(ctx, 20*time.Millisecond, time.Minute, "catching up", func() (bool, error) {
		return t.read(ctx) == nil && t.count >= tailHistory, ctx.Err()
	}); err != nil {
		return err
	}
	before, err := p.stream(ctx, "node:")
	if err != nil {
		return err
	}
	l.say("following %d updates a second for %d s", tailRate, tailUpdates/tailRate)
	begin := time.Now()
	delays, err := t.follow(ctx, ledger)
	if err != nil {
		return err
	}
	after, err := p.stream(ctx, "node:")
	if err != nil {
		return err
	}
	slices.Sort(delays)
	percentile := func(of int) float64 { return delays[len(delays)*of/100].Seconds() }
	s.add("updates a second at the source", tailUpdates/time.Since(begin).Seconds(), "1/s")
	s.add("updates a second of the backfill beside", float64(after.Live.Updates-before.Live.Updates)/time.Since(begin).Seconds(), "1/s")
	s.add("from visible at the source to queryable, median", percentile(50), "s")
	s.atMost(maxVisibleSeconds, "from visible at the source to queryable, 99th percentile", percentile(99), "s")
	s.add("from visible at the source to queryable, worst", delays[len(delays)-1].Seconds(), "s")
	return nil
}

// tail reads the product's history page by page.
type tail struct {
	product *product
	after   *cursor
	count   int
}

// read takes the next pages until one is short.
func (t *tail) read(ctx context.Context) error {
	const pageSize = 1000
	for {
		body, err := json.Marshal(map[string]any{"page_size": pageSize, "after": t.after})
		if err != nil {
			return err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, t.product.url+"/v2/updates", bytes.NewReader(body))
		if err != nil {
			return err
		}
		var page struct {
			Transactions []struct {
				Migration  *int64 `json:"migration_id"`
				RecordTime string `json:"record_time"`
				Event      struct {
					Migration int64 `json:"migration_id"`
				} `json:"event"`
			} `json:"transactions"`
		}
		if err := doJSON(request, &page); err != nil {
			return err
		}
		t.count += len(page.Transactions)
		if n := len(page.Transactions); n > 0 {
			last := page.Transactions[n-1]
			t.after = &cursor{last.Event.Migration, last.RecordTime}
			if last.Migration != nil {
				t.after.Migration = *last.Migration
			}
		}
		if len(page.Transactions) < pageSize {
			return nil
		}
	}
}

// follow makes updates at the source and returns how long each took to be answered.
func (t *tail) follow(ctx context.Context, ledger *live) ([]time.Duration, error) {
	const perTick = 2 // the last of a run is never a reassignment
	visible := make(chan time.Time, tailUpdates)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return ledger.advance(ctx, tailUpdates, tailRate, perTick, func() {
			for range perTick {
				visible <- time.Now()
			}
		})
	})
	var delays []time.Duration
	group.Go(func() error {
		return until(ctx, 10*time.Millisecond, 2*time.Minute, "following the tail", func() (bool, error) {
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
