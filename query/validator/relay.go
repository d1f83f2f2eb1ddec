package validator

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/query"
)

const (
	// relayTimeout bounds a request to another server; it is less than a request has here.
	relayTimeout = 25 * time.Second
	// maxRelayed is the largest answer that is passed on, in bytes.
	maxRelayed = 16 << 20
)

// relay sends requests on to another server and its answers back. Nothing is followed or
// tried again.
type relay struct {
	// base is where the paths of the server begin. Scheme and host of what is asked are always
	// those of base: no part of a request gets into them.
	base   *url.URL
	client *http.Client
	// headers are those of a request that the server gets; everything else belongs to the
	// connection, or to us.
	headers []string
}

// newRelay checks the base URL.
func newRelay(base string, client *http.Client, headers ...string) (*relay, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("validator: %q is not the URL of a server", base)
	}
	if client == nil {
		client = &http.Client{
			Timeout: relayTimeout,
			// A token goes to the server that was configured and to nobody else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	return &relay{u, client, headers}, nil
}

// address is the URL of a path, which is escaped and begins with a slash, below the base.
func (l *relay) address(path, params string) (*url.URL, error) {
	raw := strings.TrimRight(l.base.EscapedPath(), "/") + path
	decoded, err := url.PathUnescape(raw)
	if err != nil || !strings.HasPrefix(path, "/") {
		return nil, query.Errorf(query.Invalid, "The path is not well-formed.")
	}
	return &url.URL{Scheme: l.base.Scheme, User: l.base.User, Host: l.base.Host, Path: decoded, RawPath: raw, RawQuery: params}, nil
}

// relayed is the answer of the other server.
type relayed struct {
	status int
	header http.Header
	body   []byte
}

// ask sends a request for an escaped path below the base, with the query string of r.
func (l *relay) ask(ctx context.Context, r *query.Request, method, path string, body []byte) (*relayed, error) {
	address, err := l.address(path, r.QueryString())
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, l.base.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", l.base.Host, err)
	}
	request.URL = address
	for _, name := range l.headers {
		if value := r.Header(name); value != "" {
			request.Header.Set(name, value)
		}
	}
	request.Header.Set("X-Request-Id", r.ID())
	response, err := l.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", l.base.Host, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxRelayed+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the answer of %s: %w", l.base.Host, err)
	case len(answer) > maxRelayed:
		return nil, fmt.Errorf("the answer of %s has more than %d bytes", l.base.Host, maxRelayed)
	case response.StatusCode < 200 || response.StatusCode >= 300 && response.StatusCode < 400:
		return nil, fmt.Errorf("the answer of %s has status %d", l.base.Host, response.StatusCode)
	}
	return &relayed{response.StatusCode, response.Header, answer}, nil
}

// passedBack are the headers of an answer that a caller needs, beside its type.
var passedBack = [...]string{"Retry-After", "Www-Authenticate"}

// reply makes the answer of the other server that of the request.
func (a *relayed) reply(r *query.Request) error {
	for _, name := range passedBack {
		if value := a.header.Get(name); value != "" {
			r.SetHeader(name, value)
		}
	}
	contentType := cmp.Or(a.header.Get("Content-Type"), "application/json; charset=utf-8")
	return r.Send(a.status, contentType, int64(len(a.body)), io.NopCloser(bytes.NewReader(a.body)))
}
