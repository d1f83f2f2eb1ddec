package faults

import (
	"io"
	"net"
	"sync"
	"time"
)

// link is one connection through a TCP proxy.
type link struct {
	proxy          *TCP
	client, server *net.TCPConn

	mu       sync.Mutex
	begun    bool     // a turn was begun
	replying bool     // the server spoke last
	fault    TCPFault // of the current turn
	left     int      // bytes of the reply before the cut
	lost     int      // bytes of the reply that were swallowed
	moved    time.Time
}

const (
	// lostQuiet is how long a server must be silent after its reply began, so that the
	// reply counts as whole; lostMost bounds the wait for it.
	lostQuiet = 10 * time.Millisecond
	lostMost  = 400 * time.Millisecond
	// drainMost bounds how long a fragile server may take to end a connection.
	drainMost = 3 * time.Second
	buffer    = 64 << 10
)

// abort ends both sides. The client learns at once; the server may still read what it
// was sent.
func (l *link) abort() {
	reset(l.client)
	if !l.proxy.cfg.Fragile {
		_ = l.server.Close() // it may have ended already
		return
	}
	// Whoever closes with bytes unread resets, so they are read: down goes on for that.
	_ = l.server.CloseWrite()
	_ = l.server.SetReadDeadline(time.Now().Add(drainMost))
}

// drain reads what the server still sends after the end of its client.
func (l *link) drain() {
	if l.proxy.cfg.Fragile {
		_, _ = io.Copy(io.Discard, l.server) // until it ends, or the deadline
	}
	_ = l.server.Close()
}

// up passes the client's bytes on.
func (l *link) up() {
	chunk := make([]byte, buffer)
	for {
		n, err := l.client.Read(chunk)
		if n > 0 && !l.send(chunk[:n]) {
			l.abort()
			return
		}
		if err != nil {
			_ = l.server.CloseWrite() // it may have ended already
			return
		}
	}
}

// down passes the server's bytes on.
func (l *link) down() {
	defer l.drain()
	chunk := make([]byte, buffer)
	for {
		n, err := l.server.Read(chunk)
		if n > 0 && !l.reply(chunk[:n]) {
			return
		}
		if err != nil {
			_ = l.client.CloseWrite() // it may have ended already
			return
		}
	}
}

// send passes a chunk of the client's bytes on, with the fault of the turn that it
// begins. It returns false when the connection is to end.
func (l *link) send(chunk []byte) bool {
	f, cut := l.turn()
	if cut {
		return false
	}
	switch f.Kind {
	case DropBefore:
		return false
	case DropInside:
		_ = l.pass(chunk[:min(f.Bytes, len(chunk)-1)]) // ends in any case
		return false
	case Stall:
		_ = l.pass(chunk[:min(f.Bytes, len(chunk)-1)])
		l.proxy.sleep(f.Wait)
		return false
	case Outage:
		l.proxy.outage(f.Wait)
		return false
	case Delay:
		l.proxy.sleep(f.Wait)
	case LoseReply:
		l.proxy.running.Go(l.endWhenDone)
	}
	return l.pass(chunk)
}

func (l *link) pass(chunk []byte) bool {
	l.mu.Lock()
	l.moved = time.Now()
	l.mu.Unlock()
	_, err := l.server.Write(chunk)
	return err == nil
}

// turn returns the fault that a chunk of the client's begins with: the zero value if it
// goes on with a turn or begins one without a fault. cut says that the turn before was
// to be cut inside its reply, which was too short.
func (l *link) turn() (f TCPFault, cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun && !l.replying {
		return TCPFault{}, false
	}
	if l.fault.Kind == DropInReply || l.fault.Kind == TruncateReply {
		return TCPFault{}, true
	}
	if l.fault.Kind == LoseReply || l.fault.Kind == HalfClose {
		return TCPFault{}, false // ends by itself
	}
	hello := !l.begun
	l.begun, l.replying = true, false
	l.fault = l.proxy.begin(hello)
	l.left = l.fault.Bytes
	return l.fault, false
}

// reply passes a chunk of the server's bytes on, as far as the fault of the turn lets it.
func (l *link) reply(chunk []byte) bool {
	l.mu.Lock()
	l.replying, l.moved = true, time.Now()
	f, whole := l.fault, true
	switch f.Kind {
	case DropInReply, TruncateReply:
		whole = len(chunk) < l.left
		if !whole {
			chunk = chunk[:l.left]
		}
		l.left -= len(chunk)
	case LoseReply:
		l.lost += len(chunk)
	}
	l.mu.Unlock()
	switch f.Kind {
	case LoseReply, Stall:
		return true
	case HalfClose:
		_ = l.client.CloseWrite() // it may have ended already
		return true
	}
	if _, err := l.client.Write(chunk); err == nil && whole {
		return true
	}
	if f.Kind == TruncateReply {
		_ = l.client.Close() // in order: the client reads what there is, then the end
	}
	l.abort()
	return false
}

// endWhenDone ends a connection whose reply is swallowed, once the server has done its
// part.
func (l *link) endWhenDone() {
	defer l.abort()
	for begin := time.Now(); time.Since(begin) < lostMost; {
		l.proxy.sleep(lostQuiet / 4)
		l.mu.Lock()
		done := l.lost > 0 && time.Since(l.moved) >= lostQuiet
		l.mu.Unlock()
		if done || l.proxy.ctx.Err() != nil {
			return
		}
	}
}
