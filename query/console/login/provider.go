package login

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"github.com/ledgerlake/ledgerlake/internal/memo"
	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
)

// OIDC is an OpenID provider that people sign in by.
type OIDC struct {
	// Issuer is the URL of the provider, ClientID and ClientSecret are what it knows the console by; a
	// public client has no secret.
	Issuer, ClientID, ClientSecret string
	// Audience is asked for, for providers that make tokens by it; "" for none.
	Audience string
	// Scopes are asked for beside openid.
	Scopes []string
	// PublicURL is under which browsers have the console; "" for what each request names.
	PublicURL string
	// Client defaults to one with a timeout.
	Client *http.Client
}

// askTimeout bounds a question to a provider.
const askTimeout = 10 * time.Second

// maxRenewed is how many renewed tokens are remembered, and renewedLasts how long: requests that come at
// once with one token get the same new one, since most providers accept the old one once.
const (
	maxRenewed   = 10_000
	renewedLasts = time.Minute
)

// provider is an OpenID provider, found when it is first needed.
type provider struct {
	cfg     OIDC
	now     func() time.Time
	renewed *memo.Recent[string, *oauth2.Token]
	asks    singleflight.Group

	mu    sync.Mutex
	found *oidc.Provider
}

func newProvider(cfg OIDC, now func() time.Time) *provider {
	if cfg.Client == nil {
		cfg.Client = &http.Client{Timeout: askTimeout}
	}
	return &provider{cfg: cfg, now: now, renewed: memo.NewRecent[string, *oauth2.Token](maxRenewed, renewedLasts, now)}
}

// name is what people are told of the provider.
func (p *provider) name() string {
	u, err := url.Parse(p.cfg.Issuer)
	if err != nil {
		return p.cfg.Issuer
	}
	return u.Host
}

// find asks the provider what it offers, once it has answered.
func (p *provider) find(ctx context.Context) (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	// The provider keeps the client of the context, not its end.
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.cfg.Client), p.cfg.Issuer)
	if err != nil {
		return nil, &query.Error{Code: query.Unavailable, Msg: "The provider that you would sign in by does not answer.", Err: err}
	}
	p.found = found
	return found, nil
}

// config is that of the protocol, with the address that the provider sends people back to.
func (p *provider) config(found *oidc.Provider, redirect string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.cfg.ClientID, ClientSecret: p.cfg.ClientSecret, Endpoint: found.Endpoint(), RedirectURL: redirect,
		Scopes: append([]string{oidc.ScopeOpenID}, p.cfg.Scopes...),
	}
}

// attempt is a sign-in under way, which the browser keeps.
type attempt struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
	Redirect string `json:"redirect"`
	Back     string `json:"back"`
}

// attemptCookie holds one, for attemptLasts seconds.
const (
	attemptCookie = "attempt"
	attemptLasts  = 600
)

// toProvider sends the browser to the provider.
func (s *served) toProvider(ctx context.Context, v *page.View) (page.Page, error) {
	found, err := s.provider.find(ctx)
	if err != nil {
		return page.Page{}, err
	}
	a := attempt{State: page.Once(), Nonce: page.Once(), Verifier: oauth2.GenerateVerifier(), Redirect: s.provider.redirect(v), Back: s.back(v.Param("back"))}
	if err := s.pages.Remember(v, attemptCookie, a, attemptLasts); err != nil {
		return page.Page{}, err
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)}
	if s.provider.cfg.Audience != "" {
		options = append(options, oauth2.SetAuthURLParam("audience", s.provider.cfg.Audience))
	}
	return page.Page{See: s.provider.config(found, a.Redirect).AuthCodeURL(a.State, options...)}, nil
}

// redirect is the address of fromProvider as the browser has it.
func (p *provider) redirect(v *page.View) string {
	base := strings.TrimRight(p.cfg.PublicURL, "/")
	if base == "" {
		scheme := "http"
		if v.Header("X-Forwarded-Proto") == "https" {
			scheme = "https"
		}
		base = scheme + "://" + v.Header("Host")
	}
	return base + "/login/callback"
}

