package engine

import (
	"bufio"
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A real owner process is killed, and its engine has to go with it, by either of the
// two signs: the parent death signal, or the end of stdin alone.
func TestEngineDiesWithItsOwner(t *testing.T) {
	t.Parallel()
	requireEngine(t)
	for _, c := range []struct {
		name          string
		noDeathSignal bool
	}{
		{"death signal", false},
		{"end of stdin", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			owner, enginePID := startOwner(t, dir, c.noDeathSignal)
			conn := open(t, ownerDSN(t, dir))
			run(t, conn,
				"CREATE TABLE updates (id UInt64) ENGINE = MergeTree ORDER BY id",
				"INSERT INTO updates SELECT number FROM numbers(1000)")
			if err := owner.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			awaitEnd(t, enginePID)

			next := start(t, Config{DataDir: dir})
			if got := value[uint64](t, open(t, next.DSN()), "SELECT count() FROM updates"); got != 1000 {
				t.Errorf("rows after the owner was killed = %d, want 1000", got)
			}
		})
	}
}

// The next owner may come while the engine of the killed one is still ending.
func TestStartWaitsForPredecessor(t *testing.T) {
	t.Parallel()
	requireEngine(t)
	dir := t.TempDir()
	owner, enginePID := startOwner(t, dir, true)
	open(t, ownerDSN(t, dir)) // an idle connection delays the end by up to a second
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // the lock is free now, the store is not
	next := start(t, Config{DataDir: dir})
	awaitEnd(t, enginePID) // closing the store is not quite its last act
	if got := value[uint8](t, open(t, next.DSN()), "SELECT 1"); got != 1 {
		t.Errorf("the successor answers %d", got)
	}
}

// ownerDSN is the address, with all rights, of the engine that a process runs on dir.
func ownerDSN(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, ownerFile))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// startOwner runs a copy of the test binary that owns an engine on dir.
func startOwner(t *testing.T, dir string, noDeathSignal bool) (owner *osexec.Cmd, enginePID int) {
	t.Helper()
	owner = osexec.Command(os.Args[0], ownerCommand, dir, strconv.FormatBool(noDeathSignal))
	owner.Stderr = os.Stderr
	if _, err := owner.StdinPipe(); err != nil { // held open: the owner stays until killed
		t.Fatal(err)
	}
	stdout, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = owner.Process.Kill()
		_ = owner.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the owner did not start: %v", err)
	}
	if enginePID, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
		t.Fatal(err)
	}
	if ended(enginePID) {
		t.Fatalf("engine %d does not run before the kill", enginePID)
	}
	return owner, enginePID
}

func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	began := time.Now()
	for !ended(pid) {
		if time.Since(began) > maxWait {
			t.Fatalf("engine %d still runs %s after its owner was killed", pid, maxWait)
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Logf("engine ended %s after its owner", time.Since(began))
}

// ended reports whether a process is gone, or is a zombie that nobody has waited for.
func ended(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return os.IsNotExist(err) && isFile("/proc/self/stat")
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X")
}

// Every insert that was answered before a SIGKILL is there after it, and of the one
// that was not answered either all rows are or none.
func TestKilledEngineKeepsAcknowledgedRows(t *testing.T) {
	t.Parallel()
	const rowsPerInsert = 100
	dir := t.TempDir()
	first := start(t, Config{DataDir: dir, maxDeaths: 1})
	conn := open(t, first.DSN())
	run(t, conn, "CREATE TABLE updates (batch UInt64, id UInt64) ENGINE = MergeTree ORDER BY (batch, id)")

	var acknowledged atomic.Uint64
	inserting := make(chan error, 1)
	go func() {
		for {
			query := fmt.Sprintf("INSERT INTO updates SELECT %d, number FROM numbers(%d)", acknowledged.Load(), rowsPerInsert)
			if err := conn.Exec(context.Background(), query); err != nil {
				inserting <- err
				return
			}
			acknowledged.Add(1)
		}
	}()
	for acknowledged.Load() < 50 {
		time.Sleep(time.Millisecond)
	}
	if err := syscall.Kill(first.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-inserting
	<-first.Done()
	if err := first.Err(); err == nil || !strings.Contains(err.Error(), "engine ended unexpectedly (signal: killed)") {
		t.Errorf("Err after SIGKILL = %v", err)
	}
	if err := first.Stop(t.Context()); err == nil {
		t.Error("Stop after SIGKILL gave no error")
	}

	second := open(t, start(t, Config{DataDir: dir}).DSN())
	rows := value[uint64](t, second, "SELECT count() FROM updates")
	batches := value[uint64](t, second, "SELECT uniqExact(batch) FROM updates")
	n := acknowledged.Load()
	if rows != batches*rowsPerInsert || batches != n && batches != n+1 {
		t.Errorf("%d inserts acknowledged; found %d rows in %d batches, want whole batches of %d, at most one more", n, rows, batches, rowsPerInsert)
	}
}
