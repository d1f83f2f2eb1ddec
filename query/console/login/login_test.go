package login

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a-h/templ"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/auth"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/walletapi"
	"github.com/ledgerlake/ledgerlake/query/querytest"
)

// site is a console whose people sign in by a provider, before an interface that checks their tokens.
type site struct {
	*testing.T
	url      string
	provider *fakeProvider
	client   *http.Client
	// tokens are those with which the interface was called.
	mu     sync.Mutex
	tokens map[string]bool
}

func newSite(t *testing.T) *site {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{T: t, provider: newProviderServer(t), client: &http.Client{Jar: jar, Timeout: time.Minute}, tokens: map[string]bool{}}
	keys, err := auth.KeySet(t.Context(), s.provider.URL+"/jwks", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := auth.New(auth.Config{Keys: keys, Users: nobody{}, Audience: audience})
	if err != nil {
		t.Fatal(err)
	}
	l := New(Config{
		Wallet: &walletapi.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}, Log: slog.New(slog.DiscardHandler),
		Admin: func(_ context.Context, user string) (bool, error) { return user == "ann", nil },
		OIDC:  &OIDC{Issuer: s.provider.URL, ClientID: clientID, ClientSecret: clientSecret, Audience: audience, Scopes: []string{"offline_access"}},
	})
	pages, err := page.New(page.Config{Key: []byte("a key of some length, for tests."), Log: slog.New(slog.DiscardHandler), Renew: l.Renew,
		Status: func(context.Context) (page.Status, error) { return page.Status{}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	status := query.Route{Method: "GET", Path: "/v0/wallet/user-status", Name: "user_status", Handle: func(ctx context.Context, r *query.Request) error {
		if _, err := verifier.Identify(ctx, auth.TokenOf(r.Header("Authorization"), "")); err != nil {
			return &query.Error{Code: query.Unauthenticated, Msg: "no", Err: err}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.tokens[r.Header("Authorization")] = true
		return r.JSON(map[string]any{})
	}}
	who := pages.Get("/who", "who", func(ctx context.Context, v *page.View) (page.Page, error) {
		if v.Who == nil {
			return page.Page{}, query.Errorf(query.Unauthenticated, "nobody")
		}
		_, err := l.cfg.Wallet.As(v.Who.Token).Status(ctx)
		return page.Page{Title: "Who", Body: templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, map[bool]string{true: "an operator", false: "a user"}[v.Who.Admin])
			return err
		})}, err
	})
	server := querytest.Serve(t, query.Config{Mounts: []query.Mount{{Prefixes: []string{""}, Routes: append(l.Routes(pages), status, who)}}, Errors: pages.Unrouted})
	s.url = server.URL
	l.cfg.Wallet.Transport = toServer{server.URL}
	return s
}

// toServer sends requests to a server, whatever host they name.
type toServer struct{ url string }

func (t toServer) RoundTrip(r *http.Request) (*http.Response, error) {
	u, err := url.Parse(t.url)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.URL.Host, r.Host = u.Host, u.Host
	return http.DefaultTransport.RoundTrip(r)
}

type nobody struct{}

func (nobody) Rights(context.Context, string) (auth.Rights, error) {
	return auth.Rights{}, errors.New("nobody asks")
}

// open loads a page and returns where that has led.
func (s *site) open(address string) (status int, at *url.URL, body string) {
	s.Helper()
	if strings.HasPrefix(address, "/") {
		address = s.url + address
	}
	answer, err := s.client.Get(address)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer.StatusCode, answer.Request.URL, string(text)
}

// change has the provider behave in some way from now on.
func (s *site) change(how func(p *fakeProvider)) {
	s.provider.mu.Lock()
	defer s.provider.mu.Unlock()
	how(s.provider)
}

// TestSignInByProvider goes all the way to the provider and back.
func TestSignInByProvider(t *testing.T) {
	s := newSite(t)
	if status, _, body := s.open("/login?back=/who"); status != 200 || !strings.Contains(body, "/login/provider?back=%2Fwho") {
		t.Fatalf("the page does not lead to the provider: %d %s", status, body)
	}
	status, at, body := s.open("/login/provider?back=/who")
	if status != 200 || at.Path != "/who" || !strings.Contains(body, "an operator") || !strings.Contains(body, "Ann &lt;b&gt;Example&lt;/b&gt;") {
		t.Fatalf("signing in leads to %s with %d: %s", at, status, body)
	}
	// The provider's answer is good once, and in the browser that has asked.
	if status, _, _ := s.open("/login/callback?code=code-0&state=x"); status != 400 {
		t.Errorf("another answer of the provider is %d", status)
	}
	if _, at, _ := s.open("/login/provider?back=https://evil.example/"); at.Host != strings.TrimPrefix(s.url, "http://") {
		t.Errorf("signing in leads to %s", at)
	}
}

// TestProviderMisbehaves: nobody is signed in by an answer that is not good.
func TestProviderMisbehaves(t *testing.T) {
	other := newKey(t)
	for name, c := range map[string]struct {
		how    func(*fakeProvider)
		status int
		text   string
	}{
		"a refusal":                {func(p *fakeProvider) { p.refuse = "<script>no</script>" }, 403, "&lt;script&gt;no&lt;/script&gt;"},
		"another nonce":            {func(p *fakeProvider) { p.nonce = "another" }, 403, "not accepted"},
		"another key":              {func(p *fakeProvider) { p.signer = other }, 403, "not accepted"},
		"tokens for somebody else": {func(p *fakeProvider) { p.audience = "https://other.example.com" }, 401, "not accepted"},
		"tokens that are over":     {func(p *fakeProvider) { p.lasting = -time.Minute }, 403, "not accepted"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.change(c.how)
			status, _, body := s.open("/login/provider?back=/who")
			if status != c.status || !strings.Contains(body, c.text) {
				t.Errorf("the answer is %d: %s", status, body)
			}
			if status, _, _ := s.open("/who"); status != 401 {
				t.Errorf("somebody is signed in")
			}
		})
	}
	s := newSite(t)
	s.provider.Close()
	if status, _, body := s.open("/login/provider"); status != 503 || !strings.Contains(body, "does not answer") {
		t.Errorf("without the provider the answer is %d: %s", status, body)
	}
}

