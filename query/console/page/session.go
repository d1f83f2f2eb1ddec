package page

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/query"
)

// The cookies of the console.
const (
	sessionCookie = "ledgerlake_session"
	themeCookie   = "ledgerlake_theme"
)

// maxCookie is the largest cookie that browsers keep, less what stands around its value.
const maxCookie = 3800

// Session is who has signed in. It lives in a cookie of the browser, encrypted by a key of the
// server: any process with the key continues it.
type Session struct {
	// Token is what the interfaces are called with.
	Token string `json:"token"`
	// User is whom the token is for, as it is shown.
	User string `json:"user"`
	// Admin says that the user may see and do what operators may.
	Admin bool `json:"admin,omitempty"`
	// Expires is when the session ends, in seconds since 1970.
	Expires int64 `json:"expires"`
	// Nonce makes the tokens of forms those of this session.
	Nonce string `json:"nonce"`
	// Refresh is what a new token can be had for, "" for nothing.
	Refresh string `json:"refresh,omitempty"`
	// TokenExpires is when Token has to be renewed by Refresh, in seconds since 1970; 0 if it is good for as
	// long as the session is.
	TokenExpires int64 `json:"token_expires,omitempty"`

	form string
}

// Form is the token that forms of this session must carry, in a field named "form".
func (s *Session) Form() string {
	if s == nil {
		return ""
	}
	return s.form
}

// sessions seals and opens cookies.
type sessions struct {
	seal cipher.AEAD
	key  []byte
	now  func() time.Time
}

func newSessions(key []byte, now func() time.Time) (*sessions, error) {
	if len(key) < 16 {
		return nil, errors.New("page: Config.Key is too short")
	}
	derived := hmac.New(sha256.New, key)
	derived.Write([]byte("console sessions"))
	secret := derived.Sum(nil)
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, fmt.Errorf("page: the key of sessions: %w", err)
	}
	seal, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("page: the key of sessions: %w", err)
	}
	return &sessions{seal: seal, key: secret, now: now}, nil
}

// read returns the session of a request, nil without a valid one. over says that there was one.
func (s *sessions) read(r *query.Request) (session *Session, over bool) {
	plain, ok := s.open(r, sessionCookie)
	if !ok {
		return nil, false
	}
	session = &Session{}
	if json.Unmarshal(plain, session) != nil {
		return nil, false
	}
	if session.Expires <= s.now().Unix() {
		return nil, true
	}
	session.form = s.formToken(session.Nonce)
	return session, false
}

// open returns what a sealed cookie has.
func (s *sessions) open(r *query.Request, name string) (plain []byte, ok bool) {
	sealed, err := base64.RawURLEncoding.DecodeString(cookie(r, name))
	if err != nil || len(sealed) < s.seal.NonceSize() {
		return nil, false
	}
	nonce, text := sealed[:s.seal.NonceSize()], sealed[s.seal.NonceSize():]
	plain, err = s.seal.Open(nil, nonce, text, []byte(name))
	return plain, err == nil
}

// sealed is the value of a cookie of a name.
func (s *sessions) sealed(name string, plain []byte) string {
	nonce := make([]byte, s.seal.NonceSize())
	_, _ = rand.Read(nonce) // never fails, see crypto/rand
	return base64.RawURLEncoding.EncodeToString(s.seal.Seal(nonce, nonce, plain, []byte(name)))
}

// formToken is the token of the forms of a session.
func (s *sessions) formToken(nonce string) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte("form " + nonce))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:18])
}

// checkForm refuses a form that a page of another session, or of another site, has sent.
func (s *sessions) checkForm(v *View) error {
	sent := v.Field("form")
	if v.Who == nil || subtle.ConstantTimeCompare([]byte(sent), []byte(v.Who.form)) != 1 {
		if v.Who == nil {
			return query.Errorf(query.Unauthenticated, "You are not signed in, or your session is over. Nothing was sent.")
		}
		return query.Errorf(query.Denied, "This form belongs to another session. Nothing was sent: load the page again.")
	}
	return nil
}

// SignIn begins a session. It is an error if its token is too long for a cookie. Without room for
// Refresh the session ends with its token.
func (p *Pages) SignIn(v *View, session Session) error {
	session.Nonce = Once()
	return p.keep(v, session)
}

// keep puts a session into the cookie.
func (p *Pages) keep(v *View, session Session) error {
	value, err := p.sessions.cookieOf(session)
	if err == nil && len(value) > maxCookie && session.Refresh != "" {
		session.Refresh, session.Expires, session.TokenExpires = "", session.TokenExpires, 0
		value, err = p.sessions.cookieOf(session)
	}
	switch {
	case err != nil:
		return err
	case len(value) > maxCookie:
		return query.Errorf(query.Invalid, "The token is too long for a session of a browser: it may have about %d characters.", maxCookie*3/4-200)
	}
	setCookie(v, sessionCookie, value, session.Expires-p.cfg.Now().Unix(), true)
	return nil
}

func (s *sessions) cookieOf(session Session) (string, error) {
	plain, err := json.Marshal(session)
	if err != nil {
		return "", fmt.Errorf("making a session: %w", err)
	}
	return s.sealed(sessionCookie, plain), nil
}

// SignOut ends the session.
func (p *Pages) SignOut(v *View) { setCookie(v, sessionCookie, "", 0, true) }

// Theme is the route that remembers whether a browser wants light or dark pages.
func (p *Pages) Theme() query.Route {
	return query.Route{Method: "POST", Path: "/theme", Name: "console.theme", Handle: func(_ context.Context, r *query.Request) error {
		v := &View{Request: r}
		theme := v.Field("theme")
		if theme != "dark" && theme != "light" {
			theme = ""
		}
		setCookie(v, themeCookie, theme, 365*24*3600, false)
		v.SetHeader("Location", LocalPath(v.Field("back")))
		return v.Empty(303)
	}}
}

// LocalPath is a path of this site, "/" in place of anything else.
func LocalPath(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n") {
		return "/"
	}
	return u.RequestURI()
}

// setCookie sets a cookie for the console alone, which goes with requests that begin on it. seconds is
// how long it lives, 0 to remove it. Private ones are hidden from scripts.
func setCookie(v *View, name, value string, seconds int64, private bool) {
	c := name + "=" + value + "; Path=/; SameSite=Lax; Max-Age=" + fmt.Sprint(max(seconds, 0))
	if private {
		c += "; HttpOnly"
	}
	if v.Header("X-Forwarded-Proto") == "https" {
		c += "; Secure"
	}
	v.AddHeader("Set-Cookie", c)
}

// cookie is the value of a cookie of a request, "" without one.
func cookie(r *query.Request, name string) string {
	for part := range strings.SplitSeq(r.Header("Cookie"), ";") {
		if key, value, ok := strings.Cut(strings.TrimSpace(part), "="); ok && key == name {
			return value
		}
	}
	return ""
}
