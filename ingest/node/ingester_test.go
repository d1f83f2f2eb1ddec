package node

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/remote"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func TestBackfillDeliversTheWholeStream(t *testing.T) {
	t.Parallel()
	elements := newGenerator(1).elements(1500)
	for _, source := range []Source{Auto, WebSocket, Lists, Flats} {
		for _, workers := range []int{1, 4} {
			t.Run(fmt.Sprintf("source %q with %d workers", source, workers), func(t *testing.T) {
				t.Parallel()
				u, sink := newUpstream(t, elements), newSink()
				ing := newIngester(t, u, sink, func(c *Config) { c.Source, c.Workers, c.BatchItems = source, workers, 100 })
				if err := ing.Backfill(testContext(t)); err != nil {
					t.Fatal(err)
				}
				sameLines(t, sink.lines, u.lines(0, u.end))
				if sink.at != schemas.AtOffset(u.end) {
					t.Errorf("the sink is at %s, want offset %d", sink.at, u.end)
				}
				for _, b := range sink.batches {
					if len(b.Items) > 100 {
						t.Errorf("a batch has %d items", len(b.Items))
					}
				}
				s := ing.Status()
				if s.Phase != stream.PhaseCaughtUp || s.Updates != int64(len(sink.lines)) || s.Fraction != 1 || s.Retries != 0 || s.Stream != schemas.NodeStream(participant) {
					t.Errorf("status %+v", s)
				}
			})
		}
	}
}

func TestRequestAsksForEverything(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*Config)
		want   []string
	}{
		"all parties":  {func(*Config) {}, []string{`"filtersForAnyParty":{`, `"includeCreatedEventBlob":true`, `"parties":[]`, `"includeReassignments":`, `"endInclusive":`}},
		"some parties": {func(c *Config) { c.Parties = []string{"alice::1220"} }, []string{`"filtersByParty":{"alice::1220":{`, `"parties":["alice::1220"]`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUpstream(t, newGenerator(2).elements(10))
			if err := newIngester(t, u, newSink(), c.change).Backfill(testContext(t)); err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(u.requests[0], want) {
					t.Errorf("request %s has no %s", u.requests[0], want)
				}
			}
		})
	}
}

func TestResumeAtEveryBatch(t *testing.T) {
	t.Parallel()
	u, whole := newUpstream(t, newGenerator(3).elements(300)), newSink()
	config := func(c *Config) { c.BatchItems = 20 }
	if err := newIngester(t, u, whole, config).Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	for i, b := range whole.batches {
		for _, source := range []Source{WebSocket, Lists} {
			for _, pending := range []bool{false, true} {
				sink := sinkAt(b.After)
				if pending {
					sink.resume.Pending = &schemas.Intent{Sequence: 7, After: b.After, Through: b.Through, Items: len(b.Items), Hash: store.HashBatch(&b)}
				}
				ing := newIngester(t, u, sink, func(c *Config) { c.BatchItems, c.Source = 35, source })
				if err := ing.Backfill(testContext(t)); err != nil {
					t.Fatalf("batch %d, pending %v: %v", i, pending, err)
				}
				sameLines(t, sink.lines, u.lines(max(0, b.After.Offset), u.end))
				if pending && (sink.batches[0].Through != b.Through || sink.batches[0].Hash() != b.Hash()) {
					t.Errorf("batch %d was repeated through %s, want %s", i, sink.batches[0].Through, b.Through)
				}
			}
		}
	}
}

func TestPendingBatchThatDiffersStops(t *testing.T) {
	t.Parallel()
	u, sink := newUpstream(t, newGenerator(4).elements(50)), newSink()
	sink.resume.Pending = &schemas.Intent{After: schemas.Start, Through: schemas.AtOffset(u.elements[20].offset), Items: 3, Hash: "abc"}
	ing := newIngester(t, u, sink, nil)
	checkStopped(t, ing, ing.Backfill(testContext(t)), schemas.ErrDiverged, "but 3 with hash abc were announced")
}

