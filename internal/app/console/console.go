// Package console is where a command writes: to a terminal or not, with bars of progress or without.
package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// Console is where a command writes: its results, its messages and, if messages go to a
// terminal, one bar of progress on the line below them. Everything goes through it, for two
// reasons. A message clears the bar first, so neither overwrites the other. And text that came
// from outside can't control the terminal: see Printable. It is safe for concurrent use.
type Console struct {
	mu     sync.Mutex
	Stdout *Writer  // what people read
	Data   *Writer  // the same place, for what programs read: byte for byte unless a terminal shows it
	Stderr *Writer  // messages
	screen *os.File // the terminal that stderr is, or nil
	shown  bool     // whether a bar is on the screen
	closed bool
}

// New returns the console over standard output and standard error.
func New(stdout, stderr io.Writer) *Console {
	c := new(Console)
	onTerminal := terminalOf(stdout) != nil
	c.Stdout = &Writer{console: c, to: stdout, escape: true, terminal: onTerminal}
	c.Data = &Writer{console: c, to: stdout, escape: onTerminal, terminal: onTerminal}
	c.screen = terminalOf(stderr)
	c.Stderr = &Writer{console: c, to: stderr, escape: true, terminal: c.screen != nil}
	return c
}

// terminalOf is the terminal that a writer is, or nil.
func terminalOf(w io.Writer) *os.File {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// HasBar reports whether progress can be drawn: a dumb terminal can't erase it.
func (c *Console) HasBar() bool { return c.screen != nil && os.Getenv("TERM") != "dumb" }

// width is the number of columns of the screen at the moment.
func (c *Console) width() int {
	if c.screen != nil {
		if columns, _, err := term.GetSize(int(c.screen.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return 80
}

const (
	// toStart moves the cursor to the first column.
	toStart = "\r"
	// eraseBelow erases from the cursor to the end of the screen, which is the whole bar, even
	// when the terminal has become narrower and broke it into two rows.
	eraseBelow = "\x1b[J"
)

// Draw replaces the bar. It takes the width that the line must not exceed. The cursor is left
// at the beginning of the bar: wherever a resize moves it, the bar is what comes after it.
func (c *Console) Draw(line func(width int) string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	// The last column stays empty: some terminals go to the next row when it is filled.
	text := Printable(line(c.width() - 1))
	// A terminal that is gone shows no bar; messages and results report that they fail.
	_, _ = io.WriteString(c.screen, toStart+eraseBelow+text+toStart)
	c.shown = true
}

// clear removes the bar. c.mu must be held.
func (c *Console) clear() {
	if c.shown {
		_, _ = io.WriteString(c.screen, toStart+eraseBelow)
		c.shown = false
	}
}

// Clear removes the bar.
func (c *Console) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
}

// Close removes the bar for good: nothing draws it again.
func (c *Console) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
	c.closed = true
	return errors.Join(c.Stdout.flush(), c.Data.flush(), c.Stderr.flush())
}

// Writer is one way to write to a console.
type Writer struct {
	console  *Console
	to       io.Writer
	escape   bool
	terminal bool
	cut      []byte // the beginning of a character whose rest is yet to be written
}

// IsTerminal reports whether it writes to a terminal.
func (w *Writer) IsTerminal() bool { return w.terminal }

// Write writes text, which clears the bar if it goes to a terminal.
func (w *Writer) Write(p []byte) (int, error) {
	w.console.mu.Lock()
	defer w.console.mu.Unlock()
	if w.terminal {
		w.console.clear()
	}
	if !w.escape {
		return w.to.Write(p)
	}
	text := append(w.cut, p...)
	whole := len(text) - cutLength(text)
	w.cut = append([]byte(nil), text[whole:]...)
	if _, err := io.WriteString(w.to, Printable(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// flush writes a character that was never completed.
func (w *Writer) flush() error {
	if len(w.cut) == 0 {
		return nil
	}
	_, err := io.WriteString(w.to, Printable(string(w.cut)))
	w.cut = nil
	return err
}

// cutLength is how many bytes at the end of text are the beginning of a character.
func cutLength(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// Printable replaces what could control a terminal, or reorder or hide what it shows, by
// escapes such as \x1b and \u202e: all that is neither a visible character nor a space, but
// for ends of lines and tabs. Upstreams, other operators and ledgers choose much of what we
// print.
func Printable(text string) string {
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\n' || r == '\t' || unicode.IsGraphic(r) && r != utf8.RuneError:
			b.WriteRune(r)
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == utf8.RuneError:
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// columns is how many columns a text takes at most: what is not ASCII may be wide.
func columns(text string) int {
	n := 0
	for _, r := range text {
		if n++; r >= utf8.RuneSelf {
			n++
		}
	}
	return n
}

// truncate shortens a text to a number of columns.
func truncate(text string, width int) string {
	for columns(text) > max(width, 0) {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	return text
}

// wrap breaks a line between words so that no row is wider than width, if no word is. Rows
// after the first are indented.
func wrap(line string, width int) string {
	if columns(line) <= width {
		return line
	}
	var b strings.Builder
	used := 0
	for _, word := range strings.Fields(line) {
		switch {
		case used == 0:
		case used+1+columns(word) > width:
			b.WriteString("\n  ")
			used = 2
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += columns(word)
	}
	return b.String()
}
