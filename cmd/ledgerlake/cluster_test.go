package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// TestCommandsOnACluster ingests public history and a node's stream into three shards, and has verify,
// doctor and sql read them.
func TestCommandsOnACluster(t *testing.T) {
	t.Parallel()
	needEngine(t)
	shards := enginetest.StartCluster(t, 3)
	ledger, scanURL, nodeURL := networkWithNode(t, 500)
	data := t.TempDir()
	command := func(args ...string) (string, error) {
		var out bytes.Buffer
		// Any server of the cluster will do.
		err := run(t.Context(), append(args, "--data", data, "--clickhouse-dsn", shards.DSN(t, 2, "default"), "--clickhouse-cluster", enginetest.ClusterName), &out, io.Discard)
		return out.String(), err
	}
	if _, err := command("ingest", "--once", "--scan-url", scanURL, "--node-url", nodeURL); err != nil {
		t.Fatal(err)
	}
	text, err := command("verify", "--json")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	v := parse[app.Verification](t, []byte(text))
	if !v.OK || len(v.Streams) != 1 || v.Streams[0].Stream != schemas.NodeStream(ledger.NodeDigests().ParticipantID) {
		t.Errorf("verified %s", text)
	}
	text, err = command("sql", "SELECT count() FROM events WHERE update_id IN (SELECT update_id FROM updates WHERE stream = 'scan') AND stream = 'scan'")
	if err != nil || strings.TrimSpace(text) == "0" {
		t.Errorf("sql: %v, %s", err, text)
	}
	text, err = command("doctor", "--json")
	if err != nil || !strings.Contains(text, `"clickhouse cluster"`) || strings.Count(text, "its clock") != 3 {
		t.Errorf("doctor: %v, %s", err, text)
	}
	conn, err := engine.Open(t.Context(), shards.DSN(t, 1, "default_shard"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(conn.Exec(t.Context(), "TRUNCATE TABLE wallet_contracts"), conn.Close()); err != nil {
		t.Fatal(err)
	}
	if text, err = command("verify", "--check", "wallets", "--json"); !errors.Is(err, errReported) {
		t.Errorf("verified wallets of a cluster of which a shard has lost contracts: %v, %s", err, text)
	}
}
