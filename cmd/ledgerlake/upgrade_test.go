package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// earlierStore is a store that an earlier version has made, and what that version said of it. The
// program scripts/upgradefixture makes them.
type earlierStore struct {
	archive string

	Commit  string `json:"commit"`
	Schema  int64  `json:"schema"`
	Network struct {
		Updates int    `json:"updates"`
		Days    int    `json:"days"`
		Seed    uint64 `json:"seed"`
	} `json:"network"`
	Verification app.Verification `json:"verification"`
}

func openEarlier(t *testing.T, version string) *earlierStore {
	t.Helper()
	needEngine(t)
	base := filepath.Join("testdata", "store-"+version)
	text, err := os.ReadFile(base + ".json")
	if err != nil {
		t.Fatal(err)
	}
	s := parse[earlierStore](t, text)
	s.archive = base + ".tar.zst"
	return &s
}

// unpack returns a new data folder with the store.
func (s *earlierStore) unpack(t *testing.T) string {
	t.Helper()
	file, err := os.Open(s.archive)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	content, err := zstd.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	data := t.TempDir()
	for files := tar.NewReader(content); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return data
		}
		if err == nil {
			err = unpackOne(filepath.Join(data, "engine", h.Name), h, files)
		}
		if err != nil {
			t.Fatalf("unpacking %s: %v", s.archive, err)
		}
	}
}

