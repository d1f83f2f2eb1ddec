package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/ledger/view"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func nodeOf(source *memory) func(context.Context) (Node, error) {
	return func(context.Context) (Node, error) { return Node{Participant: participant, Source: source}, nil }
}

func quiet(t testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
}

// The catalogue and docs/api-ledger.md have the same codes with the same numbers, and the
// view has no code that is not among them.
func TestCatalogueIsDocumented(t *testing.T) {
	raw, err := os.ReadFile("../../docs/api-ledger.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	for code, k := range catalogue {
		retry := "no"
		if k.retry > 0 {
			retry = "yes"
		}
		if row := fmt.Sprintf("| `%s` | %d | %d | %d | %s |", code, k.status, k.category, k.grpc, retry); !strings.Contains(page, row) {
			t.Errorf("docs/api-ledger.md lacks the row %s", row)
		}
	}
	if rows := strings.Count(page, "\n| `"); rows < len(catalogue) {
		t.Errorf("docs/api-ledger.md has %d rows of codes and others, the catalogue %d", rows, len(catalogue))
	}
	for _, code := range []string{view.InvalidArgument, view.MissingField, view.UnknownPackageName, view.UnknownTemplateName, view.UnknownTemplate} {
		if _, ok := catalogue[Code(code)]; !ok {
			t.Errorf("the catalogue lacks %s", code)
		}
	}
}

// What the query tier refuses is not reported as a failure of the server.
func TestErrorsOfTheTier(t *testing.T) {
	for code := query.Internal + 1; code <= query.Denied; code++ {
		f, _ := failureOf(query.Errorf(code, "no"))
		if status := catalogue[f.Code].status; status >= 500 {
			t.Errorf("code %d of the tier is %s with status %d", code, f.Code, status)
		}
	}
	if f, _ := failureOf(query.Errorf(query.Denied, "no")); f.Code != permissionDenied {
		t.Errorf("a caller who may not ask is answered %s", f.Code)
	}
}

// All members of an error, and that its ids are those of the request and stand in the log.
func TestErrorMembers(t *testing.T) {
	source := &memory{}
	source.grow(2)
	s := serve(t, source, nil)
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	e := s.refused("POST", "/v2/updates/update-by-id", `{"updateId":"1220","updateFormat":{}}`, 404, updateNotFound,
		"X-Request-Id", "my-request", "traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
	if e.CorrelationID != "my-request" || e.TraceID != trace || e.ErrorCategory != 11 || e.GRPCCodeValue != 5 || e.RetryInfo != "" || e.DefiniteAnswer ||
		len(e.Resources) != 1 || e.Resources[0] != [2]string{"UPDATE_ID", "1220"} || e.Context["participant"] != participant || e.Context["tid"] != trace || e.Context["category"] != "11" {
		t.Errorf("%+v", e)
	}
	source.mu.Lock()
	source.fail = errors.New("the disk of host-17 is gone")
	source.mu.Unlock()
	failed := s.refused("POST", "/v2/updates", updates(0, 4, anyParty), 500, internalError, "traceparent", "00-"+strings.Repeat("0", 32)+"-00f067aa0ba902b7-01")
	if strings.Contains(failed.Cause, "host-17") || len(failed.TraceID) != 32 || failed.TraceID == strings.Repeat("0", 32) || !strings.Contains(failed.Cause, failed.CorrelationID) {
		t.Errorf("%+v", failed)
	}
	s.stop()
	for _, want := range []string{`"request_id":"my-request"`, `"trace_id":"` + trace + `"`, "host-17", `"request_id":"` + failed.CorrelationID + `"`, `"trace_id":"` + failed.TraceID + `"`} {
		if !strings.Contains(s.log.String(), want) {
			t.Errorf("the log lacks %s", want)
		}
	}
}

// Without a stream of a node everything that needs one says so, and it is found once it is there.
func TestWithoutAStream(t *testing.T) {
	source := &memory{}
	source.grow(1)
	there := make(chan struct{})
	var away atomic.Bool
	s := serve(t, source, func(c *Config, _ *query.Config) {
		c.Health = func(context.Context) error {
			if away.Load() {
				return schemas.ErrUnavailable
			}
			return nil
		}
		c.Node = func(context.Context) (Node, error) {
			select {
			case <-there:
				return Node{Participant: participant, Source: source}, nil
			default:
				return Node{}, fmt.Errorf("%w: not yet", ErrNoStream)
			}
		}
	})
	e := s.refused("GET", "/v2/state/ledger-end", "", 503, serviceNotRunning)
	if e.RetryInfo != "1 second" || e.ErrorCategory != 1 {
		t.Errorf("%+v", e)
	}
	s.refused("POST", "/v2/updates", updates(0, 2, anyParty), 503, serviceNotRunning)
	if a := s.do("GET", "/readyz", ""); a.status != 503 {
		t.Errorf("ready without a stream: %d", a.status)
	}
	close(there)
	if a := s.do("GET", "/v2/state/ledger-end", ""); a.status != 200 || a.body != `{"offset":2}` {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.do("GET", "/readyz", ""); a.status != 200 {
		t.Errorf("not ready with a stream: %d", a.status)
	}
	away.Store(true)
	if a := s.do("GET", "/readyz", ""); a.status != 503 {
		t.Errorf("ready without all of the store: %d", a.status)
	}
}
