package scan

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestFollowSeesNewItemsAndANewMigration(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{Events, Updates, UpdatesBefore} {
		t.Run(string(source), func(t *testing.T) {
			t.Parallel()
			first := generate(0, -1, 0, 800)
			u, sink := newUpstream(t, first), newSink()
			ing := newIngester(t, u, sink, func(c *Config) { c.Source, c.Workers = source, 2 })
			ctx, cancel := context.WithCancelCause(testContext(t))
			stop := errors.New("enough")
			ran := make(chan error, 1)
			go func() { ran <- ing.Run(ctx) }()

			arrives := func(what string) {
				t.Helper()
				want := len(u.lines(source))
				until(t, func() bool { return sink.count() == want || remote.Ended(ctx) != nil })
				if got := sink.count(); got != want {
					t.Fatalf("%s: %d items arrived, want %d; status %+v", what, got, want, ing.Status())
				}
			}
			arrives("backfill")
			r := rand.New(rand.NewPCG(9, 9))
			grow := func(m *migration, n int) {
				at := m.items[len(m.items)-1].Position().RecordTime
				for range n {
					at += 1 + schemas.Micros(r.IntN(1e6))
					m.items = append(m.items, item(r, m.id, at))
				}
			}
			for _, n := range []int{1, 3, 2500, 1} {
				u.set(func(*upstream) { grow(first, n) })
				arrives("new items")
			}
			second := generate(1, 0, 1200, 20)
			// Record times may go back at the switch to a new migration.
			second.items = second.items[:0]
			for i := range 20 {
				second.items = append(second.items, item(r, 1, epoch+schemas.Micros(i)))
			}
			u.set(func(u *upstream) {
				grow(first, 2)
				u.migrations = append(u.migrations, second)
			})
			arrives("new migration")
			u.set(func(*upstream) { grow(second, 5) })
			arrives("items of the new migration")
			until(t, func() bool { return ing.Status().Phase == stream.PhaseFollowing })
			if s := ing.Status(); s.Lag != 0 || s.ETA != 0 || s.Fraction != 1 {
				t.Errorf("following has lag %s, eta %s, fraction %v", s.Lag, s.ETA, s.Fraction)
			}
			cancel(stop)
			if err := <-ran; !errors.Is(err, stop) {
				t.Errorf("run ended with %v, want the reason of its context", err)
			}
			sameLines(t, sink.lines, u.lines(source))
		})
	}
}

// A slice that ends short must not be followed by a later one that was asked for after
// more history had come up.
func TestHistoryThatGrowsWhileItIsReadHasNoHoles(t *testing.T) {
	t.Parallel()
	m := generate(0, -1, 0, 3000)
	all := m.items
	m.items = all[:1500:1500]
	u, sink := newUpstream(t, m), newSink()
	u.change = func(operation string, _ *wireRequest, items []schemas.Item) []schemas.Item {
		if operation == eventsOperation { // every answer is followed by new history
			n := min(len(m.items)+40, len(all))
			m.items = all[:n:n]
		}
		return items
	}
	ing := newIngester(t, u, sink, func(c *Config) { c.Source, c.Workers = Events, 8 })
	for len(sink.lines) < len(all) {
		if err := ing.Backfill(testContext(t)); err != nil {
			t.Fatal(err)
		}
		sink.resume.Committed = sink.at
	}
	sameLines(t, sink.lines, u.lines(Events))
}

// An upstream whose history grows faster than it can be read out never answers that there is no
// more. Its end as of now is reached all the same.
func TestBackfillEndsWhileHistoryGrows(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	m := generate(0, -1, 0, 500)
	u, sink := newUpstream(t, m), newSink()
	u.change = func(operation string, _ *wireRequest, items []schemas.Item) []schemas.Item {
		if operation == eventsOperation {
			m.items = append(m.items, item(r, 0, m.items[len(m.items)-1].Position().RecordTime+1))
		}
		return items
	}
	ing := newIngester(t, u, sink, func(c *Config) { c.Source = Events })
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if got := len(sink.lines); got < 500 {
		t.Errorf("%d items arrived of the 500 that were there at the start", got)
	}
	sameLines(t, sink.lines, u.lines(Events)[:len(sink.lines)])
}

