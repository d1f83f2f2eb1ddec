package query

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// smallBuffers keeps the kernel from taking an object whole.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return conn, conn.(*net.TCPConn).SetWriteBuffer(32 << 10)
}

// TestThousandsOfSlowDownloads has as many clients as may download at once wait in the middle
// of an object. Each then gets it to its end, and meanwhile takes little memory.
func TestThousandsOfSlowDownloads(t *testing.T) {
	const size, perClient = 512 << 10, 80 << 10
	clients := defaultTransfers
	path := fileOf(t, strings.Repeat("z", size))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var open atomic.Int64
	url := start(t, Config{Listener: smallBuffers{listener}}, object(func(_ context.Context, r *Request) error {
		body, err := openBody(path, 0, size, &open)
		if err != nil {
			return err
		}
		return r.Send(200, "application/octet-stream", size, body)
	}))
	before := memory()
	conns := make([]net.Conn, clients)
	for i := range conns {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns[i] = conn
		if _, err := io.WriteString(conn, "GET /object HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	for stop := time.Now().Add(20 * time.Second); open.Load() < int64(clients); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(stop) {
			t.Fatalf("%d of %d downloads are under way", open.Load(), clients)
		}
	}
	if each := (memory() - before) / int64(clients); each > perClient {
		t.Errorf("a slow download takes %d bytes of memory, want at most %d", each, perClient)
	} else {
		t.Logf("a slow download takes %d bytes of memory", each)
	}
	if a := do(t, "GET", url+"/object", ""); a.status != 503 {
		t.Errorf("one more download is answered with %d", a.status)
	}
	var rest errgroup.Group
	rest.SetLimit(64)
	for _, conn := range conns {
		rest.Go(func() error {
			n, err := io.Copy(io.Discard, conn)
			if n < size || n > size+1000 { // with the head
				err = errors.Join(err, fmt.Errorf("a download gave %d bytes", n))
			}
			return err
		})
	}
	if err := rest.Wait(); err != nil {
		t.Error(err)
	}
}

// memory is what the process uses for objects and stacks.
func memory() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
