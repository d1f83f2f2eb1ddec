package console

import (
	"io"
	"strings"
	"testing"
	"time"
)

// One line is printed every few seconds, with the share, the rate and the time left.
func TestPlainProgress(t *testing.T) {
	var out strings.Builder
	now := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	p := NewProgress(New(io.Discard, &out))
	p.now = func() time.Time { return now }
	p.Begin("backfill", "updates", 0)
	for i := range int64(50) {
		now = now.Add(100 * time.Millisecond)
		p.Set(10*(i+1), 1000)
	}
	p.End("500 updates")
	p.Set(501, 1000) // somebody is late
	want := "backfill ...\nbackfill: 20%, 200 of 1000 updates, 100/s, 8s left\nbackfill: 40%, 400 of 1000 updates, 100/s, 6s left\n" +
		"backfill                     500 updates (5.0 s)\n"
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}

// A bar fits any width, and shows what it can of share, rate and time left.
func TestBarFits(t *testing.T) {
	now := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	p := NewProgress(New(io.Discard, io.Discard))
	p.now = func() time.Time { return now }
	p.Begin("verify node:wide名前", "updates and verdicts", 0)
	now = now.Add(time.Second)
	p.Set(250, 1000)
	for width := range 200 {
		if line := p.bar(width); columns(line) > width {
			t.Errorf("%q has %d columns of %d", line, columns(line), width)
		}
	}
	if got, want := p.bar(200), "verify node:wide名前       [#####...............] 25%, 250 of 1000 updates and verdicts, 250/s, 3s left"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got, want := p.bar(45), "verify node:wide名前 25%, 250/s, 3s left"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// What comes from outside can't control the terminal; characters cut in two by writes are whole.
func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":           "plain\ttext\n",
		"\x1b]0;owned\a":          `\x1b]0;owned\x07`,
		"a\rb\x7f\b":              `a\x0db\x7f\x08`,
		"\u009b31mred":            `\x9b31mred`,
		"\x9b31m":                 `\x9b31m`,
		"user\u202etxt.exe\u2066": `user\u202etxt.exe\u2066`,
		"zero\u200bwidth\ufeff":   `zero\u200bwidth\ufeff`,
		"\U000e0041tag":           `\U000e0041tag`,
		"Grüße, 名前 \ufffd \u00a0": "Grüße, 名前 \ufffd \u00a0",
	} {
		if got := Printable(in); got != want {
			t.Errorf("Printable(%q) = %q, want %q", in, got, want)
		}
		var out strings.Builder
		c := New(&out, io.Discard)
		for i := range len(in) {
			if _, err := c.Stdout.Write([]byte(in)[i : i+1]); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("%q byte by byte is written as %q, want %q", in, out.String(), want)
		}
	}
}
