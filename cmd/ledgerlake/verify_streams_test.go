package main

import (
	"bytes"
	"errors"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// networkWithNode is a simulated network with the ledger API of a participant.
func networkWithNode(t *testing.T, updates int) (ledger *devnet.Ledger, scanURL, nodeURL string) {
	t.Helper()
	ledger, err := devnet.New(t.Context(), devnet.Config{Updates: updates, Seed: 11, Days: 3, Dir: t.TempDir(), Node: &devnet.NodeConfig{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	node, err := ledger.NodeHandler(devnet.NodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	servers := []*httptest.Server{httptest.NewServer(ledger.Handler()), httptest.NewServer(node)}
	t.Cleanup(func() {
		for _, s := range servers {
			s.Close()
		}
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	return ledger, servers[0].URL, servers[1].URL
}

// TestVerifyCoversAllStreams verifies a store with the public history and what a node
// sees, and then damages the latter.
func TestVerifyCoversAllStreams(t *testing.T) {
	t.Parallel()
	needEngine(t)
	store := startEngine(t, t.TempDir())
	ledger, scanURL, nodeURL := networkWithNode(t, 900)
	if err := run(t.Context(), []string{"ingest", "--once", "--scan-url", scanURL, "--node-url", nodeURL, "--clickhouse-dsn", store.DSN()}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	stream := schemas.NodeStream(ledger.NodeDigests().ParticipantID)
	verified := func(args ...string) (app.Verification, string, error) {
		args = append([]string{"verify", "--check", "batches,hashes,lifetimes,coins", "--clickhouse-dsn", store.DSN()}, args...)
		var asJSON, text bytes.Buffer
		err := run(t.Context(), append(args, "--json"), &asJSON, io.Discard)
		if err != nil && asJSON.Len() == 0 {
			return app.Verification{}, "", err
		}
		if other := run(t.Context(), args, &text, io.Discard); (err == nil) != (other == nil) {
			t.Errorf("as JSON it ended with %v, as text with %v", err, other)
		}
		return parse[app.Verification](t, asJSON.Bytes()), text.String(), err
	}
	checks := []string{verify.Batches, verify.Hashes, verify.Lifetimes, verify.Coins}
	for _, c := range []struct {
		name       string
		args       []string
		public     []string // checks
		withStream bool
	}{
		{"all", nil, checks, true},
		{"scan alone", []string{"--stream", "scan"}, checks, false},
		{"the node's alone", []string{"--stream", stream}, nil, true},
	} {
		v, text, err := verified(c.args...)
		if err != nil || !v.OK || !slices.Equal(namesOf(v.Checks), c.public) || (len(v.Streams) == 1) != c.withStream || strings.Contains(text, "stream "+stream) != c.withStream {
			t.Errorf("%s: %v, reported %+v\n%s", c.name, err, v, text)
		}
		for _, st := range v.Streams {
			if !st.OK || st.Stream != stream || st.Items == 0 || !slices.Equal(namesOf(st.Checks), checks) {
				t.Errorf("%s: reported %+v", c.name, st)
			}
		}
	}
	for want, args := range map[string][]string{
		"the store, which has scan, " + stream: {"--stream", "node:nobody"},
		"are about stream scan":                {"--stream", stream, "--peer", scanURL},
	} {
		if _, _, err := verified(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q ended with %v, want an error that says %q", args, err, want)
		}
	}
	conn, err := engine.Open(t.Context(), store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec(t.Context(), "ALTER TABLE events DELETE WHERE stream != 'scan' AND node > 1 SETTINGS mutations_sync = 2"); err != nil {
		t.Fatal(err)
	}
	v, text, err := verified()
	if !errors.Is(err, errReported) || !strings.Contains(err.Error(), "batches of "+stream) || v.OK || v.Streams[0].OK || !v.Checks[0].OK ||
		!slices.ContainsFunc(v.Findings, func(f string) bool { return strings.HasPrefix(f, stream+": batches: ") }) {
		t.Errorf("damaged: %v, reported %+v\n%s", err, v, text)
	}
}

func namesOf(checks []*verify.Check) (names []string) {
	for _, c := range checks {
		names = append(names, c.Name)
	}
	return names
}
