package auth

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ledgerlake/ledgerlake/query/auth/authtest"
)

// Tokens that two readers can read differently, or that ask for what we do not do, are refused.
func TestWrongTokens(t *testing.T) {
	keys, err := Secret(secret)
	if err != nil {
		t.Fatal(err)
	}
	v := verifier(t, keys, nil)
	wrong := authtest.Wrong(secret, "alice", Audience(participant), now)
	for name, token := range wrong {
		if p, err := v.Verify(t.Context(), token); !errors.Is(err, ErrUnauthenticated) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	if len(wrong) < 80 {
		t.Errorf("only %d tokens", len(wrong))
	}
	good := fmt.Sprintf(`"sub":"alice","aud":%q`, Audience(participant))
	for name, claims := range map[string]string{
		"plain": "{" + good + "}", "without an expiry, made now": fmt.Sprintf(`{%s,"iat":%d}`, good, now.Unix()),
		"made by a clock ahead": fmt.Sprintf(`{%s,"iat":%d}`, good, now.Unix()+30), "fractions": fmt.Sprintf(`{%s,"iat":%d.25,"exp":%d.5}`, good, now.Unix(), now.Unix()+1),
		"more members": `{` + good + `,"azp":"x","x":[{"a":1},{"a":2}],"roles":["a"],"email_verified":true}`, "space around": " {" + good + "}\n",
	} {
		if p, err := v.Verify(t.Context(), authtest.Sign(secret, `{"typ":"at+jwt","alg":"HS256","kid":"a","x5t":"b"}`, claims)); err != nil || p.User != "alice" {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// Whatever a token says, it is read without a panic, and as nobody unless it says who.
func FuzzClaims(f *testing.F) {
	for _, token := range authtest.Wrong(secret, "alice", "x", now) {
		f.Add(token)
	}
	f.Fuzz(func(t *testing.T, token string) {
		_ = checkHeader(token)
		c, err := readClaims(token)
		if err != nil {
			return
		}
		if c.made.After(c.made.AddDate(9999, 0, 0)) {
			t.Errorf("%q: %+v", token, c)
		}
	})
}
