package ledger

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/query/openapi/openapitest"
)

// isPassed reports whether only the node can answer an operation.
func isPassed(op *openapitest.Operation) bool { return slices.Contains(op.Tags, "Node") }

// behind is a node behind the interface, which notes what it is asked for.
type behind struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []string
	header http.Header
}

func newBehind(t *testing.T, answer http.HandlerFunc) *behind {
	b := &behind{}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		b.mu.Lock()
		b.asked, b.header = append(b.asked, fmt.Sprintf("%s %s %s", r.Method, r.RequestURI, body)), r.Header.Clone()
		b.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(b.Close)
	return b
}

// last is the latest request, and how many there were.
func (b *behind) last() (request string, header http.Header, count int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.asked) == 0 {
		return "", nil, 0
	}
	return b.asked[len(b.asked)-1], b.header, len(b.asked)
}

func (b *behind) change(cfg *Config, _ *query.Config) { cfg.NodeURL = b.URL + "/node/" }

// What only the node can do is passed on as it is, with the caller's token, and so is its answer.
func TestNodesOperationsArePassedOn(t *testing.T) {
	node := newBehind(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "a=b")
		fmt.Fprint(w, `{"user":{"id":"alice"}}`)
	})
	s := serve(t, &memory{}, node.change)
	count := 0
	for _, op := range document(t).Operations {
		if !isPassed(op) || strings.HasPrefix(op.OperationID, "stream") {
			continue
		}
		target, body := strings.NewReplacer("{party}", "a::1220", "{user-id}", "alice%2Fb", "{idp-id}", "i", "{package-id}", "00ff").Replace(op.Path), ""
		if op.RequestBody != nil {
			body = `{"any": "thing"}`
		}
		a := s.do(op.Method, target, body, "Authorization", "Bearer t", "Cookie", "c=d", "Content-Type", "application/json", "Traceparent", "00-a60b82f3e4eac53ca646a60b82f3e4ea-00f067aa0ba902b7-01")
		request, header, n := node.last()
		count++
		if want := fmt.Sprintf("%s /node%s %s", op.Method, target, body); a.status != 200 || a.body != `{"user":{"id":"alice"}}` || request != want || n != count {
			t.Errorf("%s: %d %s; the node was asked %d times, last %q, want %q", op, a.status, a.body, n, request, want)
		}
		if header.Get("Authorization") != "Bearer t" || header.Get("Cookie") != "" || header.Get("Traceparent") == "" || header.Get("X-Request-Id") == "" || a.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: the node got the headers %v, the caller %v", op, header, a.header)
		}
	}
	if count < 40 {
		t.Errorf("only %d operations are passed on", count)
	}
	response, err := http.Get(s.url + "/v2/parties?pageSize=3&filter-party=x%20y")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if request, _, _ := node.last(); request != "GET /node/v2/parties?pageSize=3&filter-party=x%20y " {
		t.Errorf("the parameters became %q", request)
	}
	if a := s.do("HEAD", "/v2/users", ""); a.status != 200 || a.body != "" {
		t.Errorf("HEAD: %d %q", a.status, a.body)
	}
	_, _, before := node.last()
	a := s.do("GET", "/v2/users/..%2F..%2Fsecret/rights", "")
	if _, _, after := node.last(); a.status != 400 || after != before {
		t.Errorf("an id that leads elsewhere: %d, and the node was asked %d times", a.status, after-before)
	}
}

// Errors of the node are passed back as they are, answers while they come, and a caller who hangs up
// is gone for the node, too.
func TestAnswersOfTheNode(t *testing.T) {
	left, half := make(chan struct{}), make(chan struct{})
	large := bytes.Repeat([]byte("0123456789abcdef"), 2<<20) // more than would be read whole
	node := newBehind(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/node/v2/users":
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusConflict)
			fmt.Fprint(w, `{"code":"USER_ALREADY_EXISTS","cause":"c","context":{},"errorCategory":10}`)
		case "/node/v2/packages/00ff":
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = w.Write(large[:len(large)/2])
			w.(http.Flusher).Flush()
			<-half
			_, _ = w.Write(large[len(large)/2:])
		case "/node/v2/commands/submit-and-wait":
			<-r.Context().Done()
			close(left)
		}
	})
	s := serve(t, &memory{}, node.change)
	response, err := http.Post(s.url+"/v2/users", "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || response.StatusCode != 409 || !strings.Contains(string(text), "USER_ALREADY_EXISTS") {
		t.Errorf("an error of the node: %d %s, %v", response.StatusCode, text, err)
	}

	if response, err = http.Get(s.url + "/v2/packages/00ff"); err != nil {
		t.Fatal(err)
	}
	first := make([]byte, len(large)/2)
	if _, err := io.ReadFull(response.Body, first); err != nil {
		t.Fatalf("the first half did not come before the second: %v", err)
	}
	close(half)
	rest, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil || !bytes.Equal(append(first, rest...), large) || response.Header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("%d of %d bytes came, with %v, %v", len(first)+len(rest), len(large), response.Header, err)
	}

	ctx, hangUp := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", s.url+"/v2/commands/submit-and-wait", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(100*time.Millisecond, hangUp)
	if response, err := http.DefaultClient.Do(r); err == nil {
		response.Body.Close()
		t.Errorf("a command that nobody waits for has the answer %d", response.StatusCode)
	}
	select {
	case <-left:
	case <-time.After(30 * time.Second):
		t.Error("the node still works for a caller who has hung up")
	}
}

