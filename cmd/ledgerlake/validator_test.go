package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/query/openapi"
	"github.com/ledgerlake/ledgerlake/query/openapi/openapitest"
	"github.com/ledgerlake/ledgerlake/query/validator"
)

// validatorLine is where up says that the validator interface is.
var validatorLine = regexp.MustCompile(`validator interface (http://\S+)/\n`)

// validatorURL waits until a run has said where the validator interface is, and until that is
// ready.
func validatorURL(t *testing.T, l *ledgerlake) string {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if m := validatorLine.FindStringSubmatch(l.stdout.String()); m != nil && ready(m[1]+"/readyz") {
			return m[1]
		}
	}
	t.Fatalf("the validator interface is not ready after 2 min: %s\n%s", l.stdout.String(), tail(l.stderr.String()))
	return ""
}

// checked is a server that passes requests on to url and holds each with its answer against the
// document of the validator interface.
func checked(t *testing.T, url string) string {
	t.Helper()
	document, err := openapitest.Load(openapi.Validator, validator.Prefixes[:])
	if err != nil {
		t.Fatal(err)
	}
	transport := document.Transport(t, http.DefaultTransport.(*http.Transport).Clone())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		if _, err := body.ReadFrom(r.Body); err != nil {
			t.Error(err)
		}
		request, err := http.NewRequestWithContext(r.Context(), r.Method, url+strings.TrimPrefix(r.RequestURI, "/api/validator"), bytes.NewReader(body.Bytes()))
		if err != nil {
			t.Error(err)
			return
		}
		request.Header.Set("Authorization", r.Header.Get("Authorization"))
		response, err := transport.RoundTrip(request)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer response.Body.Close()
		for _, name := range []string{"Content-Type", "Ledger-Visible"} {
			w.Header().Set(name, response.Header.Get(name))
		}
		w.WriteHeader(response.StatusCode)
		var answer bytes.Buffer
		if _, err := answer.ReadFrom(response.Body); err == nil {
			_, _ = w.Write(answer.Bytes())
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/api/validator"
}

// The tour of the documentation works on up with its simulated network, and every answer keeps to
// the document. It takes as long as the automations need to do their part: half a minute, and many where
// others want the processors, too.
func TestWalletTour(t *testing.T) {
	t.Parallel()
	needEngine(t)
	for _, tool := range []string{"bash", "curl", "openssl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	up := start(t, "up", "--data", t.TempDir(), "--updates", "300", "--days", "1", "--live-clock", "--live", "0", "--listen", "127.0.0.1:0", "--follow-interval", "100ms", "--wallet-wait", "20s", "--wallet-transfer-commands")
	url := checked(t, validatorURL(t, up))
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	tour := exec.CommandContext(ctx, "../../scripts/wallet-tour.sh", url)
	tour.Env = append(tour.Environ(), "WAIT_SECONDS=120")
	out, err := tour.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, tail(string(out)), tail(up.stderr.String()))
	}
	if !strings.Contains(string(out), "== Done: ") {
		t.Errorf("the tour has not come to its end:\n%s", tail(string(out)))
	}
	token := strings.TrimSpace(string(mustRun(t, "token", "--validator", "--user", "validator")))
	request, err := http.NewRequest("GET", url+"/v0/admin/users", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		t.Errorf("with a token of ledgerlake token the users are %d", response.StatusCode)
	}
}

// Settings that leave the interface open, or nowhere to send changes, are refused.
func TestValidatorSettings(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"two keys":              {[]string{"--validator-auth-secret", "x", "--validator-auth-jwks", "http://127.0.0.1:1/keys"}, "--validator-auth-secret"},
		"no audience":           {[]string{"--validator-auth-audience", ""}, "--validator-auth-audience"},
		"the shared address":    {[]string{"--listen", "127.0.0.1:18089", "--validator-listen", "127.0.0.1:18089"}, "--validator-listen"},
		"another mode":          {[]string{"--wallet-mode", "maybe"}, "--wallet-mode"},
		"forward to nobody":     {[]string{"--wallet-mode", "forward"}, "--validator-url"},
		"forward to no URL":     {[]string{"--wallet-mode", "forward", "--validator-url", "wallet"}, "--validator-url"},
		"a wait of no time":     {[]string{"--wallet-wait", "0s"}, "--wallet-wait"},
		"a short secret":        {[]string{"--listen", "0.0.0.0:0", "--node-url", "http://127.0.0.1:1", "--validator-auth-secret", "unsafe"}, "at least 32"},
		"an address and no key": {[]string{"--validator-listen", "127.0.0.1:0", "--node-url", "http://127.0.0.1:1"}, "--validator-auth-jwks"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if len(c.args) > 2 && strings.Contains(fmt.Sprint(c.args), "node-url") {
				needEngine(t)
			}
			l := start(t, append([]string{"serve", "--data", emptyStore(t), "--ledger-listen", "off"}, append([]string{"--listen", "127.0.0.1:0"}, c.args...)...)...)
			if err := l.Wait(); err == nil || !strings.Contains(l.stderr.String(), c.want) {
				t.Errorf("ended with %v and %s, want a text with %q", err, tail(l.stderr.String()), c.want)
			}
		})
	}
}

// A token for the validator interface needs a user.
func TestValidatorTokens(t *testing.T) {
	l := start(t, "token", "--validator")
	if err := l.Wait(); err == nil || !strings.Contains(l.stderr.String(), "--user") {
		t.Errorf("ended with %v and %s", err, l.stderr.String())
	}
}
