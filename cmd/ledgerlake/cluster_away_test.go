package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
)

// servedWithoutAShard serves a cluster whose last shard is stopped, and hangs, for a while. What needs it
// is answered with 503 and Retry-After, each interface says that it is not ready, and both are over when
// the shard is back. The log has one line when each outage begins and one when it ends.
func servedWithoutAShard(t *testing.T, shards *enginetest.Cluster) {
	server := start(t, "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0",
		"--clickhouse-dsn", shards.DSN(t, 0, "default"), "--clickhouse-cluster", enginetest.ClusterName)
	ledger := ledgerURL(t, server)
	scan := waitForURL(t, server)
	for i, outage := range []struct {
		name       string
		begin, end func()
	}{
		{"stopped", func() { shards.Stop(t, 2) }, func() { shards.Start(t, 2) }},
		{"hung", func() { sendTo(t, shards.PID(2), syscall.SIGSTOP) }, func() { sendTo(t, shards.PID(2), syscall.SIGCONT) }},
	} {
		outage.begin()
		for _, url := range []string{scan, ledger} {
			if ready(url + "/readyz") {
				t.Errorf("%s: %s is ready without a shard", outage.name, url)
			}
		}
		if outage.name == "stopped" { // who waits for one that hangs waits as long as a request may take
			for range 3 {
				unavailable(t, scan+"/v2/updates")
			}
		}
		outage.end()
		for began := time.Now(); !ready(scan+"/readyz") || !ready(ledger+"/readyz"); time.Sleep(100 * time.Millisecond) {
			if time.Since(began) > time.Minute {
				t.Fatalf("%s: not ready a minute after the shard is back\n%s", outage.name, tail(server.stderr.String()))
			}
		}
		if status, _, answer := ask(t, "POST", scan+"/v2/updates", `{"page_size":50}`); status != http.StatusOK {
			t.Errorf("%s: once the shard is back a page is answered with %d %s", outage.name, status, answer)
		}
		for began := time.Now(); strings.Count(server.stderr.String(), "the store answers again") <= i; time.Sleep(100 * time.Millisecond) {
			if time.Since(began) > time.Minute {
				t.Fatalf("%s: the log does not say that the store is back\n%s", outage.name, tail(server.stderr.String()))
			}
		}
		text := server.stderr.String()
		if n, lines := strings.Count(text, "the store does not answer"), strings.Count(text, "level=ERROR")+strings.Count(text, "level=WARN"); n != i+1 || lines != n {
			t.Errorf("%s: the log has %d lines of an outage and %d of trouble, want %d\n%s", outage.name, n, lines, i+1, text)
		}
	}
}

// unavailable asks for a page of updates, which is to be refused for now.
func unavailable(t *testing.T, url string) {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader(`{"page_size":50}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" {
		t.Errorf("without a shard a page is answered with %d, Retry-After %q", response.StatusCode, response.Header.Get("Retry-After"))
	}
}

func sendTo(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatal(err)
	}
}
