// Package login has the pages by which people sign in and out: with a token, as a user of a simulated
// network, or by an OpenID provider. A session has a token of the validator interface, with which the
// wallet works.
package login

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/console/page"
	"github.com/ledgerlake/ledgerlake/query/console/walletapi"
)

// Config says how people sign in.
type Config struct {
	// Wallet is the interface that tokens are for; nil where there is none, and then nobody signs in.
	Wallet *walletapi.Client
	// Admin reports whether a user may see and do what operators may; nil for nobody.
	Admin func(ctx context.Context, user string) (bool, error)
	// Development offers to sign in as any user, without a password; nil where that is not allowed.
	Development *Development
	// OIDC offers to sign in by a provider; nil for none.
	OIDC *OIDC
	Log  *slog.Logger
	// Now defaults to time.Now.
	Now func() time.Time
}

// Development makes tokens for the users of a simulated network.
type Development struct {
	// Token makes one that is good for some time.
	Token func(user string, lasting time.Duration) (string, error)
	// Operator is the user of the operator.
	Operator string
}

// Login makes the pages.
type Login struct {
	cfg      Config
	provider *provider
}

// New returns the pages.
func New(cfg Config) *Login {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	l := &Login{cfg: cfg}
	if cfg.OIDC != nil {
		l.provider = newProvider(*cfg.OIDC, cfg.Now)
	}
	return l
}

// Routes are the pages.
func (l *Login) Routes(p *page.Pages) []query.Route {
	if l.cfg.Wallet == nil {
		return nil
	}
	s := &served{l, p}
	routes := []query.Route{
		p.Get("/login", "login", s.choose),
		p.Enter("/login/token", "login.token", s.byToken),
		p.Post("/logout", "logout", s.out),
	}
	if l.cfg.Development != nil {
		routes = append(routes, p.Enter("/login/user", "login.user", s.asUser))
	}
	if l.provider != nil {
		routes = append(routes, p.Get("/login/provider", "login.provider", s.toProvider), p.Get("/login/callback", "login.callback", s.fromProvider))
	}
	return routes
}

// served are the pages with what sessions are made by.
type served struct {
	*Login
	pages *page.Pages
}

// longest is how long a session lasts at most. A token without an end is no reason for a session without.
const longest = 12 * time.Hour

// maxBack is the longest address that is gone back to, in bytes.
const maxBack = 1000

// chooseView is the page that offers ways to sign in.
type chooseView struct {
	form, back  string
	notice      string
	problem     string
	token, user string // the field that the problem is about
	development bool
	users       []string
	provider    string
}

func (s *served) choose(ctx context.Context, v *page.View) (page.Page, error) {
	if v.Who != nil {
		return page.Page{See: s.back(v.Param("back"))}, nil
	}
	notice := ""
	switch {
	case v.Lapsed:
		notice = "Your session is over. Sign in again to go on where you were."
	case v.Param("out") != "":
		notice = "You are signed out."
	}
	return s.page(ctx, v, chooseView{back: v.Param("back"), notice: notice}), nil
}

// page shows the ways.
func (s *served) page(ctx context.Context, v *page.View, view chooseView) page.Page {
	view.form, view.development, view.back = s.pages.EntryForm(v), s.cfg.Development != nil, s.back(view.back)
	if view.development {
		view.users = s.users(ctx)
	}
	if s.provider != nil {
		view.provider = s.provider.name()
	}
	code := 0
	if view.problem != "" {
		code = http.StatusBadRequest
	}
	return page.Page{Title: "Sign in", Section: page.Wallet, Body: choose(view), Code: code}
}

// back is where a user goes on, by default the wallet.
func (s *served) back(path string) string {
	if path == "" || len(path) > maxBack {
		return "/wallet"
	}
	return page.LocalPath(path)
}

// users are those who have wallets, as the operator is told. Without an answer a name can still be typed.
func (s *served) users(ctx context.Context) []string {
	token, err := s.cfg.Development.Token(s.cfg.Development.Operator, time.Minute)
	if err != nil {
		return nil
	}
	names, err := s.cfg.Wallet.As(token).Users(ctx)
	if err != nil {
		s.cfg.Log.DebugContext(ctx, "the users of the simulated network are not known", "err", err)
		return nil
	}
	return names
}

// byToken signs in with a token that was pasted.
func (s *served) byToken(ctx context.Context, v *page.View) (page.Page, error) {
	session, err := s.sessionOf(ctx, v.Field("token"))
	if err != nil {
		return s.refused(ctx, v, err, func(view *chooseView, text string) { view.token = text })
	}
	return s.begin(v, session, v.Field("back"))
}

// maxUser is the longest name of a user, in bytes, as node's have it.
const maxUser = 128

// asUser signs in as a user of a simulated network.
func (s *served) asUser(ctx context.Context, v *page.View) (page.Page, error) {
	user := v.Field("user")
	if user == "" {
		user = v.Field("known")
	}
	var err error
	var session page.Session
	if user == "" || len(user) > maxUser {
		err = query.Errorf(query.Invalid, "Choose a user, or type the name of one, of at most %d characters.", maxUser)
	} else {
		var token string
		if token, err = s.cfg.Development.Token(user, longest); err == nil {
			session, err = s.sessionOf(ctx, token)
		}
	}
	if err != nil {
		return s.refused(ctx, v, err, func(view *chooseView, text string) { view.user = text })
	}
	return s.begin(v, session, v.Field("back"))
}

// refused shows the ways again, with what was wrong at a field.
func (s *served) refused(ctx context.Context, v *page.View, err error, at func(*chooseView, string)) (page.Page, error) {
	var e *query.Error
	if !errors.As(err, &e) || e.Code != query.Invalid && e.Code != query.Unauthenticated && e.Code != query.Denied {
		return page.Page{}, err
	}
	view := chooseView{problem: e.Msg, back: v.Field("back")}
	at(&view, e.Msg)
	return s.page(ctx, v, view), nil
}

// begin starts a session and goes on to a page.
func (s *served) begin(v *page.View, session page.Session, back string) (page.Page, error) {
	if err := s.pages.SignIn(v, session); err != nil {
		return page.Page{}, err
	}
	return page.Page{See: s.back(back)}, nil
}

func (s *served) out(_ context.Context, v *page.View) (page.Page, error) {
	s.pages.SignOut(v)
	return page.Page{See: "/login?out=1"}, nil
}

// sessionOf is a session with a token that the interface accepts.
func (s *served) sessionOf(ctx context.Context, token string) (session page.Session, err error) {
	var claims jwt.RegisteredClaims
	if _, _, err := jwt.NewParser().ParseUnverified(token, &claims); err != nil || claims.Subject == "" {
		return session, query.Errorf(query.Invalid, "This is no token: a token has three parts with points between them, and names its user.")
	}
	// Only the interface can tell whether the token is good.
	if _, err := s.cfg.Wallet.As(token).Status(ctx); walletapi.Is(err, query.Unauthenticated) {
		return session, query.Errorf(query.Unauthenticated, "The token is not accepted: it may have expired, be for another audience, or be signed by another key.")
	} else if err != nil {
		return session, err
	}
	end := s.cfg.Now().Add(longest)
	if claims.ExpiresAt != nil && claims.ExpiresAt.Before(end) {
		end = claims.ExpiresAt.Time
	}
	session = page.Session{Token: token, User: claims.Subject, Expires: end.Unix()}
	if s.cfg.Admin != nil {
		session.Admin, err = s.cfg.Admin(ctx, claims.Subject)
	}
	return session, err
}
