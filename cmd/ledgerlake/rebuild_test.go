package main

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// TestWalletsAreVerifiedAndRebuilt ingests a node's stream, damages what was derived from it for
// wallets, finds the damage and has it derived again.
func TestWalletsAreVerifiedAndRebuilt(t *testing.T) {
	t.Parallel()
	needEngine(t)
	store := startEngine(t, t.TempDir())
	ledger, scanURL, nodeURL := networkWithNode(t, 500)
	stream := schemas.NodeStream(ledger.NodeDigests().ParticipantID)
	command := func(args ...string) (string, error) {
		var out bytes.Buffer
		err := run(t.Context(), append(args, "--clickhouse-dsn", store.DSN()), &out, io.Discard)
		return out.String(), err
	}
	if _, err := command("ingest", "--once", "--scan-url", scanURL, "--node-url", nodeURL); err != nil {
		t.Fatal(err)
	}
	verified := func() (app.Verification, error) {
		out, err := command("verify", "--check", "wallets", "--json")
		return parse[app.Verification](t, []byte(out)), err
	}
	v, err := verified()
	if err != nil || !v.OK || len(v.Checks) > 0 || len(v.Streams) != 1 || !slices.Equal(namesOf(v.Streams[0].Checks), []string{app.WalletsCheck}) ||
		v.Streams[0].Checks[0].Checked["wallet_log"] == 0 {
		t.Fatalf("honest wallets: %v, reported %+v", err, v)
	}
	conn, err := engine.Open(t.Context(), store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Exec(t.Context(), "ALTER TABLE wallet_log DELETE WHERE entry = 0 SETTINGS mutations_sync = 2"); err != nil {
		t.Fatal(err)
	}
	if v, err = verified(); !errors.Is(err, errReported) || v.OK || !strings.Contains(strings.Join(v.Findings, "\n"), "wallet_log") {
		t.Errorf("damaged wallets: %v, reported %+v", err, v)
	}
	for _, args := range [][]string{{"rebuild"}, {"rebuild", "everything"}, {"rebuild", "wallets", "--stream", "scan"}, {"rebuild", "wallets", "--stream", "node:nobody"}} {
		if _, err := command(args...); err == nil {
			t.Errorf("%q succeeds", args)
		}
	}
	if out, err := command("rebuild", "wallets", "--stream", stream); err != nil || !strings.Contains(out, stream) {
		t.Fatalf("rebuild: %v\n%s", err, out)
	}
	if v, err = verified(); err != nil || !v.OK {
		t.Errorf("wallets that were derived again: %v, reported %+v", err, v)
	}
	if err := conn.Exec(t.Context(), "ALTER TABLE movements DELETE WHERE entry = 0 AND stream = '"+stream+"' SETTINGS mutations_sync = 2"); err != nil {
		t.Fatal(err)
	}
	if out, err := command("verify", "--check", "movements", "--stream", stream); !errors.Is(err, errReported) || !strings.Contains(out, "no such row") {
		t.Errorf("damaged movements: %v\n%s", err, out)
	}
	if out, err := command("rebuild", "movements", "--stream", stream); err != nil || !strings.Contains(out, stream) || strings.Contains(out, "scan:") {
		t.Errorf("rebuild: %v\n%s", err, out)
	}
	if out, err := command("verify", "--check", "movements"); err != nil {
		t.Errorf("movements that were derived again: %v\n%s", err, out)
	}
}
