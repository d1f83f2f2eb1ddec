package scan

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestSeveralUpstreamsShareTheWork(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{Events, Updates, UpdatesBefore} {
		t.Run(string(source), func(t *testing.T) {
			t.Parallel()
			list, urls := newUpstreams(t, 3, func() []*migration {
				return []*migration{generate(0, -1, 0, 1500), generate(1, 0, 400, 1500)}
			})
			sink := newSink()
			var asked []*atomic.Int64
			for _, u := range list {
				u.pageLimit = 50
				asked = append(asked, u.pages())
			}
			ing := newIngesterOf(t, urls, sink, func(c *Config) { c.Source, c.Workers = source, 6 })
			if err := ing.Backfill(testContext(t)); err != nil {
				t.Fatal(err)
			}
			sameLines(t, sink.lines, list[0].lines(source))
			for i, n := range asked {
				if s := upstreamStatus(t, ing, urls[i]); n.Load() < 5 || s.State != UpstreamUp || s.Requests < n.Load() || !s.Complete || s.LastError != "" {
					t.Errorf("upstream %d got %d pages to give, status %+v", i, n.Load(), s)
				}
			}
		})
	}
}

func TestDeadUpstreamsHoldNobodyUp(t *testing.T) {
	t.Parallel()
	for name, dead := range map[string]func(testing.TB) string{"refuses connections": deadURL, "never answers": silentURL} {
		for _, first := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, first %v", name, first), func(t *testing.T) {
				t.Parallel()
				u, sink := newUpstream(t, world()...), newSink()
				gone := dead(t)
				urls := []string{u.URL, strings.Replace(gone, "//", "//user:secret@", 1)}
				if first {
					slices.Reverse(urls)
				}
				ing := newIngesterOf(t, urls, sink, nil)
				begin := time.Now()
				if err := ing.Backfill(testContext(t)); err != nil {
					t.Fatal(err)
				}
				sameLines(t, sink.lines, u.lines(Events))
				if took := time.Since(begin); took > 30*time.Second { // one request without a stall timeout takes a minute
					t.Errorf("took %s", took)
				}
				if s := upstreamStatus(t, ing, gone); name == "refuses connections" && (s.State != UpstreamFailing || s.FailingSince.IsZero() || s.LastError == "") {
					t.Errorf("status of the dead one is %+v", s)
				}
				if text := fmt.Sprintf("%+v", ing.Status()); strings.Contains(text, "secret") {
					t.Errorf("status %s has a password", text)
				}
			})
		}
	}
}

func TestUpstreamThatStopsAnsweringMidwayIsLeftAlone(t *testing.T) {
	t.Parallel()
	list, urls := newUpstreams(t, 2, func() []*migration { return []*migration{generate(0, -1, 0, 3000)} })
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	var given atomic.Int64
	list[0].intercept = func(_ http.ResponseWriter, r *http.Request, path string) bool {
		if path != "/api/scan"+eventsOperation || given.Add(1) <= 3 {
			return false
		}
		select {
		case <-hang:
		case <-r.Context().Done():
		}
		return true
	}
	list[0].pageLimit, list[1].pageLimit = 75, 75
	sink := newSink()
	ing := newIngesterOf(t, urls, sink, nil)
	begin := time.Now()
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, list[1].lines(Events))
	if took := time.Since(begin); took > 30*time.Second { // one request without a stall timeout takes a minute
		t.Errorf("took %s with one upstream that hangs", took)
	}
}

