package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

const participant = "PAR::node::1220aa"

var (
	secret = []byte("a shared secret of 32 bytes, or so")
	now    = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
)

// table is a Users over a map.
type table map[string]Rights

func (u table) Rights(_ context.Context, user string) (Rights, error) {
	rights, ok := u[user]
	if !ok {
		return Rights{}, ErrUnauthenticated
	}
	return rights, nil
}

var users = table{"alice": {ReadAs: map[string]bool{"alice::1": true}}}

func verifier(t *testing.T, keys Keys, change func(*Config)) *Verifier {
	t.Helper()
	cfg := Config{Keys: keys, Users: users, Participant: func() string { return participant }, Now: func() time.Time { return now }}
	if change != nil {
		change(&cfg)
	}
	v, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func sign(t *testing.T, method jwt.SigningMethod, key any, kid string, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	if kid != "" {
		token.Header["kid"] = kid
	}
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTokenOf(t *testing.T) {
	for _, c := range []struct{ authorization, protocols, want string }{
		{"Bearer abc", "", "abc"},
		{"bearer abc", "", "abc"},
		{"Bearer  abc ", "", "abc"},
		{"Bearer abc", "jwt.token.def", "abc"},
		{"", "daml.ws.auth, jwt.token.def", "def"},
		{"", "jwt.token.def,jwt.token.ghi", "def"},
		{"Basic abc", "jwt.token.def", "def"},
		{"Bearer", "", ""},
		{"", "daml.ws.auth", ""},
		{"", "", ""},
	} {
		if got := TokenOf(c.authorization, c.protocols); got != c.want {
			t.Errorf("the token of %q and %q is %q, want %q", c.authorization, c.protocols, got, c.want)
		}
	}
}

func TestOtherAudience(t *testing.T) {
	keys, err := Secret(secret)
	if err != nil {
		t.Fatal(err)
	}
	v := verifier(t, keys, func(cfg *Config) { cfg.Audience, cfg.OtherAudience = "https://ours", "https://other" })
	for audience, good := range map[string]bool{"https://ours": true, "https://other": true, "https://third": false, "": false} {
		_, err := v.Verify(t.Context(), sign(t, jwt.SigningMethodHS256, secret, "", jwt.MapClaims{"sub": "alice", "aud": audience}))
		if (err == nil) != good {
			t.Errorf("a token for %q: %v", audience, err)
		}
	}
}

// What a token must say, in each form.
func TestTokensAreMeantForUs(t *testing.T) {
	keys, err := Secret(secret)
	if err != nil {
		t.Fatal(err)
	}
	ours := Audience(participant)
	for name, c := range map[string]struct {
		audience, scope string // configured
		claims          jwt.MapClaims
		good            bool
	}{
		"default audience":                   {"", "", jwt.MapClaims{"sub": "alice", "aud": ours}, true},
		"default audience among others":      {"", "", jwt.MapClaims{"sub": "alice", "aud": []string{"x", ours}}, true},
		"participant as audience":            {"", "", jwt.MapClaims{"sub": "alice", "aud": participant}, true},
		"default scope":                      {"", "", jwt.MapClaims{"sub": "alice", "scope": "openid daml_ledger_api"}, true},
		"default scope for us":               {"", "", jwt.MapClaims{"sub": "alice", "scope": "daml_ledger_api", "aud": participant}, true},
		"default scope for another":          {"", "", jwt.MapClaims{"sub": "alice", "scope": "daml_ledger_api", "aud": "PAR::other::1220"}, false},
		"another's default audience":         {"", "", jwt.MapClaims{"sub": "alice", "aud": Audience("PAR::other::1220")}, false},
		"neither":                            {"", "", jwt.MapClaims{"sub": "alice"}, false},
		"a scope that only begins like it":   {"", "", jwt.MapClaims{"sub": "alice", "scope": "daml_ledger_api_x"}, false},
		"configured audience":                {"https://ours", "", jwt.MapClaims{"sub": "alice", "aud": "https://ours"}, true},
		"another audience":                   {"https://ours", "", jwt.MapClaims{"sub": "alice", "aud": ours}, false},
		"a scope for a configured audience":  {"https://ours", "", jwt.MapClaims{"sub": "alice", "scope": "daml_ledger_api"}, false},
		"configured scope":                   {"", "ledger", jwt.MapClaims{"sub": "alice", "scope": "a ledger b"}, true},
		"another scope":                      {"", "ledger", jwt.MapClaims{"sub": "alice", "scope": "daml_ledger_api"}, false},
		"an audience for a configured scope": {"", "ledger", jwt.MapClaims{"sub": "alice", "aud": ours}, false},
		"no user":                            {"", "", jwt.MapClaims{"aud": ours}, false},
		"an unknown user":                    {"", "", jwt.MapClaims{"sub": "mallory", "aud": ours}, false},
		"good for another second":            {"", "", jwt.MapClaims{"sub": "alice", "aud": ours, "exp": now.Unix() + 1}, true},
		"expired":                            {"", "", jwt.MapClaims{"sub": "alice", "aud": ours, "exp": now.Unix() - 1}, false},
		"not good yet":                       {"", "", jwt.MapClaims{"sub": "alice", "aud": ours, "nbf": now.Unix() + 60}, false},
		"an expiry that is no time":          {"", "", jwt.MapClaims{"sub": "alice", "aud": ours, "exp": "tomorrow"}, false},
		"a user that is a number":            {"", "", jwt.MapClaims{"sub": 7, "aud": ours}, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := verifier(t, keys, func(cfg *Config) { cfg.Audience, cfg.Scope = c.audience, c.scope })
			p, err := v.Verify(t.Context(), sign(t, jwt.SigningMethodHS256, secret, "", c.claims))
			if (err == nil) != c.good || err != nil && !errors.Is(err, ErrUnauthenticated) {
				t.Fatalf("%+v, %v; good is %v", p, err, c.good)
			}
			if exp, ok := c.claims["exp"].(int64); c.good && (p.User != "alice" || ok && p.Expires.Unix() != exp || !ok && !p.Expires.IsZero()) {
				t.Errorf("%+v", p)
			}
		})
	}
}

func TestMintedTokensAreGood(t *testing.T) {
	keys, err := Secret(secret)
	if err != nil {
		t.Fatal(err)
	}
	token, err := Mint(secret, Claims{User: "alice", Audience: Audience(participant), Issued: now, Expires: now.Add(time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := verifier(t, keys, nil).Verify(t.Context(), token); err != nil || p.Expires.Unix() != now.Unix()+60 {
		t.Errorf("%+v, %v", p, err)
	}
}

// certificate makes a self-signed one.
func certificate(t *testing.T, public, private any) []byte {
	t.Helper()
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tokens"}, NotAfter: now.AddDate(10, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, public, private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func good() jwt.MapClaims { return jwt.MapClaims{"sub": "alice", "aud": Audience(participant)} }

func TestCertificates(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	rsaText := certificate(t, &rsaKey.PublicKey, rsaKey)
	keys, err := Certificate(rsaText)
	if err != nil {
		t.Fatal(err)
	}
	v := verifier(t, keys, nil)
	if _, err := v.Verify(t.Context(), sign(t, jwt.SigningMethodRS256, rsaKey, "", good())); err != nil {
		t.Error(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&rsaKey.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	publicText := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	for name, token := range map[string]string{
		"signed with the certificate as a secret": sign(t, jwt.SigningMethodHS256, rsaText, "", good()),
		"signed with the public key as a secret":  sign(t, jwt.SigningMethodHS256, publicText, "", good()),
		"signed by nobody":                        sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, "", good()),
		"no token":                                "abc",
		"three parts of nothing":                  "..",
		"a huge one":                              strings.Repeat("a", 1<<20),
		"none":                                    "",
	} {
		if _, err := v.Verify(t.Context(), token); !errors.Is(err, ErrUnauthenticated) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for curve, method := range map[elliptic.Curve]jwt.SigningMethod{elliptic.P256(): jwt.SigningMethodES256, elliptic.P521(): jwt.SigningMethodES512} {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := Certificate(certificate(t, &key.PublicKey, key))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := verifier(t, keys, nil).Verify(t.Context(), sign(t, method, key, "", good())); err != nil {
			t.Error(method.Alg(), err)
		}
	}
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"nothing": nil, "no PEM": []byte("abc"), "another block": pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: []byte{1}}),
		"a damaged one": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte{1}}), "a short key": certificate(t, &small.PublicKey, small),
	} {
		if _, err := Certificate(text); err == nil {
			t.Errorf("%s is taken for a certificate", name)
		}
	}
	if _, err := Secret([]byte("short")); err == nil {
		t.Error("a short secret is taken")
	}
}

// keyServer serves a key set.
type keyServer struct {
	mu   sync.Mutex
	keys []map[string]string
	asks atomic.Int64
}

func (s *keyServer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.asks.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil {
		http.Error(w, "not now", http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"keys": s.keys}) // a broken connection shows at the client
}

func (s *keyServer) set(keys ...map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = keys
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func rsaJWK(kid string, k *rsa.PublicKey) map[string]string {
	return map[string]string{"kty": "RSA", "use": "sig", "kid": kid, "n": b64(k.N.Bytes()), "e": b64(big.NewInt(int64(k.E)).Bytes())}
}

func TestKeySet(t *testing.T) {
	first, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	second, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	serving := &keyServer{}
	server := httptest.NewServer(serving)
	defer server.Close()
	// The set cannot be read at first: that is no reason not to start, and shows in Ready.
	keys, err := KeySet(t.Context(), server.URL, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	v := verifier(t, keys, nil)
	if err := v.Ready(t.Context()); err == nil {
		t.Error("ready without keys")
	}
	serving.set(rsaJWK("one", &first.PublicKey), map[string]string{"kty": "oct", "kid": "shared", "k": b64(secret)})
	token := sign(t, jwt.SigningMethodRS256, first, "one", good())
	if _, err := v.Verify(t.Context(), token); err != nil {
		t.Error(err)
	}
	if err := v.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	for name, bad := range map[string]string{
		"a secret in the set":     sign(t, jwt.SigningMethodHS256, secret, "shared", good()),
		"a key under another id":  sign(t, jwt.SigningMethodRS256, second, "one", good()),
		"a method for other keys": sign(t, jwt.SigningMethodRS512, first, "one", good()),
	} {
		if _, err := v.Verify(t.Context(), bad); !errors.Is(err, ErrUnauthenticated) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Made-up ids make no load, and do not wait.
	asks, begin := serving.asks.Load(), time.Now()
	for range 200 {
		if _, err := v.Verify(t.Context(), sign(t, jwt.SigningMethodHS256, secret, "made up", good())); !errors.Is(err, ErrUnauthenticated) {
			t.Error(err)
		}
		if _, err := v.Verify(t.Context(), strings.Replace(token, "a", "b", 1)); !errors.Is(err, ErrUnauthenticated) {
			t.Error(err)
		}
	}
	unknown := sign(t, jwt.SigningMethodRS256, second, "two", good())
	for range 50 {
		if _, err := v.Verify(t.Context(), unknown); !errors.Is(err, ErrUnauthenticated) {
			t.Error(err)
		}
	}
	if n, took := serving.asks.Load()-asks, time.Since(begin); n > 2 || took > 5*time.Second {
		t.Errorf("450 bad tokens made %d requests and took %s", n, took)
	}
}

func TestMayRead(t *testing.T) {
	reader := &Principal{User: "r", Rights: Rights{ReadAs: map[string]bool{"a": true}, ActAs: map[string]bool{"b": true}, ExecuteAs: map[string]bool{"c": true}, ParticipantAdmin: true}}
	all := &Principal{User: "all", Rights: Rights{ReadAsAny: true}}
	gone := &Principal{User: "gone", Rights: Rights{ReadAsAny: true, Deactivated: true}}
	for _, c := range []struct {
		who     *Principal
		parties []string
		any     bool
		good    bool
	}{
		{reader, []string{"a"}, false, true},
		{reader, []string{"b"}, false, true},
		{reader, []string{"a", "b"}, false, true},
		{reader, []string{"c"}, false, false},
		{reader, []string{"a", "x"}, false, false},
		{reader, nil, true, false},
		{reader, nil, false, true},
		{all, []string{"x"}, true, true},
		{gone, []string{"a"}, false, false},
		{gone, nil, false, false},
		{&Principal{}, []string{"a"}, false, false},
		{&Principal{}, nil, true, false},
		{&Principal{Unchecked: true}, []string{"a"}, true, true},
	} {
		if err := c.who.MayRead(c.parties, c.any); (err == nil) != c.good || err != nil && !errors.Is(err, ErrDenied) {
			t.Errorf("%q reads as %v, any %v: %v", c.who.User, c.parties, c.any, err)
		}
	}
}

const usersFile = `
users:
  - id: alice
    can_read_as: ['alice::1', 'bob::1']
    can_act_as: ['alice::1']
  - {id: gone, deactivated: true, can_read_as_any_party: true}
`

func TestFileUsers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users.yaml")
	write := func(text string, at time.Time) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	write(usersFile, now)
	u, err := ReadUsers(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	alice, err := u.Rights(t.Context(), "alice")
	if err != nil || !alice.ReadAs["bob::1"] || !alice.ActAs["alice::1"] || alice.ReadAsAny || alice.Deactivated {
		t.Errorf("%+v, %v", alice, err)
	}
	if gone, err := u.Rights(t.Context(), "gone"); err != nil || !gone.Deactivated {
		t.Errorf("%+v, %v", gone, err)
	}
	if _, err := u.Rights(t.Context(), "mallory"); !errors.Is(err, ErrUnauthenticated) {
		t.Error(err)
	}
	// A file that is wrong leaves the users of before; a right one replaces them.
	write("users: [{id: alice, can_raed_as: []}]", now.Add(time.Second))
	if again, err := u.Rights(t.Context(), "alice"); err != nil || !again.ReadAs["bob::1"] {
		t.Errorf("%+v, %v", again, err)
	}
	write("users: [{id: alice}]", now.Add(2*time.Second))
	if again, err := u.Rights(t.Context(), "alice"); err != nil || again.ReadAs["bob::1"] {
		t.Errorf("%+v, %v", again, err)
	}
	for name, text := range map[string]string{
		"a right with a wrong name": "users: [{id: a, can_raed_as: [x]}]", "a user without id": "users: [{can_act_as: [x]}]",
		"a user twice": "users: [{id: a}, {id: a}]", "no YAML": "\t{", "nothing": "", "another kind": "users: 7",
	} {
		write(text, now)
		if _, err := ReadUsers(path, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%s is taken for a file of users", name)
		}
	}
}

// nodeStub answers like a node that knows one user.
type nodeStub struct {
	asks   atomic.Int64
	broken atomic.Bool
	rights atomic.Value // string
}

func (n *nodeStub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.asks.Add(1)
	text := map[string]string{
		"/v2/users/alice":        `{"user":{"id":"alice","primaryParty":"alice::1","isDeactivated":false}}`,
		"/v2/users/alice/rights": n.rights.Load().(string),
	}[r.URL.Path]
	switch {
	case n.broken.Load():
		http.Error(w, "not now", http.StatusServiceUnavailable)
	case r.Header.Get("Authorization") != "Bearer our token":
		http.Error(w, "who are you", http.StatusUnauthorized)
	case text == "":
		http.Error(w, `{"code":"USER_NOT_FOUND"}`, http.StatusNotFound)
	default:
		_, _ = w.Write([]byte(text)) // a broken connection shows at the client
	}
}

func TestNodeUsers(t *testing.T) {
	stub := &nodeStub{}
	stub.rights.Store(`{"rights":[{"kind":{"CanReadAs":{"value":{"party":"alice::1"}}}},{"kind":{"CanActAs":{"value":{"party":"bob::1"}}}},{"kind":{"ParticipantAdmin":{"value":{}}}},{"kind":{"SomethingNew":{"value":{"a":1}}}},{"kind":{"Empty":{}}}]}`)
	server := httptest.NewServer(stub)
	defer server.Close()
	clock := now
	u := NewNodeUsers(NodeConfig{
		BaseURL: server.URL + "/", Token: func(context.Context) (string, error) { return "our token", nil },
		TTL: time.Minute, Now: func() time.Time { return clock },
	})
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			rights, err := u.Rights(t.Context(), "alice")
			if err != nil || !rights.ReadAs["alice::1"] || !rights.ActAs["bob::1"] || rights.ReadAsAny || !rights.ParticipantAdmin || rights.PrimaryParty != "alice::1" {
				t.Errorf("%+v, %v", rights, err)
			}
		})
	}
	group.Wait()
	if n := stub.asks.Load(); n != 2 {
		t.Errorf("20 at once made %d requests, want 2", n)
	}
	for range 3 {
		if _, err := u.Rights(t.Context(), "mallory"); !errors.Is(err, ErrUnauthenticated) {
			t.Error(err)
		}
	}
	if n := stub.asks.Load(); n != 3 {
		t.Errorf("an unknown user three times made %d requests, want 1", n-2)
	}
	stub.rights.Store(`{"rights":[{"kind":{"CanReadAsAnyParty":{"value":{}}}}]}`)
	clock = clock.Add(2 * time.Minute)
	if rights, err := u.Rights(t.Context(), "alice"); err != nil || !rights.ReadAsAny || rights.ReadAs["alice::1"] {
		t.Errorf("after a while: %+v, %v", rights, err)
	}
	// A node that is away is neither a yes nor a no, and not remembered.
	stub.broken.Store(true)
	clock = clock.Add(2 * time.Minute)
	if _, err := u.Rights(t.Context(), "alice"); !errors.Is(err, ErrUnavailable) {
		t.Error(err)
	}
	stub.broken.Store(false)
	if _, err := u.Rights(t.Context(), "alice"); err != nil {
		t.Error(err)
	}
}