func TestPendingCheckpointIsRepeated(t *testing.T) {
	t.Parallel()
	g := newGenerator(5)
	g.offset = 10
	u, sink := newUpstream(t, []told{g.checkpoint()}), newSink()
	empty := schemas.Batch{}
	sink.resume.Pending = &schemas.Intent{After: schemas.Start, Through: schemas.AtOffset(10), Hash: store.HashBatch(&empty)}
	if err := newIngester(t, u, sink, nil).Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if len(sink.batches) != 1 || sink.at != schemas.AtOffset(10) {
		t.Errorf("%d batches through %s", len(sink.batches), sink.at)
	}
}

// checkStopped makes sure that err is target, says the text and shows in the status.
func checkStopped(t *testing.T, ing *Ingester, err, target error, texts ...string) {
	t.Helper()
	if !errors.Is(err, target) {
		t.Fatalf("error %v, want one that is %v", err, target)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %v does not say %q", err, text)
		}
	}
	if s := ing.Status(); s.Phase != stream.PhaseStopped || s.LastError != err.Error() {
		t.Errorf("status %+v does not show %v", s, err)
	}
}

func TestFollowHandsOverAtOnce(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{WebSocket, Lists} {
		t.Run(string(source), func(t *testing.T) {
			t.Parallel()
			g := newGenerator(6)
			u, sink := newUpstream(t, g.elements(100)), newSink()
			ing := newIngester(t, u, sink, func(c *Config) { c.Source = source })
			stop := running(t, ing)
			sink.await(t, func() bool { return sink.at.Offset >= u.end })
			var slowest time.Duration
			for range 40 {
				g.offset++
				next := g.transaction()
				begin := time.Now()
				u.grow(next)
				sink.await(t, func() bool { return sink.at.Offset >= next.offset })
				slowest = max(slowest, time.Since(begin))
			}
			if err := stop(); !errors.Is(err, errTestOver) {
				t.Errorf("Run ended with %v", err)
			}
			sameLines(t, sink.lines, u.lines(0, u.end))
			t.Logf("the slowest of 40 updates took %s", slowest)
			if slowest > 500*time.Millisecond {
				t.Errorf("an update took %s to the sink", slowest)
			}
			if ing.Status().Reconnects != 0 {
				t.Errorf("%d reconnects", ing.Status().Reconnects)
			}
		})
	}
}

func TestBatchesGrowWhileTheSinkIsSlow(t *testing.T) {
	t.Parallel()
	g := newGenerator(7)
	u, sink := newUpstream(t, g.elements(10)), newSink()
	ing := newIngester(t, u, sink, nil)
	stop := running(t, ing)
	sink.await(t, func() bool { return sink.at.Offset >= u.end })
	release := make(chan struct{})
	var once atomic.Bool
	sink.mu.Lock()
	sink.fail = func(*schemas.Batch) error {
		if once.CompareAndSwap(false, true) {
			<-release
		}
		return nil
	}
	sink.mu.Unlock()
	more := g.elements(500)
	u.grow(more...)
	time.Sleep(50 * time.Millisecond)
	close(release)
	sink.await(t, func() bool { return sink.at.Offset >= u.end })
	_ = stop()
	sameLines(t, sink.lines, u.lines(0, u.end))
	if n := len(sink.batches); n > 60 {
		t.Errorf("%d batches for 500 updates behind a slow sink", n)
	}
}

func TestCheckpointsMoveAQuietStream(t *testing.T) {
	t.Parallel()
	g := newGenerator(8)
	u, sink := newUpstream(t, g.elements(20)), newSink()
	var clock atomic.Int64 // seconds
	now := func() time.Time { return time.Unix(1_800_000_000+clock.Load(), 0) }
	ing := newIngester(t, u, sink, func(c *Config) { c.Now, c.CheckpointEvery = now, 10*time.Second })
	stop := running(t, ing)
	sink.await(t, func() bool { return sink.at.Offset >= u.end })
	commits := len(sink.batches)
	checkpoint := func() int64 { g.offset += 5; u.grow(g.checkpoint()); return g.offset }
	for range 20 {
		checkpoint()
	}
	time.Sleep(50 * time.Millisecond)
	sink.mu.Lock()
	if len(sink.batches) != commits {
		t.Errorf("%d commits without items within the interval", len(sink.batches)-commits)
	}
	sink.mu.Unlock()
	clock.Store(11)
	at := checkpoint()
	sink.await(t, func() bool { return sink.at.Offset == at })
	if got := sink.batches[len(sink.batches)-1]; len(got.Items) != 0 || len(sink.batches) != commits+1 {
		t.Errorf("%d batches, the last with %d items", len(sink.batches)-commits, len(got.Items))
	}
	_ = stop()
}

