package scan

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// ledger keeps disagreements.
type ledger struct {
	mu   sync.Mutex
	list []Disagreement
}

func (l *ledger) Disagreed(_ context.Context, d Disagreement) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, d)
	return nil
}

// history is the same for all upstreams that are given it; its last item is an update.
func history() []*migration {
	list := []*migration{generate(0, -1, 0, 600), generate(1, 0, 200, 400)}
	last := list[1]
	for last.items[len(last.items)-1].Update == nil {
		last.items = last.items[:len(last.items)-1]
	}
	return list
}

func TestHonestUpstreamsAgree(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{Events, Updates, UpdatesBefore} {
		for _, on := range []AgreeOn{AgreeOnUpdates, AgreeOnEvents} {
			t.Run(fmt.Sprintf("%s on %s", source, on), func(t *testing.T) {
				t.Parallel()
				list, urls := newUpstreams(t, 3, history)
				for i, limit := range []int{100, 1000, 37} {
					list[i].pageLimit = limit
				}
				sink, found := newSink(), &ledger{}
				ing := newIngesterOf(t, urls, sink, func(c *Config) {
					c.Source, c.Agree, c.AgreeOn, c.Disagreements = source, 3, on, found
				})
				if err := ing.Backfill(testContext(t)); err != nil {
					t.Fatal(err)
				}
				sameLines(t, sink.lines, list[0].lines(source))
				if len(found.list) > 0 || len(ing.Status().Disagreements) > 0 {
					t.Errorf("disagreements were found: %v", found.list)
				}
			})
		}
	}
}

// lies are what an upstream may do to the items of an answer so that it still follows
// the interface. Each is about the item that stands at the given position.
var lies = map[string]func(items []schemas.Item, i int) []schemas.Item{
	"skips an update": func(items []schemas.Item, i int) []schemas.Item { return slices.Delete(items, i, i+1) },
	"changes an amount": func(items []schemas.Item, i int) []schemas.Item {
		u := *items[i].Update
		u.Events = slices.Clone(u.Events)
		u.Events[0].Argument = []byte(`{"record":{"fields":[{"value":{"numeric":"1000000.0000000000"}}]}}`)
		items[i].Update = &u
		return items
	},
	"invents an update": func(items []schemas.Item, i int) []schemas.Item {
		u := *items[i].Update
		u.UpdateID += "0"
		u.Events = slices.Clone(u.Events)
		for n := range u.Events {
			u.Events[n].EventID = schemas.EventID(u.UpdateID, int32(n))
		}
		return slices.Insert(items, i+1, schemas.Item{Update: &u})
	},
}

// lie makes u lie about the update at a position, or the first one behind it.
func lie(u *upstream, at schemas.Position, how func([]schemas.Item, int) []schemas.Item) {
	u.set(func(u *upstream) {
		u.change = func(operation string, _ *wireRequest, items []schemas.Item) []schemas.Item {
			i := slices.IndexFunc(items, func(it schemas.Item) bool { return it.Position() == at })
			if i < 0 {
				return items
			}
			return how(slices.Clone(items), i)
		}
	})
}

// transaction is the position of a transaction at or behind the n-th item.
func transaction(m *migration, n int) schemas.Position {
	for m.items[n].Update == nil || m.items[n].Update.Kind != schemas.Transaction {
		n++
	}
	return m.items[n].Position()
}

func TestLiesOfOneUpstreamAreFoundOut(t *testing.T) {
	t.Parallel()
	for name, how := range lies {
		for _, source := range []Source{Events, Updates} {
			t.Run(fmt.Sprintf("%s in %s", name, source), func(t *testing.T) {
				t.Parallel()
				list, urls := newUpstreams(t, 3, history)
				for _, u := range list {
					u.pageLimit = 150
				}
				lie(list[0], transaction(list[0].migrations[0], 300), how)
				sink, found := newSink(), &ledger{}
				ing := newIngesterOf(t, urls, sink, func(c *Config) {
					c.Source, c.Agree, c.Disagreements, c.Workers = source, 2, found, 2
				})
				// Asked of the liar first, so that the others have to contradict.
				ing.peers.list[1].latency, ing.peers.list[2].latency = time.Hour, time.Hour
				if err := ing.Backfill(testContext(t)); err != nil {
					t.Fatal(err)
				}
				sameLines(t, sink.lines, list[1].lines(source))
				if len(found.list) == 0 {
					t.Fatal("no disagreement was recorded")
				}
				for _, d := range found.list {
					for _, a := range d.Answers {
						if a.Agreed != (a.Upstream != urls[0]) || len(a.Digest) != 64 || !d.Resolved {
							t.Errorf("the wrong one is blamed: %+v", d)
						}
					}
				}
				if s := upstreamStatus(t, ing, urls[0]); s.Disagreements == 0 || len(ing.Status().Disagreements) == 0 {
					t.Errorf("status does not show it: %+v", s)
				}
			})
		}
	}
}

