package engine

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestStartAnswersSoon(t *testing.T) {
	requireEngine(t)
	began := time.Now()
	e := start(t, Config{DataDir: t.TempDir()})
	if got := value[uint8](t, open(t, e.DSN()), "SELECT 1"); got != 1 {
		t.Errorf("SELECT 1 = %d", got)
	}
	elapsed := time.Since(began)
	if elapsed > 5*time.Second {
		t.Errorf("start and first answer took %s, want less than 5s", elapsed)
	}
	t.Logf("start and first answer: %s", elapsed)
}

func TestRestartKeepsData(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, Config{DataDir: dir})
	run(t, open(t, first.DSN()),
		"CREATE TABLE updates (id UInt64) ENGINE = MergeTree ORDER BY id",
		"INSERT INTO updates SELECT number FROM numbers(1000)")
	stop(t, first)

	second := start(t, Config{DataDir: dir})
	if got := value[uint64](t, open(t, second.DSN()), "SELECT sum(id) FROM updates"); got != 499500 {
		t.Errorf("sum after restart = %d, want 499500", got)
	}
	if first.DSN() == second.DSN() {
		t.Error("both starts have the same password and ports")
	}
}

func TestStopReleasesEverything(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := start(t, Config{DataDir: dir})
	if dsn, err := RunningDSN(dir); err != nil || dsn != e.ReaderDSN() {
		t.Errorf("RunningDSN while running = %s, %v, want the engine's", MaskDSN(dsn), err)
	}
	if err := e.Err(); err != nil {
		t.Errorf("Err while running = %v", err)
	}
	stop(t, e)
	stop(t, e) // a second call is harmless
	select {
	case <-e.Done():
	default:
		t.Error("Done is open after Stop")
	}
	if err := e.Err(); err != nil {
		t.Errorf("Err after Stop = %v", err)
	}
	if _, err := RunningDSN(dir); !errors.Is(err, ErrNotRunning) {
		t.Errorf("RunningDSN after Stop: %v, want ErrNotRunning", err)
	}
	if conn, err := net.Dial("tcp", e.Addr()); err == nil {
		t.Errorf("%s is still open after Stop", e.Addr())
		_ = conn.Close()
	}
}

func TestStopEndsRunningQueries(t *testing.T) {
	t.Parallel()
	e := start(t, Config{DataDir: t.TempDir()})
	conn := open(t, e.DSN())
	failed := make(chan error, 1)
	go func() {
		failed <- conn.Exec(context.Background(), "SELECT sleepEachRow(1) FROM numbers(60) FORMAT Null SETTINGS max_block_size = 1")
	}()
	watcher := open(t, e.DSN())
	for value[uint64](t, watcher, "SELECT count() FROM system.processes WHERE query LIKE 'SELECT sleepEachRow%'") == 0 {
		time.Sleep(5 * time.Millisecond)
	}
	began := time.Now()
	stop(t, e)
	if err := <-failed; err == nil {
		t.Error("a query of a minute succeeded")
	}
	t.Logf("stop with a running query: %s", time.Since(began))
}

func TestSecondStartIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := start(t, Config{DataDir: dir})
	_, err := Start(t.Context(), Config{DataDir: dir, Log: quiet})
	want := "another ledgerlake (pid " + strconv.Itoa(os.Getpid()) + ") uses " + dir + ": stop it, or give another --data"
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), want) {
		t.Errorf("second Start: %v, want ErrInUse with %q", err, want)
	}
	if got := value[uint8](t, open(t, first.DSN()), "SELECT 1"); got != 1 {
		t.Errorf("the first engine answers %d after the refusal", got)
	}
}

