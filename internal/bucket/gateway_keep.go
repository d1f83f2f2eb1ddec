package bucket

import (
	"context"
	"fmt"
	"time"
)

const (
	// deathsWithin and maxDeaths say when it is no use to start the gateway again: that many
	// ends, or failed starts, within that time.
	deathsWithin = time.Minute
	maxDeaths    = 5
	// restartPause is the wait before the gateway is started again; it doubles with each end
	// within deathsWithin.
	restartPause = 100 * time.Millisecond
)

// keep starts the gateway again each time that it ends by itself, at the same endpoint. It
// returns nil once Close has ended ctx and the child, else why it gave up.
func (g *Gateway) keep(ctx context.Context) error {
	var deaths []time.Time
	for {
		<-g.child.Load().done
		death := g.child.Load().failure()
		for death != nil && ctx.Err() == nil {
			now := time.Now()
			deaths = append(deaths, now)
			for deaths[0].Before(now.Add(-deathsWithin)) {
				deaths = deaths[1:]
			}
			if len(deaths) == maxDeaths {
				return fmt.Errorf("%d times within %s, the last time: %w", maxDeaths, deathsWithin, death)
			}
			pause := restartPause << (len(deaths) - 1)
			g.log.Error("s3 gateway ended by itself and is started again", "err", death, "pause", pause, "dir", g.dir)
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			death = g.again(ctx)
		}
		if ctx.Err() != nil {
			return nil
		}
	}
}

// again starts the child once more. It returns nil when it answers, and after Close.
func (g *Gateway) again(ctx context.Context) error {
	g.changing.Lock()
	defer g.changing.Unlock()
	limited, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if ctx.Err() != nil {
		return nil
	}
	err := g.launch(limited)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return fmt.Errorf("starting the s3 gateway again: %w", err)
	}
	g.log.Info("s3 gateway started again", "endpoint", g.Endpoint, "pid", g.PID())
	return nil
}

// ended notes why no gateway is left, nil if by Close.
func (g *Gateway) ended(err error) {
	g.failure = err
	close(g.done)
}