// A batch of few updates waits for more, unless somebody waits for it.
func TestSmallBatchesWait(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{WebSocket, Lists} {
		t.Run(string(source), func(t *testing.T) {
			t.Parallel()
			g := newGenerator(8)
			u, sink := newUpstream(t, g.elements(20)), newSink()
			hurried := make(chan struct{}, 1)
			stop := running(t, newIngester(t, u, sink, func(c *Config) {
				c.Source, c.MaxWait = source, time.Hour
				c.Hurried = func(string) <-chan struct{} { return hurried }
			}))
			sink.await(t, func() bool { return sink.at.Offset >= u.end })
			grow := func() {
				g.offset++
				u.grow(g.transaction())
			}
			for range 3 {
				grow()
				hurried <- struct{}{}
				sink.await(t, func() bool { return sink.at.Offset >= g.offset })
			}
			sink.mu.Lock()
			before := len(sink.batches)
			sink.mu.Unlock()
			for range stream.MinSize {
				grow()
				time.Sleep(time.Millisecond) // they come one by one
			}
			sink.await(t, func() bool { return sink.at.Offset >= g.offset })
			if n := len(sink.batches) - before; n != 1 {
				t.Errorf("%d updates were written in %d batches, want one", stream.MinSize, n)
			}
			_ = stop()
			sameLines(t, sink.lines, u.lines(0, u.end))
		})
	}
}

// A checkpoint that came too soon after an update to be stored at once is stored later, also
// when nothing comes after it.
func TestTheLastCheckpointIsStored(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{WebSocket, Lists} {
		t.Run(string(source), func(t *testing.T) {
			t.Parallel()
			g := newGenerator(8)
			u, sink := newUpstream(t, g.elements(20)), newSink()
			stop := running(t, newIngester(t, u, sink, func(c *Config) { c.Source, c.CheckpointEvery = source, 200*time.Millisecond }))
			for range 5 {
				u.grow(g.elements(1)...)
				g.offset += 5
				u.grow(g.checkpoint())
				sink.await(t, func() bool { return sink.at.Offset == g.offset })
			}
			_ = stop()
		})
	}
}

func TestSinkFailuresAreRetried(t *testing.T) {
	t.Parallel()
	u, sink := newUpstream(t, newGenerator(14).elements(300)), newSink()
	n := 0
	sink.fail = func(*schemas.Batch) error {
		if n++; n%2 == 1 {
			return errors.New("the store is away")
		}
		return nil
	}
	if err := newIngester(t, u, sink, func(c *Config) { c.BatchItems = 200 }).Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, u.lines(0, u.end))
}

func TestSinkThatNeedsAPersonStops(t *testing.T) {
	t.Parallel()
	u, sink := newUpstream(t, newGenerator(15).elements(300)), newSink()
	sink.fail = func(*schemas.Batch) error { return fmt.Errorf("%w: really", schemas.ErrDamaged) }
	ing := newIngester(t, u, sink, nil)
	checkStopped(t, ing, ing.Backfill(testContext(t)), schemas.ErrDamaged, "really")
}

