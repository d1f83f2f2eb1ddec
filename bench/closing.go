package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/bench/lab"

	"golang.org/x/sync/errgroup"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/published"
)

const (
	// maxCommitSeconds is the most that may pass at the 99th percentile from when a segment is
	// closed until its objects are committed.
	maxCommitSeconds = 60
	closingRate      = 200 // updates a second
	hourUpdates      = 400 // updates in an hour of the ledger's time
	closingHistory   = 48  // hours before the measured ones
	commitWait       = 5 * time.Minute
)

// measureClosing lets a network go on at a steady rate and takes the time from when the first
// update behind a segment is visible at its source, which closes it, until the segment is
// published: for many short segments, and for a long one.
func measureClosing(ctx context.Context, l *lab.Lab, s lab.Section) error {
	hours := closings{Lab: l, name: "hours", segment: time.Hour}
	delays, err := hours.measure(ctx, devnet.Config{Updates: closingHistory * hourUpdates, Days: closingHistory / 24}, l.Hours*hourUpdates, "--bulk-segments", "hour")
	if err != nil {
		return err
	}
	s.Add("hours of "+fmt.Sprint(hourUpdates)+" updates that were closed and published", float64(len(delays)), "")
	s.Add("from closed to published, median", delays[len(delays)/2].Seconds(), "s")
	s.AtMost(maxCommitSeconds, "from closed to published, 99th percentile", delays[len(delays)*99/100].Seconds(), "s")
	s.Add("from closed to published, worst", delays[len(delays)-1].Seconds(), "s")
	days := closings{Lab: l, name: "days", segment: 24 * time.Hour}
	// The history ends an hour before midnight. More than half of it is of the later migration.
	if delays, err = days.measure(ctx, devnet.Config{Updates: 2 * l.Updates, Days: 1, Start: beforeMidnight}, l.Updates/10); err != nil {
		return err
	}
	s.AtMost(maxCommitSeconds, fmt.Sprintf("from closed to published, the day of more than %d updates", l.Updates), delays[0].Seconds(), "s")
	return nil
}

var beforeMidnight = time.Date(2026, 6, 30, 23, 0, 0, 0, time.UTC)

// closings measures segments of one length.
type closings struct {
	*lab.Lab
	name    string
	segment time.Duration

	mu     sync.Mutex
	closed []closing
}

// closing is when a segment was closed at the source.
type closing struct{ end, at time.Time }

// measure lets a history that the product has caught up with go on by so many updates, and
// returns how long it took to publish what these closed, sorted.
func (c *closings) measure(ctx context.Context, history devnet.Config, updates int, options ...string) (delays []time.Duration, err error) {
	history.Dir = c.Folder("closing-network-" + c.name)
	n, err := c.StartLive(ctx, history)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	p, err := c.Start(ctx, "scan interface", append(options, "up", "--data", c.Folder("closing-lake-"+c.name), "--scan-url", n.URL, "--listen", "127.0.0.1:0")...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Stop()) }()
	open := n.Now().Truncate(c.segment)
	if err := lab.Until(ctx, 100*time.Millisecond, commitWait, "publishing the history", func() (bool, error) {
		st, err := p.Stream(ctx, "scan")
		if err != nil || st.Live.Phase != "following" {
			return false, err
		}
		through, left, err := publishedThrough(ctx, p)
		return left == 0 && !through.Before(open), err
	}); err != nil {
		return nil, err
	}
	c.Say("closing %s at %d updates a second", c.name, closingRate)
	group, ctx := errgroup.WithContext(ctx)
	ended := make(chan struct{})
	group.Go(func() error {
		defer close(ended)
		return n.AdvanceSteadily(ctx, updates, closingRate, 2, func() { c.note(n.Now(), open.Add(c.segment)) })
	})
	group.Go(func() error {
		delays, err = c.await(ctx, p, ended)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if len(delays) == 0 {
		return nil, fmt.Errorf("%d updates closed no segment", updates)
	}
	slices.Sort(delays)
	return delays, nil
}

// note notes the segments that end at or before now, the first of them at first.
func (c *closings) note(now, first time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for end := first.Add(time.Duration(len(c.closed)) * c.segment); now.After(end); end = end.Add(c.segment) {
		c.closed = append(c.closed, closing{end, time.Now()})
	}
}

func (c *closings) noted() []closing {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.closed)
}

// await takes the time until each noted segment is published, until there are no more.
func (c *closings) await(ctx context.Context, p *lab.Product, ended <-chan struct{}) (delays []time.Duration, err error) {
	for {
		last := false
		select {
		case <-ended:
			last = true
		default:
		}
		through, _, err := publishedThrough(ctx, p)
		if err != nil {
			return nil, err
		}
		noted := c.noted()
		for len(delays) < len(noted) && !through.Before(noted[len(delays)].end) {
			delays = append(delays, time.Since(noted[len(delays)].at))
		}
		if last && len(delays) == len(noted) {
			return delays, nil
		}
		if len(delays) < len(noted) && time.Since(noted[len(delays)].at) > commitWait {
			return nil, fmt.Errorf("the segment up to %s was not published within %s", noted[len(delays)].end, commitWait)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// publishedThrough is the time up to which Parquet objects are published, and the number of segments
// and folders that are closed and not published.
func publishedThrough(ctx context.Context, p *lab.Product) (through time.Time, left int, err error) {
	var progress struct {
		Pipelines []struct {
			Name    string    `json:"name"`
			Done    int       `json:"done"`
			Total   int       `json:"total"`
			Through time.Time `json:"through"`
		} `json:"pipelines"`
	}
	if err := lab.GetJSON(ctx, p.URL+"/v0/history/bulk/progress", &progress); err != nil {
		return through, 0, err
	}
	found := false
	for _, of := range progress.Pipelines {
		if left += of.Total - of.Done; of.Name == published.ParquetPipeline {
			through, found = of.Through, true
		}
	}
	if !found {
		return through, 0, errors.New("no pipeline exports Parquet objects")
	}
	return through, left, nil
}
