package operations

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/query/console/consoletest"
)

// queue is jobs in memory, and what was done to them.
type queue struct {
	mu   sync.Mutex
	jobs []Job
	done []string
	err  error
}

func (q *queue) Counts(context.Context) (map[string]int, error) {
	counts := make(map[string]int)
	for _, j := range q.jobs {
		counts[j.State]++
	}
	return counts, q.err
}

func (q *queue) List(_ context.Context, state string, limit int) (list []Job, err error) {
	for _, j := range q.jobs {
		if j.State == state && len(list) < limit {
			list = append(list, j)
		}
	}
	return list, q.err
}

func (q *queue) Retry(_ context.Context, id string) error  { return q.act("retry", id) }
func (q *queue) Cancel(_ context.Context, id string) error { return q.act("cancel", id) }

func (q *queue) act(what, id string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !slices.ContainsFunc(q.jobs, func(j Job) bool { return j.ID == id }) {
		return ErrNoJob
	}
	q.done = append(q.done, what+" "+id)
	return nil
}

func (q *queue) Look() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.done = append(q.done, "look")
	return true
}

const markup = "<script>alert(1)</script>"

// configured is an instance with a stream, jobs and settings, some of which carry markup.
func configured(open bool) (Config, *queue) {
	now := time.Now()
	q := &queue{jobs: []Job{
		{ID: "export:1", Kind: "export_segment", State: "active", Started: now.Add(-time.Minute), Done: 25, Total: 100},
		{ID: "export:2", Kind: "export_segment", State: "dead", Failures: 3, MaxRetry: 3, LastError: markup, LastFailed: now.Add(-time.Hour)},
	}}
	return Config{
		Open: open,
		Streams: func(context.Context) ([]Stream, error) {
			return []Stream{{Name: "scan", Watermark: "1 2026-07-01", Items: 1234567, LastCommit: &now, Live: &Live{
				Phase: "backfill", Detail: markup, Lag: 90 * time.Minute, ETA: 26 * time.Hour, Rate: 1234,
				Upstreams: []Upstream{{URL: "http://one", State: "ok", Disagreements: 4, LastError: "no route", LastErrorAt: &now}},
			}}}, nil
		},
		Engine: func(context.Context) (Engine, error) {
			return Engine{Version: "26.1", Uptime: time.Hour, Memory: 2e9, Allowed: 4e9, BytesPerDay: 5e9, Days: 7, FullIn: 48 * time.Hour,
				Disks: []Disk{{"default", 1e10, 2e11}}, Tables: []Table{{"events", 3, 1000, 5e6}}, Work: []Work{{"events", "merge", "", time.Second, 0.5}}}, nil
		},
		Objects:  func(context.Context) (Objects, error) { return Objects{}, errors.New("the bucket is away") },
		Settings: []Setting{{"General", "data", "/srv", "folder", true}, {"Objects", "s3-secret-key", "********", "secret", true}},
		Jobs:     func() Jobs { return q },
	}, q
}

// TestWhoMayOperate asks as nobody, as a user, as an administrator, and through another server.
func TestWhoMayOperate(t *testing.T) {
	for _, c := range []struct {
		name              string
		open, user, admin bool
		passedOn          bool
		want              int
	}{
		{name: "nobody", want: http.StatusUnauthorized},
		{name: "a user", user: true, want: http.StatusForbidden},
		{name: "an administrator", user: true, admin: true, want: http.StatusOK},
		{name: "nobody on an open instance", open: true, want: http.StatusOK},
		{name: "a user on an open instance", open: true, user: true, want: http.StatusForbidden},
		{name: "nobody through another server", open: true, passedOn: true, want: http.StatusUnauthorized},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, q := configured(c.open)
			site := consoletest.Serve(t, nil, New(cfg).Routes)
			if c.user {
				site.SignIn("alice", "a-token", c.admin)
			}
			var headers []string
			if c.passedOn {
				headers = []string{"X-Forwarded-For", "192.0.2.1"}
			}
			for _, path := range []string{"/operations", "/operations/jobs", "/operations/settings"} {
				if answer, body := site.Fetch(path, headers...); answer.StatusCode != c.want {
					t.Errorf("%s: %d, want %d: %s", path, answer.StatusCode, c.want, consoletest.Text(body))
				}
			}
			if c.want == http.StatusOK {
				return
			}
			for _, path := range []string{"/operations/jobs/retry", "/operations/jobs/cancel", "/operations/jobs/look"} {
				if answer, _ := site.Post(path, url.Values{"id": {"export:2"}, "form": {"x"}}); answer.StatusCode/100 != 4 {
					t.Errorf("%s: %d", path, answer.StatusCode)
				}
			}
			if len(q.done) > 0 {
				t.Errorf("they did %q", q.done)
			}
		})
	}
}

