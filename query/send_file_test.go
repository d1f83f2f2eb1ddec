package query

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// fileBody sends a stretch of a file.
type fileBody struct {
	file *os.File
	rest io.LimitedReader
	open *atomic.Int64
}

func openBody(path string, from, to int64, open *atomic.Int64) (*fileBody, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	open.Add(1)
	_, err = file.Seek(from, io.SeekStart)
	return &fileBody{file, io.LimitedReader{R: file, N: to - from}, open}, err
}

func (b *fileBody) Read(p []byte) (int, error)             { return b.rest.Read(p) }
func (b *fileBody) WriteTo(w io.Writer) (n int64, e error) { return io.Copy(w, &b.rest) }
func (b *fileBody) Close() error                           { b.open.Add(-1); return b.file.Close() }

// filesGiven counts what connections are given as files.
type filesGiven struct {
	net.Listener
	bytes atomic.Int64
}

func (l *filesGiven) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &countedConn{conn.(*net.TCPConn), l}, nil
}

type countedConn struct {
	*net.TCPConn
	given *filesGiven
}

func (c *countedConn) ReadFrom(r io.Reader) (int64, error) {
	n, err := c.TCPConn.ReadFrom(r)
	if piece, ok := r.(*io.LimitedReader); ok {
		if _, ok := piece.R.(*os.File); ok { // which is what the kernel can copy
			c.given.bytes.Add(n)
		}
	}
	return n, err
}

func listenCounting(t *testing.T) *filesGiven {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return &filesGiven{Listener: listener}
}

// fileOf returns the path of a file with some content.
func fileOf(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "object")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func object(handle Handler) Route {
	return Route{Method: "GET", Path: "/object", Name: "object", Transfer: true, Handle: handle}
}

// TestFilesAreGivenToTheConnection: every byte of a file reaches the connection as a file.
func TestFilesAreGivenToTheConnection(t *testing.T) {
	content := strings.Repeat("0123456789abcdef", 100_000)
	path := fileOf(t, content)
	var open atomic.Int64
	for _, test := range []struct {
		name     string
		from, to int64
	}{
		{"all", 0, int64(len(content))}, {"nothing", 5, 5}, {"one byte", 7, 8},
		{"a piece", 3, 3 + progressPiece}, {"a piece and a byte", 3, 4 + progressPiece}, {"the end", 100, int64(len(content))},
	} {
		t.Run(test.name, func(t *testing.T) {
			listener := listenCounting(t)
			url := start(t, Config{Listener: listener}, object(func(_ context.Context, r *Request) error {
				body, err := openBody(path, test.from, test.to, &open)
				if err != nil {
					return err
				}
				return r.Send(200, "application/octet-stream", test.to-test.from, body)
			}))
			a := do(t, "GET", url+"/object", "")
			if a.body != content[test.from:test.to] {
				t.Errorf("%d bytes, want %d", len(a.body), test.to-test.from)
			}
			// The client may have the last byte before the server has counted it.
			for stop := time.Now().Add(10 * time.Second); listener.bytes.Load() != test.to-test.from; time.Sleep(time.Millisecond) {
				if time.Now().After(stop) {
					t.Fatalf("%d of %d bytes were given as a file", listener.bytes.Load(), test.to-test.from)
				}
			}
		})
	}
	if n := open.Load(); n != 0 {
		t.Errorf("%d files are open", n)
	}
}

// TestShortFileCutsTheConnection sends a file that lost its end.
func TestShortFileCutsTheConnection(t *testing.T) {
	path := fileOf(t, strings.Repeat("x", 1<<20))
	var open atomic.Int64
	url := start(t, Config{}, object(func(_ context.Context, r *Request) error {
		body, err := openBody(path, 0, 2<<20, &open)
		if err != nil {
			return err
		}
		return r.Send(200, "application/octet-stream", 2<<20, body)
	}))
	if a, err := try("GET", url+"/object", ""); err == nil {
		t.Errorf("a file cut off after %d bytes looks complete", len(a.body))
	}
}

// TestFilesForSlowClients: who takes a file slowly gets it all, who takes nothing is cut off.
func TestFilesForSlowClients(t *testing.T) {
	t.Parallel()
	const size = 24 << 20
	path := fileOf(t, strings.Repeat("y", size))
	var open atomic.Int64
	url := start(t, Config{StallTimeout: 400 * time.Millisecond}, object(func(_ context.Context, r *Request) error {
		body, err := openBody(path, 0, size, &open)
		if err != nil {
			return err
		}
		return r.Send(200, "application/octet-stream", size, body)
	}))
	read := func(pause time.Duration) (n int64, err error) {
		response, err := http.Get(url + "/object")
		if err != nil {
			return 0, err
		}
		defer response.Body.Close()
		for err == nil {
			time.Sleep(pause)
			var m int64
			m, err = io.CopyN(io.Discard, response.Body, 2<<20)
			n += m
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return n, err
	}
	if n, err := read(100 * time.Millisecond); err != nil || n != size {
		t.Errorf("a slow client got %d of %d bytes, %v", n, size, err)
	}
	response, err := http.Get(url + "/object")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	for stop := time.Now().Add(20 * time.Second); open.Load() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(stop) {
			t.Fatal("a client that takes nothing is waited for")
		}
	}
	if n, err := io.Copy(io.Discard, response.Body); err == nil {
		t.Errorf("a client that was cut off got %d of %d bytes without an error", n, size)
	}
}
