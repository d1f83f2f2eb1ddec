package engine

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// An engine that is killed is started again: same folder, same addresses, same passwords,
// and a client of either address goes on.
func TestKilledEngineIsStartedAgain(t *testing.T) {
	t.Parallel()
	e := start(t, Config{DataDir: t.TempDir()})
	own, other := open(t, e.DSN()), open(t, e.ReaderDSN())
	run(t, own, "CREATE TABLE updates (id UInt64) ENGINE = MergeTree ORDER BY id", "INSERT INTO updates SELECT number FROM numbers(1000)")
	for range 2 {
		first := e.PID()
		if err := syscall.Kill(e.PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		awaitOther(t, e, first)
		if got := value[uint64](t, own, "SELECT count() FROM updates"); got != 1000 {
			t.Errorf("rows after a kill = %d, want 1000", got)
		}
		if got := value[uint64](t, other, "SELECT count() FROM updates"); got != 1000 {
			t.Errorf("rows after a kill, through the relay = %d, want 1000", got)
		}
	}
	if err := e.Err(); err != nil {
		t.Errorf("Err of an engine that runs again: %v", err)
	}
}

// awaitOther waits until e runs as another process than pid.
func awaitOther(t *testing.T, e *Engine, pid int) {
	t.Helper()
	for began := time.Now(); e.PID() == pid; time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > maxWait {
			t.Fatalf("no other engine %s after process %d was killed", maxWait, pid)
		}
	}
}

// An engine that ends again and again is given up, with a word of how it ended, and its
// folder is free.
func TestEngineThatKeepsEndingIsGivenUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := start(t, Config{DataDir: dir, maxDeaths: 3})
	for range 3 {
		pid := e.PID()
		if err := syscall.Kill(e.PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for began := time.Now(); e.PID() == pid && e.Err() == nil; time.Sleep(5 * time.Millisecond) {
			if time.Since(began) > maxWait {
				t.Fatalf("process %d was killed, and nothing happened within %s", pid, maxWait)
			}
		}
	}
	<-e.Done()
	if err := e.Err(); err == nil || !strings.Contains(err.Error(), "it ended 3 times within 1m0s, the last time: engine ended unexpectedly (signal: killed)") {
		t.Errorf("Err after three kills = %v", err)
	}
	start(t, Config{DataDir: dir})
}

// Stop ends an engine that is down at that moment, too.
func TestStopWhileTheEngineIsDown(t *testing.T) {
	t.Parallel()
	e := start(t, Config{DataDir: t.TempDir()})
	if err := syscall.Kill(e.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	stop(t, e)
	if err := e.Err(); err != nil {
		t.Errorf("Err after Stop = %v", err)
	}
}
