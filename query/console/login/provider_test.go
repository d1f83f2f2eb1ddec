package login

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const (
	clientID     = "console"
	clientSecret = "the secret of a client"
	audience     = "https://validator.example.com"
)

// fakeProvider is a small OpenID provider: authorisation codes with PKCE, tokens signed by a key that it
// publishes, and refresh tokens that are good once.
type fakeProvider struct {
	*testing.T
	*httptest.Server
	key *rsa.PrivateKey

	mu      sync.Mutex
	codes   map[string]url.Values // of what was asked for, by code
	refresh map[string]bool       // good refresh tokens
	renewed int
	// How it misbehaves.
	refuse           string // the error in place of a code
	nonce            string // in place of the one that was asked for
	signer           *rsa.PrivateKey
	audience         string
	lasting          time.Duration
	refusesRefreshes bool
}

func newProviderServer(t *testing.T) *fakeProvider {
	t.Helper()
	p := &fakeProvider{T: t, key: newKey(t), codes: map[string]url.Values{}, refresh: map[string]bool{}, audience: audience, lasting: time.Hour}
	p.signer = p.key
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.configuration)
	mux.HandleFunc("GET /jwks", p.jwks)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

func newKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (p *fakeProvider) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		p.Error(err)
	}
}

func (p *fakeProvider) configuration(w http.ResponseWriter, _ *http.Request) {
	p.answer(w, map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/jwks",
		"id_token_signing_alg_values_supported": []string{"RS256"},
	})
}

func (p *fakeProvider) jwks(w http.ResponseWriter, _ *http.Request) {
	encode := base64.RawURLEncoding.EncodeToString
	p.answer(w, map[string]any{"keys": []any{map[string]string{
		"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "1", "n": encode(p.key.N.Bytes()), "e": encode(big.NewInt(int64(p.key.E)).Bytes()),
	}}})
}

// authorize signs everybody in as ann.
func (p *fakeProvider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != clientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("audience") != audience || q.Get("scope") != "openid offline_access" {
		p.Errorf("the provider was asked for %v", q)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	back := url.Values{"state": {q.Get("state")}}
	if p.refuse != "" {
		back.Set("error", "access_denied")
		back.Set("error_description", p.refuse)
	} else {
		code := fmt.Sprintf("code-%d", len(p.codes))
		p.codes[code] = q
		back.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (p *fakeProvider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id, secret, _ := r.BasicAuth()
	if id == "" {
		id, secret = r.FormValue("client_id"), r.FormValue("client_secret")
	}
	var asked url.Values
	good := id == clientID && secret == url.QueryEscape(clientSecret) || secret == clientSecret
	switch r.FormValue("grant_type") {
	case "authorization_code":
		asked = p.codes[r.FormValue("code")]
		delete(p.codes, r.FormValue("code"))
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		good = good && asked != nil && base64.RawURLEncoding.EncodeToString(sum[:]) == asked.Get("code_challenge") && r.FormValue("redirect_uri") == asked.Get("redirect_uri")
	case "refresh_token":
		good = good && p.refresh[r.FormValue("refresh_token")] && !p.refusesRefreshes
		delete(p.refresh, r.FormValue("refresh_token"))
		p.renewed++
	default:
		good = false
	}
	if !good {
		w.WriteHeader(http.StatusBadRequest)
		p.answer(w, map[string]string{"error": "invalid_grant"})
		return
	}
	p.answer(w, p.tokens(asked.Get("nonce")))
}

// tokens are those of an answer.
func (p *fakeProvider) tokens(nonce string) map[string]any {
	if p.nonce != "" {
		nonce = p.nonce
	}
	next := rand.Text()
	p.refresh[next] = true
	end := time.Now().Add(p.lasting)
	return map[string]any{
		"token_type": "Bearer", "expires_in": int(p.lasting / time.Second), "refresh_token": next,
		"access_token": p.sign(p.key, jwt.MapClaims{"sub": "ann", "aud": p.audience, "exp": end.Unix(), "jti": rand.Text()}),
		"id_token": p.sign(p.signer, jwt.MapClaims{
			"iss": p.URL, "sub": "ann", "aud": clientID, "exp": end.Unix(), "iat": time.Now().Unix(), "nonce": nonce, "preferred_username": "Ann <b>Example</b>",
		}),
	}
}

func (p *fakeProvider) sign(key *rsa.PrivateKey, claims jwt.MapClaims) string {
	t := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	t.Header["kid"] = "1"
	text, err := t.SignedString(key)
	if err != nil {
		p.Error(err)
	}
	return text
}
