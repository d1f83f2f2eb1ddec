package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// kill ends the process, if it still runs, and waits until its services have ended as well: they
// write into folders that are about to be removed.
func (l *ledgerlake) kill(t *testing.T) {
	if l.ProcessState != nil {
		return
	}
	services := children(t, l.Process.Pid)
	_ = l.Process.Kill() // it may have ended by itself
	_ = l.Wait()         // says that it was killed
	for begin := time.Now(); slices.ContainsFunc(services, running); time.Sleep(time.Millisecond) {
		if time.Since(begin) > time.Minute {
			t.Errorf("services %v outlive their process by a minute", services)
			return
		}
	}
}

// running reports whether a process runs; one that has ended and waits to be reaped does not.
func running(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && len(line) > 0
}

// children returns the processes that pid has started, by reading /proc.
func children(t *testing.T, pid int) []int {
	t.Helper()
	var pids []int
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it ended meanwhile
		}
		// pid (name) state ppid ...; the name may hold spaces.
		head, rest, ok := strings.Cut(string(raw), ") ")
		var child, parent int
		var state string
		if !ok {
			continue
		}
		if _, err := fmt.Sscan(head, &child); err != nil {
			continue
		}
		if _, err := fmt.Sscan(rest, &state, &parent); err == nil && parent == pid {
			pids = append(pids, child)
		}
	}
	return pids
}
