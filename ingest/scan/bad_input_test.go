package scan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// edit changes one item of an answer to the given operation, in a copy.
func edit(operation string, n int, change func(it *schemas.Item)) func(string, *wireRequest, []schemas.Item) []schemas.Item {
	return func(op string, _ *wireRequest, items []schemas.Item) []schemas.Item {
		if op != operation || len(items) <= n {
			return items
		}
		items = slices.Clone(items)
		it := &items[n]
		if it.Update != nil {
			u := *it.Update
			u.Events = slices.Clone(u.Events)
			it.Update = &u
		}
		if it.Verdict != nil {
			v := *it.Verdict
			it.Verdict = &v
		}
		change(it)
		return items
	}
}

// arrange changes the list of items of answers to the given operation.
func arrange(operation string, change func(q *wireRequest, items []schemas.Item) []schemas.Item) func(string, *wireRequest, []schemas.Item) []schemas.Item {
	return func(op string, q *wireRequest, items []schemas.Item) []schemas.Item {
		if op != operation || len(items) < 3 {
			return items
		}
		return change(q, slices.Clone(items))
	}
}

func moveTo(migrationID int64, at schemas.Micros) func(it *schemas.Item) {
	return func(it *schemas.Item) {
		if it.Update != nil {
			it.Update.MigrationID, it.Update.RecordTime = migrationID, at
			if it.Update.Kind != schemas.Transaction {
				it.Update = nil
			}
		}
		if it.Verdict != nil {
			it.Verdict.MigrationID, it.Verdict.RecordTime = migrationID, at
		}
	}
}

