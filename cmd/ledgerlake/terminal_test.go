package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
)

// screen is what a terminal shows, scrolled-off lines included. It breaks long lines into rows
// and, when its width changes, breaks them anew, as most terminals do. It knows the few controls
// that we use; any other is an error, colours included.
type screen struct {
	width int
	lines [][]rune // each ends with a line feed, or is the last
	line  int      // where the cursor is
	at    int
	errs  []string
	wide  int // the longest line that was ever drawn and taken back, in columns
}

func (s *screen) write(text string) {
	for len(text) > 0 {
		if rest, ok := strings.CutPrefix(text, "\x1b[J"); ok {
			s.wide = max(s.wide, len(s.lines[s.line]))
			s.lines = append(s.lines[:s.line], s.lines[s.line][:s.at])
			text = rest
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		switch {
		case r == '\r':
			s.at -= s.at % s.width
		case r == '\n':
			if s.line++; s.line == len(s.lines) {
				s.lines = append(s.lines, nil)
			}
			s.at = 0
		case r == '\b':
			s.at = max(0, s.at-1)
		case r < ' ' || r >= 0x7f && r < 0xa0:
			s.errs = append(s.errs, fmt.Sprintf("control %q before %q", r, text[:min(len(text), 20)]))
		default:
			s.put(r)
		}
	}
}

func (s *screen) put(r rune) {
	line := s.lines[s.line]
	switch {
	case s.at < len(line):
		if line[s.at] != r && r != '^' && r != 'C' { // the terminal's own echo of Ctrl-C
			s.errs = append(s.errs, fmt.Sprintf("%q is overwritten by %q", string(line), r))
		}
		line[s.at] = r
	default:
		for len(line) < s.at {
			line = append(line, ' ')
		}
		line = append(line, r)
	}
	s.lines[s.line] = line
	s.at++
}

func (s *screen) String() string {
	var b strings.Builder
	for _, line := range s.lines {
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return b.String()
}

// terminal is the product, running on a pseudo-terminal.
type terminal struct {
	*exec.Cmd
	pty *os.File

	mu     sync.Mutex
	screen screen
	raw    strings.Builder
	ended  chan struct{} // closed when the process has ended and all it wrote is on the screen
}

// onTerminal starts the product with its streams on a terminal of some width.
func onTerminal(t *testing.T, width int, env []string, args ...string) *terminal {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{Cmd: exec.Command(exe, args...), screen: screen{width: width, lines: make([][]rune, 1)}, ended: make(chan struct{})}
	term.Env = append(append(os.Environ(), beMain+"=1", "TERM=xterm-256color"), env...)
	if term.pty, err = pty.StartWithSize(term.Cmd, &pty.Winsize{Rows: 24, Cols: uint16(width)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = term.Process.Kill() // usually gone already
		<-term.ended
		_ = term.pty.Close() // nothing is left to be read
	})
	go term.watch()
	return term
}

// watch puts on the screen what the product writes.
func (t *terminal) watch() {
	defer close(t.ended)
	buffer, cut := make([]byte, 1<<14), ""
	for {
		n, err := t.pty.Read(buffer)
		text := cut + string(buffer[:n])
		// A control may have been cut in two.
		whole := len(text)
		if i := strings.LastIndexByte(text, '\x1b'); i >= 0 && len(text)-i < len("\x1b[J") {
			whole = i
		}
		cut = text[whole:]
		t.mu.Lock()
		t.raw.WriteString(text[:whole])
		t.screen.write(text[:whole])
		t.mu.Unlock()
		if err != nil {
			return // EIO: nothing has the terminal open any more
		}
	}
}

// resize changes the number of columns.
func (t *terminal) resize(test *testing.T, width int) {
	test.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := pty.Setsize(t.pty, &pty.Winsize{Rows: 24, Cols: uint16(width)}); err != nil {
		test.Fatal(err)
	}
	t.screen.width = width
}

// finish waits for the end and returns what the screen shows then.
func (t *terminal) finish(test *testing.T) (text string, status int) {
	test.Helper()
	err := t.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		test.Fatal(err)
	}
	<-t.ended
	for _, wrong := range t.screen.errs {
		test.Errorf("on the screen: %s", wrong)
	}
	return t.screen.String(), t.ProcessState.ExitCode()
}

// remains matches what a bar would leave on the screen.
var remains = regexp.MustCompile(`\d+%|/s\b|\[[#.]+\]|it/s|█`)

// leavesNoBar checks that a screen has the end lines of phases, in their order, and nothing of
// their bars.
func leavesNoBar(t *testing.T, screen string, phases ...string) {
	t.Helper()
	rest := screen
	for _, phase := range phases {
		_, after, ok := strings.Cut(rest, "\n"+phase)
		if !ok && !strings.HasPrefix(rest, phase) {
			t.Errorf("no line of phase %q in\n%s", phase, screen)
			return
		}
		if ok {
			rest = after
		}
	}
	progressLines, _, _ := strings.Cut(screen, "\nA few requests")
	if left := remains.FindString(progressLines); left != "" {
		t.Errorf("%q of a bar is left on the screen:\n%s", left, screen)
	}
}

// Each phase of the demo ends with its line, on a terminal of any width, and its bar is gone.
func TestTerminalDemo(t *testing.T) {
	t.Parallel()
	needEngine(t)
	phases := []string{"simulated network", "backfill", "export", "verify store", "verify objects", "measure network layout", ""}
	for _, width := range []int{40, 200} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			var env []string
			if width == 200 {
				env = append(env, "NO_COLOR=1")
			}
			term := onTerminal(t, width, env, "demo", "--updates", "300", "--days", "1")
			screen, status := term.finish(t)
			if status != 0 {
				t.Fatalf("status %d:\n%s", status, screen)
			}
			leavesNoBar(t, screen, phases...)
			if term.screen.wide == 0 || term.screen.wide >= width {
				t.Errorf("the widest bar has %d columns of %d", term.screen.wide, width)
			}
			for line := range strings.Lines(screen) {
				if strings.HasPrefix(line, "\n") {
					break // what comes after the phases
				}
				if utf8.RuneCountInString(strings.TrimSpace(line)) > width {
					t.Errorf("line %q is longer than %d", line, width)
				}
			}
		})
	}
}

