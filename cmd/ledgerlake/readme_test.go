package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/query/openapi"
	"github.com/ledgerlake/ledgerlake/query/openapi/openapitest"
	"github.com/ledgerlake/ledgerlake/query/scan"
)

// examplePages have console blocks: commands after "$ ", continued after "> ", with the
// output below, in which "..." stands for any text. Commands of a page share a shell.
var examplePages = []string{"../../docs/api-by-example.md", "../../docs/api.md", "../../docs/api-ledger.md"}

// exampleBase is where the pages say that ledgerlake serves.
const exampleBase = "http://127.0.0.1:8080"

// exampleLedger is the same for the ledger interface.
const exampleLedger = "http://127.0.0.1:8081"

// notShown are operations of which no example can succeed on the simulated network.
var notShown = []string{"POST /v0/state/acs/force", "GET /v0/migrations/schedule", "GET /v0/acs/{party}"}

// waiting is in the paths of operations on contracts of the token standard, which wait for something:
// on the simulated network nothing does.
const waiting = "/choice-contexts/"

// example is a command of a page with the output that stands below it.
type example struct {
	page            string
	line            int // of the command
	outputLine      int // of the first line of the output; 0 without one
	command, output string
}

// defines is the start of a command that prints nothing: of a variable, or of a function.
var defines = regexp.MustCompile(`^(\w+)(=|\(\) \{)`)

// variable is the name of the variable that a command sets, or "".
func (e example) variable() string {
	if m := defines.FindStringSubmatch(e.command); m != nil && m[2] == "=" {
		return m[1]
	}
	return ""
}

// examplesOf reads the console blocks of a page.
func examplesOf(page, text string) ([]example, error) {
	var list []example
	inside, last := false, ""
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "```"):
			inside, last = line == "```console", ""
		case !inside:
		case strings.HasPrefix(line, "$ "):
			list = append(list, example{page: page, line: i + 1, command: line[2:]})
			last = "command"
		case last == "command" && strings.HasPrefix(line, "> "):
			list[len(list)-1].command += "\n" + line[2:]
		case last == "":
			return nil, fmt.Errorf("%s:%d: output without a command", page, i+1)
		default:
			e := &list[len(list)-1]
			e.output += line + "\n"
			if last != "output" {
				e.outputLine, last = i+1, "output"
			}
		}
	}
	for _, e := range list {
		if silent := defines.MatchString(e.command); silent == (strings.Trim(e.output, ".\n ") != "") {
			return nil, fmt.Errorf("%s:%d: %s: a command needs its output below it, and a definition has none", page, e.line, e.command)
		}
	}
	return list, nil
}

// mismatch says where an output departs from what is written, or "".
func mismatch(got, want string) string {
	got, want = strings.Trim(got, "\n"), strings.Trim(want, "\n")
	rest := got
	pieces := strings.Split(want, "...")
	for i, piece := range pieces {
		at := strings.Index(rest, piece)
		switch {
		case i == 0 && !strings.HasPrefix(rest, piece):
			at = -1
		case i > 0 && i == len(pieces)-1 && strings.HasSuffix(rest, piece):
			at = len(rest) - len(piece)
		case i == len(pieces)-1 && rest[max(at, 0):] != piece:
			at = -1
		}
		if at < 0 {
			done := len(got) - len(rest)
			if same := common(rest, piece); i == 0 {
				done, piece, rest = same, piece[same:], rest[same:]
			}
			return fmt.Sprintf("after %q\n  want %s\n   got %s", end(got[:done]), shorten(piece, 400), shorten(rest, 400))
		}
		rest = rest[at+len(piece):]
	}
	return ""
}

// common is how many bytes two texts have in common at their beginning.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// end is the last part of a text.
func end(s string) string { return s[max(0, len(s)-40):] }

// whole reports output that begins like JSON and is not JSON to its end.
func whole(output string) error {
	output = strings.TrimSpace(output)
	if !strings.HasPrefix(output, "{") && !strings.HasPrefix(output, "[") {
		return nil
	}
	for d := json.NewDecoder(strings.NewReader(output)); ; {
		var v json.RawMessage
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("the output is not whole JSON: %w", err)
		}
	}
}

// endOfExample stands in the output of a shell after each command, with its status.
const endOfExample = "END-OF-EXAMPLE"

// places stand in for the address on the pages: base is what is asked, server where it
// says that it is.
// ledger is the ledger interface.
type places struct{ base, server, ledger string }

