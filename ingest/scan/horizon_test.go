package scan

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// far is the record time of an update that cannot be.
var far = schemas.MicrosOf(time.Date(2036, 7, 1, 0, 0, 0, 0, time.UTC))

// dateFar has pages of history date the item with an update id in 2036, wherever it stands.
func dateFar(id string) func(string, *wireRequest, []schemas.Item) []schemas.Item {
	return func(operation string, _ *wireRequest, items []schemas.Item) []schemas.Item {
		if operation != eventsOperation && operation != updatesOperation {
			return items
		}
		changed := make([]schemas.Item, len(items))
		for i, it := range items {
			if it.Position().UpdateID == id {
				it = dated(it, far)
			}
			changed[i] = it
		}
		return changed
	}
}

func dated(it schemas.Item, at schemas.Micros) schemas.Item {
	if it.Update != nil {
		u := *it.Update
		u.RecordTime, it.Update = at, &u
	}
	if it.Verdict != nil {
		v := *it.Verdict
		v.RecordTime, it.Verdict = at, &v
	}
	return it
}

// lastShown is the last item that a source gives.
func lastShown(m *migration, source Source) int {
	i := len(m.items) - 1
	for source != Events && m.items[i].Update == nil {
		i--
	}
	return i
}

// One update that is dated years ahead must not become the end of the stream: what is good
// below it is stored, the stream says what it waits for, and goes on once that is mended.
func TestAnUpdateFromTheFutureIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{Events, Updates} {
		for name, ahead := range map[string]time.Duration{"by the clock": time.Minute, "by the overview": 0} {
			t.Run(string(source)+" "+name, func(t *testing.T) {
				t.Parallel()
				m := generate(0, -1, 0, 900)
				bad := lastShown(m, source)
				u, sink := newUpstream(t, m), newSink()
				u.change = dateFar(m.items[bad].Position().UpdateID)
				ing := newIngester(t, u, sink, func(c *Config) { c.Source, c.Ahead = source, ahead })
				ctx, cancel := cancelable(t)
				defer cancel(nil)
				ran := make(chan error, 1)
				go func() { ran <- ing.Run(ctx) }()

				good := len(u.lines(source)) - 1
				until(t, func() bool {
					return ing.Status().Phase == stream.PhaseWaiting && sink.count() >= good || remote.Ended(ctx) != nil
				})
				s := ing.Status()
				if got := sink.count(); got != good {
					t.Fatalf("%d items are stored, want the %d before the one from the future; position %s", got, good, s.Position)
				}
				if s.Phase != stream.PhaseWaiting || !strings.Contains(s.Detail, "2036") || s.LastError == "" {
					t.Errorf("the status is %s (%s), last error %q: want waiting, and why", s.Phase, s.Detail, s.LastError)
				}
				u.set(func(u *upstream) { u.change = nil })
				until(t, func() bool { return ing.Status().Phase == stream.PhaseFollowing })
				if got := sink.count(); got != good+1 {
					t.Errorf("after the upstream was mended %d items are stored, want %d", got, good+1)
				}
				sameLines(t, sink.lines, u.lines(source))
				cancel(errors.New("enough"))
				<-ran
			})
		}
	}
}

// An update from the future that is not the last of its page hides what stands behind it in
// the answer, and nothing else.
func TestAnUpdateFromTheFutureAmongOthers(t *testing.T) {
	t.Parallel()
	m := generate(0, -1, 0, 900)
	u, sink := newUpstream(t, m), newSink()
	u.change = dateFar(m.items[700].Position().UpdateID)
	ing := newIngester(t, u, sink, func(c *Config) { c.Source, c.Ahead = Events, time.Minute })
	err := ing.Backfill(testContext(t))
	if err == nil || !strings.Contains(err.Error(), "2036") || schemas.NeedsPerson(err) {
		t.Errorf("a backfill ended with %v, want that an update is dated 2036, which may pass", err)
	}
	if got := sink.count(); got != 700 {
		t.Errorf("%d items are stored, want the 700 before", got)
	}
}

// Where others do not say so, an upstream with an update from the future is passed over.
func TestOneOfSeveralUpstreamsIsFromTheFuture(t *testing.T) {
	t.Parallel()
	list, urls := newUpstreams(t, 2, func() []*migration { return []*migration{generate(0, -1, 0, 900)} })
	m := list[0].migrations[0]
	list[0].change = dateFar(m.items[len(m.items)-1].Position().UpdateID)
	sink := newSink()
	ing := newIngesterOf(t, urls, sink, func(c *Config) { c.Source, c.Ahead = Events, time.Minute })
	ctx, cancel := cancelable(t)
	defer cancel(nil)
	ran := make(chan error, 1)
	go func() { ran <- ing.Run(ctx) }()
	until(t, func() bool { return ing.Status().Phase == stream.PhaseFollowing || remote.Ended(ctx) != nil })
	sameLines(t, sink.lines, list[1].lines(Events))
	cancel(errors.New("enough"))
	<-ran
}

// An update that is dated before history began would be followed by a gap of years.
func TestFirstUpdateFromThePast(t *testing.T) {
	t.Parallel()
	m := generate(0, -1, 0, 300)
	first := slices.IndexFunc(m.items, func(it schemas.Item) bool { return it.Update != nil })
	m.items = m.items[first:]
	u, sink := newUpstream(t, m), newSink()
	old, id := schemas.MicrosOf(time.Date(1999, 7, 1, 0, 0, 0, 0, time.UTC)), m.items[0].Position().UpdateID
	u.change = func(operation string, _ *wireRequest, items []schemas.Item) []schemas.Item {
		if len(items) > 0 && items[0].Position().UpdateID == id {
			items = append([]schemas.Item{dated(items[0], old)}, items[1:]...)
		}
		return items
	}
	ing := newIngester(t, u, sink, func(c *Config) { c.Source = Events })
	err := ing.Backfill(testContext(t))
	if err == nil || !strings.Contains(err.Error(), "1999") || sink.count() != 0 {
		t.Errorf("a backfill ended with %v and %d items, want none, because one is dated 1999", err, sink.count())
	}
}

// The overview may be as wrong as the history: then the clock alone tells.
func TestOverviewFromTheFuture(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{Events, Updates, UpdatesBefore} {
		m := generate(0, -1, 0, 300)
		i := len(m.items) - 1
		for m.items[i].Update == nil {
			i--
		}
		m.items = m.items[:i+1]
		m.items[i] = dated(m.items[i], far)
		u, sink := newUpstream(t, m), newSink()
		ing := newIngester(t, u, sink, func(c *Config) { c.Source, c.Ahead = source, time.Minute })
		err := ing.Backfill(testContext(t))
		if err == nil || !strings.Contains(err.Error(), "2036") {
			t.Errorf("%s: a backfill ended with %v, want that history goes through 2036", source, err)
		}
		if got, want := sink.count(), len(u.lines(source))-1; got != want {
			t.Errorf("%s: %d items are stored, want %d", source, got, want)
		}
	}
}

func cancelable(t *testing.T) (context.Context, context.CancelCauseFunc) {
	return context.WithCancelCause(testContext(t))
}
