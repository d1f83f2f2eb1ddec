package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// hello is a client's first packet.
func hello(user, password, database string) []byte {
	b := []byte{0}
	for _, field := range []any{"test", 24, 1, 54_460, database, user, password} {
		switch v := field.(type) {
		case int:
			b = binary.AppendUvarint(b, uint64(v))
		case string:
			b = append(binary.AppendUvarint(b, uint64(len(v))), v...)
		}
	}
	return b
}

// Whatever strangers send to the address that is published, the engine lives, clients who
// know the password are served meanwhile and afterwards, and nothing is left over. Before
// the relay each wrong password, and most first bytes, ended the engine.
func TestEngineOutlivesStrangers(t *testing.T) {
	e := start(t, Config{DataDir: t.TempDir()})
	pid, client := e.PID(), open(t, e.ReaderDSN())
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	random := rand.New(rand.NewPCG(1, 2))
	for name, packets := range strangers(random) {
		t.Run(name, func(t *testing.T) {
			var knocking sync.WaitGroup
			atOnce := make(chan struct{}, 64)
			knocking.Go(func() {
				for _, packet := range packets {
					reset := random.IntN(2) == 0
					atOnce <- struct{}{}
					knocking.Go(func() { knock(t, e.Addr(), packet, reset); <-atOnce })
				}
			})
			if got := value[uint8](t, open(t, e.ReaderDSN()), "SELECT 1"); got != 1 {
				t.Errorf("a new client gets %d meanwhile", got)
			}
			knocking.Wait()
			if got := value[uint8](t, client, "SELECT 1"); got != 1 {
				t.Errorf("a client gets %d afterwards", got)
			}
		})
	}
	if e.PID() != pid {
		t.Error("the engine was started again: something got through to it")
	}
	eventually(t, "goroutines and files are left over", func() bool {
		runtime.GC() // closes the pipes that were spliced with
		return runtime.NumGoroutine() <= goroutines+2 && openFiles(t) <= files+2
	})
}

// strangers are packets by kind.
func strangers(random *rand.Rand) map[string][][]byte {
	kinds := make(map[string][][]byte)
	for b := range 256 {
		kinds["every first byte"] = append(kinds["every first byte"], []byte{byte(b)}, append([]byte{byte(b)}, "stranger"...))
	}
	whole := hello(userName, "guess", "default")
	for n := range len(whole) {
		kinds["half a hello"] = append(kinds["half a hello"], whole[:n])
	}
	for range 200 {
		noise := make([]byte, random.IntN(4096))
		for i := range noise {
			noise[i] = byte(random.Uint32())
		}
		kinds["noise"] = append(kinds["noise"], noise)
		kinds["a hello and noise"] = append(kinds["a hello and noise"], append(bytes.Clone(whole), noise...))
	}
	for _, length := range []uint64{257, 1 << 20, 1 << 40, 1 << 63} {
		kinds["huge lengths"] = append(kinds["huge lengths"], binary.AppendUvarint([]byte{0}, length),
			append(binary.AppendUvarint(hello(userName, "", "")[:5], length), strings.Repeat("x", 1<<16)...))
	}
	for _, login := range [][2]string{{userName, "guess"}, {userName, ""}, {readerName, "guess"}, {"default", ""}, {"", ""}, {"nobody", "guess"}} {
		kinds["wrong passwords"] = append(kinds["wrong passwords"], hello(login[0], login[1], "default"))
	}
	return kinds
}

// knock sends a packet and hangs up, at once by a reset or when it was answered.
func knock(t *testing.T, addr string, packet []byte, reset bool) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Error(err)
		return
	}
	defer conn.Close()
	_, _ = conn.Write(packet) // the other side may have hung up
	if reset {
		_ = conn.(*net.TCPConn).SetLinger(0)
		return
	}
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	_, _ = io.Copy(io.Discard, conn)
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("there is no /proc here")
	}
	return len(entries)
}

func eventually(t *testing.T, complaint string, so func() bool) {
	t.Helper()
	for began := time.Now(); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatal(complaint)
		}
	}
}