// written gives output as the pages have it.
func (p places) written(output []byte) string {
	return strings.NewReplacer(p.base, exampleBase, p.server, exampleBase, p.ledger, exampleLedger).Replace(string(output))
}

// printed is what a command gave.
type printed struct{ output, status string }

// shell runs examples in one shell.
func shell(t *testing.T, at places, list []example) []printed {
	t.Helper()
	var script strings.Builder
	for _, e := range list {
		fmt.Fprintln(&script, strings.NewReplacer(exampleBase, at.base, exampleLedger, at.ledger).Replace(e.command))
		if name := e.variable(); name != "" {
			fmt.Fprintf(&script, "[ -n \"$%s\" ]\n", name)
		}
		fmt.Fprintf(&script, "printf '\\n%s %%s\\n' $?\n", endOfExample)
	}
	file := filepath.Join(t.TempDir(), "examples.sh")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // seconds, on a machine with nothing else to do
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", file)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Errorf("the shell ended with %v and complained %q", err, tail(stderr.String()))
	}
	return perCommand(t, strings.Split(at.written(out), "\n"+endOfExample+" "), len(list))
}

// perCommand takes the exit status of each command off the beginning of the next part of
// the output, where it stands.
func perCommand(t *testing.T, parts []string, commands int) (list []printed) {
	t.Helper()
	if len(parts) != commands+1 {
		t.Fatalf("%d of %d commands ended", len(parts)-1, commands)
	}
	for i := range commands {
		status, rest, _ := strings.Cut(parts[i+1], "\n")
		list = append(list, printed{parts[i], status})
		parts[i+1] = rest
	}
	return list
}

// needTools skips a test where commands of the examples are missing, and fails it in CI.
func needTools(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
}

// upArgs are the arguments with which a page lets its reader start the network.
var upArgs = regexp.MustCompile(`make up ARGS="([^"]*)"`)

// startExamples starts what the pages tell to start, in a folder and at an address of its own.
func startExamples(t *testing.T, texts []string) (scanURL, ledger string) {
	t.Helper()
	args := ""
	for _, text := range texts {
		found := upArgs.FindStringSubmatch(text)
		if found == nil {
			continue
		}
		if args != "" && args != found[1] {
			t.Fatalf("the pages start different networks: %q and %q", args, found[1])
		}
		args = found[1]
	}
	if args == "" {
		t.Fatal("no page says how to start the network")
	}
	list := append([]string{"up"}, strings.Fields(args)...)
	up := start(t, append(list, "--data", t.TempDir(), "--listen", "127.0.0.1:0")...)
	return waitForURL(t, up), ledgerURL(t, up)
}

