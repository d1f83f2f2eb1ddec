package scan

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	// aheadPages is how many pages may be read before they are asked for, for all clients
	// together. Each takes up to Config.ChunkBytes of memory.
	aheadPages = 4
	// aheadLife is how long one is kept for the client, once it is read.
	aheadLife = time.Second
	// aheadEnds is how many ends of pages are remembered: a request that goes on at one of
	// them is taken for one of a sequence.
	aheadEnds = 256
)

// readAhead reads pages of updates. While a client that goes through history has its page
// rendered and sent, the store already reads the next one. What lies below the watermark
// does not change, so a full page is the same whenever it was read.
type readAhead struct {
	read func(context.Context, history.Range) ([]schemas.Update, error)
	life time.Duration

	mu    sync.Mutex
	ends  []schemas.Position // oldest first
	pages map[aheadKey]*aheadPage
}

// aheadKey is what a request for a page is known by.
type aheadKey struct {
	after schemas.Position
	limit int
}

// aheadPage is a page that nobody has asked for yet.
type aheadPage struct {
	done   chan struct{} // closed when rows and err are set
	taken  chan struct{} // closed when a request has it
	cancel context.CancelFunc
	rows   []schemas.Update
	err    error
}

func newReadAhead(read func(context.Context, history.Range) ([]schemas.Update, error)) *readAhead {
	return &readAhead{read: read, life: aheadLife, pages: make(map[aheadKey]*aheadPage)}
}

// page returns the updates in rg like the source does, and has the next page read if the
// request goes on where an earlier one ended.
func (a *readAhead) page(ctx context.Context, rg history.Range) ([]schemas.Update, error) {
	rows, ok := a.take(ctx, rg)
	if !ok {
		var err error
		if rows, err = a.read(ctx, rg); err != nil {
			return nil, err
		}
	}
	if len(rows) == rg.Limit && len(rows) > 0 {
		last := rows[len(rows)-1].Position()
		next := history.Range{After: schemas.EndOf(last.MigrationID, last.RecordTime), Through: rg.Through, Limit: rg.Limit}
		if a.end(rg.After, next.After) {
			a.start(ctx, next)
		}
	}
	return rows, nil
}

// take returns the page that was read ahead for a request; ok is false when there is none
// or it is not what the store would give.
func (a *readAhead) take(ctx context.Context, rg history.Range) (rows []schemas.Update, ok bool) {
	key := aheadKey{rg.After, rg.Limit}
	a.mu.Lock()
	p := a.pages[key]
	delete(a.pages, key)
	a.mu.Unlock()
	if p == nil {
		return nil, false
	}
	close(p.taken)
	defer p.cancel()
	select {
	case <-p.done:
	case <-ctx.Done():
		return nil, false
	}
	// A short page may have got further rows, and a row above the end must not be shown.
	if p.err != nil || len(p.rows) < rg.Limit || rg.Through.Before(p.rows[len(p.rows)-1].Position()) {
		return nil, false
	}
	return p.rows, true
}

// end notes where a page ended and reports whether it began where another one had.
func (a *readAhead) end(began, ended schemas.Position) (sequence bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if i := slices.Index(a.ends, began); i >= 0 {
		a.ends, sequence = slices.Delete(a.ends, i, i+1), true
	}
	if len(a.ends) == aheadEnds {
		a.ends = slices.Delete(a.ends, 0, 1)
	}
	a.ends = append(a.ends, ended)
	return sequence
}

// start reads a page in the background, unless there are enough of them.
func (a *readAhead) start(ctx context.Context, rg history.Range) {
	key := aheadKey{rg.After, rg.Limit}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.pages) >= aheadPages || a.pages[key] != nil || !rg.After.Before(rg.Through) {
		return
	}
	// The request that it follows is answered before this one is over.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTimeout)
	p := &aheadPage{done: make(chan struct{}), taken: make(chan struct{}), cancel: cancel}
	a.pages[key] = p
	go a.run(ctx, key, rg, p)
}

func (a *readAhead) run(ctx context.Context, key aheadKey, rg history.Range, p *aheadPage) {
	p.rows, p.err = a.read(ctx, rg)
	p.cancel()
	close(p.done)
	timer := time.NewTimer(a.life)
	defer timer.Stop()
	select {
	case <-p.taken:
	case <-timer.C:
		a.drop(key, p)
	}
}

// drop forgets a page that nobody has asked for.
func (a *readAhead) drop(key aheadKey, p *aheadPage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pages[key] == p {
		delete(a.pages, key)
	}
}
