package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// The engine and the gateway are killed while up ingests and is asked: the process lives,
// answers are 200 or 503, reading resumes by itself, and the tables are those of an
// undisturbed run.
func TestUpOutlivesItsServices(t *testing.T) {
	t.Parallel()
	needEngine(t)
	ledger, url := network(t, 600)
	data := t.TempDir()
	up := start(t, "up", "--data", data, "--scan-url", url, "--listen", "127.0.0.1:0", "--follow-interval", "100ms")
	base := waitForURL(t, up)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	for page(base) != http.StatusOK { // before its end, a backfill answers no pages
		if ctx.Err() != nil {
			t.Fatalf("no page is answered\n%s", tail(up.stderr.String()))
		}
		time.Sleep(50 * time.Millisecond)
	}
	asking := askAll(t, base)
	for range 2 {
		for _, service := range []string{"internal-engine", "s3-gateway"} {
			pid := childOf(t, up.Process.Pid, service)
			if err := ledger.Advance(ctx, 40); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			if err := ledger.Advance(ctx, 40); err != nil {
				t.Fatal(err)
			}
			for childOf(t, up.Process.Pid, service) == pid || !ready(base+"/readyz") {
				if ctx.Err() != nil {
					t.Fatalf("%s was killed and is not there again\n%s", service, tail(up.stderr.String()))
				}
				time.Sleep(20 * time.Millisecond)
			}
		}
	}
	asked := asking()
	if asked[http.StatusOK] == 0 || asked[http.StatusServiceUnavailable] == 0 {
		t.Errorf("answers by status %v: want some that were answered, and some while the engine was down", asked)
	}
	for status, n := range asked {
		if status != http.StatusOK && status != http.StatusServiceUnavailable {
			t.Errorf("%d answers have status %d", n, status)
		}
	}
	t.Logf("answers by status: %v", asked)
	if err := up.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := up.Wait(); err != nil {
		t.Fatalf("up did not stop cleanly: %v\n%s", err, tail(up.stderr.String()))
	}
	mustRun(t, "ingest", "--once", "--data", data, "--scan-url", url) // whatever the stop left
	check(t, data, served(t, ledger))
}

// askAll asks for pages until the function that it returns is called, which returns how many
// answers had which status; 0 is for none.
func askAll(t *testing.T, base string) func() map[int]int {
	t.Helper()
	var mu sync.Mutex
	var stop atomic.Bool
	var asking sync.WaitGroup
	statuses := make(map[int]int)
	for range 3 {
		asking.Go(func() {
			for !stop.Load() {
				status := page(base)
				mu.Lock()
				statuses[status]++
				mu.Unlock()
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	return func() map[int]int {
		stop.Store(true)
		asking.Wait()
		return statuses
	}
}

// page asks for a page and returns the status of the answer, 0 for none.
func page(base string) int {
	response, err := http.Post(base+"/v2/updates", "application/json", strings.NewReader(`{"page_size": 20}`))
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return 0
	}
	return response.StatusCode
}

// childOf is the process that pid has started with an argument, 0 if there is none.
func childOf(t *testing.T, pid int, argument string) int {
	t.Helper()
	for _, child := range children(t, pid) {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child))
		if err == nil && bytes.Contains(line, []byte("\x00"+argument+"\x00")) {
			return child
		}
	}
	return 0
}
