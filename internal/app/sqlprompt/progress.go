package sqlprompt

import (
	"fmt"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Bar is one line of a terminal below all else.
type Bar interface {
	// Draw replaces the line by one of at most width columns.
	Draw(line func(width int) string)
	// Clear removes it.
	Clear()
}

const (
	// progressAfter is how long a query takes before its progress is shown.
	progressAfter = 500 * time.Millisecond
	// progressEvery is how often it is drawn.
	progressEvery = 100 * time.Millisecond
)

// progress shows how far a query has come. It is safe for concurrent use.
type progress struct {
	bar Bar // nil if nothing is to be shown
	now func() time.Time

	mu                 sync.Mutex
	began, next        time.Time
	read, total, bytes uint64
	ended              bool
}

// begin starts the progress of a query.
func begin(bar Bar, now func() time.Time) *progress {
	return &progress{bar: bar, now: now, began: now(), next: now().Add(progressAfter)}
}

// add adds what the server reports since it last did.
func (p *progress) add(by *clickhouse.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read, p.total, p.bytes = p.read+by.Rows, p.total+by.TotalRows, p.bytes+by.Bytes
	now := p.now()
	if p.bar == nil || p.ended || now.Before(p.next) {
		return
	}
	p.next = now.Add(progressEvery)
	text := p.text(now.Sub(p.began))
	p.bar.Draw(func(width int) string { return text[:min(width, len(text))] }) // ASCII only
}

// text is such as "1200000 of 10000000 rows, 12%, 2400000 rows/s, 0.5 s".
func (p *progress) text(elapsed time.Duration) string {
	rate := float64(p.read) / max(elapsed.Seconds(), 1e-3)
	if p.total < p.read {
		return fmt.Sprintf("%d rows, %.0f rows/s, %.1f s", p.read, rate, elapsed.Seconds())
	}
	return fmt.Sprintf("%d of %d rows, %d%%, %.0f rows/s, %.1f s", p.read, p.total, share(p.read, p.total), rate, elapsed.Seconds())
}

// share is part of whole in percent.
func share(part, whole uint64) uint64 {
	if whole == 0 {
		return 0
	}
	return uint64(100 * (float64(part) / float64(whole)))
}

// end removes it for good: a report that is late draws nothing.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if p.bar != nil {
		p.bar.Clear()
	}
}
