package query

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// pieces is a producer of n pieces of size bytes, which fails after failAfter of them.
func pieces(n, size, failAfter int) Producer {
	made := 0
	return func(_ context.Context, dst []byte) ([]byte, bool, error) {
		if made == failAfter {
			return dst, false, errors.New("store lost")
		}
		made++
		return append(dst, bytes.Repeat([]byte{byte('a' + made%26)}, size)...), made < n, nil
	}
}

func collect(t *testing.T, p Producer) string {
	t.Helper()
	var out []byte
	for more := true; more; {
		var err error
		if out, more, err = p(context.Background(), out); err != nil {
			t.Fatal(err)
		}
	}
	return string(out)
}

func TestProduceSmallAndLarge(t *testing.T) {
	for _, size := range []int{1, 1000, 20_000} { // pages of 10 bytes, 10 kB and 200 kB, streamed above 50 kB
		for _, encoding := range []string{"", "gzip"} {
			t.Run(fmt.Sprintf("%d bytes %s", size, encoding), func(t *testing.T) {
				url := start(t, Config{MaxPageBytes: 50_000}, get("/page", func(ctx context.Context, r *Request) error {
					return r.Produce(ctx, pieces(10, size, -1))
				}))
				a := do(t, "GET", url+"/page", "", "Accept-Encoding", encoding)
				text := a.body
				if a.header.Get("Content-Encoding") == "gzip" {
					zr, err := gzip.NewReader(strings.NewReader(text))
					if err != nil {
						t.Fatal(err)
					}
					plain, err := io.ReadAll(zr)
					if err != nil {
						t.Fatal(err)
					}
					text = string(plain)
				} else if encoding == "gzip" && size > 1 {
					t.Error("not compressed")
				}
				if want := collect(t, pieces(10, size, -1)); text != want {
					t.Errorf("got %d bytes, want %d", len(text), len(want))
				}
			})
		}
	}
}

// A shared text is sent as it is, compressed if the client takes it, and its memory is
// not used for another answer.
func TestSharedAnswersStayAsTheyAre(t *testing.T) {
	shared := []byte(`"` + strings.Repeat("shared ", 4000) + `"`)
	want := string(shared)
	url := start(t, Config{},
		Route{Method: "GET", Path: "/shared", Name: "shared", Handle: func(_ context.Context, r *Request) error { r.Immutable(); return r.Shared(shared) }},
		Route{Method: "GET", Path: "/made", Name: "made", Handle: func(_ context.Context, r *Request) error {
			return r.Text([]byte(`"` + strings.Repeat("made ", 4000) + `"`))
		}})
	tag := ""
	for range 20 {
		a := do(t, "GET", url+"/shared", "")
		if a.body != want || a.status != 200 {
			t.Fatalf("status %d, %.40q", a.status, a.body)
		}
		tag = a.header.Get("ETag")
		if a := do(t, "GET", url+"/shared", "", "If-None-Match", tag); a.status != 304 {
			t.Fatalf("asked for again: status %d", a.status)
		}
		packed := do(t, "GET", url+"/shared", "", "Accept-Encoding", "gzip")
		zr, err := gzip.NewReader(strings.NewReader(packed.body))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(zr); err != nil || string(text) != want {
			t.Fatalf("compressed: %.40q, %v", text, err)
		}
		do(t, "GET", url+"/made", "")
	}
	if string(shared) != want {
		t.Errorf("the shared text was changed into %.40q", shared)
	}
}

func TestErrorWhileProducing(t *testing.T) {
	fail := func(after int) Handler {
		return func(ctx context.Context, r *Request) error { return r.Produce(ctx, pieces(100, 1000, after)) }
	}
	url := start(t, Config{MaxPageBytes: 10_000, Admission: NewAdmission(AdmissionConfig{MaxConcurrent: 1})}, get("/early", fail(5)), get("/late", fail(50)))
	if a := do(t, "GET", url+"/early", ""); a.status != 500 || a.body != `{"error":"An unexpected error occurred."}` {
		t.Errorf("an error before anything was sent gave %d %s", a.status, a.body)
	}
	for _, encoding := range []string{"", "gzip"} {
		if a, err := try("GET", url+"/late", "", "Accept-Encoding", encoding); err == nil {
			t.Errorf("a page cut off after %d bytes (%q) looks complete", len(a.body), encoding)
		}
	}
	// The only slot must be free again.
	if a := do(t, "GET", url+"/early", ""); a.status != 500 {
		t.Errorf("afterwards a request got %d", a.status)
	}
}

func TestAcceptsGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "gzip": true, "br, GZIP;q=0.5": true, "gzip;q=0": false, "*": true, "*;q=0": false,
		"gzip;q=0, *": false, "identity": false, "gzip; q=x": false, "deflate, x-gzip": true,
	} {
		if got := accepts(header, "gzip", "x-gzip"); got != want {
			t.Errorf("accepts(%q, gzip) = %v, want %v", header, got, want)
		}
	}
}
