package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

const contentJSON = "application/json"

// Header has what every request to an upstream carries: who asks, and the token unless it
// is "".
func Header(version, token string) http.Header {
	h := http.Header{}
	h.Set("User-Agent", "ledgerlake/"+version)
	if token != "" {
		h.Set("Authorization", "Bearer "+token)
	}
	return h
}

// NewRequest asks an upstream for JSON. body is JSON, too, or nil for none. Errors never
// contain the address. An id in the path that would leave its place there is an ErrBadID.
func NewRequest(ctx context.Context, method, address string, body []byte, header http.Header) (*http.Request, error) {
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, reader)
	if err != nil {
		return nil, WithoutURL(err)
	}
	if leavesItsPlace(req.URL.EscapedPath()) {
		return nil, ErrBadID
	}
	req.Header = header
	req.Header.Set("Accept", contentJSON)
	if body != nil {
		req.Header.Set("Content-Type", contentJSON)
	}
	return req, nil
}

// EncodeBody is the body of a request, nil for none.
func EncodeBody(body any) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	return encoded, nil
}

// longestRefusal is how much of a refusal is read: it only explains the status.
const longestRefusal = 64 << 10

// ReadRefusal reads the text of an answer that is not what was asked for, nil if it cannot be
// read: the status alone decides.
func ReadRefusal(resp *http.Response) []byte {
	text, err := Reader{Limit: longestRefusal}.All(io.LimitReader(resp.Body, longestRefusal), -1)
	if err != nil {
		return nil
	}
	return text
}

// WithoutToken takes a token, which an upstream may repeat, out of an error; what has none
// of it stays as it is.
func WithoutToken(err error, token string) error {
	if token == "" || !strings.Contains(err.Error(), token) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), token, "<token>"))
}

// ErrBadID means that an id is "." or "..", which no escaping keeps from being read as a step
// in a path.
var ErrBadID = errors.New("an id of the request is a dot segment, which cannot be part of a path")

// leavesItsPlace reports whether a path has a segment "." or "..".
func leavesItsPlace(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

// Redact names a URL without user, password, query and fragment.
func Redact(u *url.URL) string {
	if u == nil {
		return ""
	}
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return plain.String()
}

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// WithoutURL takes the request URL, which may hold credentials, out of a transport error.
func WithoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