func TestFixedPorts(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	e := start(t, Config{DataDir: t.TempDir(), TCPPort: port, HTTPPort: freePort(t)})
	if want := net.JoinHostPort(loopback, strconv.Itoa(port)); e.Addr() != want {
		t.Errorf("Addr = %s, want %s", e.Addr(), want)
	}
	if want := net.JoinHostPort(e.ports.host, strconv.Itoa(e.cfg.HTTPPort)); e.HTTPAddr() != want {
		t.Errorf("HTTPAddr = %s, want %s", e.HTTPAddr(), want)
	}
	if other := start(t, Config{DataDir: t.TempDir()}); other.HTTPAddr() != "" {
		t.Errorf("HTTPAddr without a port = %s", other.HTTPAddr())
	}
}

func TestPortTaken(t *testing.T) {
	t.Parallel()
	requireEngine(t)
	taken := listen(t)
	for name, cfg := range map[string]Config{
		"native":                  {TCPPort: taken},
		"HTTP, taken after check": {HTTPPort: taken, pickPorts: raced(taken)},
	} {
		t.Run(name, func(t *testing.T) {
			cfg.DataDir, cfg.Log = t.TempDir(), quiet
			_, err := Start(t.Context(), cfg)
			want := "port " + strconv.Itoa(taken) + " is taken"
			if !errors.Is(err, ErrPortTaken) || !strings.Contains(err.Error(), want) {
				t.Errorf("Start: %v, want ErrPortTaken with %q", err, want)
			}
		})
	}
}

func TestLostFreePortIsReplaced(t *testing.T) {
	t.Parallel()
	e := start(t, Config{DataDir: t.TempDir(), pickPorts: raced(listen(t))})
	if got := value[uint8](t, open(t, e.DSN()), "SELECT 1"); got != 1 {
		t.Errorf("SELECT 1 = %d", got)
	}
}

// raced picks, the first time, a port that somebody else has taken meanwhile: that of the
// native protocol, or of HTTP where there is one.
func raced(taken int) func(Config) (ports, error) {
	lost := false
	return func(cfg Config) (ports, error) {
		if lost {
			return pickPorts(cfg)
		}
		lost = true
		p, err := pickPorts(Config{})
		p.host = loopback
		if cfg.HTTPPort != 0 {
			p.http = taken
		} else {
			p.tcp = taken
		}
		return p, err
	}
}

// listen takes a port for the length of a test.
func listen(t *testing.T) int {
	t.Helper()
	l, err := claim(loopback, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return portOf(l)
}

func TestFailedStarts(t *testing.T) {
	t.Parallel()
	requireEngine(t)
	notALibrary := filepath.Join(t.TempDir(), libraryName)
	if err := os.WriteFile(notALibrary, []byte("not a shared library"), 0o755); err != nil {
		t.Fatal(err)
	}
	noSymbol := filepath.Join("/lib/x86_64-linux-gnu", "libm.so.6")
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		cfg  Config
		want string
	}{
		{"library that is none", t.Context(), Config{Library: notALibrary}, "end of its log: engine: loading library " + notALibrary},
		{"library of something else", t.Context(), Config{Library: noSymbol}, "has no chdb_query_cmdline"},
		{"binary of something else", t.Context(), Config{Library: "/bin/false"}, "engine ended while starting (exit status 1)"},
		{"binary that stays silent", t.Context(), Config{Library: sleeper(t), StartTimeout: 50 * time.Millisecond}, "no answer within 50ms"},
		{"context already over", canceled, Config{}, "context canceled"},
		{"no data folder", t.Context(), Config{DataDir: "-"}, "DataDir is required"},
		{"equal ports", t.Context(), Config{TCPPort: 9000, HTTPPort: 9000}, "both 9000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.cfg.Library == noSymbol && !isFile(noSymbol) {
				t.Skipf("there is no %s here", noSymbol)
			}
			dir := t.TempDir()
			if c.cfg.DataDir == "-" {
				dir = ""
			}
			c.cfg.DataDir, c.cfg.Log = dir, quiet
			e, err := Start(c.ctx, c.cfg)
			if err == nil {
				stop(t, e)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("Start: %v, want an error with %q", err, c.want)
			}
			if dir != "" {
				start(t, Config{DataDir: dir}) // the failure has left the folder usable
			}
		})
	}
}

