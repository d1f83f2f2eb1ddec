package page

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"

	"github.com/ledgerlake/ledgerlake/query"
)

// localCookie tells the browsers apart that use an instance of their own without signing in.
const localCookie = "ledgerlake_local"

// localBytes is the length of its value.
const localBytes = 18

// LocalForm is the token of the forms of a browser that has not signed in, for pages that may change something
// without that: those of an instance that only its own machine reaches. It gives the browser a cookie that it
// sends to no page of another site, and is nothing without it. With a session it is the session's.
func (p *Pages) LocalForm(v *View) string {
	if v.Who != nil {
		return v.Who.Form()
	}
	nonce := cookie(v.Request, localCookie)
	if !isNonce(nonce) {
		random := make([]byte, localBytes)
		_, _ = rand.Read(random) // never fails, see crypto/rand
		nonce = base64.RawURLEncoding.EncodeToString(random)
		setCookie(v, localCookie, nonce, 24*3600, true)
	}
	return p.sessions.formToken("local " + nonce)
}

func isNonce(text string) bool {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	return err == nil && len(raw) == localBytes
}

// LocalPost is the route of a form with the token of LocalForm. Its handler decides who may send it.
func (p *Pages) LocalPost(path, name string, h Handler) query.Route {
	return query.Route{Method: "POST", Path: path, Name: "console." + name, Handle: p.handle(func(ctx context.Context, v *View) (Page, error) {
		if err := p.checkLocalForm(v); err != nil {
			return Page{}, err
		}
		return h(ctx, v)
	})}
}

// checkLocalForm refuses a form that another browser, or a page of another site, has sent.
func (p *Pages) checkLocalForm(v *View) error {
	if v.Who != nil {
		return p.sessions.checkForm(v)
	}
	nonce := cookie(v.Request, localCookie)
	want := p.sessions.formToken("local " + nonce)
	if !isNonce(nonce) || subtle.ConstantTimeCompare([]byte(v.Field("form")), []byte(want)) != 1 {
		return query.Errorf(query.Denied, "This form is not of a page that this browser has loaded. Nothing was sent: load the page again.")
	}
	return nil
}
