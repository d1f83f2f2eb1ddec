package main

import (
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/app"
)

// TestStreamIsTakenBackAndReadAgain ingests and exports history, takes half of it back, ingests
// and exports again: store and bucket then are as they were.
func TestStreamIsTakenBackAndReadAgain(t *testing.T) {
	t.Parallel()
	needEngine(t)
	ledger, url := networkOfDays(t, 200, 3)
	data := t.TempDir()
	ingest := []string{"ingest", "--once", "--data", data, "--scan-url", url}
	export := []string{"export", "--data", data, "--bulk-layouts", "parquet,network"}
	back := []string{"rewind", "--data", data, "--to", "2026-07-02T06:00:00Z", "--json"}
	mustRun(t, ingest...)
	mustRun(t, export...)
	digest := func() string {
		return string(mustRun(t, "sql", "--data", data, "SELECT segment_date, migration_id, argMax((state, manifest_sha256, chain_link), version) FROM segments GROUP BY 1, 2 ORDER BY 2, 1"))
	}
	before := digest()
	plan := parse[app.RewindReport](t, []byte(mustRun(t, append(back, "--dry-run")...)))
	if plan.Done || plan.Batches == 0 || plan.Items == 0 || plan.Published == 0 {
		t.Errorf("the plan is %+v", plan)
	}
	if got := digest(); got != before {
		t.Errorf("a dry run left\n%s, before was\n%s", got, before)
	}
	done := parse[app.RewindReport](t, []byte(mustRun(t, append(back, "--yes")...)))
	if plan.Done = true; done != plan {
		t.Errorf("done is %+v, the plan was %+v", done, plan)
	}
	mustRun(t, "verify", "--data", data)
	if again := string(mustRun(t, "rewind", "--data", data, "--to", "2026-07-02T06:00:00Z", "--yes")); !strings.Contains(again, "nothing to remove") {
		t.Errorf("once more: %s", again)
	}
	mustRun(t, ingest...)
	mustRun(t, export...)
	check(t, data, served(t, ledger))
	if got := digest(); got != before {
		t.Errorf("the segments are\n%s, before they were\n%s", got, before)
	}
}
