package lab

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

const roleNetwork = "network"

// NetworkTask asks for a simulated network in a process of its own.
type NetworkTask struct {
	Dir       string `json:"dir"`
	Updates   int    `json:"updates"`
	HugeBytes int    `json:"huge_bytes"`
}

// Network is a simulated network that has executed its history and serves it.
type Network struct {
	URL string `json:"url"`
	// NodeURL is that of a participant's ledger API.
	NodeURL string `json:"node_url"`
	PID     int    `json:"pid"`
	// Rows are those of each table of its history.
	Rows map[string]uint64 `json:"rows"`

	process *child
}

// NetworkSeed makes all runs measure the same history.
const NetworkSeed = 42

// nodeParticipant hosts the governance party and so sees all public history.
const nodeParticipant = "Super-Validator-1"

// serveNetwork is the child: it executes a history, answers once it serves it, and ends
// with ctx.
func serveNetwork(ctx context.Context, task NetworkTask, answer func(any) error) (err error) {
	ledger, err := devnet.New(ctx, devnet.Config{
		Updates: task.Updates, Seed: NetworkSeed, HugeUpdateBytes: task.HugeBytes, Dir: task.Dir, SkipCompact: true,
		Node: &devnet.NodeConfig{Participant: nodeParticipant},
	}, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	ofNode, err := ledger.NodeHandler(devnet.NodeOptions{})
	if err != nil {
		return err
	}
	failed := make(chan error, 2)
	n := Network{PID: os.Getpid(), Rows: make(map[string]uint64)}
	for _, part := range []struct {
		handler http.Handler
		url     *string
	}{{ledger.Handler(), &n.URL}, {ofNode, &n.NodeURL}} {
		listener, listenErr := net.Listen("tcp", "127.0.0.1:0")
		if listenErr != nil {
			return fmt.Errorf("listening for the simulated network: %w", listenErr)
		}
		server := &http.Server{Handler: part.handler, ReadHeaderTimeout: 10 * time.Second}
		defer func() { err = errors.Join(err, server.Close()) }()
		go func() { failed <- server.Serve(listener) }()
		*part.url = "http://" + listener.Addr().String()
	}
	for table, digest := range ledger.Digests().Tables {
		n.Rows[table] = digest.Rows
	}
	if err := answer(n); err != nil {
		return err
	}
	select {
	case err := <-failed:
		return fmt.Errorf("serving the simulated network: %w", err)
	case <-ctx.Done():
		return nil
	}
}

// Stop asks the network to end and waits for it.
func (n *Network) Stop() error { return n.process.end() }
