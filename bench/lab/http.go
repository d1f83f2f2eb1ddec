package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Get returns the body of the answer to a GET request in a coding, such as identity or gzip. A status
// other than 200 is an error. The caller closes the body.
func Get(ctx context.Context, url, encoding string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept-Encoding", encoding) // else the client asks for gzip by itself
	return do(request)
}

// GetJSON reads the JSON at a URL.
func GetJSON(ctx context.Context, url string, into any) error {
	body, err := Get(ctx, url, "identity")
	if err != nil {
		return err
	}
	defer body.Close()
	return json.NewDecoder(body).Decode(into)
}

// DoJSON sends a request and reads its answer, which must have status 200.
func DoJSON(request *http.Request, into any) error {
	body, err := do(request)
	if err != nil {
		return err
	}
	defer body.Close()
	return json.NewDecoder(body).Decode(into)
}

func do(request *http.Request) (io.ReadCloser, error) {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("%s answers %s", request.URL, response.Status)
	}
	return response.Body, nil
}

// Until calls so at an interval until it returns true or an error, or timeout has passed: then the
// error says that what took too long.
func Until(ctx context.Context, interval, timeout time.Duration, what string, so func() (bool, error)) error {
	deadline := time.Now().Add(timeout)
	for {
		ok, err := so()
		if err != nil || ok {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s took more than %s", what, timeout)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(interval):
		}
	}
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("looking for a free port: %w", err)
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}
