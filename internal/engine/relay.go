package engine

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/internal/native"
)

const (
	// greetTimeout is how long a client may take for its part of the handshake.
	greetTimeout = 10 * time.Second
	// maxGreeting is how many clients may be connected without having given a password. One
	// more ends the oldest of them: who is slow on purpose keeps nobody out.
	maxGreeting = 256
	// maxRelayed is how many clients are connected to the engine at a time.
	maxRelayed = 256
)

// relay lets clients of other processes through to the engine once they have given a
// password and completed the handshake. The engine aborts when a handshake fails, so the
// relay makes both of them itself, with the client and with the engine, and only what
// follows passes from one to the other.
type relay struct {
	listener net.Listener
	backend  backend
	log      *slog.Logger

	mu       sync.Mutex
	greeting []net.Conn        // that have not given a password, the oldest first
	conns    map[net.Conn]bool // all clients, and whether they have given a password
	relayed  int               // how many of them have
	closed   bool
	running  *guard.Group
}

// backend is the engine behind a relay.
type backend struct {
	// users are the SHA-256 sums of the passwords that are let through.
	users map[string][sha256.Size]byte
	// dial opens a connection that has completed its handshake, as the client's hello wants
	// it, and returns the hello with which the engine answered.
	dial func(hello clientHello) (*net.TCPConn, serverHello, error)
}

// newRelay serves listener, which it closes in the end.
func newRelay(listener net.Listener, b backend, log *slog.Logger) *relay {
	r := &relay{listener: listener, backend: b, log: log, conns: make(map[net.Conn]bool), running: guard.NewGroup()}
	r.running.Go(r.accept)
	return r
}

func (r *relay) addr() string { return r.listener.Addr().String() }

// close ends all connections and waits until nothing of the relay is left.
func (r *relay) close() error {
	r.mu.Lock()
	r.closed = true
	for conn := range r.conns {
		_ = conn.Close() // whoever serves it sees that
	}
	r.mu.Unlock()
	if err := errors.Join(r.listener.Close(), r.running.Wait()); err != nil {
		return fmt.Errorf("closing the engine's address: %w", err)
	}
	return nil
}

// accept takes connections until the listener is closed.
func (r *relay) accept() error {
	for failures := 0; ; {
		conn, err := r.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil: // no file descriptor is left, say: that passes
			if failures++; failures == 1 {
				r.log.Warn("accepting a connection to the engine failed", "err", err)
			}
			time.Sleep(50 * time.Millisecond)
		default:
			failures = 0
			if r.enter(conn) {
				r.running.Go(func() error { r.serve(conn); return nil })
			}
		}
	}
}

// enter notes a new client, unless the relay is closed.
func (r *relay) enter(conn net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		_ = conn.Close()
		return false
	}
	if len(r.greeting) >= maxGreeting {
		_ = r.greeting[0].Close() // serve takes it off when it sees that
		r.greeting = r.greeting[1:]
	}
	r.greeting = append(r.greeting, conn)
	r.conns[conn] = false
	return true
}

// admit notes that a client has given a password. It is false if so many have that one more is too
// many. Clients that were ended while greeting, and have not noticed yet, do not count.
func (r *relay) admit(conn net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.greeting = slices.DeleteFunc(r.greeting, func(c net.Conn) bool { return c == conn })
	if r.relayed >= maxRelayed {
		return false
	}
	r.relayed++
	r.conns[conn] = true
	return true
}

// leave closes a client's connection and forgets it.
func (r *relay) leave(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.greeting = slices.DeleteFunc(r.greeting, func(c net.Conn) bool { return c == conn })
	if r.conns[conn] {
		r.relayed--
	}
	delete(r.conns, conn)
	_ = conn.Close()
}

// serve serves one client. Why one was refused is of little interest here: it has been told.
func (r *relay) serve(conn net.Conn) {
	defer r.leave(conn)
	err := guard.Call(func() error { return r.pass(conn) })
	var fault *guard.PanicError
	if errors.As(err, &fault) {
		r.log.Error("serving a client of the engine failed", "err", err)
	} else if err != nil {
		r.log.Debug("a client of the engine was refused", "err", err)
	}
}

// pass makes the handshakes for a client and passes on all that follows.
func (r *relay) pass(conn net.Conn) error {
	_ = conn.SetDeadline(time.Now().Add(greetTimeout))
	in := newGreeting(conn)
	engine, err := r.greet(conn, in)
	if err != nil {
		return err
	}
	_ = conn.SetDeadline(time.Time{})
	pipe(conn.(*net.TCPConn), engine, in.rest())
	return nil
}

// greet makes both handshakes and returns the connection to the engine. A client that is
// refused has been told why.
func (r *relay) greet(conn net.Conn, in *greeting) (*net.TCPConn, error) {
	hello, err := in.hello()
	if err != nil {
		return nil, refuse(conn, err)
	}
	if !r.backend.knows(hello.user, hello.password) {
		return nil, refuse(conn, errAuthentication)
	}
	if !r.admit(conn) {
		return nil, refuse(conn, errTooManyClients)
	}
	engine, answer, err := r.backend.dial(hello)
	if err != nil {
		return nil, refuse(conn, err)
	}
	if err := r.complete(conn, in, hello, answer); err != nil {
		return nil, errors.Join(err, native.HangUp(engine))
	}
	return engine, nil
}

// complete answers a client's hello and reads what it says to that.
func (r *relay) complete(conn net.Conn, in *greeting, hello clientHello, answer serverHello) error {
	if _, err := conn.Write(answer.bytes(hello.revision)); err != nil {
		return fmt.Errorf("answering a client: %w", err)
	}
	return in.addendum(hello.revision)
}

// knows reports whether the password is that of the user. It takes as long for every user
// and password of a length.
func (b backend) knows(user, password string) bool {
	given, known := sha256.Sum256([]byte(password)), 0
	for name, sum := range b.users {
		known |= subtle.ConstantTimeCompare([]byte(name), []byte(user)) & subtle.ConstantTimeCompare(sum[:], given[:])
	}
	return known == 1
}

// pipe passes bytes on in both directions, those of rest first, until one side has ended,
// and closes both, the engine's when that has ended, too.
func pipe(client, engine *net.TCPConn, rest []byte) {
	defer native.HangUp(engine)
	if _, err := engine.Write(rest); err != nil {
		return
	}
	asked := make(chan struct{})
	guard.Go(func() error {
		_, err := io.Copy(engine, client) // within the kernel, where that can splice
		return errors.Join(err, engine.CloseWrite())
	}, func(error) { close(asked) })
	_, _ = io.Copy(client, engine) // how a connection ends is of no interest
	_ = client.Close()
	<-asked
}

// backend is this engine behind its relay.
func (e *Engine) backend() backend {
	return backend{
		users: map[string][sha256.Size]byte{
			userName:   sha256.Sum256([]byte(e.keys.owner)),
			readerName: sha256.Sum256([]byte(e.keys.reader)),
		},
		dial: func(hello clientHello) (*net.TCPConn, serverHello, error) {
			ctx, cancel := context.WithTimeout(context.Background(), greetTimeout)
			defer cancel()
			return dialEngine(ctx, e.ports, hello)
		},
	}
}
