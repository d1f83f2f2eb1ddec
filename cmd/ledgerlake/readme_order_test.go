package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine"
)

// commandsOf are the commands of the sh blocks of a page, in order, each on one line.
func commandsOf(text string) (list []string) {
	inside, begun := false, ""
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		if strings.HasPrefix(line, "```") {
			inside = line == "```sh"
			continue
		}
		if !inside || strings.TrimSpace(line) == "" {
			continue
		}
		begun += line + " "
		if strings.Count(begun, `"`)%2 == 0 { // else a quoted text continues on the next line
			list, begun = append(list, strings.Join(strings.Fields(begun), " ")), ""
		}
	}
	return list
}

var makeArgs = regexp.MustCompile(`^make (\w+)(?: ARGS="([^"]*)")?$`)

// reader is somebody who follows the README in one folder.
type reader struct {
	t       *testing.T
	dir     string
	engine  string            // found from the folder of this test
	replace *strings.Replacer // addresses and paths of the page by ones that are there
}

// arguments turns a command of the page into arguments of the product. What make runs is run
// without make, as it builds and installs besides; the network of demo is smaller.
func (r *reader) arguments(command string) []string {
	r.t.Helper()
	size := ""
	if m := makeArgs.FindStringSubmatch(command); m != nil {
		command = "bin/ledgerlake " + m[1] + " " + m[2]
		if m[1] == "demo" {
			size = " --updates 1500"
		}
	}
	rest, ok := strings.CutPrefix(command, "bin/ledgerlake ")
	if !ok {
		r.t.Fatalf("the README has %q, which this test cannot run", command)
	}
	rest, quoted, isQuoted := strings.Cut(rest, `"`)
	args := strings.Fields(r.replace.Replace(rest) + size)
	if isQuoted {
		args = append(args, strings.TrimSuffix(quoted, `"`))
	}
	return args
}

// question is a query of the README with the answer below it.
var question = regexp.MustCompile("(?s)```sh\n(bin/ledgerlake sql .*?)\n```\n\n```text\n(.*?)```")

// answersQuestions compares the answers of the README with those on the network that it makes.
func (r *reader) answersQuestions(text string) {
	r.t.Helper()
	questions := question.FindAllStringSubmatch(text, -1)
	if len(questions) < 3 {
		r.t.Fatalf("the README has %d questions with answers", len(questions))
	}
	for _, q := range questions {
		l := r.start(r.arguments(commandsOf("```sh\n" + q[1] + "\n```")[0])...)
		if err := l.Wait(); err != nil {
			r.t.Fatalf("%s: %v\n%s", q[1], err, tail(l.stderr.String()))
		}
		if got := l.stdout.String(); got != q[2] {
			r.t.Errorf("%s\ngives\n%swant\n%s", q[1], got, q[2])
		}
	}
}

// start runs the product as the reader does, on free ports.
func (r *reader) start(args ...string) *ledgerlake {
	r.t.Helper()
	exe, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	l := &ledgerlake{Cmd: exec.Command(exe, args...)}
	l.Dir = r.dir
	l.Env = append(os.Environ(), beMain+"=1", "LEDGERLAKE_ENGINE="+r.engine, "LEDGERLAKE_LISTEN=127.0.0.1:0",
		"LEDGERLAKE_FOLLOW_INTERVAL=100ms")
	l.Stdout, l.Stderr = &l.stdout, &l.stderr
	if err := l.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = l.Process.Kill() }) // usually gone already
	return l
}

// run runs a command until it has done its work: to its end, or, if it goes on for ever, until
// all its streams follow. It is then stopped by a signal.
func (r *reader) run(stop os.Signal, args ...string) {
	r.t.Helper()
	began := time.Now()
	l := r.start(args...)
	if args[0] == "up" {
		r.follows(l)
		if err := l.Process.Signal(stop); err != nil {
			r.t.Fatal(err)
		}
	}
	if err := l.Wait(); err != nil && stop != syscall.SIGKILL {
		r.t.Fatalf("ledgerlake %s: %v\n%s", strings.Join(args, " "), err, tail(l.stderr.String()))
	}
	r.t.Logf("%s: %s", time.Since(began).Round(time.Millisecond), strings.Join(args, " "))
}

// follows waits until all streams of an instance have come up with their upstreams, and have
// taken something new from those that go on.
func (r *reader) follows(l *ledgerlake) {
	r.t.Helper()
	base := waitForURL(r.t, l)
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		_, body := answer(r.t, base, "GET /streams?format=json")
		streams := parse[[]app.StreamReport](r.t, body)
		following := slices.ContainsFunc(streams, func(s app.StreamReport) bool { return s.Live != nil })
		for _, s := range streams {
			if s.Live != nil && s.Live.Phase != "following" {
				following = false
			}
			if s.Live != nil && (s.Live.Phase == "stopped" || strings.Contains(s.Live.LastError, "diverged")) {
				r.t.Fatalf("stream %s is stopped: %+v", s.Stream, s.Live)
			}
		}
		if following {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("the streams do not follow: %s\n%s", body, tail(l.stderr.String()))
		}
	}
}

