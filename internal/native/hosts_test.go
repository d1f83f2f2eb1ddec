package native

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestHosts has two servers of which one and then both go away.
func TestHosts(t *testing.T) {
	var listeners []net.Listener
	var addrs []string
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners, addrs = append(listeners, l), append(addrs, l.Addr().String())
	}
	h := NewHosts(addrs, nil, 5*time.Second)
	dial := func(want string) net.Conn {
		t.Helper()
		conn, err := h.DialContext(t.Context(), "tcp", "")
		if err != nil {
			t.Fatal(err)
		}
		if got := conn.RemoteAddr().String(); got != want {
			t.Errorf("connected to %s, want %s", got, want)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	stop := func(n int) {
		t.Helper()
		if err := listeners[n].Close(); err != nil {
			t.Fatal(err)
		}
	}
	dial(addrs[0])
	stop(0)
	silent := dial(addrs[1])
	l, err := net.Listen("tcp", addrs[0])
	if err != nil {
		t.Skipf("the port was taken meanwhile: %v", err)
	}
	listeners[0] = l
	dial(addrs[1])                      // as long as it is there
	other, err := listeners[1].Accept() // of the first connection
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := silent.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("read %d bytes of a server that says nothing, %v", n, err)
	}
	dial(addrs[0])
	stop(0)
	dial(addrs[1])
	stop(1)
	if _, err := h.DialContext(t.Context(), "tcp", ""); err == nil || !strings.Contains(err.Error(), addrs[0]) || !strings.Contains(err.Error(), addrs[1]) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want one line with both servers", err)
	}
}

// TestHostsByTLS has a server with TLS after one that is away.
func TestHostsByTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	h := NewHosts([]string{"127.0.0.1:1", server.Listener.Addr().String()}, server.Client().Transport.(*http.Transport).TLSClientConfig, 5*time.Second)
	conn, err := h.DialContext(t.Context(), "tcp", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := conn.(*hostConn).Conn.(*tls.Conn); !ok {
		t.Errorf("the connection is a %T", conn)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}
