package node

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// prunedUpstream is a node with a set of n active contracts at its end and elements
// that come later.
func prunedUpstream(t testing.TB, seed uint64, n int) (u *upstream, later []told) {
	g := newGenerator(seed)
	g.offset = 1000
	set := g.active(n)
	u = newUpstream(t, nil)
	u.active, u.activeAt, u.end, u.pruned = set, g.offset, g.offset, g.offset-5
	return u, g.elements(50)
}

func TestStreamOfAPrunedNodeBeginsWithActiveContracts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source  Source
		missing []string
		change  func(u *upstream)
	}{
		"by websocket":                         {},
		"by pages":                             {missing: []string{"WS " + activeOperation}},
		"by pages, forced":                     {source: Lists},
		"by lists that go on":                  {missing: []string{"WS " + activeOperation, activePagesOperation}},
		"by one list":                          {missing: []string{"WS " + activeOperation, activePagesOperation}, change: func(u *upstream) { u.withoutTokens, u.listLimit = true, 10_000 }},
		"by pages that the node wants smaller": {missing: []string{"WS " + activeOperation}, change: func(u *upstream) { u.listLimit = 30 }},
		"by websocket without continuation":    {change: func(u *upstream) { u.withoutTokens = true }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, later := prunedUpstream(t, 41, 700)
			if c.change != nil {
				c.change(u)
			}
			for _, path := range c.missing {
				u.missing[path] = 404
			}
			sink := newSink()
			ing := newIngester(t, u, sink, func(cfg *Config) {
				cfg.Source, cfg.BatchItems, cfg.SpoolBytes = c.source, 100, 64<<10 // several runs on disk
			})
			want := activeLines(u.active)
			if err := ing.Backfill(testContext(t)); err != nil {
				t.Fatal(err)
			}
			sameLines(t, sink.lines, want)
			if sink.at != schemas.AtOffset(u.activeAt) || ing.Status().Imports != int64(len(want)) {
				t.Errorf("the sink is at %s with %d imports", sink.at, ing.Status().Imports)
			}
			u.grow(later...)
			if err := ing.Backfill(testContext(t)); err != nil {
				t.Fatal(err)
			}
			sameLines(t, sink.lines[len(want):], u.lines(0, u.end))
		})
	}
}

func TestActiveContractsResumeAtEveryBatch(t *testing.T) {
	t.Parallel()
	u, _ := prunedUpstream(t, 42, 300)
	whole := newSink()
	config := func(c *Config) { c.BatchItems = 40 }
	if err := newIngester(t, u, whole, config).Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	at := u.activeAt
	u.end += 500 // the node's ledger goes on
	want := activeLines(u.active)
	done := 0
	for i, b := range whole.batches {
		for _, pending := range []bool{false, true} {
			sink := sinkAt(b.After)
			if pending {
				sink.resume.Pending = &schemas.Intent{After: b.After, Through: b.Through, Items: len(b.Items), Hash: store.HashBatch(&b)}
			}
			if i == 0 && !pending {
				continue // a stream with nothing takes the set at the new end
			}
			if err := newIngester(t, u, sink, func(c *Config) { c.BatchItems = 33 }).Backfill(testContext(t)); err != nil {
				t.Fatalf("batch %d, pending %v: %v", i, pending, err)
			}
			sameLines(t, sink.lines, want[done:])
			if pending && (sink.batches[0].Through != b.Through || sink.batches[0].Hash() != b.Hash()) {
				t.Errorf("batch %d was repeated through %s, want %s", i, sink.batches[0].Through, b.Through)
			}
			if sink.at.Offset < at || isImport(sink.at) {
				t.Errorf("the sink ends at %s", sink.at)
			}
		}
		done += len(b.Items)
	}
}

func TestActiveContractsGoOnAfterABreak(t *testing.T) {
	t.Parallel()
	for _, tokens := range []bool{true, false} {
		t.Run(fmt.Sprint("continuation ", tokens), func(t *testing.T) {
			t.Parallel()
			u, _ := prunedUpstream(t, 43, 200)
			u.withoutTokens = !tokens
			var sent, cuts atomic.Int64
			u.frame = func(n int, wire string) (string, error) {
				if n == 120 && cuts.Add(1) <= 2 {
					return "", errors.New("cut")
				}
				sent.Add(1)
				return wire, nil
			}
			sink := newSink()
			if err := newIngester(t, u, sink, nil).Backfill(testContext(t)); err != nil {
				t.Fatal(err)
			}
			sameLines(t, sink.lines, activeLines(u.active))
			if n := int(sent.Load()); tokens && n > len(u.active)+1 {
				t.Errorf("%d elements were sent of a set of %d", n, len(u.active))
			}
		})
	}
}

