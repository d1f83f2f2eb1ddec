package openapitest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Transport sends requests by next and reports to t what does not keep to the document,
// in the requests that succeed and in every answer. It reads each answer whole.
func (d *Document) Transport(t testing.TB, next http.RoundTripper) http.RoundTripper {
	return &transport{d, t, next}
}

type transport struct {
	document *Document
	t        testing.TB
	next     http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (tr *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	tr.t.Helper()
	sent, err := sentBody(r)
	if err != nil {
		return nil, err
	}
	response, err := tr.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if closeErr := response.Body.Close(); err == nil {
		err = closeErr
	}
	if err != nil { // cut off: what is there is no whole answer, and the caller shall see
		response.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), failing{err}))
		return response, nil
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	plain, err := decompressed(response.Header.Get("Content-Encoding"), body)
	if err == nil {
		err = tr.document.Check(r, sent, Answer{response.StatusCode, response.Header, plain})
	}
	if err != nil {
		tr.t.Errorf("%s %s = %d: against the OpenAPI document: %v", r.Method, r.URL, response.StatusCode, err)
	}
	return response, nil
}

// sentBody copies the request's body if it can be read twice.
func sentBody(r *http.Request) ([]byte, error) {
	if r.GetBody == nil {
		return nil, nil
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

func decompressed(encoding string, body []byte) ([]byte, error) {
	if len(body) == 0 { // the answer to HEAD, or 304
		return body, nil
	}
	switch encoding {
	case "":
		return body, nil
	case "gzip":
		zr, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(zr)
	case "zstd":
		zr, err := zstd.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		defer zr.Close()
		return io.ReadAll(zr)
	}
	return nil, fmt.Errorf("content encoding %q is not known", encoding)
}

// failing is a reader that has only an error.
type failing struct{ err error }

// Read gives the error.
func (f failing) Read([]byte) (int, error) { return 0, f.err }