func TestBadHistoryStopsWithOneClearError(t *testing.T) {
	t.Parallel()
	compact := func(it *schemas.Item) {
		if it.Update != nil && len(it.Update.Events) > 0 {
			it.Update.Events[0].Argument = []byte(`{"owner":"alice::1220"}`)
		}
	}
	// history has transactions only, so that every item of it can be changed in any way.
	history := generate(1, -1, 5, 3500)
	history.items = slices.DeleteFunc(history.items, func(it schemas.Item) bool {
		return it.Update == nil || it.Verdict == nil || it.Update.SynchronizerID != synchronizerA
	})
	t0 := history.items[0].Position().RecordTime

	cases := []struct {
		name   string
		source Source
		change func(string, *wireRequest, []schemas.Item) []schemas.Item
		cause  string
	}{
		{"page going backwards", Events, arrange(eventsOperation, func(_ *wireRequest, items []schemas.Item) []schemas.Item {
			items[1], items[2] = items[2], items[1]
			return items
		}), "history goes backwards"},
		{"updates going backwards", Updates, arrange(updatesOperation, func(_ *wireRequest, items []schemas.Item) []schemas.Item {
			items[1], items[2] = items[2], items[1]
			return items
		}), "history goes backwards"},
		{"ascending updates-before", UpdatesBefore, arrange(updatesBeforeOperation, func(_ *wireRequest, items []schemas.Item) []schemas.Item {
			slices.Reverse(items)
			return items
		}), "history goes forwards"},
		{"one item twice", Events, arrange(eventsOperation, func(_ *wireRequest, items []schemas.Item) []schemas.Item {
			return slices.Insert(items, 2, items[1])
		}), "appears twice"},
		{"one position twice with other content", Events, arrange(eventsOperation, func(_ *wireRequest, items []schemas.Item) []schemas.Item {
			other := schemas.Item{Verdict: items[1].Verdict}
			return slices.Insert(items, 2, other)
		}), "appears twice with different content"},
		{"updates-before with a position twice", UpdatesBefore, arrange(updatesBeforeOperation, func(_ *wireRequest, items []schemas.Item) []schemas.Item {
			u := *items[1].Update
			u.WorkflowID = "other"
			return slices.Insert(items, 2, schemas.Item{Update: &u})
		}), "appears twice with different content"},
		{"cursor that never advances", Events, arrange(eventsOperation, func(q *wireRequest, items []schemas.Item) []schemas.Item {
			return history.items[:min(q.PageSize, len(history.items))]
		}), "not after its cursor"},
		{"inclusive cursor", Events, arrange(eventsOperation, func(q *wireRequest, items []schemas.Item) []schemas.Item {
			for i := range history.items {
				if i > 0 && history.items[i].Position() == items[0].Position() {
					return slices.Insert(items, 0, history.items[i-1])
				}
			}
			return items
		}), "does not advance"},
		{"update of another migration", Updates, edit(updatesOperation, 1, moveTo(0, t0+1)), "history goes backwards"},
		{"updates-before of another migration", UpdatesBefore, edit(updatesBeforeOperation, 1, moveTo(3, t0)), "belongs to migration 3"},
		{"updates-before of another synchronizer", UpdatesBefore, edit(updatesBeforeOperation, 1, func(it *schemas.Item) {
			it.Update.SynchronizerID = synchronizerB
		}), "belongs to migration 1 of second-domain"},
		{"updates-before outside its span", UpdatesBefore, edit(updatesBeforeOperation, 0, moveTo(1, t0-1)), "outside the range"},
		{"import among the history", Updates, edit(updatesOperation, 0, moveTo(1, schemas.MinMicros)), "appears among the history"},
		{"import of another migration", Events, edit(importUpdatesOperation, 1, func(it *schemas.Item) { it.Update.MigrationID = 2 }), "belongs to migration 2"},
		{"history among the imports", Events, edit(importUpdatesOperation, 1, func(it *schemas.Item) { it.Update.RecordTime = t0 }), "among the import updates"},
		{"import with two events", Events, edit(importUpdatesOperation, 1, func(it *schemas.Item) {
			e := it.Update.Events[0]
			e.Node, e.EventID = 1, schemas.EventID(it.Update.UpdateID, 1)
			it.Update.Events, it.Update.RootEvents = append(it.Update.Events, e), []int32{0, 1}
		}), "is not one created event"},
		{"imports that end too early", Events, func(operation string, q *wireRequest, items []schemas.Item) []schemas.Item {
			if operation == importUpdatesOperation {
				return items[:min(1, len(items), max(0, 1-len(q.AfterUpdateID)))]
			}
			return items
		}, "its overview says"},
		{"wrong encoding", Events, edit(eventsOperation, 1, compact), "not in the requested encoding"},
		{"wrong encoding of an import", Events, edit(importUpdatesOperation, 0, compact), "not in the requested encoding"},
		{"wrong encoding of updates-before", UpdatesBefore, edit(updatesBeforeOperation, 1, compact), "not in the requested encoding"},
		{"events that do not form a tree", Events, edit(eventsOperation, 1, func(it *schemas.Item) { it.Update.RootEvents = []int32{3} }), "element 1"},
		{"value that is no JSON", Events, edit(eventsOperation, 1, func(it *schemas.Item) { it.Update.Events[0].Argument = []byte(`{"record":}`) }), "malformed history"},
		{"verdict of another time than its update", Events, edit(eventsOperation, 1, func(it *schemas.Item) { it.Verdict.RecordTime++ }), "disagree"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u, sink := newUpstream(t, history), newSink()
			u.change = c.change
			ing := newIngester(t, u, sink, func(cfg *Config) {
				cfg.Source = c.source
				cfg.BaseURL = strings.Replace(u.URL, "http://", "http://user:secret@", 1)
			})
			err := ing.Backfill(testContext(t))
			checkStopped(t, ing, err, c.cause)
			if !errors.Is(err, schemas.ErrMalformed) {
				t.Errorf("got %v, want malformed history", err)
			}
			// Imports precede history; of the bad page's track nothing may arrive.
			if sink.items > len(history.imports) {
				t.Errorf("%d items reached the sink", sink.items)
			}
		})
	}
}