// TestCodesOfOthers: a code that somebody else was given does not sign in who is led to it.
func TestCodesOfOthers(t *testing.T) {
	s := newSite(t)
	stop := *s.client
	stop.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if r.URL.Path == "/login/callback" {
			return http.ErrUseLastResponse
		}
		return nil
	}
	answer, err := stop.Get(s.url + "/login/provider")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	callback := answer.Header.Get("Location")
	victim := &site{T: t, url: s.url, client: &http.Client{}}
	if status, _, body := victim.open(callback); status != 400 || !strings.Contains(body, "not begun in this browser") {
		t.Errorf("a callback of another browser is answered %d: %s", status, body)
	}
}

// TestRenewal: a session goes on with new tokens, once for all requests that come at a time, and ends with
// the last token when the provider gives no more.
func TestRenewal(t *testing.T) {
	s := newSite(t)
	s.change(func(p *fakeProvider) { p.lasting = 20 * time.Second }) // less than what tokens are renewed before
	if status, _, body := s.open("/login/provider?back=/who"); status != 200 {
		t.Fatalf("signing in is answered %d: %s", status, body)
	}
	first := s.provider.count()
	if first != 1 {
		t.Errorf("the page after signing in has renewed %d tokens", first)
	}
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if status, _, body := s.open("/who"); status != 200 {
				t.Errorf("a page is %d: %s", status, body)
			}
		})
	}
	all.Wait()
	if status, _, body := s.open("/who"); status != 200 {
		t.Errorf("a page is %d: %s", status, body)
	}
	s.mu.Lock()
	tokens := len(s.tokens)
	s.mu.Unlock()
	if renewed := s.provider.count(); renewed < 2 || renewed > 3+5 || tokens < 3 {
		t.Errorf("%d tokens were renewed, %d used", renewed, tokens)
	}
	s.change(func(p *fakeProvider) { p.refusesRefreshes = true })
	if status, _, body := s.open("/who"); status != 200 {
		t.Errorf("with a token that is still good a page is %d: %s", status, body)
	}
}

// count is how often a refresh token was sent.
func (p *fakeProvider) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.renewed
}
