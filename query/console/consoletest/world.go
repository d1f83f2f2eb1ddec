// Package consoletest has what the tests of the console's packages share: a store with the history of a simulated
// network, and a browser.
package consoletest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/indexer/analytics"
	"github.com/ledgerlake/ledgerlake/ingest/scan"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/querytest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// Store is a store with the whole history of a simulated network, and all that is derived from it.
type Store struct {
	*enginetest.Store
	DB      *store.DB
	Network *devnet.Ledger
}

// NewStore makes a store. The package's TestMain must call enginetest.Run.
func NewStore(t *testing.T, cfg devnet.Config) *Store {
	t.Helper()
	cfg.Dir = t.TempDir()
	network, err := devnet.New(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	upstream := httptest.NewServer(network.Handler())
	t.Cleanup(func() {
		upstream.Close()
		if err := network.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &Store{Store: enginetest.StartMigrated(t, indexer.MigrateCluster), Network: network}
	s.DB = storetest.Open(t, s.Store)
	log := slog.New(slog.DiscardHandler)
	ingester, err := scan.New(scan.Config{BaseURL: upstream.URL, Settings: stream.Settings{Sink: sink{indexer.NewWriter(s.DB, schemas.ScanStream, log)}, Log: log}})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []func(context.Context) error{
		ingester.Backfill,
		indexer.NewLifetimes(s.DB, schemas.ScanStream, 0, log).CatchUp,
		analytics.NewMovements(s.DB, schemas.ScanStream, values.Default(), 0, log).CatchUp,
		analytics.NewRollups(s.DB, schemas.ScanStream, 0, log).CatchUp,
	} {
		if err := step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// sink begins at the start of history.
type sink struct{ *indexer.Writer }

func (s sink) Resume(context.Context, string) (schemas.Resume, error) {
	return schemas.Resume{Committed: schemas.Start}, nil
}

// Site is served pages, and a browser that keeps cookies.
type Site struct {
	*testing.T
	// URL has no slash at its end.
	URL    string
	client *http.Client
}

// Serve serves routes over a store, which may be nil for none.
func Serve(t *testing.T, s *Store, routes func(*page.Pages) []query.Route, more ...query.Mount) *Site {
	t.Helper()
	status := func(ctx context.Context) (of page.Status, err error) {
		if s != nil {
			at, err := history.NewReader(s.DB, schemas.ScanStream).Watermark(ctx)
			return page.Status{Through: at.RecordTime, Migration: at.MigrationID}, err
		}
		return of, nil
	}
	pages, err := page.New(page.Config{Key: []byte("a key of some length, for tests."), Status: status, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	all := append(routes(pages), signIn(pages))
	server := querytest.Serve(t, query.Config{Mounts: append(more, query.Mount{Prefixes: []string{""}, Routes: all}), Errors: pages.Unrouted})
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Site{T: t, URL: server.URL, client: &http.Client{Jar: jar}}
}

// signIn is a route that begins a session of any user.
func signIn(p *page.Pages) query.Route {
	return p.Get("/test/sign-in", "test.sign_in", func(_ context.Context, v *page.View) (page.Page, error) {
		session := page.Session{Token: v.Param("token"), User: v.Param("user"), Admin: v.Param("admin") == "true", Expires: time.Now().Add(time.Hour).Unix()}
		return page.Page{Title: "Signed in", Body: page.Empty}, p.SignIn(v, session)
	})
}

// SignIn begins a session of the browser.
func (s *Site) SignIn(user, token string, admin bool) {
	s.Helper()
	s.Page(http.StatusOK, "/test/sign-in?"+url.Values{"user": {user}, "token": {token}, "admin": {fmt.Sprint(admin)}}.Encode())
}

// Fetch asks for a path with headers, name by name and value, and returns what came, whatever it is.
func (s *Site) Fetch(path string, headers ...string) (*http.Response, string) {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	request.Header.Set("Accept", "text/html")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return s.send(request)
}

// Page asks for a path, whose answer must have a status, and returns its text.
func (s *Site) Page(status int, path string) string {
	s.Helper()
	answer, body := s.Fetch(path)
	if answer.StatusCode != status {
		s.Fatalf("%s: status %d, want %d\n%s", path, answer.StatusCode, status, Text(body))
	}
	return body
}

// Post sends a form without following where the answer leads.
func (s *Site) Post(path string, fields url.Values) (*http.Response, string) {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), http.MethodPost, s.URL+path, strings.NewReader(fields.Encode()))
	if err != nil {
		s.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.send(request)
}

func (s *Site) send(request *http.Request) (*http.Response, string) {
	s.Helper()
	client := *s.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer, string(body)
}

var (
	formToken = regexp.MustCompile(`name="form" value="([^"]+)"`)
	tags      = regexp.MustCompile(`<[^>]*>`)
	spaces    = regexp.MustCompile(`\s+`)
)

// FormToken is that of the first form of a page; the test ends without one.
func (s *Site) FormToken(body string) string {
	s.Helper()
	found := formToken.FindStringSubmatch(body)
	if found == nil {
		s.Fatalf("no form has a token:\n%s", Text(body))
	}
	return found[1]
}

// Has reports parts that a page does not have.
func (s *Site) Has(path, body string, parts ...string) {
	s.Helper()
	for _, part := range parts {
		if !strings.Contains(body, part) {
			s.Errorf("%s has no %q:\n%s", path, part, Text(body))
		}
	}
}

// Text is what people read of a page.
func Text(body string) string {
	if _, main, ok := strings.Cut(body, "<main"); ok {
		body = "<main" + main
	}
	return strings.TrimSpace(spaces.ReplaceAllString(tags.ReplaceAllString(body, " "), " "))
}
