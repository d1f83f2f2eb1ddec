package main

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// killed runs the product and kills one of its processes at a moment: the first time itself, then
// a child, and so on. Without the child the product goes on to the end of its work, unless after says
// how much later it is killed itself. It reports whether the run ended well before.
func killed(t *testing.T, moment func() bool, victim int, after time.Duration, args ...string) bool {
	t.Helper()
	l := start(t, args...)
	ended := make(chan error, 1)
	go func() { ended <- l.Wait() }()
	for !moment() {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("ended by itself: %v\n%s", err, tail(l.stderr.String()))
			}
			return true
		case <-time.After(2 * time.Millisecond):
		}
	}
	pids := append([]int{l.Process.Pid}, children(t, l.Process.Pid)...)
	pid := pids[victim%len(pids)]
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Fatal(err)
	}
	if after > 0 {
		timer := time.AfterFunc(after, func() { _ = l.Process.Kill() })
		defer timer.Stop()
	}
	select {
	case err := <-ended:
		return err == nil && victim%len(pids) == 0 // without a child it goes on to its end
	case <-time.After(2 * time.Minute): // it goes on with its work, which takes as long as the machine needs
		t.Fatalf("still running two minutes after process %d of %v was killed\n%s", pid, pids, tail(l.stderr.String()))
	}
	return false
}

// TestKillAtAnyMoment kills the processes of a backfill and of an export, one at a time, and compares
// what is there in the end. The moments are drawn: some time after the start, or after some requests
// to the upstream or objects in the bucket, by which the work of a machine of any speed is told.
func TestKillAtAnyMoment(t *testing.T) {
	t.Parallel()
	needEngine(t)
	ledger, _ := networkOfDays(t, schematest.Rounds(800, 4000), schematest.Rounds(2, 8))
	var requests atomic.Int64
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		ledger.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(upstream.Close)
	data := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	// kills runs a command and kills it. Every fourth run, the first one included, is killed within
	// some time of its start, the others once progress has come by up to most.
	kills := func(runs int, within time.Duration, most int64, progress func() int64, args ...string) {
		hits := 0
		// What is left to do when a child has been killed is left for the next run.
		afterChild := func(run int) time.Duration {
			if run == runs-1 {
				return 0
			}
			return 1 + time.Duration(random.Int64N(int64(300*time.Millisecond)))
		}
		for i := range runs {
			began, before, more := time.Now(), progress(), 1+random.Int64N(most)
			after := time.Duration(random.Int64N(int64(within)))
			moment := func() bool { return progress() >= before+more }
			if i%4 == 0 {
				moment = func() bool { return time.Since(began) > after }
			}
			if killed(t, moment, i, afterChild(i), args...) {
				t.Logf("run %d of %s ended before it was killed", i, args[0])
				continue
			}
			hits++
		}
		if hits*2 < runs {
			t.Errorf("%d of %d runs of %s were killed: want half of them at least", hits, runs, args[0])
		}
		mustRun(t, args...)
	}
	kills(schematest.Rounds(5, 30), time.Second, 10, requests.Load, "ingest", "--once", "--data", data, "--scan-url", upstream.URL)
	check(t, data, served(t, ledger))
	objects := func() int64 { return filesBelow(filepath.Join(data, "bucket")) }
	kills(schematest.Rounds(4, 20), time.Second, 3, objects, "export", "--data", data)
	v := check(t, data, served(t, ledger))
	if !v.OK || v.ObjectsChecked < 10 {
		t.Fatalf("after the kills: %+v", v)
	}
}

// filesBelow counts the files of a folder, which may change meanwhile.
func filesBelow(folder string) (count int64) {
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			count++
		}
		return nil
	})
	return count
}

// TestKillUpstream kills the simulated network while a backfill reads from it, and starts
// it again at the same address: the backfill waits and goes on.
func TestKillUpstream(t *testing.T) {
	t.Parallel()
	needEngine(t)
	ledger, _ := network(t, 1000)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	upstream := func() *ledgerlake {
		l := start(t, "devnet", "--updates", "1000", "--seed", "11", "--data", t.TempDir(), "--devnet-listen", address)
		for deadline := time.Now().Add(30 * time.Second); !ready("http://" + address + "/readyz"); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the network is not ready\n%s", tail(l.stderr.String()))
			}
		}
		return l
	}
	data := t.TempDir()
	running := upstream()
	ingest := start(t, "ingest", "--once", "--data", data, "--scan-url", "http://"+address, "--scan-rate", "10")
	ended := make(chan error, 1)
	go func() { ended <- ingest.Wait() }()
	for range 2 {
		select {
		case err := <-ended:
			t.Fatalf("the backfill ended before the network was killed: %v", err)
		case <-time.After(400 * time.Millisecond):
		}
		if err := running.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = running.Wait() // killed
		running = upstream()
	}
	if err := <-ended; err != nil {
		t.Fatalf("%v\n%s", err, tail(ingest.stderr.String()))
	}
	check(t, data, served(t, ledger))
}
