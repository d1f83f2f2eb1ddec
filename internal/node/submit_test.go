package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/faults"
)

const alice = "alice::1220" + "00000000000000000000000000000000" + "00000000000000000000000000000000"

func newClient(t *testing.T, url string, change func(*Config)) *Client {
	t.Helper()
	cfg := Config{
		BaseURL: url, Log: slog.New(slog.DiscardHandler), User: "tester",
		RequestTimeout: time.Second, ResolveTimeout: 100 * time.Millisecond, Poll: 5 * time.Millisecond, Attempts: 4,
	}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func submission(id, choice string) Submission {
	return Submission{CommandID: id, ActAs: []string{alice}, Commands: []Command{Exercise("#p:M:T", "00ab", choice, struct{}{})}}
}

func TestCommandIsExecutedOnceOrReported(t *testing.T) {
	t.Parallel()
	const seeds, commands = 24, 5
	tally := new(faults.Tally)
	t.Run("seeds", func(t *testing.T) {
		for seed := range seeds {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				m, url := newModel(t)
				plan := faults.PlanHTTP(faults.Seed(seed).Rand("node"), 4, 2*commands, faults.HTTPKinds()...)
				proxy, err := faults.NewHTTP(faults.HTTPConfig{Name: "node", Target: url, Faults: plan, Tally: tally})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = proxy.Close() })
				c := newClient(t, proxy.URL(), nil)
				for n := range commands {
					id, choice := fmt.Sprint("c", n), "Do"
					if n == 2 {
						choice = "Refuse"
					}
					tx, err := c.Submit(t.Context(), submission(id, choice))
					checkOutcome(t, plan, choice, m.times(id), tx, err)
				}
			})
		}
	})
	if tally.Total() < seeds {
		t.Errorf("only %d faults happened in %d runs", tally.Total(), seeds)
	}
}

// checkOutcome holds what was reported against how often the node has executed a command.
func checkOutcome(t *testing.T, plan []faults.HTTPFault, choice string, times int, tx *Transaction, err error) {
	t.Helper()
	switch {
	case times > 1:
		t.Errorf("executed %d times: %v (%v)", times, err, plan)
	case err == nil && (times != 1 || tx.Offset == 0):
		t.Errorf("reported as done in %+v, executed %d times (%v)", tx, times, plan)
	case err != nil && times == 1 && !errors.Is(err, ErrUnknown):
		t.Errorf("executed, but reported as %v (%v)", err, plan)
	case err != nil && !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrNotSent) && !(choice == "Refuse" && IsRefusal(err, CodeContractNotFound)):
		t.Errorf("choice %s ended with %v (%v)", choice, err, plan)
	}
}

func TestLostAnswersAreMadeUpFor(t *testing.T) {
	t.Parallel()
	// Request 1 asks for the end of the ledger, 2 submits.
	for _, kind := range []faults.HTTPKind{faults.Unheard, faults.Unanswered, faults.Twice, faults.HalfBody, faults.EmptyBody, faults.Unavailable, faults.Broken, faults.Missing, faults.TooMany} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			m, url := newModel(t)
			tally := new(faults.Tally)
			proxy, err := faults.NewHTTP(faults.HTTPConfig{Name: "node", Target: url, Faults: []faults.HTTPFault{{Request: 2, Kind: kind, Part: 0.5}}, Tally: tally})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = proxy.Close() })
			tx, err := newClient(t, proxy.URL(), nil).Submit(t.Context(), submission("c", "Do"))
			if err != nil || tx.UpdateID != "122011" || m.times("c") != 1 || tally.Total() != 1 {
				t.Errorf("got %+v, %v after %d executions and %d faults", tx, err, m.times("c"), tally.Total())
			}
		})
	}
}

func TestNothingIsSentWhereNobodyListens(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	c := newClient(t, "http://"+address, nil)
	c.ends.reached(1, time.Now())
	if _, err := c.Submit(t.Context(), submission("c", "Do")); !errors.Is(err, ErrNotSent) || errors.Is(err, ErrUnknown) {
		t.Errorf("the error is %v", err)
	}
}

