package ledger

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Readings that take longer than an end is fresh for, as those of a busy store do, are shared:
// those who ask must not wait for one reading each.
func TestSlowReadingsOfTheEndAreShared(t *testing.T) {
	const callers = 64
	var readings atomic.Int64
	e := newEnds(func(context.Context) (int64, error) {
		time.Sleep(20 * time.Millisecond)
		return readings.Add(1), nil
	}, noCommit, time.Millisecond, time.Now, slog.New(slog.DiscardHandler))
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			if end, err := e.current(t.Context()); err != nil || end == 0 {
				t.Errorf("the end is %d, %v", end, err)
			}
		})
	}
	all.Wait()
	if n := readings.Load(); n > callers/4 {
		t.Errorf("%d callers took %d readings", callers, n)
	}
}

// An end that was being read before somebody asked may be too old for them: they get that of
// the next reading.
func TestAnEndIsNotOlderThanTheQuestion(t *testing.T) {
	var readings atomic.Int64
	begun, finish := make(chan struct{}, 2), make(chan struct{})
	e := newEnds(func(context.Context) (int64, error) {
		n := readings.Add(1)
		begun <- struct{}{}
		<-finish
		return n, nil
	}, noCommit, time.Millisecond, time.Now, slog.New(slog.DiscardHandler))
	ends := make(chan int64, 2)
	ask := func() {
		end, err := e.current(t.Context())
		if err != nil {
			t.Error(err)
		}
		ends <- end
	}
	go ask()
	<-begun
	time.Sleep(5 * time.Millisecond)
	go ask()
	time.Sleep(5 * time.Millisecond) // it waits for the first reading by now, most likely
	close(finish)
	if first, second := <-ends, <-ends; min(first, second) != 1 || max(first, second) != 2 {
		t.Errorf("the ends are %d and %d, want 1 and 2", first, second)
	}
}

// Who gives up does not wait for the store.
func TestAWaitForTheEndCanBeGivenUp(t *testing.T) {
	finish := make(chan struct{})
	defer close(finish)
	e := newEnds(func(context.Context) (int64, error) {
		<-finish
		return 1, nil
	}, noCommit, time.Millisecond, time.Now, slog.New(slog.DiscardHandler))
	for range 2 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if _, err := e.current(ctx); err != context.DeadlineExceeded {
			t.Errorf("error %v, want that of the context", err)
		}
		cancel()
	}
}

// An offset after the end that is remembered may be one that another server has named: the end is
// read again before it is refused, and only then.
func TestOffsetsThatAnotherServerHasNamed(t *testing.T) {
	var end, readings atomic.Int64
	end.Store(10)
	e := newEnds(func(context.Context) (int64, error) {
		readings.Add(1)
		return end.Load(), nil
	}, noCommit, time.Hour, time.Now, slog.New(slog.DiscardHandler))
	for _, c := range []struct{ stored, offset, want, readings int64 }{
		{10, 5, 10, 1}, {12, 10, 10, 1}, {12, 11, 12, 2}, {12, 12, 12, 2}, {12, 13, 12, 3},
	} {
		end.Store(c.stored)
		if got, err := e.reaching(t.Context(), c.offset); got != c.want || err != nil || readings.Load() != c.readings {
			t.Errorf("offset %d: the end is %d after %d readings, %v, want %d after %d", c.offset, got, readings.Load(), err, c.want, c.readings)
		}
	}
}
