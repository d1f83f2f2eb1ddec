package query

import (
	"container/list"
	"context"
	"net/netip"
	"sync"
	"time"
)

// fairQueue admits calls up to a number and an amount of memory. The others wait: those of one
// client and operation in a separate line, and the lines are served in turn. It is safe for concurrent use.
type fairQueue struct {
	most       int   // calls at once
	bytes      int64 // of memory for all of them
	maxWaiting int
	now        func() time.Time

	mu      sync.Mutex
	running int
	held    int64 // bytes
	paused  int   // calls that do no work for a while and have given up their place
	refused int64
	// usual is about how long a call keeps its place.
	usual time.Duration

	waiting  int
	lines    map[lineKey]*line
	turns    list.List // of *line, the next one in front
	resuming list.List // of *waiter: paused calls that want their place back, which go first
}

// lineKey tells the lines of a queue apart.
type lineKey struct {
	operation string
	client    netip.Addr
}

// line are the calls of one client and operation that wait, the first in front.
type line struct {
	key     lineKey
	waiters list.List // of *waiter
	turn    *list.Element
}

// waiter is a call that waits.
type waiter struct {
	bytes int64
	ready chan struct{} // closed when the call may go on, or when err is set
	err   error
	line  *line // nil for a resuming call
	place *list.Element
}

func newFairQueue(most int, bytes int64, maxWaiting int, now func() time.Time) *fairQueue {
	return &fairQueue{most: most, bytes: bytes, maxWaiting: maxWaiting, now: now, lines: make(map[lineKey]*line)}
}

// place is what a call has been let in with. It belongs to one goroutine; the zero value is none.
type place struct {
	queue *fairQueue
	bytes int64
	since time.Time
}

// enter waits for a place with so many bytes of memory, or all that the queue has if that is
// less. The error is an Error of class Unavailable when too many wait or the wait takes longer
// than maxWait, and that of ctx when that ends.
func (q *fairQueue) enter(ctx context.Context, key lineKey, bytes int64, maxWait time.Duration) (place, error) {
	bytes = min(bytes, q.bytes)
	q.mu.Lock()
	if q.waiting == 0 && q.fits(bytes) {
		q.take(bytes)
		q.mu.Unlock()
		return place{q, bytes, q.now()}, nil
	}
	w, err := q.join(key, bytes)
	q.mu.Unlock()
	if err == nil {
		err = q.wait(ctx, w, maxWait)
	}
	if err != nil {
		return place{}, err
	}
	return place{q, bytes, q.now()}, nil
}

// try is enter for what can be left undone: it neither waits nor goes before those who do.
func (q *fairQueue) try(bytes int64) (place, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.waiting > 0 || !q.fits(bytes) {
		return place{}, false
	}
	q.take(bytes)
	return place{q, bytes, q.now()}, true
}

// leave gives a place back. Without one it does nothing.
func (p *place) leave() {
	q := p.queue
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.usual = (7*q.usual + q.now().Sub(p.since)) / 8
	q.giveBack(p.bytes)
	*p = place{}
}

// shrink gives all but so many bytes of memory back.
func (p *place) shrink(bytes int64) {
	if p.queue == nil || bytes >= p.bytes {
		return
	}
	p.queue.mu.Lock()
	defer p.queue.mu.Unlock()
	p.queue.held -= p.bytes - bytes
	p.bytes = bytes
	p.queue.admit()
}

