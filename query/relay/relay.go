// Package relay sends requests on to another server and its answers back. Nothing is followed or
// tried again, and no part of a request gets into the name of the server that is asked.
package relay

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/query"
)

const (
	// timeout bounds a request whose answer is read whole; it is less than a request has here.
	timeout = 25 * time.Second
	// dialTimeout bounds how long it takes to find that a server is not there.
	dialTimeout = 5 * time.Second
	// maxAnswer is the largest answer that is read whole, in bytes.
	maxAnswer = 16 << 20
)

// Server is another server. It is safe for concurrent use.
type Server struct {
	// base is where the paths of the server begin. Scheme and host of what is asked are always
	// those of base.
	base   *url.URL
	client *http.Client
	// headers are those of a request that the server gets; everything else belongs to the
	// connection, or to us.
	headers []string
}

// New returns the server at a base URL, which gets the named headers of a request. client defaults to
// one that follows no redirects. Answers are read whole within its timeout, or 25 s if it has none.
func New(base string, client *http.Client, headers ...string) (*Server, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("relay: %q is not the URL of a server", base)
	}
	if client == nil {
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext
		transport.MaxIdleConnsPerHost = 32
		client = &http.Client{
			Transport: transport,
			// A token goes to the server that was configured and to nobody else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	return &Server{u, client, headers}, nil
}

// Host is the server's, such as "node.example.com:7575".
func (s *Server) Host() string { return s.base.Host }

// address is the URL of a path, which is escaped and begins with a slash, below the base.
func (s *Server) address(path, params string) (*url.URL, error) {
	raw := strings.TrimRight(s.base.EscapedPath(), "/") + path
	decoded, err := url.PathUnescape(raw)
	if err != nil || !strings.HasPrefix(path, "/") {
		return nil, query.Errorf(query.Invalid, "The path is not well-formed.")
	}
	return &url.URL{Scheme: s.base.Scheme, User: s.base.User, Host: s.base.Host, Path: decoded, RawPath: raw, RawQuery: params}, nil
}

// headersOf are the headers of r that the server gets.
func (s *Server) headersOf(r *query.Request) http.Header {
	header := http.Header{"X-Request-Id": {r.ID()}}
	for _, name := range s.headers {
		if value := r.Header(name); value != "" {
			header.Set(name, value)
		}
	}
	return header
}

// send sends a request for an escaped path below the base, with the query string of r.
func (s *Server) send(ctx context.Context, r *query.Request, method, path string, body []byte) (*http.Response, error) {
	address, err := s.address(path, r.QueryString())
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, s.base.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", s.base.Host, err)
	}
	request.URL, request.Header = address, s.headersOf(r)
	response, err := s.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", s.base.Host, err)
	}
	if code := response.StatusCode; code < 200 || code >= 300 && code < 400 {
		response.Body.Close()
		return nil, fmt.Errorf("the answer of %s has status %d", s.base.Host, code)
	}
	return response, nil
}

// Answer is that of the other server.
type Answer struct {
	Status int
	Body   []byte
	header http.Header
}

// Ask sends a request for an escaped path below the base, with the query string of r, and reads the
// answer whole.
func (s *Server) Ask(ctx context.Context, r *query.Request, method, path string, body []byte) (*Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	response, err := s.send(ctx, r, method, path, body)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the answer of %s: %w", s.base.Host, err)
	case len(answer) > maxAnswer:
		return nil, fmt.Errorf("the answer of %s has more than %d bytes", s.base.Host, maxAnswer)
	}
	return &Answer{response.StatusCode, answer, response.Header}, nil
}

// Reply makes the answer of the other server that of the request.
func (a *Answer) Reply(r *query.Request) error {
	return reply(r, a.Status, a.header, int64(len(a.Body)), io.NopCloser(bytes.NewReader(a.Body)))
}

// Pass answers a request with the answer of the server to it, which is sent as it comes. The route of
// the request must be a transfer. An error says that there is no answer; it is unknown then whether
// the server has carried out the request.
func (s *Server) Pass(ctx context.Context, r *query.Request) error {
	path, err := r.RoutePath()
	if err != nil {
		return err
	}
	response, err := s.send(ctx, r, r.Method(), path, r.RawBody())
	if err != nil {
		return err
	}
	if r.IsHead() {
		return errors.Join(response.Body.Close(), reply(r, response.StatusCode, response.Header, max(response.ContentLength, 0), nil))
	}
	return reply(r, response.StatusCode, response.Header, response.ContentLength, response.Body)
}

// passedBack are the headers of an answer that a caller needs, beside its type.
var passedBack = [...]string{"Retry-After", "Www-Authenticate"}

func reply(r *query.Request, status int, header http.Header, size int64, body io.ReadCloser) error {
	for _, name := range passedBack {
		if value := header.Get(name); value != "" {
			r.SetHeader(name, value)
		}
	}
	return r.Send(status, cmp.Or(header.Get("Content-Type"), "application/json; charset=utf-8"), size, body)
}