func TestUpstreamThatComesBackIsUsedAgain(t *testing.T) {
	t.Parallel()
	list, urls := newUpstreams(t, 2, func() []*migration { return []*migration{generate(0, -1, 0, 300)} })
	var away atomic.Bool
	list[0].intercept = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
		if away.Load() {
			refuse(w, http.StatusBadGateway, "gone fishing")
		}
		return away.Load()
	}
	sink := newSink()
	ing := newIngesterOf(t, urls, sink, nil)
	ctx, cancel := context.WithCancel(testContext(t))
	ran := make(chan error, 1)
	go func() { ran <- ing.Run(ctx) }()
	until(t, func() bool { return sink.count() == 300 })
	away.Store(true)
	until(t, func() bool { return upstreamStatus(t, ing, urls[0]).State == UpstreamFailing })
	until(t, func() bool { return ing.Status().Phase == stream.PhaseFollowing })
	grow := func(n int) {
		for _, u := range list {
			u.set(func(u *upstream) { lengthen(u.migrations[0], n) })
		}
	}
	grow(50)
	until(t, func() bool { return sink.count() == 350 })
	away.Store(false)
	until(t, func() bool { return upstreamStatus(t, ing, urls[0]).State == UpstreamUp })
	before := upstreamStatus(t, ing, urls[0]).Requests
	grow(50)
	until(t, func() bool { return sink.count() == 400 && upstreamStatus(t, ing, urls[0]).Requests > before })
	cancel()
	if err := <-ran; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	sameLines(t, sink.lines, list[0].lines(Events))
}

func TestPeerThatKnowsLessIsNotBelieved(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{Events, Updates, UpdatesBefore} {
		for name, less := range map[string]func(u *upstream){
			"ends earlier":               func(u *upstream) { u.migrations[1].items = u.migrations[1].items[:200] },
			"lacks the last migration":   func(u *upstream) { u.migrations = u.migrations[:1] },
			"is still loading":           func(u *upstream) { u.incomplete, u.migrations[0].items = true, u.migrations[0].items[400:] },
			"is still loading imports":   func(u *upstream) { u.importsLoading, u.migrations[1].imports = true, u.migrations[1].imports[100:] },
			"has no history at all":      func(u *upstream) { u.migrations = nil },
			"gives pages that end early": func(u *upstream) { holdBack(u, u.migrations[0].items[300].Position().RecordTime, 1<<40) },
		} {
			t.Run(string(source)+" "+name, func(t *testing.T) {
				t.Parallel()
				list, urls := newUpstreams(t, 2, func() []*migration { return []*migration{generate(0, -1, 0, 600), generate(1, 0, 200, 400)} })
				less(list[0])
				sink := newSink()
				ing := newIngesterOf(t, urls, sink, func(c *Config) { c.Source = source })
				if err := ing.Backfill(testContext(t)); err != nil {
					t.Fatal(err)
				}
				sameLines(t, sink.lines, list[1].lines(source))
			})
		}
	}
}

func TestStatusTellsUpstreamsApart(t *testing.T) {
	t.Parallel()
	list, urls := newUpstreams(t, 4, func() []*migration { return []*migration{generate(0, -1, 0, 600)} })
	list[1].migrations[0].items = list[1].migrations[0].items[:50]
	list[2].incomplete = true
	list[2].migrations[0].items = list[2].migrations[0].items[500:]
	list[3].intercept = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
		w.Header().Set("Retry-After", "100")
		refuse(w, http.StatusTooManyRequests, "slow down")
		return true
	}
	sink := newSink()
	ing := newIngesterOf(t, urls, sink, func(c *Config) { c.Refresh = 10 * time.Millisecond })
	ctx, cancel := context.WithCancel(testContext(t))
	ran := make(chan error, 1)
	go func() { ran <- ing.Run(ctx) }()
	want := []UpstreamState{UpstreamUp, UpstreamBehind, UpstreamLoading, UpstreamResting}
	until(t, func() bool {
		got := ing.Status().Upstreams
		for i, state := range want {
			if got[i].State != state || got[i].RetryAt.IsZero() != (i != 3) {
				return false
			}
		}
		return true
	})
	for i, s := range ing.Status().Upstreams {
		if s.State != want[i] || (s.Lag > 0) != (i == 1) || s.RetryAt.IsZero() != (i != 3) {
			t.Errorf("upstream %d: %+v", i, s)
		}
	}
	cancel()
	<-ran
}

func TestBusyUpstreamIsLeftInPeace(t *testing.T) {
	t.Parallel()
	list, urls := newUpstreams(t, 2, func() []*migration { return []*migration{generate(0, -1, 0, 3000)} })
	var asked atomic.Int64
	list[0].intercept = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
		asked.Add(1)
		w.Header().Set("Retry-After", "100")
		refuse(w, http.StatusTooManyRequests, "slow down")
		return true
	}
	sink := newSink()
	ing := newIngesterOf(t, urls, sink, nil)
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, list[1].lines(Events))
	// The probe for events and the overview may be on their way at the same time.
	if n := asked.Load(); n > 4 {
		t.Errorf("it was asked %d times", n)
	}
}

