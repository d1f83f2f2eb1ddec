package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// TestRestore loses the store of a data folder, rebuilds it from the bucket alone with
// the process killed on the way, and then goes on ingesting: in the end it holds what
// the network served.
func TestRestore(t *testing.T) {
	t.Parallel()
	needEngine(t)
	ledger, url := networkOfDays(t, schematest.Rounds(600, 900), schematest.Rounds(2, 4))
	data := t.TempDir()
	mustRun(t, "ingest", "--once", "--data", data, "--scan-url", url)
	mustRun(t, "export", "--data", data, "--bulk-lookups")
	before := parse[app.Verification](t, mustRun(t, "verify", "--json", "--data", data))
	if err := os.RemoveAll(filepath.Join(data, "engine")); err != nil {
		t.Fatal(err)
	}

	for _, life := range []time.Duration{250 * time.Millisecond, 450 * time.Millisecond, 650 * time.Millisecond} {
		l := start(t, "restore", "--data", data)
		time.Sleep(life)
		if err := l.Process.Kill(); err != nil && !strings.Contains(err.Error(), "already finished") {
			t.Fatal(err)
		}
		_ = l.Wait() // it was killed, or was faster
	}
	mustRun(t, "restore", "--data", data)
	v := parse[app.Verification](t, mustRun(t, "verify", "--json", "--data", data))
	if !v.OK || v.Segments != before.Segments || v.Segments < 3 {
		t.Errorf("after the restore %d segments were verified: %q; before it was %d", v.Segments, v.Findings, before.Segments)
	}
	lines := mustRun(t, "restore", "--data", data, "--lines", "-")
	digests := make(map[bool]schemas.Digest)
	for line := range bytes.Lines(lines) {
		imported := bytes.Contains(line, []byte(`"record_time":"0001-`))
		d := digests[imported]
		d.Add(bytes.TrimSuffix(line, []byte("\n")))
		digests[imported] = d
	}
	if digests[false] != v.Tables["updates"] || digests[true] != v.Tables["imports"] || digests[false].Rows < 200 {
		t.Errorf("the lines are %s and %s, the store holds %s and %s", digests[false], digests[true], v.Tables["updates"], v.Tables["imports"])
	}

	checkLookup(t, data, lines)

	mustRun(t, "ingest", "--once", "--data", data, "--scan-url", url)
	// Objects in the network's layout have no manifest: an export finds and lists them again.
	mustRun(t, "export", "--data", data)
	v = parse[app.Verification](t, mustRun(t, "verify", "--json", "--data", data))
	if v.ObjectsChecked != before.ObjectsChecked {
		t.Errorf("%d objects were verified when all was exported again, before it were %d", v.ObjectsChecked, before.ObjectsChecked)
	}
	for table, want := range served(t, ledger) {
		if v.Tables[table] != want {
			t.Errorf("table %s: %s after ingest went on, the network served %s", table, v.Tables[table], want)
		}
	}
	if !v.OK {
		t.Errorf("findings %q", v.Findings)
	}
}

// checkLookup looks a line up, proves it and checks the proof, and finds that another
// update is not proven by it.
func checkLookup(t *testing.T, data string, lines []byte) {
	t.Helper()
	all := bytes.SplitAfter(lines, []byte("\n"))
	line := all[len(all)/2]
	u := parse[struct {
		UpdateID string `json:"update_id"`
	}](t, line)
	for _, cached := range []bool{false, true} {
		l := start(t, "get", "--data", data, "--update-id", u.UpdateID, "--cost")
		if err := l.Wait(); err != nil || l.stdout.String() != string(line) {
			t.Fatalf("get gave %q, %v\n%s", l.stdout.String(), err, l.stderr.String())
		}
		if cost := l.stderr.String(); !strings.HasPrefix(cost, "2 range requests") || cached != strings.Contains(cost, "kept: 0, 0 bytes") {
			t.Errorf("get took %s", cost)
		}
	}
	dir := t.TempDir()
	proof, update, other := filepath.Join(dir, "proof.json"), filepath.Join(dir, "update.json"), filepath.Join(dir, "other.json")
	for path, content := range map[string][]byte{proof: mustRun(t, "prove", "--data", data, "--update-id", u.UpdateID), update: line, other: all[1]} {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := string(mustRun(t, "check-proof", "--proof", proof, "--update", update))
	_, link, _ := strings.Cut(strings.TrimSpace(out), "and link ")
	mustRun(t, "check-proof", "--proof", proof, "--link", link)
	for _, args := range [][]string{{"--update", other}, {"--link", strings.Repeat("0", 64)}, {"--root", link}} {
		l := start(t, append([]string{"check-proof", "--proof", proof}, args...)...)
		if err := l.Wait(); err == nil || !strings.Contains(l.stderr.String(), "does not hold") {
			t.Errorf("check-proof %v: %v, %s", args, err, l.stderr.String())
		}
	}
}
