package page

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/querytest"
)

// clock is a time that tests move.
type clock struct{ now time.Time }

// sessionSite is pages that begin sessions, remember things and tell what they know.
type sessionSite struct {
	*testing.T
	*clock
	url     string
	cookies map[string]string
	// renewing is what Renew does.
	renewing func(*Session) error
	session  Session
}

func newSessionSite(t *testing.T) *sessionSite {
	t.Helper()
	s := &sessionSite{T: t, clock: &clock{time.Date(2026, 7, 5, 12, 0, 0, 0, time.UTC)}, cookies: map[string]string{}}
	p, err := New(Config{
		Key: []byte("a key of some length, for tests."), Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return s.now },
		Status: func(context.Context) (Status, error) { return Status{}, nil },
		Renew:  func(_ context.Context, session *Session) error { return s.renewing(session) },
	})
	if err != nil {
		t.Fatal(err)
	}
	tell := func(text string) (Page, error) { return Page{Title: text, Body: Empty}, nil }
	routes := []query.Route{
		p.Get("/in", "in", func(_ context.Context, v *View) (Page, error) { return Page{Body: Empty}, p.SignIn(v, s.session) }),
		p.Get("/who", "who", func(_ context.Context, v *View) (Page, error) {
			switch {
			case v.Lapsed:
				return tell("lapsed")
			case v.Who == nil:
				return tell("nobody")
			}
			return tell(v.Who.User + " with " + v.Who.Token[:5] + " " + v.Who.Refresh)
		}),
		p.Get("/remember", "remember", func(_ context.Context, v *View) (Page, error) {
			return Page{Body: Empty}, p.Remember(v, v.Param("name"), "a value", 60)
		}),
		p.Get("/recall", "recall", func(_ context.Context, v *View) (Page, error) {
			var value string
			if !p.Recall(v, "kept", &value) {
				value = "nothing"
			}
			return tell(value)
		}),
		p.Get("/form", "form", func(_ context.Context, v *View) (Page, error) { return tell(p.EntryForm(v)) }),
		p.Enter("/enter", "enter", func(context.Context, *View) (Page, error) { return tell("entered") }),
	}
	s.url = querytest.Serve(t, query.Config{Mounts: []query.Mount{{Prefixes: []string{""}, Routes: routes}}}).URL
	return s
}

// ask sends a request and returns the title of the page; it keeps cookies as a browser does.
func (s *sessionSite) ask(method, path string, fields url.Values) (status int, title string) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(fields.Encode()))
	if err != nil {
		s.Fatal(err)
	}
	for name, value := range s.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		s.Fatal(err)
	}
	for _, c := range answer.Cookies() {
		if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" {
			s.Errorf("cookie %s is open: %+v", c.Name, c)
		}
		if s.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(s.cookies, c.Name)
		}
	}
	_, title, _ = strings.Cut(string(body), "<title>")
	title, _, _ = strings.Cut(title, " · ")
	return answer.StatusCode, title
}

func (s *sessionSite) wants(path, title string) {
	s.Helper()
	if status, got := s.ask("GET", path, nil); status != 200 || got != title {
		s.Errorf("%s is %d %q, want %q", path, status, got, title)
	}
}

func (s *sessionSite) in(minutes int) int64 {
	return s.now.Add(time.Duration(minutes) * time.Minute).Unix()
}

// TestSessionsAreRenewed while that can be done, and end with their last token.
func TestSessionsAreRenewed(t *testing.T) {
	s := newSessionSite(t)
	renewals := 0
	s.renewing = func(session *Session) error {
		renewals++
		session.Token, session.TokenExpires, session.Refresh = "second token", s.in(10), "r2"
		return nil
	}
	s.session = Session{Token: "first token", User: "ann", Refresh: "r1", TokenExpires: s.in(10), Expires: s.in(60)}
	s.wants("/in", "")
	s.wants("/who", "ann with first r1")
	s.now = s.now.Add(9*time.Minute + 40*time.Second)
	s.wants("/who", "ann with secon r2")
	s.wants("/who", "ann with secon r2")
	if renewals != 1 {
		t.Errorf("the token was renewed %d times", renewals)
	}
	s.renewing = func(*Session) error { return errors.New("the provider is away") }
	s.now = s.now.Add(9*time.Minute + 40*time.Second)
	s.wants("/who", "ann with secon r2") // still good
	s.now = s.now.Add(time.Minute)
	s.wants("/who", "lapsed")
}

// TestSessionsFitIntoCookies: what a session can do without goes first.
func TestSessionsFitIntoCookies(t *testing.T) {
	s := newSessionSite(t)
	s.renewing = func(*Session) error { return errors.New("there is nothing to renew by") }
	s.session = Session{Token: "first" + strings.Repeat("x", 2000), User: "ann", Refresh: strings.Repeat("r", 2000), TokenExpires: s.in(10), Expires: s.in(60)}
	s.wants("/in", "")
	s.wants("/who", "ann with first ")
	cookie := s.cookies[sessionCookie]
	s.now = s.now.Add(11 * time.Minute)
	s.wants("/who", "lapsed") // it ends with its token
	s.session.Token = strings.Repeat("x", 4000)
	if status, _ := s.ask("GET", "/in", nil); status != 400 || s.cookies[sessionCookie] != cookie {
		t.Errorf("a token of 4,000 characters is answered %d", status)
	}
}

// TestRemembered values come back once, for their time, and under their own name alone.
func TestRemembered(t *testing.T) {
	s := newSessionSite(t)
	s.wants("/recall", "nothing")
	s.wants("/remember?name=kept", "")
	sealed := s.cookies["ledgerlake_kept"]
	if strings.Contains(sealed, "value") {
		t.Error("the browser can read it")
	}
	s.wants("/recall", "a value")
	s.wants("/recall", "nothing")
	s.cookies["ledgerlake_kept"] = sealed
	s.now = s.now.Add(time.Minute)
	s.wants("/recall", "nothing")
	s.wants("/remember?name=other", "")
	s.cookies["ledgerlake_kept"] = s.cookies["ledgerlake_other"]
	s.wants("/recall", "nothing")
	s.cookies[sessionCookie] = s.cookies["ledgerlake_other"]
	s.wants("/who", "nobody")
}

// TestEntryForms are those of one browser.
func TestEntryForms(t *testing.T) {
	s := newSessionSite(t)
	_, token := s.ask("GET", "/form", nil)
	if _, again := s.ask("GET", "/form", nil); again != token {
		t.Error("a second page makes the form of the first one void")
	}
	if status, title := s.ask("POST", "/enter", url.Values{"form": {token}}); status != 200 || title != "entered" {
		t.Errorf("a good form is %d %q", status, title)
	}
	for name, form := range map[string]string{"no token": "", "another": token[1:] + "A"} {
		if status, _ := s.ask("POST", "/enter", url.Values{"form": {form}}); status != 403 {
			t.Errorf("%s is answered %d", name, status)
		}
	}
	other := newSessionSite(t)
	if status, _ := other.ask("POST", "/enter", url.Values{"form": {token}}); status != 403 {
		t.Errorf("a form of another browser is answered %d", status)
	}
}
