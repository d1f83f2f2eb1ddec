package query

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// echo is a server whose answers say which path and body reached a handler.
func echo(t *testing.T, cfg Config) string {
	t.Helper()
	say := func(_ context.Context, r *Request) error {
		path, err := r.RoutePath()
		if err != nil {
			return err
		}
		return r.JSON(map[string]string{"path": path, "body": string(r.RawBody())})
	}
	url := start(t, cfg, get("/a", say), post("/a", say), get("/deep/{id}/end", say), get("/rest/{path:*}", say))
	return strings.TrimPrefix(url, "http://")
}

// rawly sends bytes and returns the statuses of the answers, up to a number of them or, if the
// server closes the connection before, until then; open says that it never did.
func rawly(t *testing.T, addr string, most int, pieces ...string) (statuses []int, bodies string, open bool) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for i, piece := range pieces {
		if i > 0 {
			time.Sleep(5 * time.Millisecond) // so that it comes by itself; if not, less is tested
		}
		if _, err := io.WriteString(conn, piece); err != nil {
			break // the server has closed
		}
	}
	for r := bufio.NewReader(conn); len(statuses) < most; {
		response, err := http.ReadResponse(r, nil)
		if err != nil {
			timeout, ok := err.(net.Error)
			return statuses, bodies, ok && timeout.Timeout()
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		statuses, bodies = append(statuses, response.StatusCode), bodies+string(body)
	}
	return statuses, bodies, true
}

const next = "GET /deep/smuggled/end HTTP/1.1\r\nHost: localhost\r\n\r\n"

// What two programs can read differently is refused, and the connection closed: nothing behind it
// is answered.
func TestAmbiguousRequestsAreRefused(t *testing.T) {
	addr := echo(t, Config{})
	for name, request := range map[string]string{
		"both lengths":                      "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"both lengths, the other way round": "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
		"two lengths":                       "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 4\r\n\r\n",
		"the same length twice":             "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
		"a list of lengths":                 "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0, 0\r\n\r\n",
		"a signed length":                   "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: +0\r\n\r\n",
		"a negative length":                 "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		"a hexadecimal length":              "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0x0\r\n\r\n",
		"an empty length":                   "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: \r\n\r\n",
		"a huge length":                     "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551616\r\n\r\n",
		"two codings":                       "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
		"a list of codings":                 "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n",
		"the coding identity":               "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n",
		"another coding":                    "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		"a coding in HTTP/1.0":              "POST /a HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"a space before a colon":            "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
		"a tab before a colon":              "GET /a HTTP/1.1\r\nHost: x\r\nX-A\t: b\r\n\r\n",
		"a space in a name":                 "GET /a HTTP/1.1\r\nHost: x\r\nX A: b\r\n\r\n",
		"a control character in a name":     "GET /a HTTP/1.1\r\nHost: x\r\nX\x01A: b\r\n\r\n",
		"no name":                           "GET /a HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n",
		"no colon":                          "GET /a HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n",
		"a folded line":                     "POST /a HTTP/1.1\r\nHost: x\r\nX-A: b\r\n Content-Length: 5\r\n\r\n",
		"a line folded with a tab":          "GET /a HTTP/1.1\r\nHost: x\r\nX-A: b\r\n\tc\r\n\r\n",
		"a space before the first header":   "GET /a HTTP/1.1\r\n Host: x\r\nHost: x\r\n\r\n",
		"line feeds alone":                  "GET /a HTTP/1.1\nHost: x\n\n",
		"a line feed behind the first line": "GET /a HTTP/1.1\nHost: x\r\n\r\n",
		"a line feed in the middle":         "POST /a HTTP/1.1\r\nHost: x\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"a line feed at the end":            "GET /a HTTP/1.1\r\nHost: x\r\n\n",
		"a carriage return in a value":      "GET /a HTTP/1.1\r\nHost: x\r\nX-A: b\rContent-Length: 5\r\n\r\n",
		"a zero byte in a value":            "GET /a HTTP/1.1\r\nHost: x\r\nX-A: b\x00c\r\n\r\n",
		"no host":                           "GET /a HTTP/1.1\r\n\r\n",
		"an empty host":                     "GET /a HTTP/1.1\r\nHost: \r\n\r\n",
		"two hosts":                         "GET /a HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
		"a host with a path":                "GET /a HTTP/1.1\r\nHost: x/y\r\n\r\n",
		"a host with a user":                "GET /a HTTP/1.1\r\nHost: a@x\r\n\r\n",
		"two tokens":                        "GET /a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nauthorization: Bearer b\r\n\r\n",
		"another version":                   "GET /a HTTP/1.2\r\nHost: x\r\n\r\n",
		"the version before":                "GET /a HTTP/0.9\r\nHost: x\r\n\r\n",
		"two spaces":                        "GET  /a HTTP/1.1\r\nHost: x\r\n\r\n",
		"no version":                        "GET /a\r\nHost: x\r\n\r\n",
		"a chunk size with a sign":          "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n+0\r\n\r\n",
		"a chunk size in hexadecimal":       "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n",
		"a chunk that is longer":            "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
		"a chunk extension with a line end": "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;a\nb\r\nx\r\n0\r\n\r\n",
	} {
		for how, pieces := range map[string][]string{
			"at once": {request + next}, "behind a good one": {next + request + next},
			"in pieces": {request[:len(request)/3], request[len(request)/3:] + next},
		} {
			want := 1
			if how == "behind a good one" {
				want = 2
			}
			statuses, bodies, open := rawly(t, addr, 9, pieces...)
			if len(statuses) != want || statuses[want-1] != 400 || strings.Count(bodies, "smuggled") != want-1 || open {
				t.Errorf("%s, %s: answers %v %s, open %t", name, how, statuses, bodies, open)
			}
		}
	}
}

