package scan

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	// aheadReads is how many reads ahead may be under way or kept, for all clients together.
	// Each takes up to Config.ChunkBytes of memory.
	aheadReads = 4
	// aheadPages is how many pages one of them is for at most. The store reads whole
	// granules of thousands of rows, so that four pages cost it little more than one.
	aheadPages = 4
	// aheadTimeout bounds one of them.
	aheadTimeout = 10 * time.Second
	// aheadLife is how long pages are kept for the client, once they are read.
	aheadLife = time.Second
	// aheadEnds is how many ends of pages are remembered: a request that goes on at one of
	// them is taken for one of a sequence.
	aheadEnds = 256
)

// readAhead reads pages of updates. While a client that goes through history has its page
// rendered and sent, the store already reads the next ones. What lies below the watermark
// does not change, so a full page is the same whenever it was read.
type readAhead struct {
	read func(context.Context, history.Range) ([]schemas.Update, error)
	// fit is how many of the wanted updates are likely to take no more than ChunkBytes.
	fit func(wanted int) int
	// spare reserves memory for so many updates; without it nothing is read ahead.
	spare func(rows int) (release func(), ok bool)
	life  time.Duration

	mu   sync.Mutex
	ends []schemas.Position // oldest first
	kept map[aheadKey]*aheadRead
}

// aheadKey is what the request for the first page of a read is known by.
type aheadKey struct {
	after schemas.Position
	limit int
}

// aheadRead is what nobody has asked for yet.
type aheadRead struct {
	*memo.Read[[]schemas.Update]
	// release gives back the memory that is reserved for the updates; whoever takes the read out
	// of kept calls it.
	release func()
}

func newReadAhead(read func(context.Context, history.Range) ([]schemas.Update, error), fit func(wanted int) int) *readAhead {
	return &readAhead{read: read, fit: fit, spare: func(int) (func(), bool) { return func() {}, true }, life: aheadLife, kept: make(map[aheadKey]*aheadRead)}
}

// page returns the updates in rg like the source does, and has the next ones read if the
// request goes on where an earlier one ended.
func (a *readAhead) page(ctx context.Context, rg history.Range) ([]schemas.Update, error) {
	rows, ok := a.take(ctx, rg)
	if !ok {
		var err error
		if rows, err = a.read(ctx, rg); err != nil {
			return nil, err
		}
	}
	if len(rows) < rg.Limit || len(rows) == 0 {
		return rows, nil
	}
	rows, rest := rows[:rg.Limit:rg.Limit], rows[rg.Limit:]
	if next := endOfPage(rows); a.end(rg.After, next) {
		a.goOn(ctx, history.Range{After: next, Through: rg.Through, Limit: rg.Limit}, rest)
	}
	return rows, nil
}

// endOfPage is the cursor behind a page, which is behind all with its last record time.
func endOfPage(rows []schemas.Update) schemas.Position {
	last := rows[len(rows)-1].Position()
	return schemas.EndOf(last.MigrationID, last.RecordTime)
}

// take returns what was read ahead for a request, at least a page; ok is false when there
// is none or it is not what the store would give.
func (a *readAhead) take(ctx context.Context, rg history.Range) (rows []schemas.Update, ok bool) {
	key := aheadKey{rg.After, rg.Limit}
	a.mu.Lock()
	r := a.kept[key]
	delete(a.kept, key)
	a.mu.Unlock()
	if r == nil {
		return nil, false
	}
	defer r.release() // the request has memory of its own
	read := r.Read
	r.Read = nil // or its timer would keep the updates in memory
	defer read.Stop()
	rows, err := read.Wait(ctx)
	// A short page may have got further rows, and a row above the end must not be shown.
	if err != nil || len(rows) < rg.Limit || rg.Through.Before(rows[rg.Limit-1].Position()) {
		return nil, false
	}
	return rows, true
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

// goOn keeps what is there of the page in rg and those behind it, and starts to read what
// follows before the last page that is there is asked for.
func (a *readAhead) goOn(ctx context.Context, rg history.Range, rest []schemas.Update) {
	for len(rest) > 0 && !rg.After.Before(rest[0].Position()) {
		rest = rest[1:] // of the record time with which the page before ended
	}
	if len(rest) >= rg.Limit {
		a.start(ctx, rg, len(rest), func(context.Context) ([]schemas.Update, error) { return rest, nil })
		rg.After = endOfPage(rest[:rg.Limit])
	}
	if len(rest) >= 2*rg.Limit {
		return
	}
	several := rg
	several.Limit = max(1, a.fit(rg.Limit*aheadPages)/rg.Limit) * rg.Limit
	a.start(ctx, rg, several.Limit, func(ctx context.Context) ([]schemas.Update, error) { return a.read(ctx, several) })
}

// start has the pages that begin with the one in rg, of so many updates, read in the background,
// unless there is enough of that or no memory for more.
func (a *readAhead) start(ctx context.Context, rg history.Range, rows int, read func(context.Context) ([]schemas.Update, error)) {
	key := aheadKey{rg.After, rg.Limit}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.kept) >= aheadReads || a.kept[key] != nil || !rg.After.Before(rg.Through) {
		return
	}
	release, ok := a.spare(rows)
	if !ok {
		return
	}
	// The request that it follows is answered before this is over.
	ctx = context.WithoutCancel(ctx)
	r := &aheadRead{release: release}
	r.Read = memo.Start(ctx, func(ctx context.Context) ([]schemas.Update, error) {
		ctx, cancel := context.WithTimeout(ctx, aheadTimeout)
		defer cancel()
		return read(ctx)
	}, func([]schemas.Update, error) {
		time.AfterFunc(a.life, func() { a.drop(key, r) })
	})
	a.kept[key] = r
}

// drop forgets what nobody has asked for.
func (a *readAhead) drop(key aheadKey, r *aheadRead) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept[key] == r {
		delete(a.kept, key)
		r.release()
	}
}