// checkStopped makes sure that err says all that is needed and no secret.
func checkStopped(t *testing.T, ing *Ingester, err error, cause string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Upstream == "" || e.Operation == "" {
		t.Fatalf("got %v, want an *Error with upstream and operation", err)
	}
	if !strings.Contains(err.Error(), cause) || !strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("error %q does not name the upstream and the cause %q", err, cause)
	}
	if s := ing.Status(); s.Phase != stream.PhaseStopped || !strings.Contains(s.LastError, cause) {
		t.Errorf("status has phase %q and last error %q", s.Phase, s.LastError)
	}
	if strings.Contains(err.Error(), "secret") || strings.Contains(ing.Status().LastError, "secret") {
		t.Errorf("error %q has a password", err)
	}
}

func TestBadAnswersStopAtOnce(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		http.StatusBadRequest: "status 400", http.StatusUnauthorized: "status 401", http.StatusForbidden: "status 403",
		http.StatusNotFound: "status 404", http.StatusNotImplemented: "status 501",
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			u, sink := newUpstream(t, generate(0, -1, 0, 50)), newSink()
			var asked atomic.Int64
			u.intercept = func(w http.ResponseWriter, _ *http.Request, path string) bool {
				if path != "/api/scan"+eventsOperation {
					return false
				}
				asked.Add(1)
				refuse(w, status, "because I say so")
				return true
			}
			ing := newIngester(t, u, sink, func(c *Config) { c.Source = Events })
			err := ing.Backfill(testContext(t))
			checkStopped(t, ing, err, want)
			if !strings.Contains(err.Error(), "because I say so") || asked.Load() != 1 || sink.items > 0 {
				t.Errorf("got %q after %d requests", err, asked.Load())
			}
		})
	}
}

// spoil lets every page come out wrong in some way for the first few times.
func spoil(u *upstream, times int64, how func(w http.ResponseWriter, answer []byte)) *atomic.Int64 {
	var spoiled atomic.Int64
	u.intercept = func(w http.ResponseWriter, r *http.Request, path string) bool {
		operation, found := strings.CutPrefix(path, "/api/scan")
		if !found || operation == migrationInfoOperation || spoiled.Add(1) > times {
			return false
		}
		answer := httptest.NewRecorder()
		u.serve(answer, r, operation)
		how(w, answer.Body.Bytes())
		return true
	}
	return &spoiled
}

func TestAnswersThatHeal(t *testing.T) {
	t.Parallel()
	cut := func(w http.ResponseWriter, answer []byte) { w.Write(answer[:len(answer)/2]) }
	cases := []struct {
		name  string
		times int64
		how   func(w http.ResponseWriter, answer []byte)
	}{
		{"half a body", 3, func(w http.ResponseWriter, answer []byte) {
			w.Header().Set("Content-Length", fmt.Sprint(len(answer)))
			w.Write(answer[:len(answer)/2])
		}},
		{"half a page that claims to be whole", 2, cut},
		{"connection closed at once", 3, func(http.ResponseWriter, []byte) { panic(http.ErrAbortHandler) }},
		{"408", 3, func(w http.ResponseWriter, _ []byte) { refuse(w, http.StatusRequestTimeout, "") }},
		{"500", 3, func(w http.ResponseWriter, _ []byte) {
			refuse(w, http.StatusInternalServerError, "An unexpected error occurred.")
		}},
		{"502", 3, func(w http.ResponseWriter, _ []byte) {
			w.WriteHeader(http.StatusBadGateway)
			io.WriteString(w, "<html>no scan here</html>")
		}},
		{"503", 3, func(w http.ResponseWriter, _ []byte) { refuse(w, http.StatusServiceUnavailable, "busy") }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			u, sink := newUpstream(t, generate(0, -1, 0, 1200)), newSink()
			spoil(u, c.times, c.how)
			// One worker, so that the failures fall on one request.
			ing := newIngester(t, u, sink, func(c *Config) { c.Source, c.Workers = Events, 1 })
			if err := ing.Backfill(testContext(t)); err != nil {
				t.Fatal(err)
			}
			sameLines(t, sink.lines, u.lines(Events))
			if s := ing.Status(); s.Retries != c.times || s.LastError == "" {
				t.Errorf("status has %d retries and last error %q, want %d and a reason", s.Retries, s.LastError, c.times)
			}
		})
	}
}

