package query

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func lineOf(operation string, client int) lineKey {
	return lineKey{operation, netip.AddrFrom4([4]byte{10, 0, 0, byte(client)})}
}

// idle fails unless nothing is left of any call.
func idle(t *testing.T, q *fairQueue) {
	t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running != 0 || q.held != 0 || q.waiting != 0 || q.paused != 0 || len(q.lines) != 0 || q.turns.Len() != 0 || q.resuming.Len() != 0 {
		t.Errorf("after all calls %d run, %d wait, %d are paused, %d bytes are held; %d lines, %d turns, %d resuming",
			q.running, q.waiting, q.paused, q.held, len(q.lines), q.turns.Len(), q.resuming.Len())
	}
}

// Whatever calls do, no more are let in than may be, every call comes to an end, and nothing is
// left of them: no wake-up is lost, no place leaks.
func TestFairQueueKeepsItsLimits(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { fairQueueModel(t, seed) })
		})
	}
}

func fairQueueModel(t *testing.T, seed uint64) {
	const calls = 400
	r := rand.New(rand.NewPCG(seed, 1))
	most, bytes := 1+r.IntN(6), int64(50+r.IntN(200))
	q := newFairQueue(most, bytes, 20+r.IntN(100), time.Now)
	var running, held atomic.Int64
	enter := func(by int64) {
		if n, b := running.Add(1), held.Add(by); n > int64(most) || b > bytes {
			t.Errorf("%d calls with %d bytes run, at most %d with %d may", n, b, most, bytes)
		}
	}
	leave := func(by int64) { running.Add(-1); held.Add(-by) }
	var served, refused, ended atomic.Int64
	var all sync.WaitGroup
	for i := range calls {
		r := rand.New(rand.NewPCG(seed, uint64(i)+2))
		all.Go(func() {
			pause := func(most int) { time.Sleep(time.Duration(r.IntN(most)) * time.Millisecond) }
			pause(200)
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+r.IntN(300))*time.Millisecond)
			defer cancel()
			wanted := int64(r.IntN(300))
			p, err := q.enter(ctx, lineOf(fmt.Sprint(r.IntN(3)), r.IntN(4)), wanted, time.Duration(1+r.IntN(200))*time.Millisecond)
			var busy *Error
			switch {
			case errors.As(err, &busy) && busy.Code == Unavailable && busy.RetryAfter > 0:
				refused.Add(1)
				return
			case errors.Is(err, context.DeadlineExceeded):
				ended.Add(1)
				return
			case err != nil || p.bytes != min(wanted, bytes):
				t.Errorf("a call for %d bytes got %d and %v", wanted, p.bytes, err)
				return
			}
			served.Add(1)
			enter(p.bytes)
			pause(20)
			if r.IntN(3) == 0 {
				less := p.bytes / 2
				held.Add(less - p.bytes)
				p.shrink(less)
				pause(10)
			}
			if r.IntN(3) == 0 {
				running.Add(-1)
				if !p.pause() {
					t.Error("a call could not pause")
				}
				pause(10)
				kept := p.bytes
				if err := p.resume(ctx); err != nil {
					held.Add(-kept)
					p.leave() // of nothing
					return
				}
				running.Add(1)
			}
			leave(p.bytes)
			p.leave()
			p.leave()
		})
	}
	all.Wait()
	idle(t, q)
	if served.Load() == 0 || served.Load()+refused.Load()+ended.Load() != calls {
		t.Errorf("%d calls: %d served, %d refused, %d ended", calls, served.Load(), refused.Load(), ended.Load())
	}
}

// orderOf puts calls into a queue that has no room, and returns the order in which they are let
// in, one after another.
func orderOf(t *testing.T, q *fairQueue, first place, calls []lineKey) (order []string) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, key := range calls {
		all.Go(func() {
			p, err := q.enter(t.Context(), key, 1, 0)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			order = append(order, fmt.Sprint(key.operation, key.client.As4()[3]))
			mu.Unlock()
			p.leave()
		})
		synctest.Wait() // until it waits
	}
	first.leave()
	all.Wait()
	return order
}

// A client with many calls, and an operation with many, wait in lines of their own: others go in
// between.
func TestFairQueueServesLinesInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFairQueue(1, 10, 100, time.Now)
		first, err := q.enter(t.Context(), lineOf("dump", 0), 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		busy, other, page := lineOf("dump", 1), lineOf("dump", 2), lineOf("page", 1)
		got := orderOf(t, q, first, []lineKey{busy, busy, busy, busy, other, page, page})
		if want := []string{"dump1", "dump2", "page1", "dump1", "page1", "dump1", "dump1"}; !slices.Equal(got, want) {
			t.Errorf("calls were let in in the order %v, want %v", got, want)
		}
		idle(t, q)
	})
}

