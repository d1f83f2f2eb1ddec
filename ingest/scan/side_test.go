package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// streams is a sink of several streams that knows the gaps of the main one.
type streams struct {
	mu    sync.Mutex
	sinks map[string]*memorySink
	gaps  []gap
}

func (s *streams) of(stream string) *memorySink {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sinks == nil {
		s.sinks = map[string]*memorySink{}
	}
	if s.sinks[stream] == nil {
		s.sinks[stream] = newSink()
	}
	return s.sinks[stream]
}

func (s *streams) Resume(ctx context.Context, stream string) (schemas.Resume, error) {
	return s.of(stream).Resume(ctx, stream)
}

func (s *streams) Write(ctx context.Context, b *schemas.Batch) error {
	return s.of(b.Stream).Write(ctx, b)
}

// gap is a stretch without verdicts, from after (exclusive) to through.
type gap struct{ after, through schemas.Position }

func (s *streams) NextGap(_ context.Context, position schemas.Position) (after, through schemas.Position, ok bool, err error) {
	for _, g := range s.gaps {
		if position.Before(g.through) {
			return g.after, g.through, true, nil
		}
	}
	return after, through, false, nil
}

// sideLines are what the side stream has to hold of the gaps.
func sideLines(list []*migration, gaps []gap) (lines []string) {
	for _, m := range list {
		for _, it := range m.items {
			p := it.Position()
			if it.Update = nil; it.Verdict != nil && slices.ContainsFunc(gaps, func(g gap) bool { return g.after.Before(p) && !g.through.Before(p) }) {
				lines = append(lines, string(schemas.AppendItem(nil, &it)))
			}
		}
	}
	return lines
}

func TestLateSideDataIsFoundOnceAndInOrder(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2} {
		list := func() []*migration { return []*migration{generate(0, -1, 0, 900), generate(1, 0, 50, 700)} }
		us, urls := newUpstreams(t, n, list)
		m := list()
		gaps := []gap{
			{m[0].items[99].Position(), m[0].items[299].Position()},
			{m[0].items[400].Position(), m[0].items[899].Position()},
			{schemas.Position{MigrationID: 1, RecordTime: schemas.MinMicros, UpdateID: m[1].imports[49].Position().UpdateID}, m[1].items[399].Position()},
		}
		want := sideLines(m, gaps)
		run := func(sink *streams, enough func() bool) {
			ing := newIngesterOf(t, urls, sink, func(c *Config) { c.Gaps, c.Source, c.sidePause = sink, Events, 50*time.Millisecond })
			ctx, cancel := context.WithCancel(testContext(t))
			ran := make(chan error, 1)
			go func() { ran <- ing.Run(ctx) }()
			until(t, enough)
			cancel()
			if err := <-ran; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		whole := &streams{gaps: gaps}
		side := whole.of(SideStream)
		run(whole, func() bool { return side.count() >= len(want) })
		sameLines(t, side.lines, want)
		sameLines(t, whole.of(schemas.ScanStream).lines, us[0].lines(Events))

		// A search that was killed with a batch announced or committed goes on from there.
		done := 0
		for i, b := range side.batches {
			for _, pending := range []bool{false, true} {
				if i%3 != 0 {
					continue
				}
				sink := &streams{gaps: gaps}
				resumed := sink.of(SideStream)
				resumed.at, resumed.resume.Committed = b.After, b.After
				if pending {
					resumed.resume.Pending = &schemas.Intent{After: b.After, Through: b.Through, Items: len(b.Items), Hash: store.HashBatch(&b)}
				}
				run(sink, func() bool { return resumed.count() >= len(want)-done })
				sameLines(t, resumed.lines, want[done:])
			}
			done += len(b.Items)
		}
	}
}

func TestSideDataThatChangedStopsTheSearchOnly(t *testing.T) {
	t.Parallel()
	m := generate(0, -1, 0, 300)
	u := newUpstream(t, m)
	sink := &streams{gaps: []gap{{m.items[9].Position(), m.items[199].Position()}}}
	side := sink.of(SideStream)
	side.resume.Pending = &schemas.Intent{After: schemas.Start, Through: m.items[99].Position(), Items: 3, Hash: "feed"}
	ing := newIngesterOf(t, []string{u.URL}, sink, func(c *Config) { c.Gaps = sink })
	ctx, cancel := context.WithCancel(testContext(t))
	ran := make(chan error, 1)
	go func() { ran <- ing.Run(ctx) }()
	until(t, func() bool { return ing.Status().Side.LastError != "" })
	u.set(func(*upstream) { lengthen(m, 20) })
	until(t, func() bool { return sink.of(schemas.ScanStream).count() == 320 })
	cancel()
	<-ran
	if s := ing.Status().Side; side.count() > 0 || s.Verdicts > 0 {
		t.Errorf("%d verdicts were written, status %s", side.count(), fmt.Sprint(s))
	}
}
