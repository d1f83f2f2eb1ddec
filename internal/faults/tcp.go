package faults

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// TCPConfig says what a TCP proxy stands before.
type TCPConfig struct {
	// Name is put before the kinds in the tally, such as "engine".
	Name string
	// Target is the address of the real server, host:port.
	Target string
	// Faults are what happens, at most one per turn.
	Faults []TCPFault
	// Fragile is for a server that dies of rude clients, as the embedded engine does of
	// one that goes away inside its hello or resets an idle connection: that would end
	// all runs at once. The first turn of a connection is never cut inside, and the
	// server sees connections end in order.
	Fragile bool
	// Tally counts what did happen. Required.
	Tally *Tally
}

// TCP is a proxy that breaks connections as planned.
type TCP struct {
	cfg      TCPConfig
	listener net.Listener
	ctx      context.Context // ends with Close
	stop     context.CancelFunc
	running  sync.WaitGroup

	mu     sync.Mutex
	links  map[*link]struct{}
	faults map[int]TCPFault
	turns  numbered
	quiet  bool      // no more faults
	down   bool      // refuses all connections
	until  time.Time // refuses connections up to then
}

// NewTCP listens on a free port of the loopback interface.
func NewTCP(cfg TCPConfig) (*TCP, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the %s proxy: %w", cfg.Name, err)
	}
	p := &TCP{
		cfg: cfg, listener: listener, links: make(map[*link]struct{}),
		faults: make(map[int]TCPFault),
	}
	p.ctx, p.stop = context.WithCancel(context.Background())
	for _, f := range cfg.Faults {
		p.faults[f.Turn] = f
	}
	p.running.Go(p.accept)
	return p, nil
}

// Addr is where the proxy listens, host:port.
func (p *TCP) Addr() string { return p.listener.Addr().String() }

// Close ends the proxy and its connections.
func (p *TCP) Close() error {
	p.stop()
	err := p.listener.Close()
	p.Kill()
	p.running.Wait()
	if err != nil {
		return fmt.Errorf("closing the %s proxy: %w", p.cfg.Name, err)
	}
	return nil
}

// Kill ends all connections and refuses new ones until Revive. For the server it is as if
// the client's process was killed.
func (p *TCP) Kill() {
	p.mu.Lock()
	p.down = true
	links := make([]*link, 0, len(p.links))
	for l := range p.links {
		links = append(links, l)
	}
	p.mu.Unlock()
	for _, l := range links {
		l.abort()
	}
}

// Revive takes connections again after Kill.
func (p *TCP) Revive() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
}

// Pass lets everything through from now on.
func (p *TCP) Pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.quiet, p.down, p.until = true, false, time.Time{}
}

// Turns is the number of turns so far.
func (p *TCP) Turns() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.turns.count
}

// Turn returns a channel that is closed when turn n begins, or at once if it has begun.
func (p *TCP) Turn(n int) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.turns.reached(n)
}

func (p *TCP) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		p.running.Go(func() { p.serve(conn.(*net.TCPConn)) })
	}
}

func (p *TCP) serve(client *net.TCPConn) {
	if p.refuses() {
		reset(client)
		return
	}
	var dialer net.Dialer
	server, err := dialer.DialContext(p.ctx, "tcp", p.cfg.Target)
	if err != nil {
		reset(client)
		return
	}
	l := &link{proxy: p, client: client, server: server.(*net.TCPConn)}
	p.mu.Lock()
	if p.down {
		p.mu.Unlock()
		l.abort()
		_ = l.server.Close() // nothing was sent
		return
	}
	p.links[l] = struct{}{}
	p.mu.Unlock()
	defer func() {
		l.abort()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.links, l)
	}()
	var up sync.WaitGroup
	up.Go(l.up)
	l.down()
	up.Wait()
}

// refuses reports whether a new connection is to be refused, and counts it if that is
// a fault.
func (p *TCP) refuses() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		return true
	}
	if time.Now().Before(p.until) {
		p.cfg.Tally.Add(p.cfg.Name + ": refuse")
		return true
	}
	return false
}

// begin counts a turn and returns its fault, the zero value if it has none. hello says
// that it is the first one of its connection.
func (p *TCP) begin(hello bool) TCPFault {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, planned := p.faults[p.turns.next()]
	if !planned || p.quiet || p.down {
		return TCPFault{}
	}
	if hello && p.cfg.Fragile && (f.Kind == DropInside || f.Kind == Stall) {
		f.Kind = DropBefore
	}
	p.cfg.Tally.Add(p.cfg.Name + ": " + string(f.Kind))
	return f
}

// outage ends all connections and refuses new ones for d.
func (p *TCP) outage(d time.Duration) {
	p.mu.Lock()
	p.until = time.Now().Add(d)
	links := make([]*link, 0, len(p.links))
	for l := range p.links {
		links = append(links, l)
	}
	p.mu.Unlock()
	for _, l := range links {
		l.abort()
	}
}

// sleep waits for d or until the proxy is closed.
func (p *TCP) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.ctx.Done():
	case <-timer.C:
	}
}

// reset ends a connection so that the other side learns at once.
func reset(c *net.TCPConn) {
	_ = c.SetLinger(0) // fails only on a connection that has ended
	_ = c.Close()
}