// A client who knows a password may fail in every other way: the engine lives on.
func TestEngineOutlivesItsClients(t *testing.T) {
	t.Parallel()
	e := start(t, Config{DataDir: t.TempDir()})
	pid := e.PID()
	for name, packets := range map[string][][]byte{
		"hangs up after its hello":   {hello(readerName, e.keys.reader, "default")},
		"an unknown database":        {hello(readerName, e.keys.reader, "nope")},
		"a database of odd letters":  {hello(readerName, e.keys.reader, "a`b\\c'd")},
		"a huge addendum":            {hello(readerName, e.keys.reader, ""), binary.AppendUvarint(nil, 1<<40)},
		"an unknown packet":          {hello(readerName, e.keys.reader, ""), {0, 99}},
		"a second hello":             {hello(readerName, e.keys.reader, ""), {0}, hello(readerName, e.keys.reader, "")},
		"half a query":               {hello(readerName, e.keys.reader, ""), {0, 1, 3, 'a'}},
		"all of its packets at once": {append(hello(readerName, e.keys.reader, ""), 0, 4)},
	} {
		t.Run(name, func(t *testing.T) {
			for _, reset := range []bool{true, false} {
				sendAll(t, e.Addr(), packets, reset)
				if got := value[uint8](t, open(t, e.ReaderDSN()), "SELECT 1"); got != 1 || e.PID() != pid {
					t.Fatalf("a new client gets %d, from process %d, which was %d", got, e.PID(), pid)
				}
			}
		})
	}
}

// sendAll sends packets one after another, waits for something to come back to each, and
// hangs up.
func sendAll(t *testing.T, addr string, packets [][]byte, reset bool) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, packet := range packets {
		_, _ = conn.Write(packet)
		_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		_, _ = conn.Read(make([]byte, 4096))
	}
	if reset {
		_ = conn.(*net.TCPConn).SetLinger(0)
	}
}

// Connections of this process are not relayed, and one that is given up in the middle of
// its handshake does the engine no harm either.
func TestEngineOutlivesCancelledConnects(t *testing.T) {
	t.Parallel()
	e := start(t, Config{DataDir: t.TempDir()})
	pid := e.PID()
	for i := range 300 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*10*time.Microsecond)
		conn, err := Open(ctx, e.DSN())
		cancel()
		if err == nil {
			_ = conn.Close()
		}
	}
	eventually(t, "the engine does not answer", func() bool {
		conn, err := Open(t.Context(), e.DSN())
		if err != nil {
			return false
		}
		return conn.Close() == nil
	})
	if e.PID() != pid {
		t.Error("the engine was started again")
	}
}

// Many who never say anything keep nobody out.
func TestSilentClientsKeepNobodyOut(t *testing.T) {
	t.Parallel()
	e := start(t, Config{DataDir: t.TempDir()})
	for range 2 * maxGreeting {
		conn, err := net.Dial("tcp", e.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	if got := value[uint8](t, open(t, e.ReaderDSN()), "SELECT 1"); got != 1 {
		t.Errorf("SELECT 1 = %d", got)
	}
}

// What a client is told.
func TestRelayRefusals(t *testing.T) {
	t.Parallel()
	e := start(t, Config{DataDir: t.TempDir()})
	for name, c := range map[string]struct{ dsn, want string }{
		"wrong password":   {dataSource(readerName, "guess", e.Addr()), "refuses user reader"},
		"unknown database": {strings.Replace(e.ReaderDSN(), "/default", "/nope", 1), "nope"},
		"a long password":  {dataSource(readerName, strings.Repeat("x", 1000), e.Addr()), "Too large"},
	} {
		conn, err := Open(t.Context(), c.dsn)
		if err == nil {
			t.Errorf("%s: no error: %v", name, conn.Close())
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
}

// Results of all sizes come through the relay as they are, and so does what is inserted.
func TestRelayPassesEverything(t *testing.T) {
	t.Parallel()
	e := start(t, Config{DataDir: t.TempDir()})
	conn := open(t, e.OwnerDSN())
	run(t, conn, "CREATE DATABASE other", "CREATE TABLE other.updates (id UInt64, text String) ENGINE = MergeTree ORDER BY id")
	conn = open(t, strings.Replace(e.OwnerDSN(), "/default", "/other", 1))
	batch, err := conn.PrepareBatch(t.Context(), "INSERT INTO updates")
	if err != nil {
		t.Fatal(err)
	}
	for id := range 50_000 {
		if err := batch.Append(uint64(id), strings.Repeat(strconv.Itoa(id), 20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), "SELECT id, text FROM updates ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; rows.Next(); n++ {
		var id uint64
		var text string
		if err := rows.Scan(&id, &text); err != nil || text != strings.Repeat(strconv.Itoa(int(id)), 20) {
			t.Fatalf("row %d: %d %q, %v", n, id, text, err)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || n != 50_000 {
		t.Errorf("%d rows, %v", n, err)
	}
}
