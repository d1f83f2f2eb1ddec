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

// TestCommandsOnACluster copies a store of public history and a node's stream from a data folder into three
// shards, goes on with it there, and has verify, doctor and sql read it.
func TestCommandsOnACluster(t *testing.T) {
	t.Parallel()
	needEngine(t)
	shards := enginetest.StartCluster(t, 3)
	ledger, scanURL, nodeURL := networkWithNode(t, 500)
	data, single := t.TempDir(), t.TempDir()
	command := func(args ...string) (string, error) {
		var out bytes.Buffer
		// Any server of the cluster will do.
		err := run(t.Context(), append(args, "--data", data, "--clickhouse-dsn", shards.DSN(t, 2, "default"), "--clickhouse-cluster", enginetest.ClusterName), &out, io.Discard)
		return out.String(), err
	}
	upstreams := []string{"ingest", "--once", "--scan-url", scanURL, "--node-url", nodeURL}
	if err := run(t.Context(), append(upstreams, "--data", single), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	reshardInto(t, shards, single, command)
	if err := ledger.Advance(t.Context(), 40); err != nil {
		t.Fatal(err)
	}
	if _, err := command(upstreams...); err != nil {
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
	servedWithoutAShard(t, shards)
	partsOfAllShards(t, shards, command, v.Streams[0].Stream)
	execOn(t, shards.DSN(t, 1, "default_shard"), "TRUNCATE TABLE wallet_contracts")
	if text, err = command("verify", "--check", "wallets", "--json"); !errors.Is(err, errReported) {
		t.Errorf("verified wallets of a cluster of which a shard has lost contracts: %v, %s", err, text)
	}
}

// partsOfAllShards detaches a part of the last shard, which verify must name, and puts it back.
func partsOfAllShards(t *testing.T, shards *enginetest.Cluster, command func(...string) (string, error), stream string) {
	t.Helper()
	shard := shards.DSN(t, 2, "default_shard")
	execOn(t, shard, "ALTER TABLE wallet_log DETACH PARTITION '"+stream+"'")
	text, err := command("verify", "--check", "parts", "--json")
	if found := parse[app.Verification](t, []byte(text)); !errors.Is(err, errReported) || found.OK || !strings.Contains(text, "was detached on 127.") {
		t.Errorf("verified the parts of a cluster of which a shard has lost one: %v, %s", err, text)
	}
	execOn(t, shard, "ALTER TABLE wallet_log ATTACH PARTITION '"+stream+"'")
	if text, err = command("verify", "--check", "parts", "--json"); err != nil || !strings.Contains(text, `"parts"`) {
		t.Errorf("verified the parts of a cluster: %v, %s", err, text)
	}
}

// reshardInto copies a store from a data folder, and is told that it was interrupted at the very end.
func reshardInto(t *testing.T, shards *enginetest.Cluster, single string, command func(...string) (string, error)) {
	t.Helper()
	text, err := command("reshard", "--from", single, "--dry-run", "--json")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	plan := parse[app.ReshardReport](t, []byte(text)).Plan
	if len(plan) == 0 || plan[len(plan)-1].Table != "batches" {
		t.Fatalf("planned %s", text)
	}
	if text, err = command("reshard", "--from", single, "--json"); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if done := parse[app.ReshardReport](t, []byte(text)); done.Partitions != len(plan) || done.Copied != len(plan) || done.Rows == 0 {
		t.Fatalf("copied %s", text)
	}
	for _, statement := range []string{
		"ALTER TABLE default_shard.reshard DELETE WHERE table_name = '' AND done SETTINGS mutations_sync = 2",
		"CREATE DATABASE empty", "CREATE DATABASE old",
		"CREATE TABLE old.goose_db_version ENGINE = MergeTree ORDER BY () AS SELECT toInt64(5) AS version_id, 1 AS is_applied",
	} {
		execOn(t, shards.DSN(t, 0, "default"), statement)
	}
	for _, args := range [][]string{{"verify"}, {"sql", "SELECT count() FROM updates"}, {"rebuild", "wallets"}} {
		if _, err := command(args...); err == nil || !strings.Contains(err.Error(), "ledgerlake reshard") {
			t.Errorf("%s of a store that is not complete: %v", args[0], err)
		}
	}
	if text, err := command("doctor"); err == nil || !strings.Contains(text, "being filled by ledgerlake reshard") {
		t.Errorf("doctor of a store that is not complete: %v, %s", err, text)
	}
	for from, says := range map[string]string{
		"empty": "--from has no store", "old": "has schema 5", "default": "is being filled", "none": "--from",
	} {
		args := []string{"reshard", "--from", shards.DSN(t, 0, from)}
		if from == "default" {
			args = append(args, "--from-cluster", enginetest.ClusterName)
		}
		if _, err := command(args...); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("copied from %s: %v, want %q", from, err, says)
		}
	}
	for _, want := range []string{"copied 0 of", "nothing to do"} {
		if text, err := command("reshard", "--from", single); err != nil || !strings.Contains(text, want) {
			t.Errorf("copied again: %v, %s, want %q", err, text, want)
		}
	}
}

func execOn(t *testing.T, dsn, statement string) {
	t.Helper()
	conn, err := engine.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(conn.Exec(t.Context(), statement), conn.Close()); err != nil {
		t.Fatal(err)
	}
}
