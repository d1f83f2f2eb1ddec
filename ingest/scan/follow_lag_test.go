package scan

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// New items must come soon after they became visible, with the defaults for an upstream
// on this machine, alone and where two have to agree.
func TestFollowedItemsComeSoon(t *testing.T) {
	const limit, runs = 500 * time.Millisecond, 3
	for _, n := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d upstreams", n), func(t *testing.T) {
			p99 := followLag(t, n)
			for run := 1; run < runs && p99 > limit; run++ {
				p99 = followLag(t, n) // others may have needed the processors
			}
			if p99 > limit {
				t.Errorf("p99 of the lag is %s in the last of %d runs, want less than %s", p99, runs, limit)
			}
		})
	}
}

// followLag lets items appear at n upstreams for two seconds, 200 a second, and returns
// the 99th percentile of how long each took to the sink.
func followLag(t *testing.T, n int) (p99 time.Duration) {
	const rate, seconds = 200, 2
	list, urls := newUpstreams(t, n, func() []*migration { return []*migration{generate(0, -1, 0, 1000)} })
	sink := newSink()
	var mu sync.Mutex
	visible, lags := map[schemas.Position]time.Time{}, []time.Duration(nil)
	sink.fail = func(b *schemas.Batch) error {
		mu.Lock()
		defer mu.Unlock()
		for i := range b.Items {
			if since, ok := visible[b.Items[i].Position()]; ok {
				lags = append(lags, time.Since(since))
			}
		}
		return nil
	}
	ing := newIngesterOf(t, urls, sink, func(c *Config) { c.Poll, c.BusyPoll, c.Refresh, c.Agree = 0, 0, 0, n })
	ctx, cancel := context.WithCancel(testContext(t))
	ran := make(chan error, 1)
	go func() { ran <- ing.Run(ctx) }()
	until(t, func() bool { return ing.Status().Phase == stream.PhaseFollowing })
	var before int64
	for _, s := range ing.Status().Upstreams {
		before += s.Requests
	}
	tick := time.NewTicker(time.Second / rate)
	defer tick.Stop()
	for range rate * seconds {
		<-tick.C
		mu.Lock()
		for _, u := range list {
			u.set(func(u *upstream) {
				lengthen(u.migrations[0], 1)
				visible[u.migrations[0].items[len(u.migrations[0].items)-1].Position()] = time.Now()
			})
		}
		mu.Unlock()
	}
	until(t, func() bool { mu.Lock(); defer mu.Unlock(); return len(lags) == rate*seconds })
	cancel()
	<-ran
	slices.Sort(lags)
	requests := -before
	for _, s := range ing.Status().Upstreams {
		requests += s.Requests
	}
	// The first items meet an ingest that has been idle.
	t.Logf("lag p50 %s, p99 %s, most %s; %d requests, %d batches", lags[len(lags)/2], lags[len(lags)*99/100], lags[len(lags)-1], requests, len(sink.batches))
	return lags[len(lags)*99/100]
}

// A batch of few items is followed by a wait for more, so that a quiet network has few of them.
func TestSmallBatchesAreFollowedByAWait(t *testing.T) {
	u, sink := newUpstream(t, generate(0, -1, 0, 100)), newSink()
	const maxWait, items = 250 * time.Millisecond, 60
	ing := newIngester(t, u, sink, func(c *Config) { c.MaxWait = maxWait })
	ctx, cancel := context.WithCancel(testContext(t))
	ran := make(chan error, 1)
	go func() { ran <- ing.Run(ctx) }()
	until(t, func() bool { return ing.Status().Phase == stream.PhaseFollowing })
	before, began := ing.Status().Batches, time.Now()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for range items {
		<-tick.C
		u.set(func(u *upstream) { lengthen(u.migrations[0], 1) })
	}
	until(t, func() bool { return sink.count() == 100+items })
	cancel()
	<-ran
	// After a wait comes a batch that may be large, and after that one without a wait.
	if most := 2*int64(time.Since(began)/maxWait) + 3; ing.Status().Batches-before > most {
		t.Errorf("%d batches, want at most %d", ing.Status().Batches-before, most)
	}
}
