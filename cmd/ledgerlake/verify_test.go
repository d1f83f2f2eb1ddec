package main

import (
	"bytes"
	"errors"
	"io"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/verify"
)

// TestVerifyAgainstPeers compares a store with the network it was ingested from and with
// another ledgerlake, and then with a network that had another history.
func TestVerifyAgainstPeers(t *testing.T) {
	t.Parallel()
	h := onceShared(t)
	first := ownStore(t) // ingested by another run than the peer's
	mustRun(t, append(first, "ingest", "--once", "--scan-url", h.upstream)...)
	for _, peer := range []string{h.upstream, h.served(t)} {
		v := parse[app.Verification](t, mustRun(t, append(first, "verify", "--json", "--check", "days", "--peer", peer)...))
		if !v.OK || len(v.Checks) != 1 || v.Checks[0].Checked["segments"] < 3 {
			t.Errorf("compared with %s: %+v", peer, v)
		}
	}
	ledger, err := devnet.New(t.Context(), devnet.Config{Updates: sharedUpdates, Seed: 12, Dir: t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	other := httptest.NewServer(ledger.Handler())
	t.Cleanup(func() { other.Close(); _ = ledger.Close() })
	l := start(t, append(first, "verify", "--check", "days", "--peer", other.URL)...)
	var exit *exec.ExitError
	if err := l.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(l.stdout.String(), "DIFFERENCE: segment scan:0:") {
		t.Errorf("another history: ended with %v, printed %q", err, l.stdout.String())
	}
}

// TestVerifyPrintsEveryCheck damages a store that verify is given by its DSN.
func TestVerifyPrintsEveryCheck(t *testing.T) {
	t.Parallel()
	needEngine(t)
	store := startEngine(t, t.TempDir())
	_, url := network(t, 300)
	if err := run(t.Context(), []string{"ingest", "--once", "--scan-url", url, "--clickhouse-dsn", store.DSN()}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	checks := []string{"verify", "--check", "batches,hashes,lifetimes,coins", "--clickhouse-dsn", store.DSN()}
	var out bytes.Buffer
	if err := run(t.Context(), checks, &out, io.Discard); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, name := range strings.Split(checks[2], ",") {
		if !strings.Contains(out.String(), "\n"+name) {
			t.Errorf("there is no line for %s in\n%s", name, out.String())
		}
	}
	conn, err := engine.Open(t.Context(), store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec(t.Context(), "ALTER TABLE batches UPDATE hash = concat('rows1:', repeat('0', 32)) WHERE stream = 'scan' SETTINGS mutations_sync = 2"); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	err = run(t.Context(), append(checks, "--json"), &out, io.Discard)
	if !errors.Is(err, errReported) || !strings.Contains(err.Error(), "hashes") || strings.Contains(err.Error(), "coins") {
		t.Errorf("ended with %v, want differences in hashes alone", err)
	}
	v := parse[app.Verification](t, out.Bytes())
	if v.OK || v.Checks[1].Name != verify.Hashes || v.Checks[1].Total == 0 || len(v.Findings) == 0 {
		t.Errorf("reported %+v", v)
	}
}