func unpackOne(path string, h *tar.Header, content io.Reader) error {
	switch h.Typeflag {
	case tar.TypeDir:
		return os.MkdirAll(path, 0o700)
	case tar.TypeSymlink:
		return os.Symlink(h.Linkname, path)
	}
	text, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// upstream serves the network whose history the store has, with so many updates more. The arguments
// have a command ingest it.
func (s *earlierStore) upstream(t *testing.T, more int) (*devnet.Ledger, []string) {
	t.Helper()
	c := devnet.Config{Updates: s.Network.Updates, Days: s.Network.Days, Seed: s.Network.Seed, Dir: t.TempDir(), Node: &devnet.NodeConfig{}}
	ledger, err := devnet.New(t.Context(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	if diff := verify.Differences("the store", s.Verification.Tables, "the network", served(t, ledger)); len(diff) > 0 {
		t.Fatalf("the simulated network no longer has the history of the store, so this test needs another upstream:\n%s", strings.Join(diff, "\n"))
	}
	if err := ledger.Advance(t.Context(), more); err != nil {
		t.Fatal(err)
	}
	node, err := ledger.NodeHandler(devnet.NodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	servers := []*httptest.Server{httptest.NewServer(ledger.Handler()), httptest.NewServer(node)}
	for _, server := range servers {
		t.Cleanup(server.Close)
	}
	return ledger, []string{"--scan-url", servers[0].URL, "--node-url", servers[1].URL}
}

// unchanged fails the test unless a verification by this version finds what the earlier one found.
func (s *earlierStore) unchanged(t *testing.T, v app.Verification) {
	t.Helper()
	before := s.Verification
	if !v.OK || len(v.Findings) > 0 {
		t.Errorf("the upgraded store has findings: %v", v.Findings)
	}
	sameTables(t, "before the upgrade", before, "after it", v)
	sameCounts(t, "scan", before.Checks, v.Checks)
	for i, st := range before.Streams {
		sameCounts(t, st.Stream, st.Checks, v.Streams[i].Checks)
	}
	if a, b := encoded(t, before.Supply), encoded(t, v.Supply); a != b {
		t.Errorf("the supply of coins was %s, and is %s", a, b)
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sameTables compares the digests of all streams.
func sameTables(t *testing.T, aName string, a app.Verification, bName string, b app.Verification) {
	t.Helper()
	diff := verify.Differences(aName, a.Tables, bName, b.Tables)
	if len(a.Streams) != 1 || len(b.Streams) != 1 || a.Streams[0].Stream != b.Streams[0].Stream {
		t.Fatalf("%s has streams %s, %s has %s", aName, encoded(t, a.Streams), bName, encoded(t, b.Streams))
	}
	diff = append(diff, verify.Differences(aName, a.Streams[0].Tables, bName, b.Streams[0].Tables)...)
	if len(diff) > 0 {
		t.Error(strings.Join(diff, "\n"))
	}
}

// sameCounts compares what checks looked at. How many parts there are depends on merges, and which
// samples of indexes are taken is up to the version.
func sameCounts(t *testing.T, stream string, before, after []*verify.Check) {
	t.Helper()
	for _, was := range before {
		if was.Name == "parts" || was.Name == verify.Indexes {
			continue
		}
		i := slices.IndexFunc(after, func(c *verify.Check) bool { return c.Name == was.Name })
		if i < 0 {
			t.Errorf("check %s of %s is gone", was.Name, stream)
			continue
		}
		for what, n := range was.Checked {
			if now := after[i].Checked[what]; now != n {
				t.Errorf("check %s of %s looked at %d %s before the upgrade, and at %d after it", was.Name, stream, n, what, now)
			}
		}
	}
}

// verified verifies a data folder.
func verified(t *testing.T, data string) app.Verification {
	t.Helper()
	return parse[app.Verification](t, mustRun(t, "verify", "--json", "--data", data))
}

// schemaOf is the version of the tables of a data folder, as doctor has it.
func schemaOf(t *testing.T, data string) int64 {
	t.Helper()
	report := parse[struct{ Checks []app.Finding }](t, mustRun(t, "doctor", "--json", "--data", data))
	i := slices.IndexFunc(report.Checks, func(f app.Finding) bool { return f.Check == "store" })
	if i < 0 || report.Checks[i].Schema == nil || report.Checks[i].KnownSchema != int64(schemas.StoreVersion()) {
		t.Fatalf("doctor reports %+v", report.Checks)
	}
	return *report.Checks[i].Schema
}

// TestUpgrade has a store of version 0.1.0 migrated, verified, and ingested into further, and compares
// it with a store that this version has filled.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	s := openEarlier(t, "0.1.0")
	known := int64(schemas.StoreVersion())
	data := s.unpack(t)
	if version := schemaOf(t, data); version != s.Schema {
		t.Errorf("before the upgrade, doctor says schema %d, want %d", version, s.Schema)
	}
	v := verified(t, data)
	if migrated := known > s.Schema; v.Schema != known || migrated != (v.MigratedFrom == s.Schema) {
		t.Errorf("verify reports schema %d, migrated from %d; the store had %d, this version makes %d", v.Schema, v.MigratedFrom, s.Schema, known)
	}
	s.unchanged(t, v)
	if version := schemaOf(t, data); version != known {
		t.Errorf("after the upgrade, doctor says schema %d, want %d", version, known)
	}
	ledger, from := s.upstream(t, 120)
	fresh := t.TempDir()
	for _, folder := range []string{data, fresh} {
		mustRun(t, append([]string{"ingest", "--once", "--data", folder}, from...)...)
	}
	upgraded, made := check(t, data, served(t, ledger)), verified(t, fresh)
	if !upgraded.OK || !made.OK {
		t.Errorf("findings in the upgraded store: %v, in the new one: %v", upgraded.Findings, made.Findings)
	}
	sameTables(t, "the upgraded store", upgraded, "a new one", made)
}

// killAtLog has the test binary be the product, and kill itself before it logs a line with this text.
const killAtLog = "LEDGERLAKE_TEST_KILL_AT_LOG"

type killer struct {
	to io.Writer
	at string
}

func (k *killer) Write(line []byte) (int, error) {
	if strings.Contains(string(line), k.at) {
		if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
			return 0, err
		}
		select {} // until the signal arrives
	}
	return k.to.Write(line)
}

// runKilled runs the product, which must be killed at the line with the text.
func runKilled(t *testing.T, at string, args ...string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe, append(args, "--log-level", "debug")...)
	c.Env = append(os.Environ(), killAtLog+"="+at)
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("it was to be killed at %q, and ended with %v\n%s", at, err, tail(string(out)))
	}
}

// migrationLines are the lines in which a migration says what it begins, from the name of the step on.
func migrationLines(log string) (lines []string) {
	for _, m := range regexp.MustCompile(`msg="migrating the store" from=\d+ to=\d+ (step=.*)`).FindAllStringSubmatch(log, -1) {
		lines = append(lines, m[1])
	}
	return lines
}

// TestKilledMigration kills the product where a migration begins a step or the last piece of a long
// one. The next start continues.
func TestKilledMigration(t *testing.T) {
	t.Parallel()
	s := openEarlier(t, "0.1.0")
	ledger, from := s.upstream(t, 0)
	ingest := func(data string) []string { return append([]string{"ingest", "--once", "--data", data}, from...) }

	whole := s.unpack(t)
	undisturbed := start(t, append(ingest(whole), "--log-level", "debug")...)
	if err := undisturbed.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, tail(undisturbed.stderr.String()))
	}
	lines := migrationLines(undisturbed.stderr.String())
	if migrates := int64(schemas.StoreVersion()) > s.Schema; migrates != (len(lines) > 0) {
		t.Fatalf("the migration from %d to %d is logged as %q", s.Schema, schemas.StoreVersion(), lines)
	}
	chain, pieces, steps := s.unpack(t), map[string]string{}, 0
	for _, line := range lines {
		step, rest, _ := strings.Cut(line, " ")
		if strings.Contains(rest, "done=") {
			pieces[step] = line // the last one of the step
			continue
		}
		if steps++; steps%3 != 0 && !schematest.Long() { // the steps that are no files are among those left
			continue
		}
		runKilled(t, step, ingest(chain)...) // the start before has come to this step, and this one gets to the next
	}
	broken := []string{chain}
	for _, piece := range pieces {
		data := s.unpack(t)
		runKilled(t, piece, ingest(data)...)
		broken = append(broken, data)
	}
	for _, data := range broken[:min(len(lines), len(broken))] {
		v := verified(t, data)
		if v.MigratedFrom == 0 {
			t.Error("after the kills, the next start had nothing to migrate")
		}
		s.unchanged(t, v)
	}

	data := t.TempDir()
	runKilled(t, "step=0100_segments", ingest(data)...)
	if version := schemaOf(t, data); version != 11 {
		t.Errorf("killed before step 100, the store has schema %d, want 11", version)
	}
	mustRun(t, ingest(data)...)
	sameTables(t, "before the upgrade", s.Verification, "a new store", check(t, data, served(t, ledger)))
}

