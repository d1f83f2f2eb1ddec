package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
)

// networkTask asks for a simulated network in a process of its own.
type networkTask struct {
	Dir       string `json:"dir"`
	Updates   int    `json:"updates"`
	HugeBytes int    `json:"huge_bytes"`
}

// network is a simulated network that has executed its history and serves it.
type network struct {
	URL string `json:"url"`
	PID int    `json:"pid"`
	// Rows are those of each table of its history.
	Rows map[string]uint64 `json:"rows"`

	process *child
}

// networkSeed makes all runs measure the same history.
const networkSeed = 42

// serveNetwork is the child: it executes a history, answers once it serves it, and ends
// with ctx.
func serveNetwork(ctx context.Context, task networkTask, answer func(any) error) (err error) {
	ledger, err := devnet.New(ctx, devnet.Config{
		Updates: task.Updates, Seed: networkSeed, HugeUpdateBytes: task.HugeBytes, Dir: task.Dir, SkipCompact: true,
	}, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening for the simulated network: %w", err)
	}
	server := &http.Server{Handler: ledger.Handler(), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	n := network{URL: "http://" + listener.Addr().String(), PID: os.Getpid(), Rows: make(map[string]uint64)}
	for table, digest := range ledger.Digests().Tables {
		n.Rows[table] = digest.Rows
	}
	if err := answer(n); err != nil {
		return errors.Join(err, server.Close())
	}
	select {
	case err := <-failed:
		return fmt.Errorf("serving the simulated network: %w", err)
	case <-ctx.Done():
		return server.Close()
	}
}
