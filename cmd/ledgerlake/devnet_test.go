package main

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestDevnetNodeAsksForTokens starts a node that asks for tokens, and creates a user on it
// with a token that the product has minted.
func TestDevnetNodeAsksForTokens(t *testing.T) {
	const secret = "a-secret-of-32-characters-or-more"
	l := start(t, "devnet", "--updates", "300", "--data", t.TempDir(), "--devnet-listen", "127.0.0.1:0", "--node-listen", "127.0.0.1:0", "--node-secret", secret)
	address := regexp.MustCompile(`ledger API of \S+: (http://\S+)`)
	var node string
	for deadline := time.Now().Add(30 * time.Second); node == ""; time.Sleep(20 * time.Millisecond) {
		if found := address.FindStringSubmatch(l.stdout.String()); found != nil {
			node = found[1]
		} else if time.Now().After(deadline) {
			t.Fatalf("the node is not there\n%s\n%s", l.stdout.String(), tail(l.stderr.String()))
		}
	}
	mint := func(user string) string {
		return string(bytes.TrimSpace(mustRun(t, "token", "--data", t.TempDir(), "--ledger-auth-secret", secret, "--user", user)))
	}
	post := func(token, path, body string) int {
		req, err := http.NewRequestWithContext(t.Context(), "POST", node+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	admin, user := mint("participant_admin"), `{"user":{"id":"alice"}}`
	for _, tc := range []struct {
		name, token string
		status      int
	}{
		{"no token", "", 401},
		{"a token of an unknown user", mint("alice"), 401},
		{"the administrator", admin, 200},
		{"a user that is there now, without rights", mint("alice"), 403},
		{"the administrator again", admin, 409},
	} {
		if status := post(tc.token, "/v2/users", user); status != tc.status {
			t.Errorf("%s: status %d, want %d", tc.name, status, tc.status)
		}
	}
}