// refused runs a command that must end at once, with one line that has all of the texts, and
// leave everything as it was.
func (r *reader) refused(args []string, texts ...string) {
	r.t.Helper()
	before := r.folder()
	l := r.start(args...)
	if err := l.Wait(); err == nil || l.ProcessState.ExitCode() != 1 {
		r.t.Fatalf("ledgerlake %s is not refused: %v", strings.Join(args, " "), err)
	}
	lines := strings.Split(strings.TrimSpace(l.stderr.String()), "\n")
	last := lines[len(lines)-1]
	for _, text := range texts {
		if !strings.Contains(last, text) {
			r.t.Errorf("ledgerlake %s says %q, want %q in it", strings.Join(args, " "), last, text)
		}
	}
	if strings.Contains(l.stderr.String(), "updates executed") {
		r.t.Errorf("ledgerlake %s simulated before it said so", strings.Join(args, " "))
	}
	if after := r.folder(); after != before {
		r.t.Errorf("ledgerlake %s changed the network:\n%s\nwas\n%s", strings.Join(args, " "), after, before)
	}
}

// folder describes what is kept of simulated networks.
func (r *reader) folder() string {
	r.t.Helper()
	var all strings.Builder
	paths, err := filepath.Glob(filepath.Join(r.dir, "*", "devnet", "*.json*"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			r.t.Fatal(err)
		}
		fmt.Fprintln(&all, path, info.Size(), info.ModTime())
	}
	return all.String()
}

// TestReadmeInOrder runs every command of the README one after another in one folder, twice, and
// then what its reader may try next. Commands that need a real network get a simulated one of
// the test's. It takes more than a minute: make readme runs it.
func TestReadmeInOrder(t *testing.T) {
	if os.Getenv("LEDGERLAKE_README") == "" {
		t.Skip("make readme runs this")
	}
	needEngine(t)
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	found, err := engine.Locate("", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, dir: t.TempDir(), engine: found.Path}
	r.replace = strings.NewReplacer(append(realNetwork(t), "/srv/", r.dir+"/")...)
	commands := commandsOf(string(text))
	const reset = "bin/ledgerlake reset --yes"
	if len(commands) < 6 || commands[0] != "make demo" || commands[1] != "make up" || commands[len(commands)-1] != reset {
		t.Fatalf("the README has the commands %q; this test wants demo and up first, and reset last", commands)
	}
	commands = commands[:len(commands)-1] // until everything else was tried
	for _, stop := range []os.Signal{os.Interrupt, syscall.SIGKILL} {
		for _, command := range commands {
			r.run(stop, r.arguments(command)...)
		}
		r.answersQuestions(string(text))
	}
	r.run(os.Interrupt, "up", "--live-clock")
	r.run(os.Interrupt, "up") // its time goes on with the clock
	r.refused([]string{"up", "--live-clock=false"}, "wall clock permanently", "ledgerlake reset --yes --data")
	r.run(os.Interrupt, "up", "--updates", "20000")
	r.refused([]string{"up", "--updates", "700"}, "--updates=20000, not --updates=700", "ledgerlake reset --yes --data")
	r.refused([]string{"up", "--seed", "7", "--days", "3"}, "--seed=42 --days=8, not --seed=7 --days=3", "ledgerlake reset --yes --data")
	r.refused(strings.Fields(r.replace.Replace("up --scan-url https://scan.example.com")), "simulated network", "ledgerlake reset --yes --data")
	r.refused(strings.Fields(r.replace.Replace("ingest --once --scan-url https://scan.example.com")), "simulated network", "ledgerlake reset --yes --data")
	r.refused(strings.Fields(r.replace.Replace("up --data /srv/ledgerlake")), "--scan-url", "ledgerlake reset --yes --data")
	r.refused([]string{"reset"}, "nothing was deleted", "--yes", "engine, bucket, devnet")
	keepsake := filepath.Join(r.dir, "ledgerlake-data", "keepsake")
	if err := os.WriteFile(keepsake, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.run(os.Interrupt, r.arguments(reset)...)
	if left, err := filepath.Glob(filepath.Join(r.dir, "ledgerlake-data", "*")); err != nil || len(left) != 1 || left[0] != keepsake {
		t.Errorf("reset leaves %q, %v", left, err)
	}
	r.refused([]string{"reset", "--yes"}, "has nothing of ledgerlake")
	r.run(os.Interrupt, "up", "--updates", "700")
}

// realNetwork serves a network under as many addresses as the README names, and returns what to
// put in place of those.
func realNetwork(t *testing.T) (replace []string) {
	t.Helper()
	ledger, err := devnet.New(t.Context(), devnet.Config{Updates: 900, Seed: 11, Days: 3, Dir: t.TempDir(), Node: &devnet.NodeConfig{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	node, err := ledger.NodeHandler(devnet.NodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	token := filepath.Join(t.TempDir(), "node-token")
	if err := os.WriteFile(token, []byte("token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	serve := func(h http.Handler) string {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		return server.URL
	}
	for _, name := range []string{"https://scan.example.com", "https://scan-a.example.com", "https://scan-b.example.com", "https://scan-c.example.com"} {
		replace = append(replace, name, serve(ledger.Handler()))
	}
	return append(replace, "http://127.0.0.1:7575", serve(node), "/run/secrets/node-token", token)
}

// TestResetLeavesOthersAlone has folders that look like a data folder's and are not.
func TestResetLeavesOthersAlone(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"engine/photo.jpg", "bucket/notes.txt", "cache/x", "tmp/y", "token.key"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errs strings.Builder
	if err := run(t.Context(), []string{"reset", "--yes", "--data", dir}, &out, &errs); err == nil || !strings.Contains(err.Error(), "has nothing of ledgerlake") {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"engine/photo.jpg", "bucket/notes.txt", "cache/x", "tmp/y", "token.key"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}
