package child

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/guard"
)

const (
	// deathsWithin and maxDeaths say when it is pointless to start a program again: that many ends,
	// or failed starts, within that time.
	deathsWithin = time.Minute
	maxDeaths    = 5
	// firstPause is the wait before a program is started again; it doubles with each end within
	// deathsWithin.
	firstPause = 100 * time.Millisecond
)

// Config says how a program is kept running. BeforeStop and MaxDeaths are optional.
type Config struct {
	Name string // for messages
	Log  *slog.Logger
	// Again starts the program once more, at the same address, and returns when it answers.
	Again func(ctx context.Context) (*Process, error)
	// StartTimeout bounds a start; StopTimeout bounds how long Stop waits before it kills.
	StartTimeout, StopTimeout time.Duration
	// BeforeStop is called before the program is asked to end.
	BeforeStop func(ctx context.Context)
	// Release frees what the program needed, such as its folder, once it is gone for good.
	Release func() error
	// MaxDeaths is how many ends within a minute are the last one. Default 5.
	MaxDeaths int
}

// Supervisor runs a program, and starts it again each time it ends by itself. Its methods are safe for
// concurrent use.
type Supervisor struct {
	cfg      Config
	process  atomic.Pointer[Process] // that runs, or the last one
	done     chan struct{}           // closed when no process is left and none will be started
	err      error                   // valid once done is closed
	stopping context.CancelFunc      // says that the next end of the process is asked for
	changing sync.Mutex              // held while a process is started again, and while one is stopped
	stopOnce sync.Once
	stopErr  error // valid once Stop has returned
}

// Supervise keeps a program running that was started as first, until Stop. The end of ctx does not matter.
func Supervise(ctx context.Context, cfg Config, first *Process) *Supervisor {
	cfg.MaxDeaths = cmp.Or(cfg.MaxDeaths, maxDeaths)
	ctx, stopping := context.WithCancel(context.WithoutCancel(ctx))
	s := &Supervisor{cfg: cfg, done: make(chan struct{}), stopping: stopping}
	s.process.Store(first)
	guard.Go(func() error { return s.run(ctx) }, s.release)
	return s
}

// PID is the process id of the program. It changes when the program is started again.
func (s *Supervisor) PID() int { return s.process.Load().PID() }

// Done is closed when the program has ended, by Stop or because it was given up, and what it
// needed has been released.
func (s *Supervisor) Done() <-chan struct{} { return s.done }

// Err is nil while the program runs or is being started again, and after Stop ended it; otherwise it
// says how the program ended by itself the last time.
func (s *Supervisor) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// Stop ends the program and waits until it has. One that has not ended when ctx does, or after
// Config.StopTimeout, is killed, which is an error. Further calls wait for the first and return what
// it did.
func (s *Supervisor) Stop(ctx context.Context) error {
	s.stopOnce.Do(func() {
		s.stopping()
		ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.StopTimeout, fmt.Errorf("still running after %s", s.cfg.StopTimeout))
		defer cancel()
		s.stopErr = s.end(ctx)
		<-s.done
	})
	return s.stopErr
}

func (s *Supervisor) end(ctx context.Context) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	p := s.process.Load()
	select {
	case <-p.Done():
		return nil // by itself, which Err tells
	default:
	}
	if s.cfg.BeforeStop != nil {
		s.cfg.BeforeStop(ctx)
	}
	return p.Stop(ctx)
}

// release frees what the program needed when it is gone for good, for the reason err if not by Stop.
func (s *Supervisor) release(err error) {
	if err != nil {
		s.cfg.Log.Error(s.cfg.Name+" ended unexpectedly", "err", err)
	}
	s.err = errors.Join(err, s.cfg.Release())
	close(s.done)
}

// run starts the program again each time it ends by itself. It returns nil after Stop, otherwise why it
// gave up.
func (s *Supervisor) run(ctx context.Context) error {
	var deaths []time.Time
	for ctx.Err() == nil {
		death := s.awaitDeath(ctx)
		for death != nil {
			now := time.Now()
			deaths = append(since(deaths, now.Add(-deathsWithin)), now)
			if len(deaths) >= s.cfg.MaxDeaths {
				return givenUp(death, len(deaths))
			}
			pause := firstPause << (len(deaths) - 1)
			s.cfg.Log.Error(s.cfg.Name+" ended unexpectedly and is restarted", "err", death, "pause", pause)
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			death = s.again(ctx)
		}
	}
	return nil
}

// givenUp says how the program ended last. One that may end once only is not counted.
func givenUp(death error, deaths int) error {
	if deaths == 1 {
		return death
	}
	return fmt.Errorf("it ended %d times within %s, the last time: %w", deaths, deathsWithin, death)
}

// since returns those of times, which ascend, that are not before from.
func since(times []time.Time, from time.Time) []time.Time {
	for len(times) > 0 && times[0].Before(from) {
		times = times[1:]
	}
	return times
}

// awaitDeath waits until the process is gone and says how it ended, nil if Stop ended it.
func (s *Supervisor) awaitDeath(ctx context.Context) error {
	p := s.process.Load()
	<-p.Done()
	s.changing.Lock()
	defer s.changing.Unlock()
	if ctx.Err() != nil {
		return nil
	}
	return p.Ended("unexpectedly")
}

// again starts the program once more. It returns nil when it answers, and after Stop.
func (s *Supervisor) again(ctx context.Context) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if ctx.Err() != nil {
		return nil
	}
	began := time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, s.cfg.StartTimeout, fmt.Errorf("no answer within %s", s.cfg.StartTimeout))
	defer cancel()
	p, err := s.cfg.Again(limited)
	if err == nil {
		s.process.Store(p)
		s.cfg.Log.Info(s.cfg.Name+" restarted", "pid", p.PID(), "elapsed", time.Since(began))
	}
	if ctx.Err() != nil || err == nil {
		return nil
	}
	return fmt.Errorf("restarting the %s: %w", s.cfg.Name, err)
}