// What is unambiguous passes, however it is cut, and the connection stays open.
func TestPlainRequestsPass(t *testing.T) {
	addr := echo(t, Config{})
	for name, c := range map[string]struct {
		request, want string
		closes        bool
	}{
		"a body":            {request: "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n\nA:", want: `\nA:`},
		"odd cases":         {request: "POST /a HTTP/1.1\r\nhOsT: x\r\ncOnTeNt-lEnGtH:3\r\nX-A:\r\n\r\nabc", want: "abc"},
		"a chunked body":    {request: "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n3;name=value\r\nabc\r\n0\r\n\r\n", want: "abc", closes: true},
		"an address":        {request: "GET /a HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", want: "/a"},
		"a body of a GET":   {request: "GET /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", want: "abc"},
		"an absolute form":  {request: "GET http://x:80/deep/1/end?a HTTP/1.1\r\nHost: x:80\r\n\r\n", want: "/deep/1/end"},
		"an encoded slash":  {request: "GET /deep/a%2Fb/end HTTP/1.1\r\nHost: x\r\n\r\n", want: "/deep/a%2Fb/end"},
		"dots in a segment": {request: "GET /rest/..a/b../.c/... HTTP/1.1\r\nHost: x\r\n\r\n", want: "/rest/..a/b../.c/..."},
		"two slashes first": {request: "GET //deep/1/end HTTP/1.1\r\nHost: x\r\n\r\n", want: "/deep/1/end"},
		"a line before":     {request: "\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n", want: "/a"},
	} {
		for cut := range len(c.request) {
			pieces := []string{c.request + next}
			if cut > 0 && cut%7 == 0 {
				pieces = []string{c.request[:cut], c.request[cut:] + next}
			} else if cut > 0 {
				continue
			}
			statuses, bodies, open := rawly(t, addr, 2, pieces...)
			if c.closes && (len(statuses) != 1 || open) || !c.closes && len(statuses) != 2 || statuses[0] != 200 || !strings.Contains(bodies, c.want) {
				t.Errorf("%s, cut at %d: answers %v %s, open %t", name, cut, statuses, bodies, open)
			}
		}
	}
}

