package query

import (
	"fmt"
	"strings"
	"testing"
)

// A key is known to be asked for again as long as few others are asked for in between.
func TestAnswerCacheRemembersWhatWasAskedFor(t *testing.T) {
	c := NewAnswerCache(1)
	if c.AskedAgain("a") || !c.AskedAgain("a") || !c.AskedAgain("a") {
		t.Error("it is not the second time that a key is known")
	}
	known := 0
	for i := range 4 * askedKeys {
		if c.AskedAgain(fmt.Sprint(i)) {
			t.Fatalf("key %d was never asked for", i)
		}
	}
	for i := range 4 * askedKeys {
		if c.AskedAgain(fmt.Sprint(i)) {
			known++
		}
	}
	if known > askedKeys {
		t.Errorf("%d keys are remembered", known)
	}
}

func TestAnswerCacheKeepsToItsBytes(t *testing.T) {
	c := NewAnswerCache(100_000)
	text := func(i int) []byte { return fmt.Appendf(nil, "%d %s", i, strings.Repeat("x", 1000)) }
	for i := range 500 {
		c.Put(fmt.Sprint(i), text(i))
		if got, ok := c.Get("0"); !ok || string(got) != string(text(0)) {
			t.Fatalf("what is asked for again and again is gone after %d others", i)
		}
		if c.held > c.most {
			t.Fatalf("%d bytes are held, %d allowed", c.held, c.most)
		}
	}
	if _, ok := c.Get("499"); !ok {
		t.Error("the latest is not kept")
	}
	if _, ok := c.Get("100"); ok || len(c.byKey) != c.order.Len() || len(c.byKey) < 50 {
		t.Errorf("%d answers are kept in a list of %d", len(c.byKey), c.order.Len())
	}
	c.Put("large", make([]byte, 50_000))
	if _, ok := c.Get("large"); ok {
		t.Error("half of all memory goes to one answer")
	}
}
