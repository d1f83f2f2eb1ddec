package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
)

// With a key for tokens every user sees what it has the right to and nothing else, over the
// real store; the product's own tokens are good, and the users may come from a file or from
// the node.
func TestLedgerInterfaceChecksTokens(t *testing.T) {
	t.Parallel()
	needEngine(t)
	ledger := nodeLedger(t, 300)
	theirs := ledgerClient{t: t, url: servedNode(t, ledger, devnet.NodeOptions{})}
	data := t.TempDir()
	mustRun(t, "ingest", "--once", "--data", data, "--node-url", theirs.url)
	_, endText := theirs.do("GET", "/v2/state/ledger-end", "")
	end := parse[struct{ Offset int64 }](t, endText).Offset
	parties := ledgerParties(t, theirs, end)
	users := filepath.Join(t.TempDir(), "users.yaml")
	if err := os.WriteFile(users, fmt.Appendf(nil, "users:\n  - {id: one, can_read_as: [%q]}\n  - {id: all, can_read_as_any_party: true}\n", parties[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	// One listener for both interfaces, and a prefix.
	port := freePort(t)
	server := start(t, "serve", "--data", data, "--listen", port, "--ledger-listen", port, "--ledger-prefix", "/ledger",
		"--ledger-auth-secret", ledgerSecret, "--ledger-users", users, "--ledger-list-limit", "5000")
	deadline := time.Now().Add(30 * time.Second)
	for !ledgerLine.MatchString(server.stdout.String()) || !ready("http://"+port+"/api/scan/readyz") {
		if time.Now().After(deadline) {
			t.Fatalf("not ready after 30 s: %s", tail(server.stderr.String()))
		}
		time.Sleep(50 * time.Millisecond)
	}
	ours := ledgerClient{t: t, url: ledgerLine.FindStringSubmatch(server.stdout.String())[1]}
	if ours.url != "http://"+port+"/ledger" {
		t.Errorf("the URL is %s", ours.url)
	}
	token := func(user string) string {
		return string(bytes.TrimSpace(mustRun(t, "token", "--user", user, "--ledger-auth-secret", ledgerSecret)))
	}
	request := updatesRequest(0, end, "LEDGER_EFFECTS", ofParty(parties[0]), false)
	request = strings.Replace(request, "nobody::1220", parties[0], 1)
	if status, text := ours.do("POST", "/v2/updates", request); status != 401 || !strings.Contains(string(text), `"UNAUTHENTICATED"`) {
		t.Errorf("without a token: %d %s", status, text)
	}
	ours.token = token("one")
	want := comparable(t, theirs.list("/v2/updates", request))
	sameTexts(t, "the updates of one party", comparable(t, ours.list("/v2/updates", request)), want)
	for _, raw := range ours.list("/v2/updates", request) {
		for _, witnesses := range regexp.MustCompile(`"witnessParties":\[([^\]]*)\]`).FindAllStringSubmatch(string(raw), -1) {
			if witnesses[1] != fmt.Sprintf("%q", parties[0]) {
				t.Errorf("user one learns of the witnesses %s", witnesses[1])
			}
		}
	}
	for _, forbidden := range []string{ofParty(parties[1]), ofParty(parties[0], parties[1]), anyPartyFormat} {
		if status, text := ours.do("POST", "/v2/updates", updatesRequest(0, end, "ACS_DELTA", forbidden, false)); status != 403 {
			t.Errorf("user one asks with %s: %d %.200s", forbidden, status, text)
		}
	}
	ours.token = token("all")
	if got := ours.stream("/v2/updates", updatesRequest(0, end, "ACS_DELTA", anyPartyFormat, false)); len(got) == 0 {
		t.Error("user all sees nothing")
	}
	// The scan interface of the shared listener is where it does not collide.
	if status, _ := (ledgerClient{t: t, url: "http://" + port}).do("GET", "/version", ""); status != 404 {
		t.Errorf("GET /version of a shared listener: %d", status)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// What the ledger interface needs is said before anything is served.
func TestLedgerSettingsAreChecked(t *testing.T) {
	t.Parallel()
	needEngine(t)
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"everybody on all addresses": {[]string{"serve", "--ledger-listen", "0.0.0.0:0"}, "--ledger-auth none"},
		"a key without users":        {[]string{"serve", "--ledger-auth-secret", ledgerSecret}, "--ledger-users"},
		"a short secret":             {[]string{"serve", "--ledger-auth-secret", "short"}, "--ledger-auth-secret"},
		"two keys":                   {[]string{"serve", "--ledger-auth-secret", ledgerSecret, "--ledger-auth-jwks", "http://127.0.0.1:1/"}, "give only one"},
		"a key and none":             {[]string{"serve", "--ledger-auth-secret", ledgerSecret, "--ledger-auth", "none"}, "contradicts"},
		"an audience and a scope":    {[]string{"serve", "--ledger-auth-audience", "a", "--ledger-auth-scope", "b"}, "give only one"},
		"a certificate that is not":  {[]string{"serve", "--ledger-auth-certificate", "ledger_test.go"}, "ledger_test.go"},
		"users that are not there":   {[]string{"serve", "--ledger-auth-secret", ledgerSecret, "--ledger-users", "/nowhere.yaml"}, "/nowhere.yaml"},
		"a prefix without slash":     {[]string{"serve", "--ledger-prefix", "ledger"}, "--ledger-prefix"},
		"a list limit of 0":          {[]string{"serve", "--ledger-list-limit", "0"}, "--ledger-list-limit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := start(t, append(c.args, "--data", emptyStore(t), "--listen", "127.0.0.1:0")...)
			if err := l.Wait(); err == nil || !strings.Contains(l.stderr.String(), c.want) {
				t.Errorf("ended with %v and %s, want a text with %q", err, tail(l.stderr.String()), c.want)
			}
		})
	}
}