// pause lets others in while the call does no work; it keeps its memory. It returns false, and
// does nothing, when as many calls are paused as may wait. Otherwise the caller must call resume.
func (p *place) pause() bool {
	q := p.queue
	if q == nil {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.paused >= q.maxWaiting {
		return false
	}
	q.paused++
	q.running--
	q.admit()
	return true
}

// resume waits for a place after pause. When ctx ends first, the call has no place any more.
func (p *place) resume(ctx context.Context) error {
	q := p.queue
	q.mu.Lock()
	w := &waiter{ready: make(chan struct{})}
	w.place = q.resuming.PushBack(w)
	q.waiting++
	q.admit()
	q.mu.Unlock()
	err := q.wait(ctx, w, 0)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.paused--
	if err != nil {
		q.held -= p.bytes
		q.admit()
		*p = place{}
	}
	return err
}

// The functions below need the lock.

func (q *fairQueue) fits(bytes int64) bool { return q.running < q.most && q.held+bytes <= q.bytes }

func (q *fairQueue) take(bytes int64) {
	q.running++
	q.held += bytes
}

func (q *fairQueue) giveBack(bytes int64) {
	q.running--
	q.held -= bytes
	q.admit()
}

// join puts a call at the end of its line. When too many wait, the last of the longest line is
// refused in its place, if that is much longer: one busy client must not keep others out.
func (q *fairQueue) join(key lineKey, bytes int64) (*waiter, error) {
	l := q.lines[key]
	own := 0
	if l != nil {
		own = l.waiters.Len()
	}
	if q.waiting >= q.maxWaiting {
		longest := q.longest()
		if longest == nil || longest.waiters.Len() < own+2 {
			return nil, q.busy()
		}
		last := longest.waiters.Back().Value.(*waiter)
		last.err = q.busy()
		q.remove(last)
		close(last.ready)
	}
	if l == nil {
		l = &line{key: key}
		l.turn = q.turns.PushBack(l)
		q.lines[key] = l
	}
	w := &waiter{bytes: bytes, ready: make(chan struct{}), line: l}
	w.place = l.waiters.PushBack(w)
	q.waiting++
	return w, nil
}

func (q *fairQueue) longest() (longest *line) {
	for _, l := range q.lines {
		if longest == nil || l.waiters.Len() > longest.waiters.Len() {
			longest = l
		}
	}
	return longest
}

// admit lets calls in, as many as fit. One that does not fit yet is waited for: a smaller one
// behind it must not go first, or it might wait for ever.
func (q *fairQueue) admit() {
	for {
		w := q.next()
		if w == nil || !q.fits(w.bytes) {
			return
		}
		if w.line != nil {
			q.turns.MoveToBack(w.line.turn)
		}
		q.remove(w)
		q.take(w.bytes)
		close(w.ready)
	}
}

// next is whose turn it is, nil when nobody waits.
func (q *fairQueue) next() *waiter {
	if first := q.resuming.Front(); first != nil {
		return first.Value.(*waiter)
	}
	if first := q.turns.Front(); first != nil {
		return first.Value.(*line).waiters.Front().Value.(*waiter)
	}
	return nil
}

func (q *fairQueue) remove(w *waiter) {
	q.waiting--
	if w.line == nil {
		q.resuming.Remove(w.place)
		return
	}
	w.line.waiters.Remove(w.place)
	if w.line.waiters.Len() == 0 {
		q.turns.Remove(w.line.turn)
		delete(q.lines, w.line.key)
	}
}

// maxRetry is the longest that a refused client is asked to stay away for.
const maxRetry = 10 * time.Minute

// busy refuses a call. It says when there is likely to be a place: when all who wait, and one
// more, have been let in.
func (q *fairQueue) busy() error {
	q.refused++
	wait := q.usual * time.Duration(q.waiting+1) / time.Duration(max(q.running, 1))
	err := Errorf(Unavailable, "The server is busy.")
	err.RetryAfter = min(wait.Truncate(time.Second)+time.Second, maxRetry)
	return err
}

// wait returns when a waiter may go on, is refused, or gives up; maxWait 0 is no limit. It takes
// the lock itself.
func (q *fairQueue) wait(ctx context.Context, w *waiter, maxWait time.Duration) error {
	var late <-chan time.Time
	if maxWait > 0 {
		timer := time.NewTimer(maxWait)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-w.ready:
		return w.err
	case <-late:
	case <-ctx.Done():
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-w.ready: // meanwhile
		if w.err == nil && ctx.Err() != nil {
			q.giveBack(w.bytes)
			return ctx.Err()
		}
		return w.err
	default:
	}
	q.remove(w)
	q.admit() // what is behind it may fit
	if err := ctx.Err(); err != nil {
		return err
	}
	return q.busy()
}

// load is a queue at one moment.
type load struct {
	running, waiting int
	held, bytes      int64
	refused          int64
}

func (q *fairQueue) load() load {
	q.mu.Lock()
	defer q.mu.Unlock()
	return load{q.running, q.waiting, q.held, q.bytes, q.refused}
}
