package scan

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// at gives a migration items at the given record times, counted from the epoch.
func at(id, previous int64, imports int, times ...schemas.Micros) *migration {
	r := rand.New(rand.NewPCG(uint64(id), 77))
	m := generate(id, previous, imports, 0)
	for _, t := range times {
		it := item(r, id, epoch+t)
		for it.Update == nil || it.Update.Kind != schemas.Transaction {
			it = item(r, id, epoch+t)
		}
		m.items = append(m.items, it)
	}
	return m
}

func TestBranchesOfTheBackfill(t *testing.T) {
	t.Parallel()
	second := schemas.Micros(time.Second / time.Microsecond)
	equal := func() []*migration {
		m := withTies(200, 3, 9, 50, 120, 198)
		m.items[0].Update.SynchronizerID = synchronizerB
		return []*migration{m}
	}
	for name, make := range map[string]func() []*migration{
		"founding: migration 0 without imports and predecessor": func() []*migration {
			return []*migration{at(0, -1, 0, 1, 2, 3)}
		},
		"one update in all": func() []*migration { return []*migration{at(0, -1, 0, 1)} },
		"history that begins with a later migration": func() []*migration {
			return []*migration{at(3, -1, 30, 1, 2, 3)}
		},
		"migrations that overlap in record time": func() []*migration {
			return []*migration{at(0, -1, 0, 1, 2*second, 10*second), at(1, 0, 12, 0, 1, second, 11*second), at(2, 1, 3, 0, 10*second, 12*second)}
		},
		"equal record times in two migrations": func() []*migration {
			return []*migration{at(0, -1, 0, 1, 5), at(1, 0, 2, 5, 6)}
		},
		"a later migration whose history lies before the earlier one's": func() []*migration {
			return []*migration{at(0, -1, 0, 100*second, 200*second), at(1, 0, 2, 1*second, 2*second)}
		},
		"migrations without import updates": func() []*migration {
			return []*migration{at(0, -1, 0, 1, 2), at(1, 0, 0, 3, 4), at(2, 1, 5, 5, 6), at(3, 2, 0, 7)}
		},
		"a migration with import updates only": func() []*migration {
			return []*migration{at(0, -1, 0, 1, 2), at(1, 0, 40)}
		},
		"an empty migration in between": func() []*migration {
			return []*migration{at(0, -1, 0, 1, 2), at(1, 0, 7), at(2, 1, 7, 5, 6)}
		},
		"ids with a hole": func() []*migration {
			return []*migration{at(1, -1, 0, 1, 2), at(3, 1, 4, 5, 6)}
		},
		"equal record times on two synchronizers": equal,
	} {
		for _, source := range []Source{Events, Updates, UpdatesBefore} {
			for _, several := range []bool{false, true} {
				t.Run(name+" by "+string(source), func(t *testing.T) {
					t.Parallel()
					u, sink := newUpstream(t, make()...), newSink()
					u.pageLimit = 40
					urls, agree := []string{u.URL}, 1
					if several {
						urls, agree = append(urls, newUpstream(t, make()...).URL), 2
					}
					ing := newIngesterOf(t, urls, sink, func(c *Config) { c.Source, c.Agree = source, agree })
					if err := ing.Backfill(testContext(t)); err != nil {
						t.Fatal(err)
					}
					sameLines(t, sink.lines, u.lines(source))
				})
			}
		}
	}
}

// Two synchronizers of one migration with ranges that overlap in part, follow on each
// other, or lie far apart.
func TestRangesOfTwoSynchronizers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 2))
	for name, second := range map[string]int{"overlapping": 300, "one after the other": 600, "far apart": 5000, "within": 50} {
		m := &migration{previous: -1}
		add := func(synchronizer string, from, n int) {
			for i := range n {
				it := item(r, 0, epoch+schemas.Micros(1000*(from+i)))
				for it.Update == nil || it.Update.Kind != schemas.Transaction {
					it = item(r, 0, epoch+schemas.Micros(1000*(from+i)))
				}
				it.Update.SynchronizerID, it.Verdict.SynchronizerID = synchronizer, synchronizer
				m.items = append(m.items, it)
			}
		}
		add(synchronizerA, 0, 600)
		add(synchronizerB, second, 100)
		sortItems(m)
		for _, source := range []Source{Events, Updates, UpdatesBefore} {
			t.Run(name+" by "+string(source), func(t *testing.T) {
				t.Parallel()
				u, sink := newUpstream(t, m), newSink()
				u.pageLimit = 64
				if err := newIngester(t, u, sink, func(c *Config) { c.Source = source }).Backfill(testContext(t)); err != nil {
					t.Fatal(err)
				}
				sameLines(t, sink.lines, u.lines(source))
			})
		}
	}
}

// Of an upstream without data for the migration, migration-info says 404.
func TestUpstreamWithoutDataYetIsWaitedFor(t *testing.T) {
	t.Parallel()
	m := generate(2, 1, 10, 100)
	first := generate(1, -1, 0, 50)
	u, sink := newUpstream(t), newSink()
	ing := newIngester(t, u, sink, func(c *Config) { c.Source = Events })
	go func() {
		until(t, func() bool { return strings.Contains(ing.Status().Detail, "no history yet") })
		u.set(func(u *upstream) { u.incomplete, u.migrations = true, []*migration{m} }) // names migration 1, of which there is nothing
		until(t, func() bool { return strings.Contains(ing.Status().Detail, "still loading its own history") })
		u.set(func(u *upstream) { u.incomplete, u.migrations = false, []*migration{first, m} })
	}()
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, u.lines(Events))
}

