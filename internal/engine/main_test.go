package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// ownerCommand makes a copy of the test binary a process that owns an engine.
const ownerCommand = "own-an-engine"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case ChildCommand:
			os.Exit(ChildMain(os.Args[2:]))
		case ownerCommand:
			os.Exit(own(os.Args[2], os.Args[3] == "true"))
		}
	}
	os.Exit(m.Run())
}

// own runs an engine on dir, prints its process id once it answers, and stays until
// its stdin ends or somebody kills it.
func own(dir string, noDeathSignal bool) int {
	e, err := Start(context.Background(), Config{DataDir: dir, Log: quiet, noDeathSignal: noDeathSignal})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(e.PID())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

var quiet = slog.New(slog.DiscardHandler)

// maxWait is how long an engine may take to start or to end on a machine with many other
// things to do: to exceed it is to hang.
const maxWait = 2 * time.Minute

// start runs an engine for one test. Without one on this machine the test is skipped,
// or fails where the environment variable CI is set.
func start(t *testing.T, cfg Config) *Engine {
	t.Helper()
	cfg.Log, cfg.StartTimeout, cfg.StopGrace = quiet, cmp.Or(cfg.StartTimeout, maxWait), cmp.Or(cfg.StopGrace, maxWait)
	e, err := Start(t.Context(), cfg)
	if err != nil {
		requireEngine(t)
		t.Fatal(err)
	}
	t.Cleanup(func() {
		select {
		case <-e.Done(): // the test has ended it, and judged how
		default:
			stop(t, e)
		}
	})
	return e
}

func requireEngine(t *testing.T) {
	t.Helper()
	_, err := Locate("", nil)
	if errors.Is(err, ErrMissing) && os.Getenv("CI") == "" {
		t.Skipf("needs the embedded engine: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func stop(t *testing.T, e *Engine) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	if err := e.Stop(ctx); err != nil {
		t.Errorf("Stop: %v", err)
	}
}

func open(t *testing.T, dsn string) driver.Conn {
	t.Helper()
	conn, err := Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // tests end engines under their connections
	return conn
}

func run(t *testing.T, conn driver.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if err := conn.Exec(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// value returns the single value of a query.
func value[T any](t *testing.T, conn driver.Conn, query string) T {
	t.Helper()
	var v T
	if err := conn.QueryRow(t.Context(), query).Scan(&v); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return v
}
