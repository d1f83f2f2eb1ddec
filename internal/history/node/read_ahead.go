package node

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// A read of a page costs the store nearly the same for 50 updates as for a thousand, and a
// client that goes through history asks for pages of what it sends at a time. It is given
// them out of chunks, of which the next is read while one is sent.
const (
	// chunkBytes is about how much memory a chunk takes, see sizeOf.
	chunkBytes = 24 << 20
	// firstChunk and maxChunk are how many updates are read: first, and whatever their size.
	firstChunk = 1000
	maxChunk   = 4000
	// maxWalks is how many clients are read ahead for; each takes two chunks.
	maxWalks = 3
	// walkLife is how long chunks wait for the client's next request.
	walkLife = 2 * time.Second
	// walkEnds is how many ends of pages are remembered: a request that goes on at one of
	// them is taken for one of a walk.
	walkEnds = 256
)

// walks are the clients that go through a node's stream.
type walks struct {
	read func(context.Context, Selection, Range) (Page, error)
	// spare reserves memory for a walk; ok is false when there is none.
	spare func(bytes int64) (release func(), ok bool)

	mu   sync.Mutex
	ends []pageKey // oldest first
	on   map[pageKey]*walk
	busy int // walks that a request is at work with
}

// walk is what is read for a client: the chunk that it is given pages of, and the next one.
type walk struct {
	chunk Page
	next  *memo.Read[Page] // nil when none is under way
	size  int              // updates of the next chunk
	timer *time.Timer
	// release gives back the memory of the chunks.
	release func()
}

func newWalks(read func(context.Context, Selection, Range) (Page, error), spare func(int64) (func(), bool)) *walks {
	return &walks{read: read, spare: spare, on: make(map[pageKey]*walk)}
}

// page gives the next page of a walk. ok is false when the request does not belong to one:
// the caller then reads it and tells walks of where it ended.
func (w *walks) page(ctx context.Context, sel Selection, rg Range) (page Page, ok bool, err error) {
	k := w.take(pageKeyOf(sel, rg.at(rg.start())))
	if k == nil {
		return Page{}, false, nil
	}
	page, err = w.step(ctx, k, sel, rg)
	if err != nil || page.Covered == rg.end() {
		w.leave(k)
		return page, true, err
	}
	w.put(pageKeyOf(sel, rg.at(page.Covered)), k)
	return page, true, nil
}

// at is the range for telling walks apart: by where they are, whatever their pages.
func (rg Range) at(place int64) Range {
	return Range{After: place, Through: place, Descending: rg.Descending}
}

// take returns the walk that is at a place, or a new one if a page ended there and there is
// room for it, and else nil.
func (w *walks) take(at pageKey) *walk {
	w.mu.Lock()
	defer w.mu.Unlock()
	if k := w.on[at]; k != nil {
		delete(w.on, at)
		k.timer.Stop()
		w.busy++
		return k
	}
	i := slices.Index(w.ends, at)
	if i < 0 || len(w.on)+w.busy >= maxWalks {
		return nil
	}
	release, ok := w.spare(2 * chunkBytes)
	if !ok {
		return nil
	}
	w.ends = slices.Delete(w.ends, i, i+1)
	w.busy++
	return &walk{size: firstChunk, release: sync.OnceFunc(release)}
}

// ended notes where a page ended that was not one of a walk.
func (w *walks) ended(at pageKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.ends) == walkEnds {
		w.ends = slices.Delete(w.ends, 0, 1)
	}
	w.ends = append(w.ends, at)
}

// put keeps a walk until the request for what follows.
func (w *walks) put(at pageKey, k *walk) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
	if other := w.on[at]; other != nil { // of another client at the same place
		other.stop()
	}
	w.on[at] = k
	k.timer = time.AfterFunc(walkLife, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.on[at] == k {
			delete(w.on, at)
			k.stop()
		}
	})
}

// leave ends a walk that a request is at work with.
func (w *walks) leave(k *walk) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
	k.stop()
}

func (k *walk) stop() {
	k.release()
	if k.next != nil {
		k.next.Stop()
	}
	if k.timer != nil {
		k.timer.Stop()
	}
}

// step cuts the next page off the walk's chunk.
func (w *walks) step(ctx context.Context, k *walk, sel Selection, rg Range) (Page, error) {
	if len(k.chunk.Updates) == 0 {
		if k.next == nil {
			w.start(ctx, k, sel, rg)
		}
		next := k.next
		k.next = nil
		chunk, err := next.Wait(ctx)
		if err != nil {
			next.Stop()
			return Page{}, err
		}
		k.chunk = chunk
		if n := int64(len(chunk.Updates)); n > 0 {
			k.size = int(min(max(chunkBytes/(sizeOf(chunk.Updates)/n), 1), maxChunk))
		}
	}
	if rest, ok := rg.from(k.chunk.Covered); ok && k.next == nil {
		w.start(ctx, k, sel, rest)
	}
	page := k.chunk.first(rg)
	k.chunk.Updates = k.chunk.Updates[len(page.Updates):]
	return page.until(rg), nil
}

// first are the updates of a page for a range, with how far it goes.
func (p Page) first(rg Range) Page {
	if n := rg.Limit; n < len(p.Updates) {
		p.Updates = p.Updates[:n:n]
		p.Covered = cursorBehind(p.Updates[n-1].Local.Offset, rg)
	}
	return p
}

// until cuts a page where a range ends.
func (p Page) until(rg Range) Page {
	if !rg.beyond(p.Covered) {
		return p
	}
	if n := slices.IndexFunc(p.Updates, func(u schemas.Update) bool { return rg.outside(u.Local.Offset) }); n >= 0 {
		p.Updates = p.Updates[:n]
	}
	p.Covered = rg.end()
	return p
}

// from is what is left of a range from a place on; ok is false when that is nothing.
func (rg Range) from(place int64) (rest Range, ok bool) {
	if rg.Descending {
		rg.Through = place
	} else {
		rg.After = place
	}
	return rg, rg.After < rg.Through
}

// start reads the next chunk. It goes on when the request that began it has ended.
func (w *walks) start(ctx context.Context, k *walk, sel Selection, rg Range) {
	rg.Limit = max(rg.Limit, k.size)
	k.next = memo.Start(context.WithoutCancel(ctx), func(ctx context.Context) (Page, error) { return w.read(ctx, sel, rg) }, nil)
}
