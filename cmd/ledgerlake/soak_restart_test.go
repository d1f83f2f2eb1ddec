package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
)

const (
	restartsEnv = "LEDGERLAKE_RESTARTS"
	// What a restart may take, from the start of the new process to its first committed
	// batch, in the middle and at worst.
	restartMedian = 2 * time.Second
	restartWorst  = 5 * time.Second
)

// TestRestartToUseful kills the product while it follows a network that goes on, and
// measures the time from the start of the next process to its first committed batch:
//
//	LEDGERLAKE_RESTARTS=100 go test -run '^TestRestartToUseful$' -v ./cmd/ledgerlake
func TestRestartToUseful(t *testing.T) {
	kills, err := strconv.Atoi(os.Getenv(restartsEnv))
	if err != nil || kills < 1 {
		t.Skipf("a measurement: set %s to the number of kills", restartsEnv)
	}
	needEngine(t)
	ledger, err := devnet.New(t.Context(), devnet.Config{Updates: 20_000, Seed: 5, Dir: t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(ledger.Handler())
	alive, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- ledger.Run(alive, 50) }()
	t.Cleanup(func() {
		stop()
		if err := <-ran; err != nil && alive.Err() == nil {
			t.Error(err)
		}
		server.Close()
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	args := []string{"ingest", "--data", filepath.Join(t.TempDir(), "data"), "--scan-url", server.URL, "--log-level", "debug"}
	random := rand.New(rand.NewPCG(3, 4))
	var times []time.Duration
	for i := range kills + 1 {
		took, err := untilCommit(t, random, args)
		if err != nil {
			t.Fatalf("life %d: %v", i, err)
		}
		if i > 0 { // the first start makes the store
			times = append(times, took)
		}
	}
	slices.Sort(times)
	median, worst := times[len(times)/2], times[len(times)-1]
	t.Logf("%d restarts: median %s, 90%% within %s, worst %s", kills, median.Round(time.Millisecond), times[len(times)*9/10].Round(time.Millisecond), worst.Round(time.Millisecond))
	if median > restartMedian || worst > restartWorst {
		t.Errorf("restarts took %s in the middle and %s at worst, want %s and %s", median, worst, restartMedian, restartWorst)
	}
}

// untilCommit starts the product, waits for its first committed batch, and kills it up
// to a second later.
func untilCommit(t *testing.T, random *rand.Rand, args []string) (time.Duration, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd, err := productCommand(ctx, args...)
	if err != nil {
		return 0, err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	took := time.Duration(0)
	var said []string
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for took == 0 && lines.Scan() {
		said = append(said, lines.Text())
		// The writer's own line, which comes after its commit.
		if strings.Contains(lines.Text(), "wrote batch") && strings.Contains(lines.Text(), "sequence=") {
			took = time.Since(begun)
		}
	}
	rest := make(chan struct{})
	go func() {
		defer close(rest)
		_, _ = io.Copy(io.Discard, stderr) // until the process ends
	}()
	time.Sleep(time.Duration(random.Int64N(int64(time.Second))))
	_ = cmd.Process.Kill()
	<-rest
	_ = cmd.Wait() // says that it was killed
	if took == 0 {
		return 0, fmt.Errorf("no batch was committed in a minute; it said %s", tail(strings.Join(said, "\n")))
	}
	return took, nil
}
