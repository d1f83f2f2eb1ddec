package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/verify"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

// beMain makes the test binary the product, so that tests can start and kill it.
const beMain = "LEDGERLAKE_TEST_BE_MAIN"

func TestMain(m *testing.M) {
	child := len(os.Args) > 1 && (os.Args[1] == engine.ChildCommand || os.Args[1] == bucket.GatewayCommand)
	if text := os.Getenv(killAtLog); text != "" && !child {
		os.Exit(execute(context.Background(), os.Args[1:], os.Stdout, &killer{to: os.Stderr, at: text}))
	}
	if child || os.Getenv(beMain) != "" {
		os.Exit(process())
	}
	code := enginetest.Run(m)
	if err := closeShared(); err != nil {
		fmt.Fprintln(os.Stderr, "ending what the tests have shared:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// needEngine skips a test where no engine is installed, and fails it in CI.
func needEngine(t *testing.T) {
	t.Helper()
	if _, err := engine.Locate("", nil); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// startEngine runs an engine on a folder until the test ends.
func startEngine(t *testing.T, folder string) *engine.Engine {
	t.Helper()
	e, err := engine.Start(t.Context(), engine.Config{DataDir: folder, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

// ownStore are the arguments by which commands use a store and a data folder of the test's own. The store is in the
// engine of all tests: to start one and read a store in takes as long as most commands.
func ownStore(t *testing.T) []string {
	t.Helper()
	needEngine(t)
	return []string{"--clickhouse-dsn", enginetest.Start(t).Relayed, "--data", t.TempDir()}
}

// ledgerlake is one run of the product as a process.
type ledgerlake struct {
	*exec.Cmd
	stdout, stderr buffer
}

// buffer is a bytes.Buffer that may be read while the process still writes.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func start(t *testing.T, args ...string) *ledgerlake {
	t.Helper()
	l, err := launch(args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.kill(t) })
	return l
}

// launch starts the product; who calls it must end it.
func launch(args ...string) (*ledgerlake, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	l := &ledgerlake{Cmd: exec.Command(exe, args...)}
	l.Env = append(os.Environ(), beMain+"=1")
	l.Stdout, l.Stderr = &l.stdout, &l.stderr
	return l, l.Start()
}

// emptyStore is a data folder with a store without history.
func emptyStore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "engine"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// mustRun runs the product to its end and returns its standard output.
func mustRun(t *testing.T, args ...string) []byte {
	t.Helper()
	l := start(t, args...)
	if err := l.Wait(); err != nil {
		t.Fatalf("ledgerlake %s: %v\n%s", strings.Join(args, " "), err, tail(l.stderr.String()))
	}
	return []byte(l.stdout.String())
}

func tail(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}

func lastLine(out []byte) []byte {
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	return lines[len(lines)-1]
}

func parse[T any](t *testing.T, raw []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %q", err, raw)
	}
	return v
}

// network is a simulated network served for a test.
func network(t *testing.T, updates int) (*devnet.Ledger, string) {
	t.Helper()
	return networkOfDays(t, updates, 0)
}

// networkOfDays is a network whose history takes so many days: each is published by itself.
func networkOfDays(t *testing.T, updates, days int) (*devnet.Ledger, string) {
	t.Helper()
	ledger, err := devnet.New(t.Context(), devnet.Config{Updates: updates, Seed: 11, Days: days, Dir: t.TempDir()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(ledger.Handler())
	t.Cleanup(func() {
		server.Close()
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	return ledger, server.URL
}

func served(t *testing.T, ledger *devnet.Ledger) verify.Tables {
	t.Helper()
	tables, err := app.TablesOf(ledger.Digests().Tables)
	if err != nil {
		t.Fatal(err)
	}
	return tables
}

// check verifies the data folder and compares it with what the network served.
func check(t *testing.T, data string, want verify.Tables) app.Verification {
	t.Helper()
	return checkAt(t, []string{"--data", data}, want)
}

// checkAt is check of the store that some arguments name.
func checkAt(t *testing.T, store []string, want verify.Tables) app.Verification {
	t.Helper()
	v := parse[app.Verification](t, mustRun(t, append([]string{"verify", "--json"}, store...)...))
	if diff := verify.Differences("the network", want, "the store", v.Tables); len(diff) > 0 {
		t.Fatal(strings.Join(diff, "\n"))
	}
	return v
}

func TestDemoIsReproducible(t *testing.T) {
	t.Parallel()
	needEngine(t)
	demo := func(args ...string) app.DemoSummary {
		args = append([]string{"demo", "--json", "--updates", strconv.Itoa(schematest.Rounds(200, 800)), "--days", strconv.Itoa(schematest.Rounds(2, 3))}, args...)
		return parse[app.DemoSummary](t, lastLine(mustRun(t, args...)))
	}
	first := demo("--scan-workers", "1", "--concurrency", "1")
	second := demo("--scan-workers", "7", "--concurrency", "3")
	if !first.Verify.OK || !second.Verify.OK || first.Verify.ObjectsChecked == 0 {
		t.Fatalf("not verified: %+v and %+v", first.Verify, second.Verify)
	}
	if diff := verify.Differences("one run", first.Verify.Tables, "the other", second.Verify.Tables); len(diff) > 0 {
		t.Fatal(strings.Join(diff, "\n"))
	}
	if first.ParquetBytes != second.ParquetBytes || first.Objects != second.Objects || first.JSONZstdBytes != second.JSONZstdBytes {
		t.Fatalf("sizes differ: %+v and %+v", first, second)
	}
	if other := demo("--seed", "43"); other.Verify.Tables["updates"].Hash() == first.Verify.Tables["updates"].Hash() {
		t.Fatal("another seed gives the same history")
	}
}

// TestMirror backfills a second instance from the first one's own interface.
func TestMirror(t *testing.T) {
	t.Parallel()
	h := onceShared(t)
	mirrorURL := h.served(t)
	for _, source := range []string{"auto", "updates-before"} {
		second := ownStore(t)
		mustRun(t, append(second, "ingest", "--once", "--scan-url", mirrorURL, "--scan-source", source)...)
		want := served(t, h.ledger)
		if source != "auto" { // that operation gives no verdicts
			delete(want, "verdicts")
			delete(want, "traffic")
			delete(want, "app_activity")
		}
		checkAt(t, second, want)
	}
}

// waitForURL reads where a serving process says it serves, and waits until it is ready.
func waitForURL(t *testing.T, l *ledgerlake) string {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for time.Now().Before(deadline) {
		_, rest, _ := strings.Cut(l.stdout.String(), "scan interface")
		if _, rest, ok := strings.Cut(rest, "http://"); ok {
			address, _, ended := strings.Cut(rest, "/")
			if ended && ready("http://"+address+"/readyz") {
				return "http://" + address
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("no URL after 30 s\n%s", tail(l.stderr.String()))
	return ""
}

func ready(url string) bool {
	response, err := http.Get(url)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// TestFollowsTheTail lets a network go on while up follows it.
func TestFollowsTheTail(t *testing.T) {
	t.Parallel()
	needEngine(t)
	ledger, url := network(t, 300)
	data := t.TempDir()
	up := start(t, "up", "--data", data, "--scan-url", url, "--listen", "127.0.0.1:0", "--follow-interval", "100ms")
	waitForURL(t, up)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for range 5 {
		if err := ledger.Advance(ctx, 40); err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
	}
	time.Sleep(2 * time.Second)
	if err := up.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := up.Wait(); err != nil {
		t.Fatalf("up did not stop cleanly: %v\n%s", err, tail(up.stderr.String()))
	}
	mustRun(t, "ingest", "--once", "--data", data, "--scan-url", url) // whatever the stop left
	check(t, data, served(t, ledger))
}

// The errors of services and files are one line, without passwords; mistakes_test.go has the others.
func TestOneLineErrors(t *testing.T) {
	needEngine(t)
	_, url := network(t, 50)
	mistakes := t.TempDir()
	if err := os.WriteFile(filepath.Join(mistakes, "acme.yaml"), []byte("package: acme\nrecords: {R: {a: Decimal, b: Nothing}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name string
		args []string
		want []string // all must be in the one line
	}{
		{"an unreachable ClickHouse", []string{"ingest", "--once", "--data", t.TempDir(), "--scan-url", url, "--clickhouse-dsn", "clickhouse://u:topsecret@127.0.0.1:1/default"}, []string{"127.0.0.1:1"}},
		{"a catalogue with mistakes", []string{"serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--catalog", mistakes}, []string{mistakes, "acme.yaml", "line 2", "Decimal", "write Numeric", "Nothing"}},
		{"an unreachable Redis", []string{"worker", "--data", t.TempDir(), "--redis-url", "redis://:topsecret@127.0.0.1:1/0"}, []string{"127.0.0.1:1"}},
	}
	for _, c := range cases {
		l := start(t, c.args...)
		err := l.Wait()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Errorf("%s: ended with %v, want exit status 1", c.name, err)
			continue
		}
		lines := strings.Split(strings.TrimSpace(l.stderr.String()), "\n")
		last := lines[len(lines)-1]
		if !strings.HasPrefix(last, "ledgerlake: ") || slices.ContainsFunc(c.want, func(w string) bool { return !strings.Contains(last, w) }) {
			t.Errorf("%s: last line is %q, want one that names %q", c.name, last, c.want)
		}
		if strings.Contains(l.stderr.String()+l.stdout.String(), "topsecret") {
			t.Errorf("%s: the output shows a password", c.name)
		}
	}
}

// TestFullDisk runs into the end of a small file system, and goes on by itself once it has grown.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	needEngine(t)
	small := t.TempDir()
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, fmt.Sprintf("size=%dm", schematest.Rounds(12, 24))); err != nil {
		t.Skipf("needs the right to mount a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(small, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	ledger, url := network(t, schematest.Rounds(4000, 12_000))
	l := start(t, "ingest", "--once", "--data", small, "--scan-url", url)
	ended := make(chan error, 1)
	go func() { ended <- l.Wait() }()
	for deadline := time.Now().Add(2 * time.Minute); !strings.Contains(l.stderr.String(), "disk of the store is full"); time.Sleep(50 * time.Millisecond) {
		select {
		case err := <-ended:
			t.Fatalf("it ended with %v on a full disk\n%s", err, tail(l.stderr.String()))
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("it does not say that the disk is full\n%s", tail(l.stderr.String()))
		}
	}
	if err := syscall.Mount("tmpfs", small, "tmpfs", syscall.MS_REMOUNT, "size=400m"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatalf("with room again it ended with %v\n%s", err, tail(l.stderr.String()))
	}
	check(t, small, served(t, ledger))
}

func TestConfigurationPrecedence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ledgerlake.yaml")
	if err := os.WriteFile(file, []byte("scan_workers: 3\nlisten: 127.0.0.1:1\ns3_secret_key: hidden-value\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LEDGERLAKE_LISTEN", "127.0.0.1:2")
	t.Setenv("LEDGERLAKE_S3_BUCKET", "from-env")
	var out bytes.Buffer
	if err := run(t.Context(), []string{"config", "--config", file, "--s3-bucket", "from-flag"}, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`scan_workers: "3"`, `listen: "127.0.0.1:2"`, `s3_bucket: "from-flag"`, `s3_secret_key: "********"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("config lacks %s:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "hidden-value") {
		t.Error("config shows a secret")
	}
	if err := os.WriteFile(file, []byte("scan_wrokers: 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), []string{"config", "--config", file}, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "scan_wrokers") {
		t.Errorf("a misspelt key gives %v", err)
	}
}
