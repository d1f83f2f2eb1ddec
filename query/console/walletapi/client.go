// Package walletapi calls the validator interface for the pages of the console, with the token of who has
// signed in: what a page shows and does is what the interface lets that user see and do. Amounts are
// decimal texts as they came, and errors are those of the interface with its texts.
package walletapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/ledgerlake/ledgerlake/query"
)

// Client reaches the interface.
type Client struct {
	// Transport sends requests, whose hosts do not matter.
	Transport http.RoundTripper
	// Prefix is that of the interface's paths, such as "/api/validator".
	Prefix string
}

// User is the interface as one user has it.
type User struct {
	client *Client
	token  string
}

// As returns the interface with a token.
func (c *Client) As(token string) *User { return &User{c, token} }

// maxAnswer is the largest answer that is read: that is some 30,000 contracts.
const maxAnswer = 64 << 20

// classes of errors, by the status of their answers.
var classes = map[int]query.Code{
	400: query.Invalid, 401: query.Unauthenticated, 403: query.Denied, 404: query.NotFound, 409: query.AlreadyExists,
	429: query.RateLimited, 501: query.Disabled, 503: query.Unavailable,
}

// Is reports whether an error is an answer of a class.
func Is(err error, code query.Code) bool {
	var e *query.Error
	return errors.As(err, &e) && e.Code == code
}

// call sends a request and decodes the answer; body and into may be nil. Also an answer 409 is
// decoded, for the operations whose refusals have members.
func (u *User) call(ctx context.Context, method, path string, body, into any) error {
	content, err := u.send(ctx, method, path, body)
	if content != nil && into != nil && len(content) > 0 {
		if failed := json.Unmarshal(content, into); failed != nil && err == nil {
			return fmt.Errorf("reading the answer of %s %s: %w", method, path, failed)
		}
	}
	return err
}

// send returns the body of an answer, also beside an error of class AlreadyExists.
func (u *User) send(ctx context.Context, method, path string, body any) (content []byte, err error) {
	var sent []byte
	if body != nil {
		if sent, err = json.Marshal(body); err != nil {
			return nil, fmt.Errorf("writing the request %s %s: %w", method, path, err)
		}
	}
	r, err := http.NewRequestWithContext(ctx, method, "http://validator"+u.client.Prefix+path, bytes.NewReader(sent))
	if err != nil {
		return nil, fmt.Errorf("making the request %s %s: %w", method, path, err)
	}
	r.Header.Set("Authorization", "Bearer "+u.token)
	answer, err := u.client.Transport.RoundTrip(r)
	if err != nil {
		return nil, &query.Error{Code: query.Unavailable, Msg: "The wallet does not answer.", Err: err}
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	content, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, &query.Error{Code: query.Unavailable, Msg: "The wallet's answer was cut off.", Err: err}
	case len(content) > maxAnswer:
		return nil, query.Errorf(query.Unavailable, "The list is too long to be shown.")
	case answer.StatusCode == http.StatusOK:
		return content, nil
	}
	return content, failure(answer.StatusCode, content)
}

// failure is the error of an answer.
func failure(status int, content []byte) error {
	code, ok := classes[status]
	if !ok {
		return fmt.Errorf("the wallet answers %d %.200s", status, content)
	}
	if code == query.Unauthenticated {
		return query.Errorf(code, "Your token is not accepted any more. Nothing was done: sign in again.")
	}
	var told struct{ Error string }
	if json.Unmarshal(content, &told) != nil || told.Error == "" {
		told.Error = "The wallet refuses this."
	}
	return query.Errorf(code, "%s", sentence(told.Error))
}

// sentence has a capital letter and a full stop.
func sentence(text string) string {
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

// segment makes a text a part of a path.
func segment(text string) string { return url.PathEscape(text) }
