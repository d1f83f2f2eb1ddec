// Package querytest serves interfaces to the tests of their packages.
package querytest

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/query"
)

// Server serves on a free port of loopback.
type Server struct {
	// URL has no slash at its end.
	URL string
	// Stop ends the server; it is stopped at the end of the test if it was not before.
	Stop func()
}

// Serve serves what cfg says until the test ends, on an address of its own unless cfg has one and
// without a log unless cfg has one. A server that does not end well fails the test.
func Serve(t testing.TB, cfg query.Config) *Server {
	t.Helper()
	cfg.Address = cmp.Or(cfg.Address, "127.0.0.1:0")
	cfg.ShutdownTimeout = cmp.Or(cfg.ShutdownTimeout, 5*time.Second)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	server, err := query.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx) }()
	s := &Server{URL: "http://" + server.Addr()}
	s.Stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serving %s: %v", s.URL, err)
		}
	})
	t.Cleanup(s.Stop)
	return s
}
