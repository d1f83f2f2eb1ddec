package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

// The targets of a start after a kill -9.
const (
	maxRestartMedian = 2
	maxRestartWorst  = 5
)

// measureRestart kills the product and its engine again and again during a backfill, and
// takes the time from the start of the next process to its first committed batch.
func measureRestart(ctx context.Context, l *lab, s section) error {
	n, err := l.network(ctx)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(networkSeed, 1))
	var seconds []float64
	for round := 0; len(seconds) < l.kills; round++ {
		dir := l.folder(fmt.Sprintf("restart-%d", round))
		got, err := killUntilDone(ctx, l, n.URL, dir, random, l.kills-len(seconds))
		if err != nil {
			return err
		}
		seconds = append(seconds, got...)
		l.say("killed %d of %d times", len(seconds), l.kills)
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	slices.Sort(seconds)
	s.add("times killed", float64(len(seconds)), "")
	s.atMost(maxRestartMedian, "start to first committed batch, median", seconds[len(seconds)/2], "s")
	s.atMost(maxRestartWorst, "start to first committed batch, worst", seconds[len(seconds)-1], "s")
	return nil
}

// killUntilDone starts and kills an ingest until it has come to the end of its upstream or
// was killed often enough.
func killUntilDone(ctx context.Context, l *lab, upstream, dir string, random *rand.Rand, most int) (seconds []float64, err error) {
	for first := true; len(seconds) < most; first = false {
		begin := time.Now()
		p, err := l.start(ctx, "streams", "ingest", "--data", dir, "--scan-url", upstream, "--status-listen", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		var state stream
		err = until(ctx, 5*time.Millisecond, time.Minute, "the first batch after a start", func() (bool, error) {
			state, err = p.stream(ctx, "scan")
			return state.Live.Batches > 0 || state.Live.Phase == "following", err
		})
		took := time.Since(begin).Seconds()
		if err == nil && state.Live.Phase != "following" {
			time.Sleep(time.Duration(random.Int64N(int64(800 * time.Millisecond))))
		}
		if killErr := p.kill(); err != nil || killErr != nil {
			return nil, fmt.Errorf("after %d kills: %w", len(seconds), cmp.Or(err, killErr))
		}
		if state.Live.Phase == "following" {
			return seconds, nil
		}
		if !first { // the first start makes the tables
			seconds = append(seconds, took)
		}
	}
	return seconds, nil
}
