package scan

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// resumed is an upstream and a sink that has the first half of its history.
func resumed(t *testing.T) (*upstream, *memorySink, []string) {
	m := generate(0, -1, 0, 600)
	u, sink := newUpstream(t, m), newSink()
	sink.at = m.items[299].Position()
	sink.resume.Committed = sink.at
	return u, sink, u.lines(Events)[300:]
}

func TestStreamWithHistoryKeepsItsVerdicts(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusNotFound, http.StatusNotImplemented} {
		t.Run("after one "+http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			u, sink, want := resumed(t)
			var asked atomic.Int64
			u.intercept = func(w http.ResponseWriter, _ *http.Request, path string) bool {
				if path != "/api/scan"+eventsOperation || asked.Add(1) > 1 {
					return false
				}
				refuse(w, status, "the gateway is starting")
				return true
			}
			if err := newIngester(t, u, sink, nil).Backfill(testContext(t)); err != nil {
				t.Fatal(err)
			}
			sameLines(t, sink.lines, want)
		})
	}
	t.Run("after a spell of 503 while it loads", func(t *testing.T) {
		t.Parallel()
		u, sink, want := resumed(t)
		u.incomplete = true
		ing := newIngester(t, u, sink, nil)
		go func() {
			until(t, func() bool { return ing.Status().Phase == stream.PhaseWaiting })
			u.set(func(u *upstream) { u.incomplete = false })
		}()
		if err := ing.Backfill(testContext(t)); err != nil {
			t.Fatal(err)
		}
		sameLines(t, sink.lines, want)
	})
	t.Run("or stops when there are no events any more", func(t *testing.T) {
		t.Parallel()
		u, sink, _ := resumed(t)
		u.unsupported[eventsOperation] = true
		ing := newIngester(t, u, sink, nil)
		err := ing.Backfill(testContext(t))
		checkStopped(t, ing, err, "--scan-source updates would continue without verdicts")
		if sink.items > 0 {
			t.Errorf("%d items arrived without verdicts", sink.items)
		}
	})
	t.Run("unless it is told otherwise", func(t *testing.T) {
		t.Parallel()
		u, sink, _ := resumed(t)
		u.unsupported[eventsOperation] = true
		if err := newIngester(t, u, sink, func(c *Config) { c.Source = Updates }).Backfill(testContext(t)); err != nil {
			t.Fatal(err)
		}
		all := u.lines(Updates)
		sameLines(t, sink.lines, all[len(all)-sink.items:])
		if sink.items == 0 {
			t.Error("nothing arrived")
		}
	})
}

func TestWrongAddressStopsWithTheAnswerFromThere(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{Auto, Events, UpdatesBefore} {
		u, sink := newUpstream(t, generate(0, -1, 0, 10)), newSink()
		u.intercept = func(w http.ResponseWriter, r *http.Request, _ string) bool { http.NotFound(w, r); return true }
		ing := newIngester(t, u, sink, func(c *Config) { c.Source = source })
		err := ing.Backfill(testContext(t))
		checkStopped(t, ing, err, "status 404: 404 page not found: is this the address of a scan service?")
	}
}

func TestEmptyScanIsWaitedFor(t *testing.T) {
	t.Parallel()
	for _, alive := range []bool{true, false} {
		u, sink := newUpstream(t), newSink()
		if !alive {
			for _, operation := range []string{eventsOperation, updatesOperation, versionOperation} {
				u.unsupported[operation] = true
			}
		}
		ing := newIngester(t, u, sink, func(c *Config) { c.Source = Events })
		ctx, cancel := context.WithCancelCause(testContext(t))
		stop := errors.New("seen enough")
		if alive {
			go func() {
				defer cancel(stop)
				until(t, func() bool { return strings.Contains(ing.Status().Detail, "no history yet") })
			}()
		}
		err := ing.Backfill(ctx)
		cancel(nil)
		if alive && !errors.Is(err, stop) || !alive && (err == nil || !strings.Contains(err.Error(), "is this the address")) {
			t.Errorf("with other operations alive %v: got %v", alive, err)
		}
	}
}