// A call that takes much is not overtaken for ever by those that take little.
func TestFairQueueWaitsForTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFairQueue(10, 10, 100, time.Now)
		first, _ := q.enter(t.Context(), lineOf("a", 1), 6, 0)
		var order []string
		var mu sync.Mutex
		enter := func(name string, bytes int64) func() {
			return func() {
				p, err := q.enter(t.Context(), lineOf(name, 1), bytes, 0)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
				p.leave()
			}
		}
		var all sync.WaitGroup
		all.Go(enter("large", 8))
		synctest.Wait()
		all.Go(enter("small", 3)) // would fit
		synctest.Wait()
		if len(order) != 0 {
			t.Errorf("%v went before the one that waits", order)
		}
		first.leave()
		all.Wait()
		if want := []string{"large", "small"}; !slices.Equal(order, want) {
			t.Errorf("the order is %v, want %v", order, want)
		}
		idle(t, q)
	})
}

// Who gives up frees its place in the line at once, for one behind it that fits.
func TestFairQueueForgetsWhoGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFairQueue(10, 10, 100, time.Now)
		first, _ := q.enter(t.Context(), lineOf("a", 1), 6, 0)
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() {
			_, err := q.enter(ctx, lineOf("large", 1), 8, 0)
			gone <- err
		}()
		synctest.Wait()
		in := make(chan place, 1)
		go func() {
			p, err := q.enter(t.Context(), lineOf("small", 1), 1, 0)
			if err != nil {
				t.Error(err)
			}
			in <- p
		}()
		synctest.Wait()
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("who gives up gets %v", err)
		}
		p := <-in
		p.leave()
		first.leave()
		idle(t, q)
	})
}

// When too many wait, the busiest client loses its place to others, and refused calls are told how
// long it is likely to take.
func TestFullFairQueueRefusesTheBusiestClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newFairQueue(1, 10, 10, time.Now)
		for range 20 { // so that it is known how long calls take
			p, _ := q.enter(t.Context(), lineOf("a", 1), 1, 0)
			time.Sleep(10 * time.Second)
			p.leave()
		}
		first, _ := q.enter(t.Context(), lineOf("a", 1), 1, 0)
		var refused, served atomic.Int64
		var all sync.WaitGroup
		call := func(client int) {
			p, err := q.enter(t.Context(), lineOf("a", client), 1, 0)
			var busy *Error
			if errors.As(err, &busy) {
				if client != 1 {
					t.Errorf("client %d was refused", client)
				}
				if busy.RetryAfter < 60*time.Second || busy.RetryAfter > 2*time.Minute {
					t.Errorf("with 10 calls of 10 s that wait, a client is to come back in %v", busy.RetryAfter)
				}
				refused.Add(1)
				return
			}
			served.Add(1)
			p.leave()
		}
		for range 15 {
			all.Go(func() { call(1) })
			synctest.Wait()
		}
		all.Go(func() { call(2) })
		all.Go(func() { call(3) })
		synctest.Wait()
		first.leave()
		all.Wait()
		if refused.Load() != 7 || served.Load() != 10 {
			t.Errorf("%d served and %d refused, want 10 and 7", served.Load(), refused.Load())
		}
		idle(t, q)
	})
}

// What can be left undone takes half of the memory of pages at most, and nothing while anybody
// waits.
func TestSpareMemoryIsThatOfNobody(t *testing.T) {
	a := NewAdmission(AdmissionConfig{Memory: 2000}) // 1000 for pages
	release, ok := a.Spare(400)
	if !ok {
		t.Fatal("there is no spare memory at first")
	}
	if _, ok := a.Spare(200); ok {
		t.Error("more than half is given away")
	}
	p, err := a.enter(t.Context(), Page, lineOf("page", 1), 600)
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan place)
	go func() {
		p, err := a.enter(context.Background(), Page, lineOf("page", 1), 300)
		if err != nil {
			t.Error(err)
		}
		waits <- p
	}()
	for a.queues[Page].load().waiting == 0 {
		time.Sleep(time.Millisecond)
	}
	release() // for the one that waits
	second := <-waits
	second.leave()
	p.leave()
	idle(t, a.queues[Page])
}
