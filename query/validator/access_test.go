package validator

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/ledgerlake/ledgerlake/query/auth"
	"github.com/ledgerlake/ledgerlake/query/openapi/openapitest"
)

func sign(t testing.TB, method jwt.SigningMethod, key any, claims jwt.MapClaims) string {
	t.Helper()
	text, err := jwt.NewWithClaims(method, claims).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// claims are good ones of a user, with changes: nil takes a claim away.
func claims(user string, changes jwt.MapClaims) jwt.MapClaims {
	c := jwt.MapClaims{"sub": user, "aud": audience, "iat": present.Unix(), "exp": present.Unix() + 60}
	for name, value := range changes {
		if c[name] = value; value == nil {
			delete(c, name)
		}
	}
	return c
}

// wrongTokens are tokens that say that somebody asks and do not prove it.
func wrongTokens(t testing.TB, user string) map[string]string {
	hs := func(changes jwt.MapClaims) string {
		return sign(t, jwt.SigningMethodHS256, secret, claims(user, changes))
	}
	good := hs(nil)
	head, rest, _ := strings.Cut(good, ".")
	_, signature, _ := strings.Cut(rest, ".")
	forged := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"` + user + `","aud":"` + audience + `"}`))
	return map[string]string{
		"none":                   "",
		"text":                   "abc",
		"three parts":            "a.b.c",
		"no algorithm":           sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims(user, nil)),
		"another secret":         sign(t, jwt.SigningMethodHS256, []byte("another secret of 32 bytes, or so"), claims(user, nil)),
		"another hash":           sign(t, jwt.SigningMethodHS512, secret, claims(user, nil)),
		"expired":                hs(jwt.MapClaims{"exp": present.Unix() - 1}),
		"not good yet":           hs(jwt.MapClaims{"nbf": present.Unix() + 60}),
		"another audience":       hs(jwt.MapClaims{"aud": "https://other.example.com"}),
		"an audience like ours":  hs(jwt.MapClaims{"aud": audience + "/"}),
		"no audience":            hs(jwt.MapClaims{"aud": nil}),
		"a scope for the ledger": hs(jwt.MapClaims{"aud": nil, "scope": auth.DefaultScope}),
		"no user":                hs(jwt.MapClaims{"sub": nil}),
		"an empty user":          hs(jwt.MapClaims{"sub": ""}),
		"a changed payload":      head + "." + forged + "." + signature,
		"without signature":      head + "." + forged + ".",
		"a huge one":             strings.Repeat("a", 12<<10),
	}
}

// guardedOperations are those that need a token.
func guardedOperations(t testing.TB) []*openapitest.Operation {
	t.Helper()
	return slices.DeleteFunc(slices.Clone(document(t).Operations), func(op *openapitest.Operation) bool { return userFor(op) == "" })
}

// Every operation refuses every wrong token, at every one of its paths, before it reads or does
// anything.
func TestWrongTokensAreRefused(t *testing.T) {
	m := full()
	s := serve(t, m, nil)
	refusesWrongTokens(t, s)
	if len(m.commands)+len(m.asked) > 0 {
		t.Errorf("requests without a good token have led to %v and %+v", m.commands, m.asked)
	}
	s.wants(s.with("", "GET", "/v0/wallet/balance?access_token="+token(t, "alice"), ""), 401, "")
}

// refusesWrongTokens sends every request with every wrong token.
func refusesWrongTokens(t *testing.T, s *served) {
	t.Helper()
	count := 0
	for _, op := range guardedOperations(t) {
		requests, err := document(t).Examples(op)
		if err != nil {
			t.Fatal(err)
		}
		for name, wrong := range wrongTokens(t, userFor(op)) {
			for _, r := range requests {
				count++
				a := s.with(wrong, r.Method, r.Target, r.Body)
				if a.status != 401 || a.header.Get("WWW-Authenticate") != "Bearer" || !sameJSON(a.body, `{"error":"The request has no valid token."}`) {
					t.Errorf("%s with token %q = %d %v %s", op, name, a.status, a.header, a.body)
				}
			}
		}
	}
	if count < 1000 {
		t.Errorf("there were only %d requests", count)
	}
}

// Every operation of a wallet is for users who have one and may act as its party; every operation
// of the operator for its administrators alone.
func TestWrongUsersAreRefused(t *testing.T) {
	m := full()
	refusesWrongUsers(t, serve(t, m, nil))
	if len(m.commands) > 0 {
		t.Errorf("users who may not have led to %v", m.commands)
	}
}

// refusesWrongUsers sends a request of every operation as each of those who may not.
func refusesWrongUsers(t *testing.T, s *served) {
	t.Helper()
	for _, op := range guardedOperations(t) {
		requests, err := document(t).Examples(op)
		if err != nil {
			t.Fatal(err)
		}
		refused := map[string]int{}
		switch op.Extensions["x-access"] {
		case "wallet":
			refused = map[string]int{"newbie": 404, "nobody": 404, "admin": 404, "gone": 403, "retired": 403, "robbed": 403}
		case "operator":
			refused = map[string]int{"alice": 403, "newbie": 403, "nobody": 403, "no-admin": 403, "no-actor": 403, "no-primary": 403, "off-admin": 403}
		}
		for user, want := range refused {
			a := s.as(user, requests[0].Method, requests[0].Target, requests[0].Body)
			text := "Authorization Failed for " + user
			if want == 404 {
				text = "No wallet found for user " + user + "."
			}
			if a.status != want || !sameJSON(a.body, `{"error":"`+text+`"}`) {
				t.Errorf("%s of user %s = %d %s, want %d %q", op, user, a.status, a.body, want, text)
			}
		}
	}
}

// What a user's wallet shows and does is about its own party, whatever the request says.
func TestNothingOfAnotherUser(t *testing.T) {
	m := full()
	s := serve(t, m, nil)
	for _, op := range guardedOperations(t) {
		if op.Extensions["x-access"] != "wallet" || !offered(op) {
			continue
		}
		requests, err := document(t).Examples(op)
		if err != nil {
			t.Fatal(err)
		}
		m.asked, m.commands = nil, nil
		a := s.as("bob", requests[0].Method, requests[0].Target, requests[0].Body)
		if strings.Contains(a.body, "00coin") || strings.Contains(a.body, "1220:4") {
			t.Errorf("%s shows bob what is alice's: %s", op, a.body)
		}
		for _, parties := range m.asked {
			// The operator's contracts say who is hosted here; the coupons of users are their validator's.
			if !slices.Contains(parties, bob) && !slices.Contains(parties, operator) {
				t.Errorf("%s of bob reads as %v", op, parties)
			}
		}
		for _, c := range m.commands {
			if !strings.Contains(c, bob) {
				t.Errorf("%s of bob does %q", op, c)
			}
		}
	}
}

// A token signed with the public key as a shared secret is none, at any operation.
func TestPublicKeyIsNoSecret(t *testing.T) {
	m := full()
	refusesPublicKey(t, func(keys auth.Keys) *served {
		return serve(t, m, func(c *Config) { c.Auth = verifier(t, keys) })
	})
	if len(m.commands) > 0 {
		t.Errorf("forged tokens have led to %v", m.commands)
	}
}

// refusesPublicKey serves with a public key and sends tokens that are signed with it.
func refusesPublicKey(t *testing.T, serve func(auth.Keys) *served) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	keys, err := auth.Certificate(public)
	if err != nil {
		t.Fatal(err)
	}
	s := serve(keys)
	for _, op := range guardedOperations(t) {
		requests, err := document(t).Examples(op)
		if err != nil {
			t.Fatal(err)
		}
		r := requests[0]
		for _, material := range [][]byte{public, der, key.N.Bytes()} {
			forged := sign(t, jwt.SigningMethodHS256, material, claims(userFor(op), nil))
			if a := s.with(forged, r.Method, r.Target, r.Body); a.status != 401 {
				t.Errorf("%s with a token signed with the public key = %d %s", op, a.status, a.body)
			}
		}
	}
	s.wants(s.with(sign(t, jwt.SigningMethodRS256, key, claims("alice", nil)), "GET", "/v0/wallet/user-status", ""), 200, "")
}

// A key set that is down at the start, comes up and changes its key.
func TestKeySets(t *testing.T) {
	type signer struct {
		kid string
		key *rsa.PrivateKey
	}
	keyOf := func(kid string) *signer {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			t.Fatal(err)
		}
		return &signer{kid, key}
	}
	tokenOf := func(s *signer) string {
		token := jwt.NewWithClaims(jwt.SigningMethodRS256, claims("alice", nil))
		token.Header["kid"] = s.kid
		text, err := token.SignedString(s.key)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	var current atomic.Pointer[signer]
	set := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s := current.Load()
		if s == nil {
			http.Error(w, "down", http.StatusServiceUnavailable)
			return
		}
		text, err := json.Marshal(map[string]any{"keys": []map[string]string{{
			"kty": "RSA", "use": "sig", "alg": "RS256", "kid": s.kid, "n": base64.RawURLEncoding.EncodeToString(s.key.N.Bytes()),
			"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(s.key.E)).Bytes()),
		}}})
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, "%s", text)
	}))
	t.Cleanup(set.Close)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	keys, err := auth.KeySet(ctx, set.URL, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, newMemory(), func(c *Config) { c.Auth = verifier(t, keys) })
	first, second := keyOf("first"), keyOf("second")
	status := func(by *signer) int {
		return s.with(tokenOf(by), "GET", "/v0/wallet/user-status", "").status
	}
	if got := s.with("", "GET", "/readyz", "").status; got != 503 {
		t.Errorf("without keys readyz = %d", got)
	}
	current.Store(first)
	eventually(t, "the first key is known", func() bool { return status(first) == 200 })
	s.wants(s.with("", "GET", "/readyz", ""), 200, "")
	if got := status(second); got != 401 {
		t.Errorf("a key that is not in the set = %d", got)
	}
	current.Store(second)
	eventually(t, "the second key is known", func() bool { return status(second) == 200 })
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("not after 15 s: %s", what)
}