// A refusal by whatever stands at the address without the prefix decides nothing.
func TestRefusalsDoNotFixTheBase(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusForbidden, http.StatusBadRequest, http.StatusServiceUnavailable, http.StatusBadGateway} {
		for _, times := range []int64{1, 1000} {
			u, sink := newUpstream(t, generate(0, -1, 0, 10)), newSink()
			var refused atomic.Int64
			u.intercept = func(w http.ResponseWriter, _ *http.Request, path string) bool {
				if strings.HasPrefix(path, "/api/scan") || refused.Add(1) > times {
					return false
				}
				refuse(w, status, "a gateway")
				return true
			}
			ing := newIngester(t, u, sink, nil)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			if err := ing.Backfill(ctx); err != nil {
				t.Errorf("%d times %d: %v", times, status, err)
			}
			cancel()
			sameLines(t, sink.lines, u.lines(Events))
		}
	}
}

func TestImportUpdatesThatGrowAfterTheOverviewArrive(t *testing.T) {
	t.Parallel()
	first, second := generate(0, -1, 0, 100), generate(1, 0, 40, 0)
	all := second.imports
	second.imports = all[:20]
	u, sink := newUpstream(t, first, second), newSink()
	var asked atomic.Int64
	u.intercept = func(_ http.ResponseWriter, _ *http.Request, path string) bool {
		if path == "/api/scan"+importUpdatesOperation && asked.Add(1) == 1 {
			u.set(func(*upstream) { second.imports = all })
		}
		return false
	}
	ing := newIngester(t, u, sink, func(c *Config) { c.Refresh = time.Minute })
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, u.lines(Events))
}

// holdBack makes the operations of ascending history end at a record time of migration
// 0 for so many answers.
func holdBack(u *upstream, from schemas.Micros, answers int64) {
	var held atomic.Int64
	u.change = func(operation string, q *wireRequest, items []schemas.Item) []schemas.Item {
		if q.After == nil || q.After.MigrationID != 0 || operation != eventsOperation && operation != updatesOperation {
			return items
		}
		for i := range items {
			p := items[i].Position()
			if (p.MigrationID > 0 || p.RecordTime >= from) && held.Add(1) <= answers {
				return items[:i]
			}
		}
		return items
	}
}

func TestMigrationIsNotLeftBeforeItsEnd(t *testing.T) {
	t.Parallel()
	for _, source := range []Source{Events, Updates} {
		for name, answers := range map[string]int64{"held back for a while": 4, "held back for good": 1 << 40} {
			t.Run(string(source)+" "+name, func(t *testing.T) {
				t.Parallel()
				first := generate(0, -1, 0, 1500)
				u, sink := newUpstream(t, first, generate(1, 0, 20, 100)), newSink()
				holdBack(u, first.items[700].Position().RecordTime, answers)
				ing := newIngester(t, u, sink, func(c *Config) { c.Source, c.Workers, c.Poll = source, 1, time.Millisecond })
				err := ing.Backfill(testContext(t))
				if answers < 100 {
					if err != nil {
						t.Fatal(err)
					}
					sameLines(t, sink.lines, u.lines(source))
					return
				}
				checkStopped(t, ing, err, "its overview says that it extends through "+lastUpdate(first).RecordTime.String())
				if !errors.Is(err, schemas.ErrMalformed) || sink.at.MigrationID != 0 {
					t.Errorf("got %v at %s, want malformed history in migration 0", err, sink.at)
				}
			})
		}
	}
}

func TestTailWithoutVerdictsIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	m := generate(0, -1, 0, 400)
	u, sink := newUpstream(t, m), newSink()
	holdBack(u, m.items[350].Position().RecordTime, 1<<40)
	if err := newIngester(t, u, sink, func(c *Config) { c.Source = Events }).Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, u.lines(Events)[:350])
	u.set(func(u *upstream) { u.change = nil })
	sink.resume.Committed = sink.at
	ing := newIngester(t, u, sink, func(c *Config) { c.Source = Events })
	if err := ing.Backfill(testContext(t)); err != nil {
		t.Fatal(err)
	}
	sameLines(t, sink.lines, u.lines(Events))

	// Of updates nothing holds the tail back.
	u, sink = newUpstream(t, m), newSink()
	holdBack(u, m.items[350].Position().RecordTime, 1<<40)
	ing = newIngester(t, u, sink, func(c *Config) { c.Source, c.Poll = Updates, time.Millisecond })
	checkStopped(t, ing, ing.Backfill(testContext(t)), "its overview says that it extends through")
}