func TestNothingIsStoredOfWhatTwoUpstreamsDisagreeOn(t *testing.T) {
	t.Parallel()
	list, urls := newUpstreams(t, 2, history)
	at := transaction(list[0].migrations[0], 300)
	lie(list[1], at, lies["changes an amount"])
	sink, found := newSink(), &ledger{}
	ing := newIngesterOf(t, urls, sink, func(c *Config) { c.Agree, c.Disagreements = 2, found })
	err := ing.Backfill(testContext(t))
	if !errors.Is(err, schemas.ErrDisagreement) || !schemas.NeedsPerson(err) {
		t.Fatalf("got %v, want a disagreement", err)
	}
	if !sink.at.Before(at) {
		t.Errorf("the stream went on to %s", sink.at)
	}
	if len(found.list) != 1 || found.list[0].Resolved || len(found.list[0].Answers) != 2 {
		t.Errorf("recorded were %+v, want one unresolved disagreement", found.list)
	}

	// Once the liar is corrected the stream goes on.
	list[1].set(func(u *upstream) { u.change = nil })
	sink.resume.Committed = sink.at
	ing = newIngesterOf(t, urls, sink, func(c *Config) { c.Agree = 2 })
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, list[0].lines(Events))
}

func TestVerdictsCountOnlyWhereTheyAreAgreedOn(t *testing.T) {
	t.Parallel()
	for _, on := range []AgreeOn{AgreeOnUpdates, AgreeOnEvents} {
		list, urls := newUpstreams(t, 2, history)
		skewed(list[1].migrations[0], 7)
		sink := newSink()
		ing := newIngesterOf(t, urls, sink, func(c *Config) { c.Agree, c.AgreeOn, c.Source = 2, on, Events })
		err := ing.Backfill(testContext(t))
		if on == AgreeOnEvents {
			if !errors.Is(err, schemas.ErrDisagreement) {
				t.Errorf("on %s: got %v, want a disagreement", on, err)
			}
			continue
		}
		if err != nil || sink.items != len(list[0].lines(Events)) {
			t.Errorf("on %s: got %v after %d items", on, err, sink.items)
		}
	}
}

// What only one has is not handed on, and comes when the second has it as well.
func TestTailIsHandedOnOnceEnoughHaveIt(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{Events, Updates, UpdatesBefore} {
		t.Run(string(source), func(t *testing.T) {
			t.Parallel()
			list, urls := newUpstreams(t, 2, history)
			sink, found := newSink(), &ledger{}
			ing := newIngesterOf(t, urls, sink, func(c *Config) { c.Source, c.Agree, c.Disagreements = source, 2, found })
			ctx, cancel := context.WithCancel(testContext(t))
			ran := make(chan error, 1)
			go func() { ran <- ing.Run(ctx) }()
			behind, ahead := len(list[0].lines(source)), 0
			for range 5 {
				until(t, func() bool { return sink.count() == behind })
				list[0].set(func(u *upstream) { lengthen(u.migrations[1], 20) })
				ahead = len(list[0].lines(source))
				time.Sleep(50 * time.Millisecond)
				if got := sink.count(); got != behind {
					t.Errorf("%d items arrived, want %d: one upstream alone has more", got, behind)
				}
				list[1].set(func(u *upstream) { lengthen(u.migrations[1], 20) })
				until(t, func() bool { return sink.count() == ahead })
				behind = ahead
			}
			cancel()
			if err := <-ran; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			sameLines(t, sink.lines, list[1].lines(source))
			if len(found.list) > 0 {
				t.Errorf("disagreements were found: %v", found.list)
			}
		})
	}
}

func TestAgreementWaitsForAnUpstreamThatIsAway(t *testing.T) {
	t.Parallel()
	list, urls := newUpstreams(t, 2, history)
	away := make(chan struct{})
	list[1].intercept = func(w http.ResponseWriter, _ *http.Request, _ string) bool {
		select {
		case <-away:
			return false
		default:
			refuse(w, http.StatusBadGateway, "away")
			return true
		}
	}
	sink := newSink()
	ing := newIngesterOf(t, urls, sink, func(c *Config) { c.Agree = 2 })
	go func() {
		until(t, func() bool { return ing.Status().Phase == stream.PhaseWaiting })
		time.Sleep(100 * time.Millisecond)
		if n := sink.count(); n > 0 {
			t.Errorf("%d items arrived on the word of one", n)
		}
		close(away)
	}()
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, list[0].lines(Events))
}

func TestAgreementGoesOnWithoutADeadUpstream(t *testing.T) {
	t.Parallel()
	list, urls := newUpstreams(t, 2, history)
	sink := newSink()
	ing := newIngesterOf(t, append([]string{deadURL(t)}, urls...), sink, func(c *Config) { c.Agree = 2 })
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, list[0].lines(Events))
}