// The other commands that show progress leave no bar either, while the terminal is made wider; and
// where one ends, the next one continues.
func TestTerminalResized(t *testing.T) {
	t.Parallel()
	needEngine(t)
	_, url := networkOfDays(t, 600, 2)
	data := t.TempDir()
	for _, c := range []struct {
		phases []string
		args   []string
	}{
		{[]string{"backfill"}, []string{"ingest", "--once", "--scan-url", url}},
		{[]string{"export"}, []string{"export", "--bulk-layouts", "parquet"}},
		{[]string{"verify store", "verify objects"}, []string{"verify"}},
		{[]string{"restore"}, []string{"restore"}},
	} {
		t.Run(c.args[0], func(t *testing.T) {
			if c.args[0] == "restore" {
				if err := os.RemoveAll(filepath.Join(data, "engine")); err != nil {
					t.Fatal(err)
				}
			}
			// Only wider: one that becomes narrower between the question for its width and the drawing
			// breaks the bar into rows, of which none but the last can be erased.
			width := 40
			term := onTerminal(t, width, nil, append(c.args, "--data", data)...)
			random := rand.New(rand.NewPCG(5, 6))
			for resizing := true; resizing; {
				select {
				case <-term.ended:
					resizing = false
				case <-time.After(time.Duration(random.IntN(120)) * time.Millisecond):
					width = min(200, width+random.IntN(20))
					term.resize(t, width)
				}
			}
			screen, status := term.finish(t)
			if status != 0 {
				t.Fatalf("status %d:\n%s", status, screen)
			}
			leavesNoBar(t, screen, c.phases...)
		})
	}
}

