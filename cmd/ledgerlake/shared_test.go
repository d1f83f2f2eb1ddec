package main

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// sharedHistory is a simulated network and a store with all of its history, for tests that only read.
type sharedHistory struct {
	ledger   *devnet.Ledger
	upstream string // URL of the network
	data     string // folder of the store; no process uses it, and nobody may change it
	ours     string // URL of a product that serves a copy of the store, "" before the first use
	pages    map[string][][]byte
}

// upstreamPages is allPages of the network, which answers the same each time.
func (h *sharedHistory) upstreamPages(t *testing.T, path, encoding string) [][]byte {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if h.pages[path+encoding] == nil {
		h.pages[path+encoding] = allPages(t, h.upstream, path, encoding)
	}
	return h.pages[path+encoding]
}

// sharedUpdates is how long the shared history is: its state has something of everything that
// TestStateEqualsTheUpstreams asks for.
var sharedUpdates = schematest.Rounds(800, 3000)

var shared struct {
	sync.Mutex
	*sharedHistory
	err     error // of the first use, kept
	closers []func() error
}

// closeShared ends what the tests have shared.
func closeShared() error {
	var errs []error
	for i := len(shared.closers) - 1; i >= 0; i-- {
		errs = append(errs, shared.closers[i]())
	}
	return errors.Join(errs...)
}

// onceShared returns the shared history, which the first use makes.
func onceShared(t *testing.T) *sharedHistory {
	t.Helper()
	needEngine(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.sharedHistory == nil && shared.err == nil {
		shared.sharedHistory, shared.err = makeShared(t)
	}
	if shared.err != nil {
		t.Fatal("the shared history: ", shared.err)
	}
	return shared.sharedHistory
}

func makeShared(t *testing.T) (*sharedHistory, error) {
	t.Helper()
	dir, err := os.MkdirTemp("", "shared-history-")
	if err != nil {
		return nil, err
	}
	shared.closers = append(shared.closers, func() error { return os.RemoveAll(dir) })
	h := &sharedHistory{data: filepath.Join(dir, "data"), pages: make(map[string][][]byte)}
	if h.ledger, err = devnet.New(context.Background(), devnet.Config{Updates: sharedUpdates, Seed: 11, Dir: filepath.Join(dir, "network")}, nil); err != nil {
		return nil, err
	}
	upstream := httptest.NewServer(h.ledger.Handler())
	shared.closers = append(shared.closers, h.ledger.Close, func() error { upstream.Close(); return nil })
	h.upstream = upstream.URL
	mustRun(t, "ingest", "--once", "--data", h.data, "--scan-url", h.upstream)
	return h, nil
}

// served is the URL of a product without settings that serves the history. It ends with the tests.
func (h *sharedHistory) served(t *testing.T) string {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if h.ours != "" {
		return h.ours
	}
	data := h.data + "-served"
	copyFolder(t, h.data, data)
	server, err := launch("serve", "--data", data, "--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	shared.closers = append(shared.closers, func() error {
		return errors.Join(server.Process.Signal(syscall.SIGTERM), server.Wait())
	})
	h.ours = waitForURL(t, server)
	return h.ours
}

// copied is a data folder of the test's own with the history.
func (h *sharedHistory) copied(t *testing.T) string {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	copyFolder(t, h.data, data)
	return data
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
