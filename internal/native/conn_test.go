package native

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// TestHelloMayTakeLong has a server answer the hello after the time that a read may take, and then nothing.
func TestHelloMayTakeLong(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		server, err := listener.Accept()
		if err != nil {
			return // the client says why
		}
		_, _ = server.Read(make([]byte, 1))
		time.Sleep(50 * time.Millisecond)
		_, _ = server.Write([]byte{1})
		_, _ = server.Read(make([]byte, 1)) // until the client hangs up
		_ = server.Close()
	}()
	conn, err := Dialer{}.DialContext(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte{0}); err != nil {
		t.Fatal(err)
	}
	read := func() error {
		if err := conn.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		_, err := conn.Read(make([]byte, 1))
		return err
	}
	if err := read(); err != nil {
		t.Errorf("the server's hello: %v", err)
	}
	if err := read(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a read after it: %v, want that its time is over", err)
	}
}
