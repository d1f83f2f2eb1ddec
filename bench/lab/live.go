package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
)

// Live is a simulated network in this process, whose history grows with AdvanceSteadily.
type Live struct {
	*devnet.Ledger
	URL    string
	server *http.Server
}

// StartLive executes a history and serves it.
func (l *Lab) StartLive(ctx context.Context, cfg devnet.Config) (*Live, error) {
	cfg.Seed, cfg.SkipCompact = NetworkSeed, true
	ledger, err := devnet.New(ctx, cfg, nil)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listening for the simulated network: %w", err), ledger.Close())
	}
	server := &http.Server{Handler: ledger.Handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with close
	return &Live{ledger, "http://" + listener.Addr().String(), server}, nil
}

// Close stops serving and ends the network.
func (n *Live) Close() error { return errors.Join(n.server.Close(), n.Ledger.Close()) }

// AdvanceSteadily executes updates at a steady rate, some at once, and calls visible after each time.
func (n *Live) AdvanceSteadily(ctx context.Context, updates, perSecond, atOnce int, visible func()) error {
	ticker := time.NewTicker(time.Duration(atOnce) * time.Second / time.Duration(perSecond))
	defer ticker.Stop()
	for range updates / atOnce {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		if err := n.Ledger.Advance(ctx, atOnce); err != nil {
			return err
		}
		visible()
	}
	return nil
}
