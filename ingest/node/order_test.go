package node

import (
	"errors"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas"
)

// swapOnce lets frame n of the first session and the next one change places.
func swapOnce(u *upstream, n int) {
	swapped := false
	u.frame = func(at int, wire string) (string, error) {
		switch {
		case swapped:
		case at == n:
			return u.elements[n+1].wire, nil
		case at == n+1:
			swapped = true
			return u.elements[n].wire, nil
		}
		return wire, nil
	}
}

// Offsets have holes, so an update that comes behind a later one is not missed before: what
// came in its place must be read again, not kept.
func TestUpdateThatComesLateIsNotLost(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 40, 77, 200} {
		u, sink := newUpstream(t, newGenerator(43).elements(300)), newSink()
		for u.elements[n].item == nil {
			n++
		}
		swapOnce(u, n)
		if err := newIngester(t, u, sink, func(c *Config) { c.BatchItems = 50 }).Backfill(testContext(t)); err != nil {
			t.Fatal(err)
		}
		sameLines(t, sink.lines, u.lines(0, u.end))
	}
}

// Where the later one is stored by then, the stream stops: it lacks an update.
func TestUpdateThatComesTooLateStops(t *testing.T) {
	t.Parallel()
	elements := newGenerator(44).elements(300)
	b := &batcher{maxItems: 50, after: schemas.AtOffset(elements[100].offset), through: schemas.AtOffset(elements[100].offset)}
	p := &pipeline{batches: b, seq: &sequence{from: 0, at: elements[100].offset}}
	n := 90
	for elements[n].item == nil {
		n--
	}
	err := p.element(t.Context(), &element{update: elements[n].item.Update, offset: elements[n].offset, size: 1}, nil)
	var stop final
	if !errors.As(err, &stop) || !errors.Is(err, schemas.ErrDiverged) {
		t.Errorf("error %v", err)
	}
}