// Targets that a router and an upstream can read differently reach no handler.
func TestTargetsAreChecked(t *testing.T) {
	addr := echo(t, Config{})
	for _, target := range []string{
		"http://x.attacker.example/a", "x.attacker.example://y/a", "https://attacker/a", "http:///a", "http://x", "http://x@y/a", "ftp://x/a",
		"*", "a", "x:80", "///a", "//rest/../a", "/deep//end", "/a//", "/rest/../a", "/rest/./a", "/rest/..", "/rest/.", "/./a",
		"/rest/%2e%2e/a", "/rest/.%2E/a", "/rest/%2e", "/rest/%252e%252e/a", "/rest/%25252e%25252e/a", "/rest/..%2fa", "/rest/a%2f..%2fb", "/rest/%2e%2e%2fa",
		"/a#b", "/a?b#c", "/rest/a\\b", "/rest/a%5cb", "/rest/..%5ca", "/rest/%00", "/rest/a%0d%0ab", "/rest/a%7f", "/rest/a%1f", "/rest/%", "/rest/%g1", "/rest/a%2",
		"/rest/%2500", "/rest/\x01",
	} {
		for _, method := range []string{"GET", "POST", "CONNECT", "OPTIONS"} {
			statuses, bodies, open := rawly(t, addr, 9, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\n\r\n", method, target)+next)
			if len(statuses) != 1 || statuses[0] != 400 || open {
				t.Errorf("%s %q: answers %v %s, open %t", method, target, statuses, bodies, open)
			}
		}
	}
}

// A page in a browser reaches the server only under a name that no stranger can have.
func TestHosts(t *testing.T) {
	addr := echo(t, Config{Hosts: []string{"lake.example.com", "Other.Example.com."}})
	open := echo(t, Config{Hosts: []string{"*"}})
	for _, c := range []struct {
		host   string
		status int
	}{
		{"localhost", 200}, {"localhost:8080", 200}, {"LOCALHOST", 200}, {"a.localhost", 200}, {"localhost.", 200}, {"127.0.0.1:8080", 200}, {"10.1.2.3", 200}, {"[::1]:80", 200}, {"[fe80::1]", 200},
		{"serve", 200}, {"serve:8080", 200}, {"my_host", 200}, {"host.docker.internal", 200}, {"serve.lake.svc.cluster.local:80", 200}, {"nas.local", 200},
		{"lake.example.com", 200}, {"lake.example.com:443", 200}, {"LAKE.example.com.", 200}, {"other.example.com", 200},
		{"attacker.example", 403}, {"attacker.example:8080", 403}, {"localhost.attacker.example", 403}, {"127.0.0.1.attacker.example", 403}, {"x.lake.example.com", 403},
		{"lake.example.com.attacker.example", 403}, {"a.internal.example", 403}, {"attackerlocal.com", 403},
		{"[::1", 400}, {"[::1]x", 400}, {"[attacker.example]", 400}, {"a:b", 400}, {"a b", 400}, {":80", 400}, {"a:123456", 400}, {"a,b", 400}, {"é.example", 400}, {"attacker.example%00localhost", 400},
	} {
		request := "GET /a HTTP/1.1\r\nHost: " + c.host + "\r\n\r\n"
		if statuses, bodies, _ := rawly(t, addr, 1, request); len(statuses) != 1 || statuses[0] != c.status {
			t.Errorf("host %q: answers %v %s, want %d", c.host, statuses, bodies, c.status)
		}
		want := c.status
		if want == 403 {
			want = 200
		}
		if statuses, bodies, _ := rawly(t, open, 1, request); len(statuses) != 1 || statuses[0] != want {
			t.Errorf("host %q of a server of any name: answers %v %s, want %d", c.host, statuses, bodies, want)
		}
	}
	if statuses, _, _ := rawly(t, addr, 1, "GET /a HTTP/1.0\r\n\r\n"); len(statuses) != 1 || statuses[0] != 200 {
		t.Errorf("HTTP/1.0 without a host: answers %v", statuses)
	}
}

// A page of another site cannot have its readers' browsers change something here.
func TestOrigins(t *testing.T) {
	addr := echo(t, Config{Hosts: []string{"lake.example.com"}})
	for _, c := range []struct {
		method, origin, more string
		status               int
	}{
		{"POST", "http://localhost:8080", "", 200}, {"POST", "HTTPS://LOCALHOST:8080", "", 200}, {"POST", "https://lake.example.com", "", 200},
		{"POST", "http://localhost:3000", "", 403}, {"POST", "https://attacker.example", "", 403}, {"POST", "null", "", 403}, {"POST", "http://localhost:8080.attacker.example", "", 403},
		{"GET", "https://attacker.example", "", 200}, {"POST", "https://attacker.example", "Authorization: Bearer x\r\n", 200},
	} {
		statuses, bodies, _ := rawly(t, addr, 1, c.method+" /a HTTP/1.1\r\nHost: localhost:8080\r\nContent-Length: 0\r\nOrigin: "+c.origin+"\r\n"+c.more+"\r\n")
		if len(statuses) != 1 || statuses[0] != c.status {
			t.Errorf("%s from %s: answers %v %s, want %d", c.method, c.origin, statuses, bodies, c.status)
		}
	}
}
