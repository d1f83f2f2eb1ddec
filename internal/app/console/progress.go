package console

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// Progress shows how far a phase of work has come: a bar on a terminal, else a plain
// line every few seconds. It is safe for concurrent use. It draws when it is called and never
// by itself, so nothing is drawn after the end of a phase.
type Progress struct {
	console *Console
	now     func() time.Time

	mu      sync.Mutex
	label   string
	unit    string
	started time.Time
	printed time.Time
	total   int64
	done    int64
	running bool // between begin and end
}

// How often progress is shown: lines stay, a bar is replaced.
const (
	plainInterval = 2 * time.Second
	barInterval   = 100 * time.Millisecond
)

// NewProgress returns the progress of work that reports to a console.
func NewProgress(c *Console) *Progress { return &Progress{console: c, now: time.Now} }

// Begin starts a phase. A total of 0 means that it is not known.
func (p *Progress) Begin(label, unit string, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.label, p.unit, p.total, p.done = label, unit, total, 0
	p.started, p.printed, p.running = p.now(), p.now(), true
	if p.console.HasBar() {
		p.console.Draw(p.bar)
		return
	}
	fmt.Fprintf(p.console.Stderr, "%s ...\n", label)
}

// Set says that done of the phase's total are done.
func (p *Progress) Set(done, total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = done
	if total > 0 {
		p.total = total
	}
	if p.total > 0 {
		p.total = max(p.total, done)
	}
	now, interval := p.now(), plainInterval
	if p.console.HasBar() {
		interval = barInterval
	}
	if !p.running || now.Sub(p.printed) < interval {
		return
	}
	p.printed = now
	if p.console.HasBar() {
		p.console.Draw(p.bar)
		return
	}
	fmt.Fprintf(p.console.Stderr, "%s: %s\n", p.label, strings.Join(p.parts(), ", "))
}

// parts are the share that is done, if it is known, the count, the rate and the time left.
func (p *Progress) parts() []string {
	elapsed := p.now().Sub(p.started)
	rate := fmt.Sprintf("%.0f/s", float64(p.done)/max(elapsed.Seconds(), 1e-3))
	if p.total <= 0 {
		return []string{fmt.Sprintf("%d %s", p.done, p.unit), rate}
	}
	parts := []string{fmt.Sprintf("%d%%", 100*p.done/p.total), fmt.Sprintf("%d of %d %s", p.done, p.total, p.unit), rate}
	if p.done > 0 {
		left := time.Duration(float64(elapsed) * float64(p.total-p.done) / float64(p.done))
		parts = append(parts, left.Round(time.Second).String()+" left")
	}
	return parts
}

// barWidth is the number of columns between the brackets of a bar.
const barWidth = 20

// bar is the phase on one line of at most width columns. On narrow terminals it leaves out
// what matters least.
func (p *Progress) bar(width int) string {
	parts := p.parts()
	lines := []string{p.label + " " + strings.Join(parts, ", ")}
	if p.total > 0 {
		full := int(barWidth * p.done / p.total)
		drawn := "[" + strings.Repeat("#", full) + strings.Repeat(".", barWidth-full) + "]"
		withoutCount := append(append([]string(nil), parts[0]), parts[2:]...)
		lines = []string{
			fmt.Sprintf("%-24s %s %s", p.label, drawn, strings.Join(parts, ", ")), lines[0],
			p.label + " " + strings.Join(withoutCount, ", "),
			p.label + " " + parts[0] + ", " + parts[len(parts)-1],
		}
	}
	for _, line := range lines {
		if columns(line) <= width {
			return line
		}
	}
	return truncate(lines[len(lines)-1], width)
}

// End finishes the phase and returns how long it took. The detail is shown with it.
func (p *Progress) End(detail string) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = false
	elapsed := p.now().Sub(p.started)
	line := fmt.Sprintf("%-28s %s (%.1f s)", p.label, detail, elapsed.Seconds())
	if p.console.HasBar() {
		line = wrap(line, p.console.width())
	}
	fmt.Fprintln(p.console.Stderr, line)
	return elapsed
}