func TestEmptySetOfActiveContracts(t *testing.T) {
	t.Parallel()
	u, _ := prunedUpstream(t, 44, 0)
	sink := newSink()
	if err := newIngester(t, u, sink, nil).Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if len(sink.batches) != 1 || sink.at != schemas.AtOffset(u.activeAt) {
		t.Errorf("%d batches through %s", len(sink.batches), sink.at)
	}
}

func TestSetThatIsPrunedMeanwhileStops(t *testing.T) {
	t.Parallel()
	u, _ := prunedUpstream(t, 45, 100)
	at := schemas.Position{RecordTime: schemas.MinMicros, UpdateID: u.active[5].id, Offset: u.activeAt}
	u.end += 100
	u.pruned = u.activeAt + 1
	ing := newIngester(t, u, sinkAt(at), nil)
	checkStopped(t, ing, ing.Backfill(testContext(t)), ErrPruned, "the contracts that were active at offset "+strconv.FormatInt(u.activeAt, 10), "To fix it", "drop the rows of stream node:"+participant)
}

func TestMalformedActiveContracts(t *testing.T) {
	t.Parallel()
	g := newGenerator(46)
	g.offset = 100
	set := g.active(5)
	good := set[4].wire // after the pair that is told twice comes number 3
	for name, c := range map[string]struct{ wire, says string }{
		"no entry":                   {`{"workflowId":"w"}`, "no contractEntry"},
		"an unknown entry":           {`{"contractEntry":{"JsNew":{}}}`, `"JsNew" is unknown`},
		"no contract":                {`{"contractEntry":{"JsActiveContract":{"synchronizerId":"s"}}}`, "createdEvent"},
		"no synchronizer":            {strings.Replace(good, `"synchronizerId"`, `"other"`, 1), "synchronizerId"},
		"activated behind the set":   {strings.Replace(good, `"offset":`, `"offset":9`, 1), "was activated at offset"},
		"counter beyond 64 bits":     {strings.Replace(good, `"reassignmentCounter":`, `"reassignmentCounter":99999999999999999999`, 1), "reassignmentCounter"},
		"assignment without content": {`{"contractEntry":{"JsIncompleteAssigned":{}}}`, "assignedEvent"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newDecoder(0, func(string, string) {}).decodeActive([]byte(c.wire), 110)
			if !errors.Is(err, schemas.ErrMalformed) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want one that says %q\n%s", err, c.says, c.wire)
			}
		})
	}
}

func TestContractToldTwiceWithOtherContentStops(t *testing.T) {
	t.Parallel()
	u, _ := prunedUpstream(t, 47, 50)
	twin := u.active[20]
	twin.wire = strings.Replace(twin.wire, `10.0000000000`, `11.0000000000`, 1)
	u.active = append(u.active, twin)
	ing := newIngester(t, u, newSink(), nil)
	checkStopped(t, ing, ing.Backfill(testContext(t)), schemas.ErrMalformed, "listed twice")
}

func TestSpoolSortsWhateverItHolds(t *testing.T) {
	t.Parallel()
	g := newGenerator(48)
	for _, limit := range []int64{1, 1 << 10, 1 << 20} {
		s := newSpool(t.TempDir(), limit)
		for i := range 500 {
			if err := s.add(g.hex("", 1+g.IntN(6)), int64(i), []byte(strings.Repeat("x", i))); err != nil {
				t.Fatal(err)
			}
		}
		last, count := "", 0
		err := s.merge(func(e stored) error {
			if e.id < last || len(e.content) != int(e.counter) {
				t.Errorf("limit %d: %q with %d bytes and counter %d follows %q", limit, e.id, len(e.content), e.counter, last)
			}
			last = e.id
			count++
			return nil
		})
		if err != nil || count != 500 {
			t.Errorf("limit %d: %d entries, %v", limit, count, err)
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
}