// follows runs an ingest of u until it has all and gives back how to end it.
func follows(t *testing.T, ing *Ingester, sink *memorySink, u *upstream) (end func() error, ended <-chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithCancel(testContext(t))
	ran, done := make(chan error, 1), make(chan struct{})
	go func() {
		ran <- ing.Run(ctx)
		close(done)
	}()
	all := len(u.lines(Events))
	until(t, func() bool {
		return sink.count() == all && ing.Status().Phase == stream.PhaseFollowing
	})
	return func() error { cancel(); return <-ran }, done
}

func TestUpstreamThatRestartsWithLessIsWaitedFor(t *testing.T) {
	t.Parallel()
	m := generate(0, -1, 0, 400)
	m.items = append(m.items, generate(1, -1, 0, 1).items...)[:400]
	whole := m.items
	u, sink := newUpstream(t, m), newSink()
	ing := newIngester(t, u, sink, nil)
	end, _ := follows(t, ing, sink, u)
	for _, less := range []int{100, 0, 399} {
		u.set(func(u *upstream) {
			m.items = whole[:less:less]
			if u.migrations = []*migration{m}; less == 0 {
				u.migrations = nil
			}
		})
		if less < 399 {
			until(t, func() bool { return ing.Status().Upstreams[0].State == UpstreamBehind })
		}
		time.Sleep(30 * time.Millisecond)
		if n := sink.count(); n != 400 {
			t.Fatalf("%d items after the upstream lost some, want 400", n)
		}
	}
	u.set(func(u *upstream) { m.items = whole; lengthen(m, 30) })
	until(t, func() bool { return sink.count() == 430 })
	if err := end(); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	sameLines(t, sink.lines, u.lines(Events))
}

func TestRewrittenHistoryIsNoticed(t *testing.T) {
	t.Parallel()
	for name, rewrite := range map[string]func(m *migration){
		"other history that goes further": func(m *migration) {
			other := generate(0, -1, 0, 401)
			m.items = other.items
			lengthen(m, 200)
		},
		"the last update changed": func(m *migration) {
			for i := len(m.items) - 1; ; i-- {
				if m.items[i].Update != nil {
					u := *m.items[i].Update
					u.WorkflowID = "another"
					m.items[i].Update = &u
					return
				}
			}
		},
		"the last update is gone": func(m *migration) {
			for m.items[len(m.items)-1].Update == nil {
				m.items = m.items[:len(m.items)-1]
			}
			last := m.items[len(m.items)-1]
			m.items = m.items[:len(m.items)-1]
			r := rand.New(rand.NewPCG(8, 8))
			for i := range 30 {
				m.items = append(m.items, item(r, 0, last.Position().RecordTime+schemas.Micros(1000*(i+1))))
			}
		},
	} {
		for _, source := range []Source{Events, Updates, UpdatesBefore} {
			t.Run(name+" by "+string(source), func(t *testing.T) {
				t.Parallel()
				m := generate(0, -1, 0, 400)
				u, sink := newUpstream(t, m), newSink()
				ing := newIngester(t, u, sink, func(c *Config) { c.Source = source })
				if err := ing.Backfill(testContext(t)); err != nil {
					t.Fatal(err)
				}
				before := sink.count()
				u.set(func(*upstream) { rewrite(m) })
				if source == UpdatesBefore {
					// It is compared when the upstream was away, and now and then.
					ing.view.lead.mu.Lock()
					ing.view.lead.failingSince = time.Now()
					ing.view.lead.mu.Unlock()
				}
				ing.view.chain = nil
				_, err := ing.step(testContext(t))
				if !errors.Is(err, schemas.ErrDiverged) || sink.count() != before {
					t.Errorf("got %v and %d more items, want diverged history and none", err, sink.count()-before)
				}
			})
		}
	}
}

// A stream that is resumed knows the place of its last update only.
func TestResumedStreamNoticesAnotherHistory(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{Updates, UpdatesBefore} {
		u, sink := newUpstream(t, generate(0, -1, 0, 600)), newSink()
		other := generate(0, -1, 0, 599).items[100]
		for other.Update == nil {
			other = item(rand.New(rand.NewPCG(1, 9)), 0, other.Position().RecordTime)
		}
		sink.at = other.Position()
		sink.resume.Committed = sink.at
		err := newIngester(t, u, sink, func(c *Config) { c.Source = source }).Backfill(testContext(t))
		if !errors.Is(err, schemas.ErrDiverged) || sink.items > 0 {
			t.Errorf("by %s: got %v with %d items, want diverged history", source, err, sink.items)
		}
	}
}

// One of several upstreams that turns into another network's is left out.
func TestDivergedUpstreamIsLeftOutWhileOthersAreGood(t *testing.T) {
	t.Parallel()
	list, urls := newUpstreams(t, 2, func() []*migration { return []*migration{generate(0, -1, 0, 400)} })
	sink := newSink()
	ing := newIngesterOf(t, urls, sink, nil)
	ctx, cancel := context.WithCancel(testContext(t))
	ran := make(chan error, 1)
	go func() { ran <- ing.Run(ctx) }()
	until(t, func() bool { return ing.Status().Phase == stream.PhaseFollowing })
	list[0].set(func(u *upstream) { u.migrations = []*migration{generate(0, -1, 0, 90)} }) // its end goes back
	until(t, func() bool { return upstreamStatus(t, ing, urls[0]).State == UpstreamBehind })
	list[0].set(func(u *upstream) { u.migrations = []*migration{generate(0, -1, 0, 700)} })
	until(t, func() bool { return upstreamStatus(t, ing, urls[0]).State == UpstreamDiverged })
	list[1].set(func(u *upstream) { lengthen(u.migrations[0], 40) })
	until(t, func() bool { return sink.count() == 440 })
	cancel()
	if err := <-ran; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	sameLines(t, sink.lines, list[1].lines(Events))
}
