package query

import (
	"fmt"
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

func TestAnswerCacheCountsKeysAndTexts(t *testing.T) {
	c := NewAnswerCache(8 * (entryBytes + 2*10 + 100))
	c.Put("0123456789", make([]byte, 101))
	if _, ok := c.Get("0123456789"); ok {
		t.Error("more than an eighth of all memory goes to one answer")
	}
	c.Put("0123456789", make([]byte, 100))
	if _, ok := c.Get("0123456789"); !ok {
		t.Error("the answer is not kept")
	}
}