// TestOverview looks at what is shown, and that nothing of it is markup; a part that cannot be asked says so.
func TestOverview(t *testing.T) {
	cfg, q := configured(true)
	site := consoletest.Serve(t, nil, New(cfg).Routes)
	body := site.Page(http.StatusOK, "/operations")
	site.Has("/operations", body, "1,234,567", "1 h 30 min", "1 d 2 h", "1.23e+03 updates/s", "26.1", "2 GB", "of 4 GB", "almost full", "5 GB a day", "full in 2 d", "the bucket is away", "no route", "&lt;script&gt;")
	dead := site.Page(http.StatusOK, "/operations/jobs?state=dead")
	site.Has("dead jobs", dead, "export:2", "Retry now", "Remove", "3 of 3", "1 h ago", "&lt;script&gt;")
	site.Has("active jobs", site.Page(http.StatusOK, "/operations/jobs"), "25 % (25 of 100), for 1 min", "3 min left", "Stop")
	site.Has("/operations/settings", site.Page(http.StatusOK, "/operations/settings"), "s3-secret-key", "********", "not the default")
	for _, text := range []string{body, dead} {
		if strings.Contains(text, markup) {
			t.Errorf("markup is on a page: %s", text)
		}
	}
	site.Page(http.StatusBadRequest, "/operations/jobs?state=%3Cb%3E")
	q.err = errors.New("redis is away")
	site.Has("/operations", site.Page(http.StatusOK, "/operations"), "redis is away")
	site.Page(http.StatusServiceUnavailable, "/operations/jobs")
	cfg.Jobs = nil
	site = consoletest.Serve(t, nil, New(cfg).Routes)
	site.Has("without a queue", site.Page(http.StatusOK, "/operations"), "does not reach the queue")
	site.Page(http.StatusNotImplemented, "/operations/jobs")
}

// TestActions sends forms with the token of a session or of a browser, of another one, and without.
func TestActions(t *testing.T) {
	for _, signedIn := range []bool{false, true} {
		cfg, q := configured(true)
		routes := New(cfg).Routes
		site, other := consoletest.Serve(t, nil, routes), consoletest.Serve(t, nil, routes)
		if signedIn {
			site.SignIn("root", "a-token", true)
			other.SignIn("root", "a-token", true)
		}
		token := site.FormToken(site.Page(http.StatusOK, "/operations/jobs?state=dead"))
		foreign := other.FormToken(other.Page(http.StatusOK, "/operations/jobs?state=dead"))
		for _, wrong := range []string{"", "x", foreign} {
			if answer, _ := site.Post("/operations/jobs/retry", url.Values{"id": {"export:2"}, "form": {wrong}}); answer.StatusCode != http.StatusForbidden {
				t.Errorf("a form with token %q: %d", wrong, answer.StatusCode)
			}
		}
		if len(q.done) > 0 {
			t.Fatalf("wrong forms did %q", q.done)
		}
		answer, _ := site.Post("/operations/jobs/retry", url.Values{"id": {"export:2"}, "form": {token}, "state": {"dead"}, "act": {"retry"}})
		if to := answer.Header.Get("Location"); answer.StatusCode != http.StatusSeeOther || to != "/operations/jobs?done=retry&state=dead" {
			t.Errorf("a retry is answered %d and leads to %q", answer.StatusCode, to)
		} else {
			site.Has(to, site.Page(http.StatusOK, to), "as soon as a worker is free")
		}
		site.Post("/operations/jobs/cancel", url.Values{"id": {"export:1"}, "form": {token}})
		site.Post("/operations/jobs/look", url.Values{"form": {token}})
		if want := []string{"retry export:2", "cancel export:1", "look"}; !slices.Equal(q.done, want) {
			t.Errorf("done is %q, want %q", q.done, want)
		}
		for id, want := range map[string]int{"gone": http.StatusNotFound, "": http.StatusBadRequest, strings.Repeat("x", 600): http.StatusBadRequest} {
			if answer, _ := site.Post("/operations/jobs/retry", url.Values{"id": {id}, "form": {token}}); answer.StatusCode != want {
				t.Errorf("job %.20q: %d, want %d", id, answer.StatusCode, want)
			}
		}
	}
}