// Ctrl-C at any moment leaves a screen without a bar, one line that says why, and the status of
// an interrupt. A command that runs until it is stopped has then done what it should.
func TestTerminalInterrupted(t *testing.T) {
	t.Parallel()
	needEngine(t)
	_, url := network(t, 3000)
	random := rand.New(rand.NewPCG(7, uint64(time.Now().UnixNano())))
	for _, c := range []struct {
		until string // what is on the screen when the interrupt may come
		args  []string
		want  int
	}{
		{"", []string{"demo", "--updates", "30000"}, 130},
		{"simulated network", []string{"demo", "--updates", "30000"}, 130},
		{"backfill", []string{"ingest", "--once", "--scan-url", url}, 130},
		{"Try: ", []string{"up", "--listen", "127.0.0.1:0", "--updates", "500", "--days", "1", "--live", "20"}, 0},
	} {
		t.Run(c.args[0]+" "+c.until, func(t *testing.T) {
			term := onTerminal(t, 80, nil, append(c.args, "--data", t.TempDir())...)
			deadline := time.Now().Add(2 * time.Minute)
			for begun := false; !begun; {
				term.mu.Lock()
				begun = term.raw.Len() > 0 && strings.Contains(term.raw.String(), c.until)
				term.mu.Unlock()
				select {
				case <-term.ended:
					t.Fatalf("ended before it was interrupted:\n%s", term.screen.String())
				case <-time.After(10 * time.Millisecond):
				}
				if time.Now().After(deadline) {
					t.Fatalf("no %q after two minutes", c.until)
				}
			}
			time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
			term.mu.Lock()
			_, err := io.WriteString(term.pty, "\x03") // the key: the terminal echoes it and sends the signal
			term.mu.Unlock()
			if err != nil {
				t.Fatal(err)
			}
			screen, status := term.finish(t)
			if status == 0 && c.want == 130 && strings.Contains(screen, "backfill  ") {
				return // its work was done before the key arrived
			}
			if status != c.want {
				t.Errorf("status %d, want %d:\n%s", status, c.want, screen)
			}
			leavesNoBar(t, screen)
			if c.want == 130 && !strings.HasSuffix(strings.TrimRight(screen, "\n"), "ledgerlake: stopped by signal interrupt") {
				t.Errorf("the last line does not say why it ended:\n%s", screen)
			}
		})
	}
}

// Without a terminal progress is plain lines: no controls. A command that runs until it is
// stopped ends well when it is.
func TestProgressWithoutTerminal(t *testing.T) {
	l := start(t, "devnet", "--updates", "200", "--devnet-listen", "127.0.0.1:0", "--data", t.TempDir())
	for !strings.Contains(l.stdout.String(), "simulated network: ") {
		time.Sleep(10 * time.Millisecond)
	}
	if err := l.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := l.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, tail(l.stderr.String()))
	}
	if out := l.stdout.String() + l.stderr.String(); strings.ContainsAny(out, "\x1b\r") || !strings.Contains(out, "simulated network ...\n") {
		t.Errorf("without a terminal it writes\n%q", out)
	}
}

// Errors with text from outside, here of an object store and of a path, can't control the
// terminal and are one line.
func TestErrorsAreEscaped(t *testing.T) {
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			return // the bucket exists
		}
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, "<Error><Code>Odd</Code><Message>\u009b31mred\u202etxt\nnext line</Message></Error>")
	}))
	defer store.Close()
	for want, args := range map[string][]string{
		`\x9b31mred\u202etxt; next line`: {"restore", "--lines", "-", "--data", t.TempDir(), "--s3-endpoint", store.URL, "--s3-access-key", "a", "--s3-secret-key", "b"},
		`\x1b]0;owned\x07`:               {"config", "--config", "/nowhere/\x1b]0;owned\a"},
	} {
		l := start(t, args...)
		if err := l.Wait(); err == nil {
			t.Fatalf("%v: no error", args)
		}
		if got := l.stderr.String(); !strings.Contains(got, want) || strings.Count(got, "\n") != 1 || strings.ContainsAny(got, "\x1b\a\u009b\u202e") {
			t.Errorf("%v: printed\n%q", args, got)
		}
	}
}
