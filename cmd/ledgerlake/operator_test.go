package main

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app"
)

// TestOperatorOfAFreshNode sets an operator up on a node that knows none, and asks the validator
// interface for its balance.
func TestOperatorOfAFreshNode(t *testing.T) {
	t.Parallel()
	needEngine(t)
	_, scanURL, nodeURL := networkWithNode(t, 200)
	const user, secret = "acme-operator", "a-secret-of-32-characters-or-more"
	operator := func(args ...string) (app.OperatorSetup, error) {
		var out, messages bytes.Buffer
		err := run(t.Context(), append([]string{"operator", "--json", "--node-url", nodeURL, "--validator-user", user}, args...), &out, &messages)
		if err != nil {
			return app.OperatorSetup{}, err
		}
		return parse[app.OperatorSetup](t, out.Bytes()), nil
	}
	if _, err := operator("--validator-party", "nobody::1220"+strings.Repeat("ab", 32)); err == nil || !strings.Contains(err.Error(), "does not host --validator-party nobody::") {
		t.Errorf("a party of another node: %v", err)
	}
	made, err := operator("--hint", "acme")
	if err != nil || !made.UserMade || !made.PartyMade || !strings.HasPrefix(made.Party, "acme::1220") {
		t.Fatalf("made is %+v, %v", made, err)
	}
	if again, err := operator("--hint", "other"); err != nil || again.UserMade || again.PartyMade || again.Party != made.Party {
		t.Errorf("once more: %+v, %v", again, err)
	}
	if _, err := operator("--validator-user", "second", "--hint", "acme"); err == nil || !strings.Contains(err.Error(), "--validator-party "+made.Party) {
		t.Errorf("another user with the hint of a party that is there: %v", err)
	}

	up := start(t, "up", "--data", t.TempDir(), "--scan-url", scanURL, "--node-url", nodeURL, "--listen", "127.0.0.1:0", "--follow-interval", "100ms",
		"--validator-user", user, "--validator-auth-secret", secret)
	url := validatorURL(t, up)
	token := strings.TrimSpace(string(mustRun(t, "token", "--validator", "--user", user, "--validator-auth-secret", secret)))
	status := 0
	for deadline := time.Now().Add(time.Minute); status != http.StatusOK && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		request, err := http.NewRequestWithContext(t.Context(), "GET", url+"/v0/wallet/balance", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		status = response.StatusCode
		if err := response.Body.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if status != http.StatusOK {
		t.Errorf("the operator's balance has status %d\n%s", status, tail(up.stderr.String()))
	}
}