func TestPagesThatStayMalformedStop(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{
		"cut": `{"events":[{"update":`, "no list": `{}`, "text": `<html></html>`, "empty": ``, "wrong type": `{"events":{}}`,
		"neither update nor verdict": `{"events":[{}]}`, "bad UTF-8": "{\"events\":[],\"x\":\"\xff\"}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, sink := newUpstream(t, generate(0, -1, 0, 50)), newSink()
			asked := spoil(u, 1000, func(w http.ResponseWriter, _ []byte) { io.WriteString(w, page) })
			ing := newIngester(t, u, sink, func(c *Config) { c.Source = Events })
			err := ing.Backfill(testContext(t))
			checkStopped(t, ing, err, "malformed history")
			if asked.Load() != malformedTries || sink.items > 0 {
				t.Errorf("%d requests, want %d; %d items", asked.Load(), malformedTries, sink.items)
			}
		})
	}
}

func TestGivingUp(t *testing.T) {
	t.Parallel()
	u, sink := newUpstream(t, generate(0, -1, 0, 50)), newSink()
	spoil(u, 1000, func(w http.ResponseWriter, _ []byte) { refuse(w, http.StatusBadGateway, "gone") })
	ing := newIngester(t, u, sink, func(c *Config) { c.Source, c.GiveUpAfter = Events, 1 })
	checkStopped(t, ing, ing.Backfill(testContext(t)), "giving up")
}

func TestUpdateThatIsTooLargeForAnyPage(t *testing.T) {
	t.Parallel()
	m := generate(0, -1, 0, 40)
	large := slices.IndexFunc(m.items, func(it schemas.Item) bool { return it.Update != nil && len(it.Update.Events) > 1 })
	e := &m.items[large].Update.Events[1]
	e.Argument = fmt.Appendf(nil, `{"record":{"fields":[{"value":{"text":"%s"}}]}}`, bytes.Repeat([]byte{'x'}, 1<<20))
	for _, c := range []struct {
		limit int64
		cause string
	}{{2 << 20, ""}, {1 << 20, "a single update does not fit"}} {
		u, sink := newUpstream(t, m), newSink()
		ing := newIngester(t, u, sink, func(cfg *Config) { cfg.MaxPageBytes = c.limit })
		err := ing.Backfill(testContext(t))
		if c.cause != "" {
			checkStopped(t, ing, err, c.cause)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		sameLines(t, sink.lines, u.lines(Events))
	}
}

func TestBadOverviewsStop(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ answer, cause string }{
		"chain that loops":         {`{"record_time_range":[],"complete":true,"previous_migration_id":5}`, "names migration 5 as its predecessor"},
		"a migration of any id":    {`{"record_time_range":[],"complete":true}`, "more than"},
		"no flag":                  {`{"record_time_range":[]}`, "complete"},
		"range that ends early":    {`{"record_time_range":[{"synchronizer_id":"s","min":"2026-07-02T00:00:00Z","max":"2026-07-01T00:00:00Z"}],"complete":true}`, "before they begin"},
		"time that cannot be read": {`{"record_time_range":[{"synchronizer_id":"s","min":"soon","max":"2026-07-01T00:00:00Z"}],"complete":true}`, "soon"},
		"half an answer":           {`{"record_time_range":[`, "malformed history"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, sink := newUpstream(t, generate(0, -1, 0, 50)), newSink()
			asked := 0
			u.intercept = func(w http.ResponseWriter, _ *http.Request, path string) bool {
				if path != "/api/scan"+migrationInfoOperation {
					return false
				}
				if asked++; asked > 2 && name == "chain that loops" {
					return false
				}
				io.WriteString(w, c.answer)
				return true
			}
			ing := newIngester(t, u, sink, nil)
			checkStopped(t, ing, ing.Backfill(testContext(t)), c.cause)
			if sink.items > 0 {
				t.Errorf("%d items reached the sink", sink.items)
			}
		})
	}
}
