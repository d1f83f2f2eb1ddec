package page

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/query"
)

// entryCookie makes the forms by which sessions begin those of one browser.
const entryCookie = "ledgerlake_entry"

// entryLasts is how long such a form can be sent, in seconds.
const entryLasts = 3600

// Enter is the route of a form by which a session begins. The form must carry the token of EntryForm.
func (p *Pages) Enter(path, name string, h Handler) query.Route {
	return query.Route{Method: "POST", Path: path, Name: "console." + name, Handle: p.handle(func(ctx context.Context, v *View) (Page, error) {
		nonce, ok := p.sessions.open(v.Request, entryCookie)
		if !ok || subtle.ConstantTimeCompare([]byte(v.Field("form")), []byte(p.sessions.formToken(string(nonce)))) != 1 {
			return Page{}, query.Errorf(query.Denied, "This form is not from a page that this browser has loaded lately. Nothing was sent: load the page again.")
		}
		return h(ctx, v)
	})}
}

// EntryForm is the token of forms by which a session begins, in a field named "form".
func (p *Pages) EntryForm(v *View) string {
	nonce, ok := p.sessions.open(v.Request, entryCookie)
	if !ok {
		nonce = []byte(Once())
	}
	setCookie(v, entryCookie, p.sessions.sealed(entryCookie, nonce), entryLasts, true)
	return p.sessions.formToken(string(nonce))
}

// note is what a browser keeps for us.
type note struct {
	Expires int64           `json:"expires"`
	Value   json.RawMessage `json:"value"`
}

// Remember has the browser keep a value for some seconds, which it can neither read nor change.
func (p *Pages) Remember(v *View, name string, value any, seconds int64) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	plain, err := json.Marshal(note{p.cfg.Now().Unix() + seconds, text})
	if err != nil {
		return err
	}
	name = "ledgerlake_" + name
	setCookie(v, name, p.sessions.sealed(name, plain), seconds, true)
	return nil
}

// Recall reads what Remember has given to the browser, and has it forget that; ok is false if it is
// not there any more.
func (p *Pages) Recall(v *View, name string, into any) (ok bool) {
	name = "ledgerlake_" + name
	plain, ok := p.sessions.open(v.Request, name)
	setCookie(v, name, "", 0, true)
	var kept note
	return ok && json.Unmarshal(plain, &kept) == nil && kept.Expires > p.cfg.Now().Unix() && json.Unmarshal(kept.Value, into) == nil
}

// renewBefore is how long before the end of a token it is renewed.
const renewBefore = 30 * time.Second

// renew has the token of a session renewed that is about to end. If that cannot be done, the session
// goes on for as long as its token is good.
func (p *Pages) renew(ctx context.Context, v *View) error {
	now := p.cfg.Now()
	if v.Who == nil || v.Who.TokenExpires == 0 || v.Who.TokenExpires > now.Add(renewBefore).Unix() {
		return nil
	}
	err := errors.New("tokens are not renewed here")
	if p.cfg.Renew != nil {
		err = p.cfg.Renew(ctx, v.Who)
	}
	if err == nil {
		return p.keep(v, *v.Who)
	}
	p.cfg.Log.WarnContext(ctx, "a token was not renewed", "err", err)
	if v.Who.TokenExpires <= now.Unix() {
		v.Who, v.Lapsed = nil, true
	}
	return nil
}

// way is where a user who has to sign in goes on: the page itself, or the one with the form that was sent.
func (v *View) way() string {
	if v.Method() == "GET" {
		return v.Way()
	}
	from, err := url.Parse(v.Header("Referer"))
	if err != nil || !strings.EqualFold(from.Host, v.Header("Host")) {
		return "/"
	}
	return LocalPath(from.RequestURI())
}

// Way is the address of the page that the request is for, with its parameters.
func (v *View) Way() string {
	if at := v.QueryString(); at != "" {
		return v.path + "?" + at
	}
	return v.path
}
