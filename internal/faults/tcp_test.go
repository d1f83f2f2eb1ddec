package faults

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// lineServer answers every line with "did <line>" and keeps what it did.
type lineServer struct {
	net.Listener
	mu   sync.Mutex
	done []string
}

func newLineServer(t *testing.T) *lineServer {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &lineServer{Listener: listener}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { s.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		running.Wait()
	})
	return s
}

func (s *lineServer) serve(conn net.Conn) {
	defer conn.Close()
	lines := bufio.NewReader(conn)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return // also a line that did not come to its end
		}
		s.mu.Lock()
		s.done = append(s.done, strings.TrimSpace(line))
		s.mu.Unlock()
		if _, err := fmt.Fprintf(conn, "did %s", line); err != nil {
			return
		}
	}
}

func (s *lineServer) did(line string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.done {
		if d == line {
			return true
		}
	}
	return false
}

// exchange sends a line and reads what comes back until the line's end or the
// connection's.
func exchange(conn net.Conn, line string) (string, error) {
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintf(conn, "%s\n", line); err != nil {
		return "", err
	}
	return bufio.NewReader(conn).ReadString('\n')
}

func newProxy(t *testing.T, target string, fragile bool, planned ...TCPFault) (*TCP, *Tally) {
	t.Helper()
	tally := new(Tally)
	p, err := NewTCP(TCPConfig{Name: "lines", Target: target, Faults: planned, Fragile: fragile, Tally: tally})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, tally
}

func dial(t *testing.T, p *TCP) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp4", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// dialAndExchange sends a line over a new connection, which may be refused so fast that not
// even dialling works.
func dialAndExchange(t *testing.T, p *TCP, line string) (string, error) {
	t.Helper()
	conn, err := net.Dial("tcp4", p.Addr())
	if err != nil {
		return "", err
	}
	t.Cleanup(func() { _ = conn.Close() })
	return exchange(conn, line)
}

// TestTCPFaults sends three lines, of which the second meets the fault.
func TestTCPFaults(t *testing.T) {
	cases := []struct {
		kind    TCPKind
		applied bool   // the server did what the second line asked
		reply   string // what came back of the answer to it
		breaks  bool   // the connection is of no more use
		reset   bool   // and the client learns that by a reset
	}{
		{DropBefore, false, "", true, true},
		{DropInside, false, "", true, true},
		{LoseReply, true, "", true, true},
		{DropInReply, true, "did", true, true},
		{TruncateReply, true, "did", true, false},
		{HalfClose, true, "", true, false},
		{Delay, true, "did two\n", false, false},
		{Stall, false, "", true, true},
		{Outage, false, "", true, true},
	}
	if len(cases) != len(TCPKinds()) {
		t.Fatalf("%d kinds are tested, there are %d", len(cases), len(TCPKinds()))
	}
	for _, c := range cases {
		for _, fragile := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s fragile=%v", c.kind, fragile), func(t *testing.T) {
				t.Parallel()
				server := newLineServer(t)
				p, tally := newProxy(t, server.Addr().String(), fragile, TCPFault{Turn: 2, Kind: c.kind, Bytes: 3, Wait: 20 * time.Millisecond})
				conn := dial(t, p)
				if got, err := exchange(conn, "one"); err != nil || got != "did one\n" {
					t.Fatalf("the first line is answered with %q, %v", got, err)
				}
				got, err := exchange(conn, "two")
				if got != c.reply && !(c.kind == DropInReply && got == "") { // a reset may overtake bytes
					t.Errorf("the second line is answered with %q, %v, want %q", got, err, c.reply)
				}
				if (err != nil) != c.breaks || c.reset != (err != nil && !errors.Is(err, io.EOF)) || c.reset && !errors.Is(err, syscall.ECONNRESET) {
					t.Errorf("the second line ended with %v, want broken %v, by a reset %v", err, c.breaks, c.reset)
				}
				if server.did("two") != c.applied {
					t.Errorf("the server did the second line: %v, want %v", !c.applied, c.applied)
				}
				time.Sleep(30 * time.Millisecond) // an outage is over
				third := conn
				if c.breaks {
					third = dial(t, p)
				}
				if got, err := exchange(third, "three"); err != nil || got != "did three\n" {
					t.Errorf("the third line is answered with %q, %v", got, err)
				}
				if n := tally.Counts()["lines: "+string(c.kind)]; n != 1 {
					t.Errorf("the fault is counted %d times: %v", n, tally.Counts())
				}
			})
		}
	}
}

