package engine

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// deathsWithin and maxDeaths say when it is no use to start the engine again: that many
	// ends, or failed starts, within that time.
	deathsWithin = time.Minute
	maxDeaths    = 5
	// firstPause is the wait before the engine is started again; it doubles with each end
	// within deathsWithin.
	firstPause = 100 * time.Millisecond
)

// release frees the folder when the engine is gone for good, for the reason err if not by
// Stop.
func (e *Engine) release(err error) {
	if e.err = err; err != nil {
		e.cfg.Log.Error("engine ended by itself", "err", err, "data", e.cfg.DataDir)
	}
	if err := errors.Join(e.relay.close(), removeDSNs(e.cfg.DataDir), e.lock.Unlock()); err != nil {
		e.err = errors.Join(e.err, fmt.Errorf("releasing data folder %s: %w", e.cfg.DataDir, err))
	}
	close(e.done)
}

// keep starts the engine again each time that it ends by itself, on the same folder and at
// the same address. It returns nil after Stop, else why it gave up.
func (e *Engine) keep(ctx context.Context) error {
	var deaths []time.Time
	for ctx.Err() == nil {
		death := e.awaitDeath(ctx)
		for death != nil {
			now := time.Now()
			deaths = append(since(deaths, now.Add(-deathsWithin)), now)
			if len(deaths) >= e.cfg.maxDeaths {
				return givenUp(death, len(deaths))
			}
			pause := firstPause << (len(deaths) - 1)
			e.cfg.Log.Error("engine ended by itself and is started again", "err", death, "pause", pause, "data", e.cfg.DataDir)
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			death = e.again(ctx)
		}
	}
	return nil
}

// givenUp says how the engine ended last. One that may end once only is not counted.
func givenUp(death error, deaths int) error {
	if deaths == 1 {
		return death
	}
	return fmt.Errorf("%d times within %s, the last time: %w", deaths, deathsWithin, death)
}

// since returns those of times, which ascend, that are not before from.
func since(times []time.Time, from time.Time) []time.Time {
	for len(times) > 0 && times[0].Before(from) {
		times = times[1:]
	}
	return times
}

// awaitDeath waits until the child is gone and says how it ended, nil if Stop ended it.
func (e *Engine) awaitDeath(ctx context.Context) error {
	s := e.server.Load()
	<-s.done
	e.changing.Lock()
	defer e.changing.Unlock()
	if ctx.Err() != nil {
		return nil
	}
	return errors.Join(s.ended("by itself"), s.closeLog())
}

// again starts the child once more. It returns nil when it answers, and after Stop.
func (e *Engine) again(ctx context.Context) error {
	e.changing.Lock()
	defer e.changing.Unlock()
	began := time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, e.cfg.StartTimeout, fmt.Errorf("no answer within %s", e.cfg.StartTimeout))
	defer cancel()
	err := e.restart(limited)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
		return fmt.Errorf("starting the engine again: %w", err)
	}
	e.cfg.Log.Info("engine started again", "pid", e.PID(), "elapsed", time.Since(began), "data", e.cfg.DataDir)
	return nil
}

func (e *Engine) restart(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := awaitPredecessor(ctx, e.cfg.DataDir); err != nil {
		return err
	}
	return e.attempt(ctx)
}
