package memo

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestValueLoadsOnceAndNotForLong(t *testing.T) {
	var mu sync.Mutex
	now := time.Unix(1, 0)
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	var loads atomic.Int64
	gate := make(chan struct{})
	c := &Value[int64]{TTL: time.Second, Now: clock, Load: func(context.Context) (int64, error) {
		<-gate
		return loads.Add(1), nil
	}}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if v, err := c.Get(context.Background()); v != 1 || err != nil {
				t.Errorf("got %d, %v", v, err)
			}
		})
	}
	time.Sleep(10 * time.Millisecond) // let most of them wait for the same load
	close(gate)
	wg.Wait()
	mu.Lock()
	now = now.Add(time.Second)
	mu.Unlock()
	if v, _ := c.Get(context.Background()); v != 2 {
		t.Errorf("after its time the value is %d", v)
	}
}

func TestValueForgetsErrors(t *testing.T) {
	fail := true
	c := &Value[int]{TTL: time.Hour, Now: time.Now, Load: func(context.Context) (int, error) {
		if fail {
			return 0, errors.New("away")
		}
		return 7, nil
	}}
	if _, err := c.Get(context.Background()); err == nil {
		t.Error("no error")
	}
	fail = false
	if v, err := c.Get(context.Background()); v != 7 || err != nil {
		t.Errorf("got %d, %v", v, err)
	}
}

// A caller that has waited for MaxWait gets the old value, unless that is too old.
func TestValueServesTheOldOneWhileALoadTakesLong(t *testing.T) {
	var clock atomic.Int64
	loads := make(chan int)
	c := &Value[int]{
		TTL: time.Second, Stale: time.Minute, MaxWait: time.Millisecond,
		Now:  func() time.Time { return time.Unix(0, clock.Load()) },
		Load: func(context.Context) (int, error) { return <-loads, nil },
	}
	clock.Store(int64(time.Hour))
	go func() { loads <- 1 }()
	for _, now := range []time.Duration{0, time.Second, time.Minute} {
		clock.Store(int64(time.Hour + now))
		if v, err := c.Get(t.Context()); v != 1 || err != nil {
			t.Errorf("%s after the load: %d, %v", now, v, err)
		}
	}
	clock.Store(int64(time.Hour + time.Minute + time.Second))
	go func() { loads <- 2 }()
	if v, err := c.Get(t.Context()); v != 2 || err != nil {
		t.Errorf("got %d, %v: the old value is too old", v, err)
	}
}

func TestValuesAreLoadedByKey(t *testing.T) {
	loads := map[string]int{}
	c := Values[string, string]{New: func(key string) *Value[string] {
		return &Value[string]{TTL: time.Hour, Now: time.Now, Load: func(context.Context) (string, error) {
			loads[key]++
			return "of " + key, nil
		}}
	}}
	for range 3 {
		for _, key := range []string{"a", "b"} {
			if v, err := c.Get(t.Context(), key); v != "of "+key || err != nil {
				t.Errorf("%s is %q, %v", key, v, err)
			}
		}
	}
	if loads["a"] != 1 || loads["b"] != 1 {
		t.Errorf("loads by key: %v", loads)
	}
}

func TestPanicOfAReadIsItsError(t *testing.T) {
	r := Start(t.Context(), func(context.Context) (int, error) { panic("broken") }, nil)
	if v, err := r.Wait(t.Context()); v != 0 || err == nil {
		t.Errorf("got %d, %v", v, err)
	}
	c := &Value[int]{TTL: time.Hour, Now: time.Now, Load: func(context.Context) (int, error) { panic("broken") }}
	for range 2 {
		if _, err := c.Get(t.Context()); err == nil {
			t.Error("no error")
		}
	}
}

// A caller who names an instant gets a value that is not older, whatever is remembered or under way.
func TestValueSinceAnInstant(t *testing.T) {
	var clock atomic.Int64
	now := func() time.Time { return time.Unix(clock.Load(), 0) }
	begun, gate := make(chan int64, 1), make(chan struct{})
	c := &Value[int64]{TTL: time.Hour, Now: now, Load: func(context.Context) (int64, error) {
		at := clock.Load()
		begun <- at
		<-gate
		return at, nil
	}}
	answers := make(chan int64, 2)
	ask := func(get func() (int64, error)) {
		v, err := get()
		if err != nil {
			t.Error(err)
		}
		answers <- v
	}
	clock.Store(1)
	go ask(func() (int64, error) { return c.Get(t.Context()) })
	<-begun
	clock.Store(2)
	go ask(func() (int64, error) { return c.GetSince(t.Context(), now()) }) // another load is under way
	gate <- struct{}{}
	if v := <-answers; v != 1 {
		t.Errorf("Get returned the value of %d", v)
	}
	<-begun
	close(gate)
	if v := <-answers; v != 2 {
		t.Errorf("since 2 the value is that of %d", v)
	}
	clock.Store(3)
	if v, err := c.GetSince(t.Context(), time.Unix(2, 0)); v != 2 || err != nil {
		t.Errorf("a value that is good enough was not used: %d, %v", v, err)
	}
	if v, err := c.Get(t.Context()); v != 2 || err != nil {
		t.Errorf("a value that is remembered was not used: %d, %v", v, err)
	}
	if v, err := c.GetSince(t.Context(), now()); v != 3 || err != nil {
		t.Errorf("since 3 the value is that of %d, %v", v, err)
	}
}
