package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/ledgerlake/ledgerlake/internal/remote"
)

// maxAnswerBytes caps one answer.
const maxAnswerBytes = 64 << 20

// call is one request of the node. It is never retried here, but for a token that the node
// has refused, with which it has done nothing.
type call struct {
	method    string
	operation string // path for errors
	path      string // path if it is not the operation, with ids in it
	query     url.Values
	body      any // JSON, nil for none
	// bytes takes an answer that is no JSON.
	bytes *[]byte
}

func (c *Client) get(ctx context.Context, operation string, query url.Values, into any) error {
	return c.do(ctx, &call{method: http.MethodGet, operation: operation, query: query}, into)
}

func (c *Client) post(ctx context.Context, operation string, body, into any) error {
	return c.do(ctx, &call{method: http.MethodPost, operation: operation, body: body}, into)
}

// do carries out k and reads the answer into a struct, unless into is nil. Failures are
// *Error.
func (c *Client) do(ctx context.Context, k *call, into any) error {
	token, err := c.tokens.Get(ctx)
	if err != nil {
		return c.fail(k, err)
	}
	e := c.try(ctx, k, token, into)
	if e == nil {
		return nil
	}
	if e.Node.Code == codeUnauthenticated && token != "" && c.tokens.Refuse(ctx, token) == nil && c.tokens.Current() != token {
		if e = c.try(ctx, k, c.tokens.Current(), into); e == nil {
			return nil
		}
	}
	return e
}

func (c *Client) try(ctx context.Context, k *call, token string, into any) *Error {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.RequestTimeout)
	defer cancel()
	var sent atomic.Bool
	e := c.send(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { sent.Store(true) },
	}), k, token, into)
	if e == nil {
		return nil
	}
	e.Sent = e.Sent || sent.Load()
	e.Err = remote.WithoutToken(e.Err, token)
	return e
}

func (c *Client) send(ctx context.Context, k *call, token string, into any) *Error {
	req, err := c.request(ctx, k, token)
	if err != nil {
		return c.fail(k, err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return c.fail(k, remote.WithoutURL(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return c.refusal(k, resp)
	}
	answer, err := remote.Reader{Limit: maxAnswerBytes}.Body(resp)
	if k.bytes != nil && err == nil {
		*k.bytes = answer
		return nil
	}
	if err == nil && remote.IsPage(answer) {
		err = remote.ErrPage
	}
	if err == nil && into != nil {
		err = json.Unmarshal(answer, into)
	}
	if err == nil {
		return nil
	}
	e := c.fail(k, fmt.Errorf("reading the answer: %w", err))
	e.Status, e.Sent = resp.StatusCode, true
	return e
}

func (c *Client) request(ctx context.Context, k *call, token string) (*http.Request, error) {
	body, err := remote.EncodeBody(k.body)
	if err != nil {
		return nil, err
	}
	address := c.base + k.operation
	if k.path != "" {
		address = c.base + k.path
	}
	if len(k.query) > 0 {
		address += "?" + k.query.Encode()
	}
	return remote.NewRequest(ctx, k.method, address, body, remote.Header(c.cfg.Version, token))
}

func (c *Client) fail(k *call, err error) *Error {
	return &Error{Upstream: c.name, Operation: k.operation, Err: err}
}

// refusal turns an answer with another status than 200 into an error.
func (c *Client) refusal(k *call, resp *http.Response) *Error {
	text := remote.ReadRefusal(resp)
	e := c.fail(k, errors.New(remote.OneLine(string(text))))
	e.Status, e.Sent = resp.StatusCode, true
	if own, ok := remote.ParseLedgerError(text); ok {
		e.Node, e.Err = own, errors.New(remote.OneLine(own.Cause))
	} else if resp.StatusCode == http.StatusBadRequest && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		e.Err = fmt.Errorf("%w: %w", errUndecodable, e.Err)
	}
	return e
}