func TestOutageRefusesNewConnections(t *testing.T) {
	server := newLineServer(t)
	p, tally := newProxy(t, server.Addr().String(), false, TCPFault{Turn: 1, Kind: Outage, Wait: 10 * time.Second})
	if _, err := exchange(dial(t, p), "one"); err == nil {
		t.Fatal("a line was answered in an outage")
	}
	if got, err := dialAndExchange(t, p, "two"); err == nil {
		t.Fatalf("a new connection is answered with %q in an outage", got)
	}
	p.Pass()
	if got, err := exchange(dial(t, p), "three"); err != nil || got != "did three\n" {
		t.Fatalf("after the outage the answer is %q, %v", got, err)
	}
	if tally.Counts()["lines: refuse"] != 1 {
		t.Errorf("counted were %v, want one refusal", tally.Counts())
	}
}

func TestFragileServersSeeWholeHellos(t *testing.T) {
	server := newLineServer(t)
	p, tally := newProxy(t, server.Addr().String(), true, TCPFault{Turn: 1, Kind: DropInside, Bytes: 2})
	if _, err := exchange(dial(t, p), "hello"); err == nil {
		t.Fatal("a dropped line was answered")
	}
	if counts := tally.Counts(); counts["lines: "+string(DropBefore)] != 1 {
		t.Errorf("counted were %v, want that the hello was dropped whole", counts)
	}
}

func TestKillAndRevive(t *testing.T) {
	server := newLineServer(t)
	p, tally := newProxy(t, server.Addr().String(), false)
	conn := dial(t, p)
	if _, err := exchange(conn, "one"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Turn(1):
	default:
		t.Error("turn 1 has passed and is not told of")
	}
	p.Kill()
	if got, err := exchange(conn, "two"); err == nil {
		t.Fatalf("a connection that was killed answered %q", got)
	}
	if got, err := dialAndExchange(t, p, "two"); err == nil {
		t.Fatalf("a killed proxy answered %q", got)
	}
	p.Revive()
	if _, err := exchange(dial(t, p), "three"); err != nil {
		t.Fatal(err)
	}
	<-p.Turn(2)
	if p.Turns() != 2 || tally.Total() != 0 || server.did("two") {
		t.Errorf("%d turns, %d faults counted, want 2 and none", p.Turns(), tally.Total())
	}
}

func TestPlansFollowFromTheSeed(t *testing.T) {
	extent := Extent{Requests: 50, EngineTurns: 200, BucketTurns: 60, RedisTurns: 90}
	one, again, other := NewPlan(7, extent), NewPlan(7, extent), NewPlan(8, extent)
	if one.String() != again.String() || one.String() == other.String() {
		t.Fatalf("plans of seeds 7, 7 and 8:\n%s%s%s", one, again, other)
	}
	if n := strings.Count(one.String(), "\n"); n != 1+one.Total() || one.Total() == 0 {
		t.Errorf("%d faults are planned and %d lines printed", one.Total(), n)
	}
	seen := make(map[string]bool)
	for seed := range Seed(2000) {
		p := NewPlan(seed, extent)
		misled, last := 0, 0
		for _, f := range p.Upstream {
			seen[string(f.Kind)] = true
			if f.Request <= last || f.Request > extent.Requests {
				t.Fatalf("seed %d: request %d after %d of %d", seed, f.Request, last, extent.Requests)
			}
			last = f.Request
			if misleading[f.Kind] {
				misled++
			}
		}
		if misled > mostMisleading {
			t.Fatalf("seed %d misleads %d times", seed, misled)
		}
		for _, f := range p.Engine {
			seen[string(f.Kind)] = true
		}
	}
	for _, kind := range HTTPKinds() {
		if !seen[string(kind)] {
			t.Errorf("no plan of 2,000 has %q", kind)
		}
	}
	for _, kind := range TCPKinds() {
		if !seen[string(kind)] {
			t.Errorf("no plan of 2,000 has %q", kind)
		}
	}
}
