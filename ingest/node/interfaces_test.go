package node

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
)

const requestInterface, otherInterface = "#request:Request:Request", "#other:Other:Other"

// appUpstream is a node that gives views of the interfaces whose packages it has to those who ask for
// them, and refuses requests that name others.
type appUpstream struct {
	*upstream
	mu     sync.Mutex
	known  []string
	always bool // also gives empty lists, as the network's own nodes do
}

func newAppUpstream(t *testing.T, elements []told, known ...string) *appUpstream {
	a := &appUpstream{upstream: newUpstream(t, elements), known: known}
	a.set(func(u *upstream) {
		u.intercept = a.intercept
		u.rewrite = a.rewrite
	})
	return a
}

func (a *appUpstream) has(known ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known = known
}

// asked are the interfaces that a request names, and the first of them that is not known.
func (a *appUpstream) asked(q *updateFormat) (names []string, unknown string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if q == nil || q.Transactions.Events.AnyParty == nil {
		return nil, ""
	}
	for _, f := range q.Transactions.Events.AnyParty.Cumulative {
		if f.Identifier.Interface == nil {
			continue
		}
		name := f.Identifier.Interface.Value.ID
		if !slices.Contains(a.known, name) {
			return nil, name
		}
		names = append(names, name)
	}
	return names, ""
}

// intercept answers what concerns packages.
func (a *appUpstream) intercept(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.Path == packagesOperation {
		a.mu.Lock()
		defer a.mu.Unlock()
		fmt.Fprintf(w, `{"packageIds":["%s"]}`, strings.Join(a.known, `","`))
		return true
	}
	if r.Method != http.MethodPost || r.URL.Path != updatesOperation && r.URL.Path != flatsOperation {
		return false
	}
	body, _ := io.ReadAll(r.Body)
	var q updatesRequest
	_ = json.Unmarshal(body, &q)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	if _, unknown := a.asked(q.UpdateFormat); unknown != "" {
		refuse(w, http.StatusNotFound, codeNoPackage, 11, "unknown package of "+unknown)
		return true
	}
	return false
}

// rewrite gives the views that are asked for of the contracts of a frame.
func (a *appUpstream) rewrite(q *updatesRequest, wire string) string {
	names, _ := a.asked(q.UpdateFormat)
	views, implemented := "", ""
	for i, name := range names {
		id := "1220" + strings.TrimPrefix(name, "#")
		comma := ""
		if i > 0 {
			comma = ","
		}
		views += comma + fmt.Sprintf(`{"viewStatus":{"code":0},"interfaceId":%q,"viewValue":{"n":%d}}`, id, len(name))
		implemented += comma + fmt.Sprintf("%q", id)
	}
	if len(names) == 0 && !a.always {
		return strings.ReplaceAll(wire, `"interfaceViews":[],`, "")
	}
	wire = strings.ReplaceAll(wire, `"interfaceViews":[]`, `"interfaceViews":[`+views+`]`)
	return strings.ReplaceAll(wire, `"choice":`, `"implementedInterfaces":[`+implemented+`],"choice":`)
}

func asksFor(names ...string) func(*Config) {
	return func(c *Config) {
		c.Interfaces, c.LookEvery = func() []string { return names }, 5*time.Millisecond
	}
}

// storedViews counts the views of an interface, by entity, in what a sink was given.
func storedViews(s *memorySink, entity string) (n int) {
	return strings.Count(strings.Join(s.lines, "\n"), `"interfaceId":"1220`+entity)
}

func TestViewsAreAskedForWhereTheNodeKnowsTheInterface(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{WebSocket, Lists, Flats} {
		t.Run(string(source), func(t *testing.T) {
			t.Parallel()
			a, sink := newAppUpstream(t, newGenerator(11).elements(200), requestInterface), newSink()
			ing := newIngester(t, a.upstream, sink, func(c *Config) {
				asksFor(requestInterface, otherInterface)(c)
				c.Source = source
				c.Computed = func(_, _, entity string) bool { return entity == "Other:Other" }
			})
			if err := ing.Backfill(testContext(t)); err != nil {
				t.Fatal(err)
			}
			if storedViews(sink, "request:Request:Request") == 0 || storedViews(sink, "other:") > 0 {
				t.Errorf("%d views of the known interface, %d of the other one", storedViews(sink, "request:"), storedViews(sink, "other:"))
			}
		})
	}
}