// TestTwoMigrateAtOnce has a process start on a store of version 0.1.0 while another one is in the middle
// of a long step. It must wait, and find the work done.
func TestTwoMigrateAtOnce(t *testing.T) {
	t.Parallel()
	s := openEarlier(t, "0.1.0")
	data := s.unpack(t)
	e := startEngine(t, filepath.Join(data, "engine"))
	asleep, wake, first := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		var once sync.Once
		first <- indexer.MigrateAndReport(t.Context(), e.DSN(), func(m indexer.Migration) {
			if m.Total > 0 {
				once.Do(func() { close(asleep); <-wake })
			}
		})
	}()
	select {
	case <-asleep:
	case err := <-first:
		t.Fatalf("the migration has no long step: %v", err)
	}
	var reports []indexer.Migration
	err := indexer.MigrateAndReport(t.Context(), e.DSN(), func(m indexer.Migration) {
		reports = append(reports, m)
		if len(reports) == 1 {
			close(wake)
		}
	})
	if err := errors.Join(err, <-first, e.Stop(context.Background())); err != nil {
		t.Error(err)
	}
	if len(reports) != 1 || !reports[0].Waiting {
		t.Errorf("the second process reported %+v", reports)
	}
	s.unchanged(t, verified(t, data))
}

// TestLaterStoreIsRefused has a store of a later version, which no command may change.
func TestLaterStoreIsRefused(t *testing.T) {
	t.Parallel()
	s := openEarlier(t, "0.1.0")
	data := s.unpack(t)
	e := startEngine(t, filepath.Join(data, "engine"))
	conn, err := engine.Open(t.Context(), e.OwnerDSN())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range []string{"SYSTEM STOP MERGES", "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)"} {
		if err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	content := func() (text string) {
		t.Helper()
		const query = `SELECT toString(groupArray(row)) FROM (
			SELECT toString((name, uuid, metadata_modification_time, total_rows, total_bytes, parts)) AS row
			FROM system.tables WHERE database = 'default' ORDER BY name)`
		if err := conn.QueryRow(t.Context(), query).Scan(&text); err != nil {
			t.Fatal(err)
		}
		return text
	}
	before := content()
	_, from := s.upstream(t, 10)
	elsewhere := filepath.Join(t.TempDir(), "data")
	for _, args := range [][]string{
		append([]string{"up", "--listen", "127.0.0.1:0", "--ledger-listen", "127.0.0.1:0"}, from...),
		append([]string{"ingest", "--once"}, from...),
		append([]string{"ingest", "--once", "--lookup-rows"}, from...),
		{"serve", "--listen", "127.0.0.1:0", "--ledger-listen", "127.0.0.1:0"},
		{"worker"}, {"verify"}, {"verify", "--json"}, {"export"},
		{"rewind", "--to", "2026-07-01T00:00:00Z", "--yes"}, {"rebuild", "wallets"},
	} {
		l := start(t, append(args, "--clickhouse-dsn", e.DSN(), "--data", elsewhere)...)
		hung := time.AfterFunc(30*time.Second, func() { _ = l.Process.Kill() }) // one that serves would go on for ever
		err := l.Wait()
		hung.Stop()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != statusFailed {
			t.Errorf("%s ended with %v", strings.Join(args, " "), err)
		}
		messages := strings.TrimSpace(l.stderr.String())
		last := messages[strings.LastIndexByte(messages, '\n')+1:]
		if !strings.HasPrefix(last, "ledgerlake: the store was made by a later version of ledgerlake: its tables have version 9999, ") || l.stdout.String() != "" {
			t.Errorf("%s printed %q, and as its last message %q", strings.Join(args, " "), l.stdout.String(), last)
		}
		if after := content(); after != before {
			t.Fatalf("%s has changed the store from %s to %s", strings.Join(args, " "), before, after)
		}
	}
	var findings bytes.Buffer
	if err := run(t.Context(), []string{"doctor", "--clickhouse-dsn", e.DSN(), "--data", elsewhere}, &findings, io.Discard); err == nil || !strings.Contains(findings.String(), "FAILED  store          schema 9999") {
		t.Errorf("doctor ended with %v and printed %s", err, findings.String())
	}
}