func TestAnotherSubmissionIsADuplicate(t *testing.T) {
	t.Parallel()
	m, url := newModel(t)
	c := newClient(t, url, nil)
	s := submission("same", "Do")
	s.DeduplicateAfter = 1
	if _, err := c.Submit(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Submit(t.Context(), s); !errors.Is(err, ErrDuplicate) || m.times("same") != 1 {
		t.Errorf("the second is %v, %d executions", err, m.times("same"))
	}
	s.DeduplicateAfter = 0 // from now on
	if _, err := c.Submit(t.Context(), s); err != nil || m.times("same") != 2 {
		t.Errorf("the third is %v, %d executions", err, m.times("same"))
	}
}

func TestARepetitionHasTheFirstTransaction(t *testing.T) {
	t.Parallel()
	m, url := newModel(t)
	c := newClient(t, url, nil)
	s := submission("same", "Do")
	s.DeduplicateFor = time.Hour
	first, err := c.Submit(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Submit(t.Context(), s)
	if err != nil || m.times("same") != 1 || again.UpdateID != first.UpdateID || again.Offset != first.Offset {
		t.Errorf("the second is %+v, %v after %d executions, the first %+v", again, err, m.times("same"), first)
	}
	m.before = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if r.URL.Path != submitOperation {
			return false
		}
		refuse(w, 409, CodeInFlight, 10, map[string]string{"existing_submission_id": "another"})
		return true
	}
	if _, err := c.Submit(t.Context(), s); !errors.Is(err, ErrDuplicate) || !HasCode(err, CodeInFlight) {
		t.Errorf("while the first is in flight: %v", err)
	}
}

func TestWhatStaysUnknownIsSaid(t *testing.T) {
	t.Parallel()
	m, url := newModel(t)
	m.before = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if r.URL.Path != submitOperation && r.URL.Path != completionsOperation {
			return false
		}
		panic(http.ErrAbortHandler)
	}
	c := newClient(t, url, func(c *Config) { c.Attempts = 2 })
	_, err := c.Submit(t.Context(), submission("c", "Do"))
	if !errors.Is(err, ErrUnknown) || errors.Is(err, ErrNotSent) {
		t.Errorf("the error is %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Submit(ctx, submission("d", "Do")); !errors.Is(err, ErrUnknown) {
		t.Errorf("when time is up the error is %v", err)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name     string
		status   int
		code     string
		category int
		context  map[string]string
		refused  bool
	}{
		{"a contract that is gone", 404, "CONTRACT_NOT_FOUND", 11, nil, true},
		{"a wrong argument", 400, "COMMAND_PREPROCESSING_FAILED", 8, nil, true},
		{"an exception", 400, "UNHANDLED_EXCEPTION", 9, map[string]string{"definite_answer": "false"}, true},
		{"no right", 403, "PERMISSION_DENIED", 7, nil, true},
		{"too busy", 429, "PARTICIPANT_BACKPRESSURE", 2, nil, true},
		{"contention, decided", 409, "LOCAL_VERDICT_LOCKED_CONTRACTS", 2, map[string]string{"definite_answer": "true"}, true},
		{"contention, not decided", 409, "LOCAL_VERDICT_LOCKED_CONTRACTS", 2, nil, false},
		{"time is up", 504, "REQUEST_TIME_OUT", 3, nil, false},
		{"not running", 503, "SERVICE_NOT_RUNNING", 1, nil, false},
		{"internal", 500, "LEDGER_API_INTERNAL_ERROR", 4, nil, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m, url := newModel(t)
			m.before = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
				if r.URL.Path == submitOperation {
					refuse(w, c.status, c.code, c.category, c.context)
				}
				return r.URL.Path == submitOperation
			}
			_, err := newClient(t, url, func(c *Config) { c.Attempts = 1 }).Submit(t.Context(), submission("c", "Do"))
			if IsRefusal(err, c.code) != c.refused || errors.Is(err, ErrUnknown) == c.refused {
				t.Errorf("refused=%v wanted, the error is %v", c.refused, err)
			}
		})
	}
}

func TestRefusalInACompletion(t *testing.T) {
	t.Parallel()
	m, url := newModel(t)
	m.before = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if r.URL.Path != submitOperation {
			return false
		}
		var q struct {
			Commands commands `json:"commands"`
		}
		m.decode(body, &q)
		m.mu.Lock()
		m.end++
		d := completion{CommandID: q.Commands.CommandID, SubmissionID: q.Commands.SubmissionID, ActAs: q.Commands.ActAs, Offset: m.end}
		d.Status = &struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		}{10, "LOCAL_VERDICT_LOCKED_CONTRACTS(2,abc): somebody was faster"}
		m.completions = append(m.completions, d)
		m.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	_, err := newClient(t, url, nil).Submit(t.Context(), submission("c", "Do"))
	var r *Refusal
	if !errors.As(err, &r) || r.Code != "LOCAL_VERDICT_LOCKED_CONTRACTS" || r.Category != 2 || !r.Retryable() || r.Message != "somebody was faster" {
		t.Errorf("the error is %v", err)
	}
}

func TestTokenIsNeverShown(t *testing.T) {
	t.Parallel()
	m, url := newModel(t)
	const secret = "a.very-secret-token.b"
	m.before = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		http.Error(w, "no such token: "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		return true
	}
	c := newClient(t, strings.Replace(url, "http://", "http://user:password@", 1), func(c *Config) {
		c.Token = func(context.Context) (string, error) { return secret, nil }
	})
	_, err := c.LedgerEnd(t.Context())
	if err == nil || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "password") || !strings.Contains(err.Error(), "<token>") {
		t.Errorf("the error is %v", err)
	}
}

// IsRefusal reports whether err is a refusal with one of the codes, or with any if none is
// given.
func IsRefusal(err error, codes ...string) bool {
	var r *Refusal
	if !errors.As(err, &r) {
		return false
	}
	for _, code := range codes {
		if r.Code == code {
			return true
		}
	}
	return len(codes) == 0
}