func TestComputedViewsAreNotStored(t *testing.T) {
	t.Parallel()
	a, sink := newAppUpstream(t, newGenerator(12).elements(100), requestInterface, otherInterface), newSink()
	ing := newIngester(t, a.upstream, sink, func(c *Config) {
		asksFor(requestInterface, otherInterface)(c)
		c.Computed = func(packageName, templateID, entity string) bool {
			return packageName != "" && templateID != "" && entity == "Other:Other"
		}
	})
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if storedViews(sink, "request:Request:Request") == 0 || storedViews(sink, "other:") > 0 {
		t.Errorf("%d views that the node alone gives, %d that are computed", storedViews(sink, "request:"), storedViews(sink, "other:"))
	}
}

// A node may get a package while its stream is followed, and lose it again.
func TestViewsAreAskedForWhenPackagesArrive(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{WebSocket, Lists} {
		t.Run(string(source), func(t *testing.T) {
			t.Parallel()
			g := newGenerator(13)
			a, sink := newAppUpstream(t, g.elements(20)), newSink()
			ing := newIngester(t, a.upstream, sink, func(c *Config) { asksFor(requestInterface)(c); c.Source = source })
			stop := running(t, ing)
			grown := func(views bool) func() bool {
				return func() bool {
					before := storedViews(sink, "request:")
					a.grow(g.elements(5)...)
					sink.await(t, func() bool { return sink.at.Offset >= a.lastOffset() })
					return storedViews(sink, "request:") > before == views
				}
			}
			until(t, grown(false))
			a.has(requestInterface)
			until(t, grown(true))
			a.has()
			until(t, grown(false))
			if err := stop(); err != errTestOver {
				t.Fatal(err)
			}
		})
	}
}

// A batch that was announced by a process which asked for fewer interfaces, or for none, is repeated
// with what it had then: it has another hash otherwise, and the stream would stop.
func TestPendingBatchHasTheViewsThatItWasAnnouncedWith(t *testing.T) {
	t.Parallel()
	elements := newGenerator(14).elements(60)
	both := []string{otherInterface, requestInterface}
	for mode := range 4 {
		always, computed := mode&1 != 0, mode&2 != 0
		for _, before := range [][]string{nil, {requestInterface}, {otherInterface}, both} {
			t.Run(fmt.Sprint(before, always, computed), func(t *testing.T) {
				t.Parallel()
				read := func(sink *memorySink, names []string) {
					a := newAppUpstream(t, elements, both...)
					a.always = always
					ing := newIngester(t, a.upstream, sink, func(c *Config) {
						asksFor(names...)(c)
						c.Computed = func(_, _, entity string) bool { return computed && entity == "Other:Other" }
					})
					if err := ing.Backfill(testContext(t)); err != nil {
						t.Fatal(err)
					}
				}
				first := newSink()
				read(first, before)
				b := first.batches[0]
				again := newSink()
				again.resume.Pending = &schemas.Intent{Sequence: 1, After: b.After, Through: b.Through, Items: len(b.Items), Hash: store.HashBatch(&b)}
				read(again, both)
				if got := again.batches[0]; store.HashBatch(&got) != store.HashBatch(&b) {
					t.Errorf("the batch was repeated with hash %s, want %s", store.HashBatch(&got), store.HashBatch(&b))
				}
				sameLines(t, again.lines, first.lines)
			})
		}
	}
}

// A batch that differs in anything else than views stays refused.
func TestPendingBatchThatDiffersBesideItsViewsStops(t *testing.T) {
	t.Parallel()
	a, sink := newAppUpstream(t, newGenerator(15).elements(30), requestInterface), newSink()
	sink.resume.Pending = &schemas.Intent{After: schemas.Start, Through: schemas.AtOffset(a.lastOffset()), Items: 3, Hash: "abc"}
	ing := newIngester(t, a.upstream, sink, asksFor(requestInterface))
	checkStopped(t, ing, ing.Backfill(testContext(t)), schemas.ErrDiverged, "but 3 with hash abc were announced")
}

// An interface that the node forgets between the look at its packages and the stream costs a retry.
func TestInterfaceThatTheNodeForgetsIsNoError(t *testing.T) {
	t.Parallel()
	a, sink := newAppUpstream(t, newGenerator(16).elements(40), requestInterface), newSink()
	forgotten := false
	a.set(func(u *upstream) {
		u.frame = func(n int, wire string) (string, error) {
			if n == 0 && !forgotten {
				forgotten = true
				a.has()
				return errorFrame(codeNoPackage, 11, "unknown package"), nil
			}
			return wire, nil
		}
	})
	ing := newIngester(t, a.upstream, sink, func(c *Config) { asksFor(requestInterface)(c); c.Source = WebSocket })
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if sink.at != schemas.AtOffset(a.end) || storedViews(sink, "request:") > 0 {
		t.Errorf("the sink is at %s with %d views", sink.at, storedViews(sink, "request:"))
	}
}