// Without a node nothing is passed on, and of one that is gone it is said that nothing is known.
func TestNoNodeToPassTo(t *testing.T) {
	s := serve(t, &memory{}, nil)
	if a := s.do("GET", "/v2/authenticated-user", ""); a.status != 501 || !strings.Contains(a.body, `"UNSUPPORTED_OPERATION"`) || !strings.Contains(a.body, "--node-url") {
		t.Errorf("without a node: %d %s", a.status, a.body)
	}
	if a := s.do("POST", "/v2/nonsense", "{}"); a.status != 404 {
		t.Errorf("a path that no node has: %d %s", a.status, a.body)
	}
	node := newBehind(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
	})
	s = serve(t, &memory{}, node.change)
	for _, state := range []string{"which redirects", "which is gone"} {
		a := s.do("POST", "/v2/commands/submit-and-wait", "{}")
		if host := strings.TrimPrefix(node.URL, "http://"); a.status != 503 || a.header.Get("Retry-After") == "" || !strings.Contains(a.body, "The node at "+host+" did not answer; it is unknown whether") {
			t.Errorf("a node %s: %d %s", state, a.status, a.body)
		}
		node.Close()
	}
	if _, response, err := websocket.Dial(t.Context(), s.url+"/v2/commands/completions", nil); err == nil || response == nil || response.StatusCode != 503 {
		t.Errorf("a websocket to a node that is gone: %v, %v", response, err)
	}
}

// A token that the interface refuses goes no further, and one that it takes is the node's to judge.
func TestTokensOfWhatIsPassedOn(t *testing.T) {
	node := newBehind(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{}`)
	})
	s := secured(t, &memory{}, newRights(), node.change)
	for _, token := range []string{"", "Bearer x.y.z"} {
		if a := s.do("GET", "/v2/authenticated-user", "", "Authorization", token); a.status != 401 {
			t.Errorf("with the token %q: %d %s", token, a.status, a.body)
		}
	}
	if _, _, n := node.last(); n != 0 {
		t.Errorf("the node was asked %d times by callers without a good token", n)
	}
	if a := s.do("GET", "/v2/authenticated-user", "", "Authorization", "Bearer "+tokenOf(t, "none", time.Hour)); a.status != 200 {
		t.Errorf("with a good token: %d %s", a.status, a.body)
	}
}

// Messages of a websocket go both ways, and so does its end.
func TestWebsocketsToTheNode(t *testing.T) {
	node := newBehind(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Sec-WebSocket-Protocol"), "jwt.token.bad") {
			http.Error(w, `{"code":"UNAUTHENTICATED","cause":"c","context":{},"errorCategory":6}`, http.StatusUnauthorized)
			return
		}
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"daml.ws.auth"}})
		if err != nil {
			return
		}
		defer ws.CloseNow()
		for {
			kind, message, err := ws.Read(r.Context())
			if err != nil {
				return
			}
			if string(message) == "end" {
				ws.Close(1011, "the node's reason")
				return
			}
			if err := ws.Write(r.Context(), kind, append([]byte("echo "), message...)); err != nil {
				return
			}
		}
	})
	s := serve(t, &memory{}, node.change)
	dial := func(protocols ...string) (*websocket.Conn, *http.Response, error) {
		return websocket.Dial(t.Context(), s.url+"/v2/commands/completions?limit=1", &websocket.DialOptions{Subprotocols: protocols})
	}
	ws, _, err := dial("daml.ws.auth", "jwt.token.good")
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	if ws.Subprotocol() != "daml.ws.auth" {
		t.Errorf("agreed on the subprotocol %q", ws.Subprotocol())
	}
	for i := range 3 {
		message := fmt.Sprintf(`{"userId":"%d"}`, i)
		if err := ws.Write(t.Context(), websocket.MessageText, []byte(message)); err != nil {
			t.Fatal(err)
		}
		if _, got, err := ws.Read(t.Context()); err != nil || string(got) != "echo "+message {
			t.Fatalf("the node's message is %q, %v", got, err)
		}
	}
	if request, _, _ := node.last(); request != "GET /node/v2/commands/completions?limit=1 " {
		t.Errorf("the node was asked for %q", request)
	}
	if err := ws.Write(t.Context(), websocket.MessageText, []byte("end")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ws.Read(t.Context()); websocket.CloseStatus(err) != 1011 || !strings.Contains(err.Error(), "the node's reason") {
		t.Errorf("the end is %v", err)
	}
	if _, response, err := dial("daml.ws.auth", "jwt.token.bad"); err == nil || response == nil || response.StatusCode != 401 {
		t.Errorf("a token that the node refuses: %v, %v", response, err)
	}
}