// sleeper is a program that takes any arguments, and neither reads nor answers.
func sleeper(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sleeper")
	if err := os.WriteFile(path, []byte("#!/bin/sh\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestStrangersAreShutOut(t *testing.T) {
	t.Parallel()
	e := start(t, Config{DataDir: t.TempDir(), HTTPPort: freePort(t)})
	secret := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(secret, []byte("seed words"), 0o600); err != nil {
		t.Fatal(err)
	}
	readFile := "SELECT * FROM file('" + secret + "', LineAsString)"
	for _, c := range []struct {
		name, user, query string
	}{
		{"no password", "default", "SELECT 1"},
		{"no password, table function", "default", readFile},
		{"no password, scalar function", "default", "SELECT file('" + secret + "')"},
		{"no password, limit raised", "default", "SELECT 1 SETTINGS max_concurrent_queries_for_all_users = 100"},
		{"no password, stopping the listener", "default", "SYSTEM STOP LISTEN TCP"},
		{"wrong password", userName + ":guess", "SELECT 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if status, body := post(t, "http://"+c.user+"@"+e.HTTPAddr(), c.query); status == http.StatusOK {
				t.Errorf("%s as %s: answered %q", c.query, c.user, body)
			}
		})
	}
	if status, body := post(t, "http://"+userName+":"+e.keys.owner+"@"+e.HTTPAddr(), "SELECT 1"); status != http.StatusOK {
		t.Errorf("SELECT 1 with the right password: %d %s", status, body)
	}
}

func post(t *testing.T, url, query string) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(query))
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true // an idle connection would delay the engine's end
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestSecretsAreNotOnDiskForOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := start(t, Config{DataDir: dir})
	files, err := filepath.Glob(filepath.Join(dir, "engine*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if (strings.Contains(string(text), e.keys.owner) || strings.Contains(string(text), e.keys.reader)) && info.Mode().Perm() != 0o600 {
			t.Errorf("%s holds the password and has mode %o", file, info.Mode().Perm())
		}
	}
	if len(files) < 6 {
		t.Errorf("only %v to check", files)
	}
}

func TestServerSettingsAreHonoured(t *testing.T) {
	t.Parallel()
	e := start(t, Config{DataDir: t.TempDir(), MaxMemory: 1 << 30, MaxThreads: 1})
	conn := open(t, e.DSN())
	for query, want := range map[string]string{
		"SELECT value FROM system.server_settings WHERE name = 'max_server_memory_usage'":       "1073741824",
		"SELECT value FROM system.server_settings WHERE name = 'mark_cache_size'":               "134217728",
		"SELECT value FROM system.server_settings WHERE name = 'primary_index_cache_size'":      "134217728",
		"SELECT value FROM system.server_settings WHERE name = 'uncompressed_cache_size'":       "134217728",
		"SELECT value FROM system.server_settings WHERE name = 'background_pool_size'":          "2",
		"SELECT value FROM system.server_settings WHERE name = 'background_schedule_pool_size'": "4",
		"SELECT value FROM system.settings WHERE name = 'max_threads'":                          "1",
		"SELECT value FROM system.settings WHERE name = 'async_insert'":                         "0",
		"SELECT serverTimezone()": "UTC",
		"SELECT currentUser()":    userName,
	} {
		if got := value[string](t, conn, query); got != want {
			t.Errorf("%s = %s, want %s", query, got, want)
		}
	}
	err := conn.Exec(t.Context(), "SELECT groupArray(number) FROM numbers(400000000) FORMAT Null")
	if err == nil || !strings.Contains(err.Error(), "MEMORY_LIMIT_EXCEEDED") && !strings.Contains(err.Error(), "memory limit exceeded") {
		t.Errorf("a query of 3.2 GB in 1 GiB: %v, want memory limit exceeded", err)
	}
}
