package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// contentOf is a sum of hashes over all rows of the tables of history and of what is derived from it.
func contentOf(t *testing.T, conn driver.Conn) map[string]string {
	t.Helper()
	// When an ended lifetime moves from one of the tables to the other depends on the ranges.
	const lifetimes = "(SELECT * FROM contracts_archived UNION ALL SELECT * FROM contracts_live)"
	content := make(map[string]string)
	for _, table := range []string{"updates", "events", "verdicts", "imports", "places", lifetimes, "wallet_contracts", "wallet_log"} {
		var sum string
		if err := conn.QueryRow(t.Context(), "SELECT concat(toString(count()), ' rows, ', toString(sum(cityHash64(*)))) FROM "+table).Scan(&sum); err != nil {
			t.Fatal(err)
		}
		content[table] = sum
	}
	return content
}

// TestRepair damages every table of a store with the public history and a node's stream, and has it
// repaired: first from the published objects alone, which have most of the public history, then from the
// upstreams.
func TestRepair(t *testing.T) {
	t.Parallel()
	needEngine(t)
	store, data := startEngine(t, t.TempDir()), t.TempDir()
	ledger, scanURL, nodeURL := networkWithNode(t, 500)
	at := []string{"--data", data, "--clickhouse-dsn", store.DSN()}
	mustRun(t, append([]string{"ingest", "--once", "--scan-url", scanURL, "--node-url", nodeURL}, at...)...)
	mustRun(t, append([]string{"export"}, at...)...)
	stream := schemas.NodeStream(ledger.NodeDigests().ParticipantID)
	conn, err := engine.Open(t.Context(), store.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	whole := contentOf(t, conn)
	repair := func(args ...string) (app.RepairReport, error) {
		t.Helper()
		var out, messages bytes.Buffer
		err := run(t.Context(), append(append([]string{"repair", "--json"}, at...), args...), &out, &messages)
		if out.Len() == 0 {
			t.Fatalf("repair %q: %v\n%s", args, err, messages.String())
		}
		return parse[app.RepairReport](t, out.Bytes()), err
	}
	if report, err := repair(); err != nil || !report.OK || report.Damaged() || len(report.Streams) != 2 {
		t.Fatalf("of a store that is whole: %v, %+v", err, report)
	}

	for _, damage := range []string{
		"ALTER TABLE events DELETE WHERE stream = 'scan' AND node > 1 SETTINGS mutations_sync = 2",
		"ALTER TABLE verdicts UPDATE result = 'unknown' WHERE stream = 'scan' AND cityHash64(update_id) % 50 = 0 SETTINGS mutations_sync = 2",
		"INSERT INTO updates SELECT * FROM updates WHERE stream = 'scan' LIMIT 3",
		"ALTER TABLE imports DELETE WHERE stream = 'scan' AND cityHash64(update_id) % 2 = 0 SETTINGS mutations_sync = 2",
		"ALTER TABLE places DELETE WHERE place_key % 3 = 0 SETTINGS mutations_sync = 2",
		"ALTER TABLE events DELETE WHERE stream != 'scan' AND node_offset % 7 = 0 SETTINGS mutations_sync = 2",
		"ALTER TABLE updates DELETE WHERE stream != 'scan' AND node_offset % 5 = 0 SETTINGS mutations_sync = 2",
		"ALTER TABLE contracts_archived DELETE WHERE cityHash64(contract_id) % 9 = 0 SETTINGS mutations_sync = 2",
		"ALTER TABLE wallet_log DELETE WHERE cityHash64(event_id) % 2 = 0 SETTINGS mutations_sync = 2",
	} {
		if err := conn.Exec(t.Context(), damage); err != nil {
			t.Fatalf("%s: %v", damage, err)
		}
	}
	damaged := contentOf(t, conn)
	report, err := repair()
	if !errors.Is(err, errReported) || report.OK || !report.Damaged() || len(report.Streams[0].Batches) == 0 || len(report.Streams[1].Batches) == 0 || report.Streams[0].PlaceHours == 0 {
		t.Errorf("looked at: %v, %+v", err, report)
	}
	for table, content := range contentOf(t, conn) {
		if content != damaged[table] {
			t.Errorf("without --yes table %s has changed", table)
		}
	}

	if report, err = repair("--yes"); !errors.Is(err, errReported) || report.OK {
		t.Errorf("without a node: %v, %+v", err, report)
	}
	public, node := report.Streams[0].Batches, report.Streams[1].Batches
	for i, b := range public {
		// The last day is not published yet.
		if last := i == len(public)-1; (b.From == "objects") == last || (b.Failed == "") == last {
			t.Errorf("batch %d of %d of the public history: %+v", i+1, len(public), b)
		}
	}
	for _, b := range node {
		if b.From != "" || !strings.Contains(b.Failed, "no upstream") {
			t.Errorf("of %s, without a node: %+v", stream, b)
		}
	}
	if report, err = repair("--yes", "--scan-url", scanURL, "--node-url", nodeURL); err != nil || !report.OK {
		t.Errorf("from the upstreams: %v, %+v", err, report)
	}
	for i, s := range report.Streams {
		if len(s.Batches) == 0 || s.Batches[0].From != "upstream" || i == 0 && len(s.Batches) > 1 {
			t.Errorf("from the upstreams: %+v", s)
		}
	}
	for table, content := range contentOf(t, conn) {
		if content != whole[table] {
			t.Errorf("table %s has %s, before the damage %s", table, content, whole[table])
		}
	}
	mustRun(t, append([]string{"verify"}, at...)...)
}