func TestConditionsThatStop(t *testing.T) {
	t.Parallel()
	elements := newGenerator(16).elements(100)
	middle := elements[50].offset
	for name, c := range map[string]struct {
		change func(u *upstream, c *Config)
		at     schemas.Position
		target error
		texts  []string
	}{
		"pruned behind the position": {
			func(u *upstream, _ *Config) { u.pruned = middle + 1 }, schemas.AtOffset(middle), ErrPruned,
			[]string{fmt.Sprintf("committed up to offset %d", middle), fmt.Sprintf("pruned everything through offset %d", middle+1), "To fix it", "node:" + participant},
		},
		"ledger ends before the position": {
			func(*upstream, *Config) {}, schemas.AtOffset(10_000), schemas.ErrDiverged,
			[]string{"committed up to offset 10000", "restored from an older state"},
		},
		"another participant": {
			func(_ *upstream, c *Config) { c.ParticipantID = "PAR::other::1220" }, schemas.Start, schemas.ErrDiverged,
			[]string{"PAR::other::1220", participant},
		},
		"a position of public history": {
			func(*upstream, *Config) {}, schemas.Position{MigrationID: 1, RecordTime: epoch}, schemas.ErrDiverged,
			[]string{"not a position of a node's stream"},
		},
		"rights denied": {
			func(u *upstream, _ *Config) {
				u.intercept = func(w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path != updatesOperation {
						return false
					}
					refuse(w, http.StatusForbidden, codeDenied, 7, "no rights")
					return true
				}
			}, schemas.Start, ErrDenied, []string{"CanReadAsAnyParty", "no rights"},
		},
		"rights denied in a frame": {
			func(u *upstream, _ *Config) {
				u.frame = func(int, string) (string, error) { return errorFrame(codeDenied, 7, "no rights"), nil }
			}, schemas.Start, ErrDenied, []string{"CanReadAsAnyParty"},
		},
		"request refused in a frame": {
			func(u *upstream, _ *Config) {
				u.frame = func(int, string) (string, error) { return errorFrame("INVALID_FIELD", 8, "what is that"), nil }
			}, schemas.Start, errAny, []string{"INVALID_FIELD", "what is that"},
		},
		"a frame beyond the limit": {
			func(_ *upstream, c *Config) { c.MaxFrameBytes = 600 }, schemas.Start, remote.ErrTooLarge, []string{"larger than the limit"},
		},
		"gives up": {
			func(u *upstream, c *Config) {
				c.GiveUpAfter = 50 * time.Millisecond
				u.intercept = func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(503); return true }
			}, schemas.Start, errAny, []string{"giving up after", "status 503"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUpstream(t, elements)
			ing := newIngester(t, u, sinkAt(c.at), func(cfg *Config) { c.change(u, cfg) })
			err := ing.Backfill(testContext(t))
			if c.target == errAny && err != nil {
				checkStopped(t, ing, err, err, c.texts...)
				return
			}
			checkStopped(t, ing, err, c.target, c.texts...)
		})
	}
}

var errAny = errors.New("any")

func TestPrunedWhileFollowingStops(t *testing.T) {
	t.Parallel()
	g := newGenerator(17)
	u, sink := newUpstream(t, g.elements(50)), newSink()
	var cut atomic.Bool
	u.frame = func(_ int, wire string) (string, error) {
		if cut.Load() {
			return "", errors.New("cut")
		}
		return wire, nil
	}
	ing := newIngester(t, u, sink, nil)
	ctx := testContext(t)
	done := make(chan error)
	go func() { done <- ing.Run(ctx) }()
	sink.await(t, func() bool { return sink.at.Offset >= u.end })
	cut.Store(true)
	more := g.elements(20)
	u.set(func(u *upstream) { u.pruned = more[10].offset })
	u.grow(more...)
	checkStopped(t, ing, <-done, ErrPruned, "To fix it")
}

func TestParticipantThatChangesBetweenSessionsStops(t *testing.T) {
	t.Parallel()
	u, sink := newUpstream(t, newGenerator(18).elements(200)), newSink()
	u.frame = func(n int, wire string) (string, error) {
		if n == 100 {
			u.set(func(u *upstream) { u.participant = "PAR::validator-2::1220cd" })
			return "", errors.New("cut")
		}
		return wire, nil
	}
	ing := newIngester(t, u, sink, nil)
	checkStopped(t, ing, ing.Backfill(testContext(t)), schemas.ErrDiverged, "PAR::validator-2::1220cd")
}