func TestEachUpstreamHasItsOwnRate(t *testing.T) {
	t.Parallel()
	list, urls := newUpstreams(t, 2, func() []*migration { return []*migration{generate(0, -1, 0, 1000)} })
	for _, u := range list {
		u.pageLimit = 10 // a hundred pages
	}
	sink := newSink()
	ing := newIngesterOf(t, urls, sink, func(c *Config) { c.Source, c.RequestsPerSecond, c.Refresh = Updates, 25, time.Minute })
	begin := time.Now()
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin).Seconds()
	for _, s := range ing.Status().Upstreams {
		if allowed := 25 + 25*took; float64(s.Requests) > allowed+1 {
			t.Errorf("%s got %d requests in %.1fs", s.URL, s.Requests, took)
		}
	}
	if all := float64(ing.Status().Upstreams[0].Requests + ing.Status().Upstreams[1].Requests); all < 25+25*took {
		t.Errorf("%v requests in %.1fs make use of one upstream only", all, took)
	}
}

// A batch is announced with the hash of its content. Verdicts differ between upstreams,
// so it must come from one of them and be found there again.
func TestAnnouncedBatchIsFoundAgainAmongUpstreams(t *testing.T) {
	t.Parallel()
	a, b := newUpstream(t, generate(0, -1, 0, 1600)), newUpstream(t, skewed(generate(0, -1, 0, 1600), 3))
	a.pageLimit, b.pageLimit = 50, 50
	urls := []string{a.URL, b.URL}
	config := func(c *Config) { c.Source, c.BatchItems, c.Workers = Events, 200, 8 }
	whole := newSink()
	if err := newIngesterOf(t, urls, whole, config).Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	from := map[bool]int{}
	as, bs := a.lines(Events), b.lines(Events)
	for i, line := range whole.lines {
		if line != as[i] && line != bs[i] {
			t.Fatalf("item %d is of neither upstream", i)
		}
		if as[i] != bs[i] {
			from[line == as[i]]++
		}
	}
	if len(from) != 2 {
		t.Errorf("items came from one upstream only: %v", from)
	}
	for i, batch := range whole.batches {
		if i%7 != 0 {
			continue
		}
		sink := newSink()
		sink.at = batch.After
		sink.resume = schemas.Resume{Committed: batch.After, Pending: &schemas.Intent{After: batch.After, Through: batch.Through, Items: len(batch.Items), Hash: store.HashBatch(&batch)}}
		if err := newIngesterOf(t, urls, sink, config).Backfill(testContext(t)); err != nil {
			t.Fatalf("pending through %s: %v", batch.Through, err)
		}
		if first := sink.batches[0]; first.Through != batch.Through || first.Hash() != batch.Hash() || sink.at != whole.at {
			t.Fatalf("the first batch is through %s, the last through %s", first.Through, sink.at)
		}
	}
	sink := newSink()
	sink.resume.Pending = &schemas.Intent{After: schemas.Start, Through: whole.batches[0].Through, Items: 1, Hash: "feed"}
	if err := newIngesterOf(t, urls, sink, config).Backfill(testContext(t)); !errors.Is(err, schemas.ErrDiverged) || sink.items > 0 {
		t.Errorf("got %v with %d items for a batch that nobody has", err, sink.items)
	}
}

func TestAllUpstreamsOfNoUseStop(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{http.StatusForbidden: "status 403", http.StatusNotFound: "status 404"} {
		list, urls := newUpstreams(t, 2, func() []*migration { return []*migration{generate(0, -1, 0, 50)} })
		for _, u := range list {
			u.intercept = func(w http.ResponseWriter, _ *http.Request, path string) bool {
				if path != "/api/scan"+eventsOperation {
					return false
				}
				refuse(w, status, "because I say so")
				return true
			}
		}
		ing := newIngesterOf(t, urls, newSink(), func(c *Config) { c.Source = Events })
		checkStopped(t, ing, ing.Backfill(testContext(t)), want)
	}
}

