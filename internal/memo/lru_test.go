package memo

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestLRUStaysWithinItsWeight(t *testing.T) {
	c := NewLRU(100_000, func(key, text string) int64 { return int64(len(key) + len(text)) })
	text := func(i int) string { return fmt.Sprintf("%d %s", i, strings.Repeat("x", 1000)) }
	for i := range 500 {
		c.Put(fmt.Sprint(i), text(i))
		if got, ok := c.Get("0"); !ok || got != text(0) {
			t.Fatalf("the value that is used all the time is gone after %d others", i)
		}
		if c.held > 100_000 {
			t.Fatalf("%d bytes are held, 100000 allowed", c.held)
		}
	}
	if _, ok := c.Get("499"); !ok {
		t.Error("the latest value is gone")
	}
	if _, ok := c.Get("100"); ok || c.values.Len() < 50 {
		t.Errorf("%d values are kept", c.values.Len())
	}
	c.Put("large", strings.Repeat("x", 50_000))
	if _, ok := c.Get("large"); ok {
		t.Error("one value takes half of the weight")
	}
}

func TestLRUCountsWhatItReplacesAndRemoves(t *testing.T) {
	c := NewLRU(80, func(_ string, weight int) int64 { return int64(weight) })
	for range 10 {
		c.Put("a", 7)
		c.Put("a", 9)
		c.Put("b", 5)
	}
	if v, ok := c.Get("a"); !ok || v != 9 || c.held != 14 {
		t.Errorf("a is %d, %d are held", v, c.held)
	}
	c.Put("a", 11) // too large, and the old value must not stay
	if _, ok := c.Get("a"); ok || c.held != 5 {
		t.Errorf("%d are held", c.held)
	}
	c.Put("c", 6)
	c.RemoveFunc(func(key string) bool { return key == "b" })
	if _, ok := c.Get("b"); ok || c.held != 6 {
		t.Errorf("%d are held after b was removed", c.held)
	}
	c.Remove("c")
	if _, ok := c.Get("c"); ok || c.held != 0 {
		t.Errorf("%d are held by an empty cache", c.held)
	}
}

func TestRecentKeepsValuesForItsTime(t *testing.T) {
	now := time.Unix(100, 0)
	r := NewRecent[int, string](3, time.Second, func() time.Time { return now })
	r.Put(1, "one", now.Add(-time.Second/2))
	if v, ok := r.Get(1); !ok || v != "one" {
		t.Errorf("got %q, %v", v, ok)
	}
	now = now.Add(time.Second / 2)
	if _, ok := r.Get(1); ok {
		t.Error("the value is kept for longer than its time")
	}
	for i := range 10 {
		r.Put(i, "x", now)
	}
	if n := r.values.values.Len(); n != 3 {
		t.Errorf("%d values are kept, want 3", n)
	}
	if _, ok := r.Get(9); !ok {
		t.Error("the latest value is gone")
	}
}
