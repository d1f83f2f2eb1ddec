package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app/operating"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// process is one run of the product: its settings, its log, and the services that it started,
// which end with it.
type process struct {
	cfg   *settings.Config
	build Build
	log   *slog.Logger

	// timeouts and retrier are how upstreams' faults are waited out. Only tests set them.
	timeouts timeouts
	retrier  retrier

	closers []func() error
	deaths  []death // embedded services that can end by themselves

	// simulated says that the upstream is the simulated network of this process, whose time is
	// its own.
	simulated bool
	// devnetNode is the URL of the simulated network's node, "" without one.
	devnetNode string
	// devnetClock says that its time is that of the wall clock. Only then are there wallets by
	// themselves: without them its history is that of its seed alone.
	devnetClock bool

	// queue is the job queue that this process reaches, nil while there is none.
	queue atomic.Pointer[operating.Jobs]
}

// death tells when and why an embedded service ended.
type death struct {
	name string
	done <-chan struct{}
	err  func() error
}

// onClose has f called when the process ends, before what was given earlier.
func (p *process) onClose(f func() error) { p.closers = append(p.closers, f) }

// close ends everything and returns what went wrong.
func (p *process) close() error {
	var errs []error
	for i := len(p.closers) - 1; i >= 0; i-- {
		errs = append(errs, p.closers[i]())
	}
	p.closers = nil
	return errors.Join(errs...)
}

// watch returns an error as soon as an embedded service ends by itself, nil when ctx ends.
func (p *process) watch(ctx context.Context) error {
	ended := make(chan error, len(p.deaths))
	for _, d := range p.deaths {
		guard.Go(func() error {
			select {
			case <-d.done:
				return fmt.Errorf("the %s ended: %w", d.name, cmp.Or(d.err(), errors.New("it gave no reason")))
			case <-ctx.Done():
				return nil
			}
		}, func(err error) {
			if err != nil {
				ended <- err
			}
		})
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return nil
	}
}

// supervise runs parts until ctx ends or one of them, or an embedded service, fails.
func (p *process) supervise(ctx context.Context, parts ...func(context.Context) error) error {
	group, ctx := guard.WithContext(ctx)
	for _, part := range append(parts, p.watch) {
		group.Go(func() error {
			err := part(ctx)
			if errors.Is(err, context.Canceled) && ctx.Err() != nil {
				return nil // the stop was asked for
			}
			return err
		})
	}
	return group.Wait()
}

// guard runs work and ends it early when an embedded service fails. Other parts may run
// beside it; they end when work does.
func (p *process) guard(ctx context.Context, work func(context.Context) error, besides ...func(context.Context) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var workErr error
	err := p.supervise(ctx, append(besides, func(ctx context.Context) error {
		defer stop()
		workErr = work(ctx)
		return workErr
	})...)
	// supervise takes a cancelled part for one that was asked to stop; work was not
	// asked to unless another part failed first, which err then tells.
	return cmp.Or(err, workErr)
}

// timeAhead is how far record times may be ahead of this machine's clock, 0 for no limit.
func (p *process) timeAhead() time.Duration {
	if p.simulated {
		return 0
	}
	return p.cfg.TimeAhead
}

// nodeURL is the node that commands go to: that of the settings, or the simulated one.
func (p *process) nodeURL() string {
	if p.devnetNode != "" {
		return p.devnetNode
	}
	return p.cfg.NodeURL
}

// development reports whether the network is the simulated one.
func (p *process) development() bool { return p.devnetNode != "" }

// catalog returns the templates of files: the network's own and, with --catalog, those of the
// operator's. What is published depends on nothing else.
func (p *process) catalog() (*values.Catalog, error) {
	dir := p.cfg.Catalog
	if dir == "" {
		return values.Default(), nil
	}
	// A folder that is missing and one without files look alike to what reads them.
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("--catalog: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("--catalog %s is not a folder: name the folder that has the files", dir)
	}
	catalog, err := values.Load(os.DirFS(dir))
	if err != nil {
		return nil, fmt.Errorf("--catalog %s: %w", dir, err)
	}
	return catalog, nil
}

// every calls f at an interval until ctx ends.
func every(ctx context.Context, interval time.Duration, f func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			f()
		}
	}
}

// waitFor polls a condition until it holds, and reports whether it did before ctx ended.
func waitFor(ctx context.Context, condition func() bool) bool {
	for !condition() {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(100 * time.Millisecond):
		}
	}
	return true
}