func TestUpstreamWithoutTheOperationIsNoUseForIt(t *testing.T) {
	t.Parallel()
	list, urls := newUpstreams(t, 2, func() []*migration { return []*migration{generate(0, -1, 0, 2500)} })
	list[0].unsupported[eventsOperation] = true
	sink := newSink()
	ing := newIngesterOf(t, urls, sink, nil)
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, list[1].lines(Events))
	if s := ing.Status(); s.Source != Events {
		t.Errorf("history was read by %q", s.Source)
	}
}

func TestMalformedAnswersOfOneUpstreamAreMadeUpForByTheOther(t *testing.T) {
	t.Parallel()
	list, urls := newUpstreams(t, 2, func() []*migration { return []*migration{generate(0, -1, 0, 2500)} })
	spoil(list[0], 1<<40, func(w http.ResponseWriter, answer []byte) { w.Write(answer[:len(answer)/2]) })
	sink := newSink()
	ing := newIngesterOf(t, urls, sink, nil)
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, list[1].lines(Events))
}

// An upstream that stands still while others go on must not decide where history ends.
func TestStaleTailOfOneUpstreamHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	list, urls := newUpstreams(t, 2, func() []*migration { return []*migration{generate(0, -1, 0, 500)} })
	list[0].migrations[0].items = list[0].migrations[0].items[:500:500]
	sink := newSink()
	ing := newIngesterOf(t, urls, sink, func(c *Config) { c.Refresh = time.Minute }) // nothing but its answers tells
	ctx, cancel := context.WithCancel(testContext(t))
	ran := make(chan error, 1)
	go func() { ran <- ing.Run(ctx) }()
	until(t, func() bool { return ing.Status().Phase == stream.PhaseFollowing })
	for n := 1; n <= 20; n++ {
		list[1].set(func(u *upstream) { lengthen(u.migrations[0], 3) })
		want := len(list[1].lines(Events))
		until(t, func() bool { return sink.count() == want }) // which waits for less than a refresh takes
	}
	cancel()
	<-ran
	sameLines(t, sink.lines, list[1].lines(Events))
}

func TestSeveralUpstreamsAreConfiguredSensibly(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"too many to agree": func(c *Config) { c.Agree = 3 },
		"less than one":     func(c *Config) { c.Agree = -1 },
		"of something else": func(c *Config) { c.AgreeOn = "everything" },
		"one twice":         func(c *Config) { c.Peers = []string{"http://user@127.0.0.1:1/api/scan/"} },
		"no address":        func(c *Config) { c.Peers = []string{""} },
	} {
		cfg := Config{BaseURL: "http://127.0.0.1:1", Peers: []string{"http://127.0.0.1:2"}, Settings: stream.Settings{Sink: newSink(), Log: testLog(t)}}
		change(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Synchronizers come in independently of each other, and updates-before does not say
// that one of them has more to come.
func TestPeerThatLacksTheEndOfOneSynchronizerIsNotAskedForIt(t *testing.T) {
	t.Parallel()
	whole := func() []*migration { return []*migration{withTies(600, 100, 200, 300)} }
	sample := func(m *migration) { // every fifth is of the second synchronizer
		for i := range m.items {
			if i%5 == 0 {
				m.items[i].Update.SynchronizerID = synchronizerB
			}
		}
	}
	list, urls := newUpstreams(t, 2, whole)
	for _, u := range list {
		sample(u.migrations[0])
		u.pageLimit = 50
	}
	m := list[0].migrations[0]
	m.items = slices.DeleteFunc(slices.Clone(m.items), func(it schemas.Item) bool {
		return it.Update.SynchronizerID == synchronizerB && it.Position().RecordTime > m.items[300].Position().RecordTime
	})
	for range 3 {
		sink := newSink()
		ing := newIngesterOf(t, urls, sink, func(c *Config) { c.Source, c.Refresh = UpdatesBefore, time.Minute })
		if err := ing.Backfill(testContext(t)); err != nil {
			t.Fatal(err)
		}
		sameLines(t, sink.lines, list[1].lines(UpdatesBefore))
	}
}
