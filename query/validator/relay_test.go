package validator

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// attacker listens, and counts who connects.
func attacker(t *testing.T) (dial func(ctx context.Context, network, addr string) (net.Conn, error), connections *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	connections = &atomic.Int64{}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			connections.Add(1)
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{\"stolen\":\"yes\"}")
			conn.Close()
		}
	}()
	// Every name is the attacker's, but for that of the server that is configured.
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if host, _, _ := net.SplitHostPort(addr); net.ParseIP(host) == nil {
			addr = listener.Addr().String()
		}
		var d net.Dialer
		return d.DialContext(ctx, network, addr)
	}, connections
}

// Whatever a request says, only the servers that are configured are asked, and only below their
// base URLs and the registry of a scan.
func TestOnlyConfiguredServersAreAsked(t *testing.T) {
	dial, connections := attacker(t)
	o := newOther(t)
	client := &http.Client{Transport: &http.Transport{DialContext: dial}, Timeout: 10 * time.Second}
	s := serve(t, full(), func(c *Config) {
		c.ScanURL, c.ScanClient = o.URL+"/api/scan", client
		c.Forward = &Forward{BaseURL: o.URL + "/api/validator", Client: client}
	})
	named := serve(t, full(), func(c *Config) { // with a host that a text behind it makes another one
		c.ScanURL, c.ScanClient = "http://127.0.0.1", client
		c.Forward = &Forward{BaseURL: "http://127.0.0.1", Client: client}
	})
	asked := 0
	for _, prefix := range []string{"x.attacker.example://y", "http://attacker.example", "http://attacker.example@y", ".attacker.example", "@attacker.example", "//attacker.example", "/\\attacker.example", ""} {
		for _, path := range []string{
			"/v0/scan-proxy/dso-party-id", "/v0/scan-proxy/coin-rules", "/v0/scan-proxy/registry/metadata/v1/info", "/v0/scan-proxy/registry/../../secret",
			"/v0/scan-proxy/registry/%2e%2e/%2e%2e/secret", "/v0/scan-proxy/registry/..%2f..%2fsecret", "/v0/scan-proxy/registry//attacker.example/x", "/v0/scan-proxy/registry/http:%2f%2fattacker.example/x",
			"/v0/scan-proxy/featured-apps/..", "/v0/scan-proxy/featured-apps/%2e%2e", "/v0/scan-proxy/featured-apps/a%2f..%2f..%2fb", "/v0/scan-proxy/featured-apps/@attacker.example",
			"/v0/scan-proxy/featured-apps/a%3fb%23c", "/v0/scan-proxy/ans-entries?page_size=1&name_prefix=@attacker.example/", "/v0/wallet/transfer-offers/..%2f..%2f/accept", "/v0/wallet/transfer-offers/../accept",
			"/v0/wallet/transfer-offers/00ab/accept",
		} {
			method, body := "GET", ""
			if strings.Contains(path, "/wallet/") {
				method, body = "POST", "{}"
			}
			for base, server := range map[string]*served{"": s, "/api/validator": named} {
				o.requests = nil
				send(t, server.url, fmt.Sprintf("%s %s%s%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", method, prefix, base, path, token(t, "alice"), len(body), body))
				for _, request := range o.requests {
					asked++
					if _, target, _ := strings.Cut(request, " "); !strings.HasPrefix(target, "/api/scan/") && !strings.HasPrefix(target, "/registry/") && !strings.HasPrefix(target, "/api/validator/v0/wallet/") || strings.Contains(target, "..") || strings.Contains(target, "%2e") {
						t.Errorf("%s%s%s has %q asked for", prefix, base, path, request)
					}
				}
			}
		}
	}
	if n := connections.Load(); n > 0 || asked < 5 {
		t.Errorf("the attacker was asked %d times, the configured servers %d", n, asked)
	}
}

// send sends bytes and waits for the answer, whatever it is.
func send(t *testing.T, url, request string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	defer response.Body.Close()
	if _, err := io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	if response.StatusCode == http.StatusInternalServerError {
		t.Errorf("%.80q: status 500", request)
	}
}

// An id in a body becomes one segment of a path, or nothing.
func TestIDsAreSegments(t *testing.T) {
	o := newOther(t)
	o.answers(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"accepted_offer_contract_id":"00"}`)
	})
	s := serve(t, full(), func(c *Config) { c.Forward = &Forward{BaseURL: o.URL} })
	for id, want := range map[string]string{
		"..": "", ".": "", "": "", "a/../b": "POST /v0/wallet/transfer-offers/a%2F..%2Fb/accept {}", "a?b#c": "POST /v0/wallet/transfer-offers/a%3Fb%23c/accept {}",
		"%2e%2e": "POST /v0/wallet/transfer-offers/%252e%252e/accept {}",
	} {
		o.requests = nil
		a := s.as("alice", "POST", offersPath+"/accept", fmt.Sprintf(`{"contract_id":%q}`, id))
		if want == "" {
			if a.status != 400 || len(o.requests) > 0 {
				t.Errorf("%q: %d %s, and %q was asked for", id, a.status, a.body, o.requests)
			}
		} else if len(o.requests) != 1 || o.requests[0] != want {
			t.Errorf("%q: %q was asked for, want %q", id, o.requests, want)
		}
	}
}