// fromProvider is where the provider sends the browser back to.
func (s *served) fromProvider(ctx context.Context, v *page.View) (page.Page, error) {
	var a attempt
	if !s.pages.Recall(v, attemptCookie, &a) || v.Param("state") == "" || v.Param("state") != a.State {
		return page.Page{}, query.Errorf(query.Invalid, "This sign-in was not begun in this browser, or more than ten minutes ago. Begin again.")
	}
	if refusal := v.Param("error"); refusal != "" {
		return page.Page{}, query.Errorf(query.Denied, "The provider did not sign you in: %.200s.", strings.TrimRight(refusal+": "+v.Param("error_description"), ": "))
	}
	token, name, err := s.provider.redeem(ctx, a, v.Param("code"))
	if err != nil {
		return page.Page{}, err
	}
	session, err := s.sessionOf(ctx, token.AccessToken)
	if err != nil {
		return page.Page{}, err
	}
	if name != "" {
		session.User = name
	}
	if token.RefreshToken != "" {
		session.Refresh, session.TokenExpires, session.Expires = token.RefreshToken, session.Expires, s.cfg.Now().Add(longest).Unix()
	}
	return s.begin(v, session, a.Back)
}

// redeem turns a code into tokens, and checks who they say has signed in.
func (p *provider) redeem(ctx context.Context, a attempt, code string) (token *oauth2.Token, name string, err error) {
	fail := func(err error) (*oauth2.Token, string, error) {
		return nil, "", &query.Error{Code: query.Denied, Msg: "The provider's answer was not accepted. Begin again.", Err: err}
	}
	found, err := p.find(ctx)
	if err != nil {
		return nil, "", err
	}
	ctx = oidc.ClientContext(ctx, p.cfg.Client)
	token, err = p.config(found, a.Redirect).Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return fail(err)
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return fail(errors.New("there is no id_token in it"))
	}
	id, err := found.VerifierContext(ctx, &oidc.Config{ClientID: p.cfg.ClientID, Now: p.now}).Verify(ctx, raw)
	if err != nil {
		return fail(err)
	}
	if id.Nonce != a.Nonce {
		return fail(errors.New("its nonce is another"))
	}
	var claims struct {
		Name  string `json:"preferred_username"`
		Email string `json:"email"`
	}
	if err := id.Claims(&claims); err != nil {
		return fail(err)
	}
	names := []string{claims.Name, claims.Email}
	if i := slices.IndexFunc(names, func(n string) bool { return n != "" && len(n) <= maxUser }); i >= 0 {
		name = names[i]
	}
	return token, name, nil
}

// Renew has a new token put into a session: see page.Config.
func (l *Login) Renew(ctx context.Context, session *page.Session) error {
	if l.provider == nil || session.Refresh == "" {
		return errors.New("there is nothing to renew it by")
	}
	token, err := l.provider.renew(ctx, session.Refresh)
	if err != nil {
		return err
	}
	session.Token, session.TokenExpires = token.AccessToken, token.Expiry.Unix()
	if token.RefreshToken != "" {
		session.Refresh = token.RefreshToken
	}
	return nil
}

// renew asks for the token that follows, once for all who have the same.
func (p *provider) renew(ctx context.Context, refresh string) (*oauth2.Token, error) {
	made, err, _ := p.asks.Do(refresh, func() (any, error) {
		if token, ok := p.renewed.Get(refresh); ok {
			return token, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		found, err := p.find(ctx)
		if err != nil {
			return nil, err
		}
		token, err := p.config(found, "").TokenSource(oidc.ClientContext(ctx, p.cfg.Client), &oauth2.Token{RefreshToken: refresh}).Token()
		if err != nil {
			return nil, fmt.Errorf("renewing a token: %w", err)
		}
		p.renewed.Put(refresh, token, p.now())
		return token, nil
	})
	if err != nil {
		return nil, err
	}
	return made.(*oauth2.Token), nil
}
