package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/bench/lab"
)

// The targets of a start after a kill -9.
const (
	maxRestartMedian = 2
	maxRestartWorst  = 5
)

// measureRestart kills the product and its engine again and again during a backfill, and
// takes the time from the start of the next process to its first committed batch.
func measureRestart(ctx context.Context, l *lab.Lab, s lab.Section) error {
	n, err := l.Network(ctx)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(lab.NetworkSeed, 1))
	var seconds []float64
	for round := 0; len(seconds) < l.Kills; round++ {
		dir := l.Folder(fmt.Sprintf("restart-%d", round))
		got, err := killUntilDone(ctx, l, n.URL, dir, random, l.Kills-len(seconds))
		if err != nil {
			return err
		}
		seconds = append(seconds, got...)
		l.Say("killed %d of %d times", len(seconds), l.Kills)
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	slices.Sort(seconds)
	s.Add("times killed", float64(len(seconds)), "")
	s.AtMost(maxRestartMedian, "start to first committed batch, median", seconds[len(seconds)/2], "s")
	s.AtMost(maxRestartWorst, "start to first committed batch, worst", seconds[len(seconds)-1], "s")
	return nil
}

// killUntilDone starts and kills an ingest until it has come to the end of its upstream or
// was killed often enough.
func killUntilDone(ctx context.Context, l *lab.Lab, upstream, dir string, random *rand.Rand, most int) (seconds []float64, err error) {
	for first := true; len(seconds) < most; first = false {
		begin := time.Now()
		p, err := l.Start(ctx, "streams", "ingest", "--data", dir, "--scan-url", upstream, "--status-listen", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		var state lab.Stream
		err = lab.Until(ctx, 5*time.Millisecond, time.Minute, "the first batch after a start", func() (bool, error) {
			state, err = p.Stream(ctx, "scan")
			return state.Live.Batches > 0 || state.Live.Phase == "following", err
		})
		took := time.Since(begin).Seconds()
		if err == nil && state.Live.Phase != "following" {
			time.Sleep(time.Duration(random.Int64N(int64(800 * time.Millisecond))))
		}
		if killErr := p.Kill(); err != nil || killErr != nil {
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
