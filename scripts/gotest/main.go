// Command gotest runs go test with its arguments, prints what go test would print, and then the
// slowest tests and packages:
//
//	go run ./scripts/gotest -timeout 14m ./...
//
// It collects less garbage than Go does by default, unless GOGC is set, and keeps the temporary
// files of tests, and the tests, in memory where that has room, unless TMPDIR is set or
// LEDGERLAKE_LONG asks for a long run. If GOTMPDIR is set, go test and T.TempDir use that instead.
// Of a package that fails it prints everything that its failed and unfinished tests have printed.
// With -v it prints everything as it comes. The exit status is that of go test.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

const slowest = 10

// garbage is the GOGC of tests and of what builds them: their heaps are small, so that by default
// a fifth of their processor time is spent on collecting them.
const garbage = "400"

// memory is a folder whose files Linux keeps in memory. Tests make and remove thousands of small
// files, and a disk's file system spends a third of their system time on finding free inodes.
const memory = "/dev/shm"

// room is what the temporary files of tests and the tests themselves fit into.
const room = 8 << 30

// fitsTests reports whether a folder exists, may hold programs, and has room, as the memory has
// that it takes.
func fitsTests(dir string) bool {
	const noExec = 8
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil || uint64(fs.Flags)&noExec != 0 {
		return false
	}
	return uint64(fs.Bavail)*uint64(fs.Bsize) >= room && availableMemory() >= room
}

// availableMemory is how many bytes programs may still take, 0 where the system does not say.
func availableMemory() uint64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "MemAvailable:")
	line, _, _ := strings.Cut(rest, "\n")
	var kilobytes uint64
	if _, err := fmt.Sscanf(line, "%d kB", &kilobytes); err != nil {
		return 0
	}
	return kilobytes << 10
}

func main() {
	err := run(os.Args[1:], os.Stdout)
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		os.Exit(failed.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "gotest:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	cmd.Env = os.Environ()
	if os.Getenv("GOGC") == "" {
		cmd.Env = append(cmd.Env, "GOGC="+garbage)
	}
	if os.Getenv("TMPDIR") == "" && os.Getenv("LEDGERLAKE_LONG") == "" && fitsTests(memory) {
		// The name is the same in each run, or no result would be cached.
		cmd.Env = append(cmd.Env, "TMPDIR="+memory)
	}
	events, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	verbose := slices.ContainsFunc(args, func(arg string) bool { return arg == "-v" || arg == "-test.v" || strings.HasPrefix(arg, "-v=") })
	r := newReport(out, verbose)
	readErr := r.read(events)
	r.printSlowest()
	if err := cmd.Wait(); err != nil {
		return err
	}
	return readErr
}

// event is a line of go test -json, see go doc test2json.
type event struct {
	Action  string
	Package string // "" in what a build prints
	Test    string
	Elapsed float64 // seconds
	Output  string
}

// name is a test, or with Test "" the package itself.
type name struct{ Package, Test string }

type timing struct {
	name
	seconds float64
}

// report prints tests that fail, and remembers how long all took.
type report struct {
	out     io.Writer
	verbose bool
	// output is what tests have printed that have not passed, began their order in each package.
	output  map[name]*bytes.Buffer
	began   map[string][]name
	timings []timing
}

func newReport(out io.Writer, verbose bool) *report {
	return &report{out: out, verbose: verbose, output: make(map[name]*bytes.Buffer), began: make(map[string][]name)}
}

// read takes events until there are no more. A line that is none is printed as it is.
func (r *report) read(events io.Reader) error {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		if len(line) > 0 && json.Unmarshal(line, &e) == nil {
			r.take(e)
		} else {
			_, _ = r.out.Write(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the events of go test: %w", err)
		}
	}
}

func (r *report) take(e event) {
	of := name{e.Package, e.Test}
	switch e.Action {
	case "output", "build-output":
		r.print(of, e.Output)
	case "pass", "fail", "skip":
		r.timings = append(r.timings, timing{of, e.Elapsed})
		if e.Action != "fail" {
			delete(r.output, of)
		}
		if e.Test == "" {
			r.endPackage(e)
		}
	}
}

// marks are the lines by which go test says that a test begins, waits or goes on.
var marks = regexp.MustCompile(`^=== (RUN|PAUSE|CONT|NAME) `)

// print prints the result of a package that has passed and what builds say, and keeps the rest
// until the package has ended.
func (r *report) print(of name, text string) {
	passed := of.Test == "" && (strings.HasPrefix(text, "ok  \t") || strings.HasPrefix(text, "?   \t"))
	if r.verbose || of.Package == "" || passed {
		fmt.Fprint(r.out, text)
		return
	}
	kept := r.output[of]
	if kept == nil {
		kept = new(bytes.Buffer)
		r.output[of] = kept
		r.began[of.Package] = append(r.began[of.Package], of)
	}
	if !marks.MatchString(text) {
		kept.WriteString(text)
	}
}

// endPackage prints what is left of a package: of one that has failed its failed and unfinished
// tests, and at last what it has said itself.
func (r *report) endPackage(e event) {
	own := r.output[name{Package: e.Package}]
	for _, of := range r.began[e.Package] {
		if kept := r.output[of]; kept != nil && of.Test != "" && e.Action == "fail" {
			_, _ = kept.WriteTo(r.out)
		}
		delete(r.output, of)
	}
	delete(r.began, e.Package)
	if own != nil {
		_, _ = own.WriteTo(r.out)
	}
}

// printSlowest prints the slowest packages and tests, without the tests that contain others.
func (r *report) printSlowest() {
	var packages, tests []timing
	for _, t := range r.timings {
		switch {
		case t.seconds < 0.1:
		case t.Test == "":
			packages = append(packages, t)
		case !strings.Contains(t.Test, "/"):
			tests = append(tests, t)
		}
	}
	for _, of := range []struct {
		what string
		list []timing
	}{{"packages", packages}, {"tests", tests}} {
		slices.SortStableFunc(of.list, func(a, b timing) int { return cmp.Compare(b.seconds, a.seconds) })
		of.list = of.list[:min(slowest, len(of.list))]
		if len(of.list) > 0 {
			fmt.Fprintf(r.out, "\nThe slowest %s, in seconds of the clock:\n", of.what)
		}
		for _, t := range of.list {
			fmt.Fprintf(r.out, "%8.1f  %s\n", t.seconds, strings.TrimSpace(t.Package+"  "+t.Test))
		}
	}
}
