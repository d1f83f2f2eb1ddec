package node

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
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
	at := schemas.AtOffset(elements[100].offset)
	b := &batcher{Batcher: stream.Batcher{MaxItems: 50, After: at}, pendingTimes: map[string]schemas.Micros{}, through: at}
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

// stoppedSink keeps why streams were stopped.
type stoppedSink struct {
	*memorySink
	reasons []string
}

func (s *stoppedSink) Stop(_ context.Context, stream, reason string) error {
	s.reasons = append(s.reasons, stream+" "+reason)
	return nil
}

// After a restart nothing would show that the stream lacks an update: its sink is told.
func TestSinkIsToldOfAnUpdateThatCameTooLate(t *testing.T) {
	t.Parallel()
	const late = 60 // places behind its own
	u, sink := newUpstream(t, newGenerator(45).elements(300)), &stoppedSink{memorySink: newSink()}
	n := 40
	for u.elements[n].item == nil {
		n++
	}
	u.frame = func(at int, wire string) (string, error) {
		switch {
		case at >= n && at < n+late:
			return u.elements[at+1].wire, nil
		case at == n+late:
			return u.elements[n].wire, nil
		}
		return wire, nil
	}
	err := newIngester(t, u, sink, func(c *Config) { c.BatchItems = 10 }).Backfill(testContext(t))
	if !errors.Is(err, errLate) || !schemas.NeedsPerson(err) {
		t.Fatalf("error %v", err)
	}
	if len(sink.reasons) != 1 || !strings.HasPrefix(sink.reasons[0], "node:") || !strings.Contains(sink.reasons[0], "drop the rows of the stream") {
		t.Errorf("the sink was told %q", sink.reasons)
	}
}

// Other reasons to stop show again by themselves.
func TestSinkIsNotToldOfOtherFailures(t *testing.T) {
	t.Parallel()
	u, sink := newUpstream(t, newGenerator(46).elements(50)), &stoppedSink{memorySink: newSink()}
	sink.fail = func(*schemas.Batch) error { return schemas.ErrDiverged }
	if err := newIngester(t, u, sink, nil).Backfill(testContext(t)); !errors.Is(err, schemas.ErrDiverged) || len(sink.reasons) > 0 {
		t.Errorf("error %v, told %q", err, sink.reasons)
	}
}