// settle waits until everything is ingested, known and published.
func settle(t *testing.T, base string) {
	t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	for _, c := range []struct{ operation, want string }{
		{"GET /v0/backfilling/status", `"complete":true`},
		{`POST /v2/state/acs {"migration_id": 1, "at": "2026-07-08T21:00:00Z", "page_size": 1}`, `"created_events"`},
		{"GET /v0/synchronizer-bootstrapping-transactions/global-domain", `"domain_parameters"`},
		{"GET /v0/synchronizer-identities/global-domain", `"mediator_id"`},
		{"GET /v0/history/bulk/progress?record_time=2026-07-08T00:00:00Z", "true"},
	} {
		for {
			status, body := answer(t, base, c.operation)
			if status == http.StatusOK && bytes.Contains(body, []byte(c.want)) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s still answers %d %s, want %s", c.operation, status, body, c.want)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// settleLedger waits until the whole stream of the node is there.
func settleLedger(t *testing.T, base string) {
	t.Helper()
	deadline := time.Now().Add(3 * time.Minute)
	for last, since := "", time.Now(); time.Since(since) < 3*time.Second; time.Sleep(100 * time.Millisecond) {
		status, body := answer(t, base, "GET /v2/state/ledger-end")
		if now := string(body); now != last || status != http.StatusOK {
			last, since = now, time.Now()
		}
		if time.Now().After(deadline) {
			t.Fatalf("GET /v2/state/ledger-end still answers %d %s", status, body)
		}
	}
}

// watched serves what base serves, and holds it against the document on the way.
func watched(t *testing.T, base string, document *openapitest.Document) string {
	t.Helper()
	target, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	plain := http.DefaultTransport.(*http.Transport).Clone()
	plain.DisableCompression = true // what the client asks for is what is asked
	direct, checked := httputil.NewSingleHostReverseProxy(target), httputil.NewSingleHostReverseProxy(target)
	direct.Transport, checked.Transport = plain, document.Transport(t, plain)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/openapi") || r.URL.Path == "/streams" { // in no document
			direct.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		r.Body, _ = r.GetBody()
		checked.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// TestExamples runs the commands of the pages and compares what they print. Together they
// use every operation of the scan interface.
func TestExamples(t *testing.T) {
	t.Parallel()
	needEngine(t)
	needTools(t, "bash", "curl", "zstd")
	texts := make([]string, len(examplePages))
	for i, page := range examplePages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	document, err := openapitest.Load(openapi.Scan, scan.Prefixes[:])
	if err != nil {
		t.Fatal(err)
	}
	ledgerDocument, err := openapitest.Load(openapi.Ledger, []string{""})
	if err != nil {
		t.Fatal(err)
	}
	server, ledger := startExamples(t, texts)
	settle(t, server)
	settleLedger(t, ledger)
	at := places{watched(t, server, document), server, watched(t, ledger, ledgerDocument)}
	for i, page := range examplePages {
		t.Run(filepath.Base(page), func(t *testing.T) { runExamples(t, at, page, texts[i]) })
	}
	missing := document.NeverSucceeded(notShown...)
	missing = slices.DeleteFunc(missing, func(operation string) bool { return strings.Contains(operation, waiting) })
	if len(missing) > 0 {
		t.Errorf("operations without an example that succeeds:\n%s", strings.Join(missing, "\n"))
	}
}

func runExamples(t *testing.T, at places, page, text string) {
	list, err := examplesOf(page, text)
	if err != nil {
		t.Fatal(err)
	}
	if len(list) == 0 {
		t.Fatalf("%s has no examples", page)
	}
	outputs := shell(t, at, list)
	for i, e := range list {
		if err := outputs[i].check(e); err != nil {
			t.Errorf("%s:%d: %s\n%v", e.page, e.line, e.command, err)
		}
	}
	if *updateExamples {
		if err := os.WriteFile(page, []byte(rewritten(text, list, outputs)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// check compares with what the page has, unless that is to be rewritten.
func (p printed) check(e example) error {
	if p.status != "0" {
		return fmt.Errorf("exit status %s, output %s", p.status, shorten(p.output, 400))
	}
	if diff := mismatch(p.output, e.output); diff != "" && (!*updateExamples || e.outputLine == 0) {
		return errors.New(diff)
	}
	return whole(p.output)
}

func TestExampleOutputs(t *testing.T) {
	for _, c := range []struct {
		name, got, want string
		fits            bool
	}{
		{"the same", "{\"a\":1}", "{\"a\":1}\n", true},
		{"another value", "{\"a\":2}", "{\"a\":1}\n", false},
		{"something left out", "{\"a\":1,\"b\":2,\"c\":3}", "{\"a\":1,...\"c\":3}\n", true},
		{"nothing left out", "{\"a\":1}", "{\"a\":...1}\n", true},
		{"an end that occurs before", "abab", "a...b\n", true},
		{"more at the end", "{\"a\":1}x", "{...}\n", false},
		{"more at the end of a text without gaps", "abc", "ab\n", false},
		{"more at the beginning", "x{\"a\":1}", "{...}\n", false},
		{"another order", "b a", "...a...b\n", false},
		{"several lines", "a\nb\n", "a\n...\n", true},
		{"no output", "", "a\n", false},
		{"output where there is none", "a", "", false},
	} {
		if diff := mismatch(c.got, c.want); (diff == "") != c.fits {
			t.Errorf("%s: %q against %q gives %q, want it to fit: %v", c.name, c.got, c.want, diff, c.fits)
		}
	}
	for text, valid := range map[string]bool{"{\"a\":1}\n404": true, "{\"a\":1": false, "{}x": false, "text {": true, "[1]": true} {
		if err := whole(text); (err == nil) != valid {
			t.Errorf("%q as JSON: %v, want it valid: %v", text, err, valid)
		}
	}
	for text, valid := range map[string]bool{
		"```console\n$ a=1\n$ echo $a\n1\n```": true, "```console\n$ echo 1\n```": false, "```console\n$ echo 1\n...\n```": false,
		"```console\n1\n```": false, "```console\n$ a=1\n1\n```": false, "```sh\necho 1\n```": true,
	} {
		if _, err := examplesOf("page", text); (err == nil) != valid {
			t.Errorf("%q: %v, want it valid: %v", text, err, valid)
		}
	}
}

// shorten cuts a text that is too long to print.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n-1] + "…"
}