// The overview takes several requests, between which a migration may end and another
// begin. What it says of the ended one must be its final state.
func TestOverviewReadDuringASwitchCoversTheEndedMigration(t *testing.T) {
	first, second := generate(0, -1, 0, 50), generate(1, 0, 0, 50)
	whole := first.items
	first.items = whole[:40:40]
	u := newUpstream(t, first)
	asked := 0
	u.intercept = func(_ http.ResponseWriter, _ *http.Request, path string) bool {
		if path == "/api/scan"+migrationInfoOperation {
			if asked++; asked == 2 { // migration 0 has been asked for, 1 has not
				u.set(func(u *upstream) { first.items, u.migrations = whole, []*migration{first, second} })
			}
		}
		return false
	}
	ch, err := readChain(testContext(t), newClient(t, ClientConfig{BaseURL: u.URL + "/api/scan"}), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, to, _ := ch.infos[0].Span(); len(ch.ids) != 2 || to < lastUpdate(first).RecordTime {
		t.Errorf("migrations %v, the first one through %s, want both and %s", ch.ids, to, lastUpdate(first).RecordTime)
	}
}

func TestStatusTellsHowFarTheIngestIs(t *testing.T) {
	t.Parallel()
	m := generate(0, -1, 0, 4000)
	u, sink := newUpstream(t, m), newSink()
	now := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	p := newProgress(func() time.Time { return now })
	if s := p.snapshot(); s.Phase != stream.PhaseStarting || s.ETA >= 0 || s.Position != schemas.Start {
		t.Errorf("status at first is %+v", s)
	}
	client, err := NewClient(ClientConfig{BaseURL: u.URL, Log: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	ch, err := readChain(testContext(t), client, 0)
	if err != nil {
		t.Fatal(err)
	}
	p.Moved(schemas.Start)
	p.overview(ch)
	from, to, _ := ch.infos[0].Span()
	for part := 1; part <= 4; part++ {
		now = now.Add(10 * time.Second)
		at := from + (to-from)/4*schemas.Micros(part)
		if part == 4 {
			at = to
		}
		it := item(rand.New(rand.NewPCG(1, 1)), 0, at)
		b := &schemas.Batch{Through: schemas.Position{RecordTime: at, UpdateID: "x"}, Items: []schemas.Item{it}}
		p.Wrote(stream.Batch{Batch: b, Bytes: 100})
		s := p.snapshot()
		if want := time.Duration(4-part) * 10 * time.Second; (s.ETA - want).Abs() > time.Second {
			t.Errorf("after %d quarters the ETA is %s, want %s", part, s.ETA, want)
		}
		if want := float64(part) / 4; s.Fraction < want-0.01 || s.Fraction > want+0.01 {
			t.Errorf("after %d quarters the fraction is %v", part, s.Fraction)
		}
		if want := time.Duration(to-at) * time.Microsecond; s.Lag != want || s.Bytes != int64(100*part) {
			t.Errorf("after %d quarters the lag is %s with %d bytes, want %s with %d", part, s.Lag, s.Bytes, want, 100*part)
		}
	}
	if s := p.snapshot(); s.Rate < 0.099 || s.Rate > 0.101 {
		t.Errorf("one update in ten seconds gives the rate %v", s.Rate)
	}

	ing := newIngester(t, u, sink, nil)
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	var want Status
	for i := range m.items {
		if it := &m.items[i]; it.Update != nil {
			want.Updates++
			want.Events += int64(len(it.Update.Events))
		}
		if m.items[i].Verdict != nil {
			want.Verdicts++
		}
	}
	s := ing.Status()
	if s.Updates != want.Updates || s.Events != want.Events || s.Verdicts != want.Verdicts || s.Phase != stream.PhaseCaughtUp {
		t.Errorf("status is %+v, want the counts of %+v", s, want)
	}
}
