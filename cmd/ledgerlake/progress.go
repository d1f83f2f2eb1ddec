package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how far a phase of work has come: a bar on a terminal, else a plain
// line every few seconds. It is safe for concurrent use.
type progress struct {
	out      io.Writer
	terminal bool
	now      func() time.Time

	mu      sync.Mutex
	label   string
	unit    string
	started time.Time
	printed time.Time
	bar     *progressbar.ProgressBar
	total   int64
	done    int64
}

const plainInterval = 2 * time.Second

func newProgress(out io.Writer) *progress {
	f, ok := out.(*os.File)
	return &progress{out: out, terminal: ok && term.IsTerminal(int(f.Fd())), now: time.Now}
}

// begin starts a phase. A total of 0 means that it is not known.
func (p *progress) begin(label, unit string, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.label, p.unit, p.total, p.done = label, unit, total, 0
	p.started, p.printed = p.now(), p.now()
	if !p.terminal {
		fmt.Fprintf(p.out, "%s ...\n", label)
		return
	}
	if total == 0 {
		total = -1
	}
	p.bar = progressbar.NewOptions64(total, progressbar.OptionSetWriter(p.out), progressbar.OptionSetDescription(fmt.Sprintf("%-28s", label)),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(unit),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetPredictTime(true))
}

// set says that done of the phase's total are done.
func (p *progress) set(done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = done
	if total > 0 {
		p.total = total
	}
	if p.bar != nil {
		if total > 0 && p.bar.GetMax64() != total {
			p.bar.ChangeMax64(total)
		}
		if err := p.bar.Set64(min(done, max(p.total, done))); err != nil {
			fmt.Fprintln(p.out, p.label, done)
		}
		return
	}
	if now := p.now(); now.Sub(p.printed) >= plainInterval {
		p.printed = now
		fmt.Fprintln(p.out, p.line(now))
	}
}

// line is one plain report: share, rate and the time that is left.
func (p *progress) line(now time.Time) string {
	elapsed := now.Sub(p.started)
	rate := float64(p.done) / max(elapsed.Seconds(), 1e-9)
	if p.total <= 0 || p.done <= 0 {
		return fmt.Sprintf("%s: %d %s, %.0f/s", p.label, p.done, p.unit, rate)
	}
	left := time.Duration(float64(elapsed) * float64(max(p.total-p.done, 0)) / float64(p.done))
	return fmt.Sprintf("%s: %d of %d %s (%d%%), %.0f/s, %s left", p.label, p.done, p.total, p.unit,
		100*p.done/max(p.total, 1), rate, left.Round(time.Second))
}

// end finishes the phase and returns how long it took. The detail is shown with it.
func (p *progress) end(detail string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	elapsed := p.now().Sub(p.started)
	if p.bar != nil {
		_ = p.bar.Clear() // a bar that cannot be cleared is overwritten below
		p.bar = nil
	}
	fmt.Fprintf(p.out, "%-28s %s (%.1f s)\n", p.label, detail, elapsed.Seconds())
	return elapsed
}
