package ledger

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/ledgerlake/ledgerlake/query"
)

func TestSocketEndsAfterTheLastElement(t *testing.T) {
	source := &memory{}
	source.grow(3000)
	s := serve(t, source, nil)
	for name, c := range map[string]struct {
		request string
		want    []int64
	}{
		"a stretch":        {updates(4, 20, anyParty), span(3, 10)},
		"all":              {updates(0, 6000, anyParty), span(1, 3000)},
		"all, descending":  {updates(0, 6000, anyParty, `,"descendingOrder":true`), span(3000, 1)},
		"nothing":          {updates(20, 20, anyParty), nil},
		"trees":            {`{"beginExclusive":0,"endInclusive":8,"filter":` + anyParty + `}`, span(1, 4)},
		"a legacy request": {`{"beginExclusive":0,"endInclusive":8,"filter":` + anyParty + `,"verbose":true}`, span(1, 4)},
	} {
		path := "/v2/updates"
		if name == "trees" {
			path += "/trees"
		}
		list, refused, code := s.open(path, c.request).rest()
		if got := offsets(list); !slices.Equal(got, c.want) || code != 1000 || refused != nil {
			t.Errorf("%s: %d offsets %.40v, %+v, code %d; want %d", name, len(got), got, refused, code, len(c.want))
		}
	}
}

func TestSocketAgreesOnAProtocol(t *testing.T) {
	source := &memory{}
	source.grow(1)
	s := serve(t, source, nil)
	for _, c := range []struct {
		offered []string
		want    string
	}{
		{[]string{"daml.ws.auth"}, "daml.ws.auth"},
		{[]string{"contract.ws.auth"}, "contract.ws.auth"},
		{[]string{"contract.ws.auth", "daml.ws.auth"}, "daml.ws.auth"},
		{[]string{"jwt.token.abc", "daml.ws.auth"}, "daml.ws.auth"},
		{[]string{"other"}, ""},
		{nil, ""},
	} {
		conn, response, err := s.dial("/v2/updates", &websocket.DialOptions{Subprotocols: c.offered})
		if err != nil {
			t.Fatal(err)
		}
		if got := conn.Subprotocol(); got != c.want || response.Header.Get("X-Request-Id") == "" {
			t.Errorf("offered %v, agreed on %q, want %q; head %v", c.offered, got, c.want, response.Header)
		}
	}
}

// A page of another host may not open a websocket where no token is needed.
func TestSocketRefusesForeignPages(t *testing.T) {
	source := &memory{}
	s := serve(t, source, nil)
	_, response, err := s.dial("/v2/updates", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"https://elsewhere.example"}}})
	if err == nil || response.StatusCode != 403 {
		t.Errorf("a foreign page: %v", err)
	}
	if _, _, err = s.dial("/v2/updates", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {s.url}}}); err != nil {
		t.Errorf("our own page: %v", err)
	}
}

func TestSocketErrors(t *testing.T) {
	source := &memory{begin: 4}
	source.grow(10)
	s := serve(t, source, nil)
	for name, c := range map[string]struct {
		path, request string
		code          Code
	}{
		"pruned":          {"/v2/updates", updates(0, 8, anyParty), prunedDataAccessed},
		"after the end":   {"/v2/updates", updates(30, -1, anyParty), offsetAfterEnd},
		"not JSON":        {"/v2/updates", `{`, invalidArgument},
		"another type":    {"/v2/updates", `{"beginExclusive":"4"}`, invalidArgument},
		"no filter":       {"/v2/updates", `{"beginExclusive":4}`, invalidArgument},
		"active, pruned":  {"/v2/state/active-contracts", activeAt(2, anyParty), prunedDataAccessed},
		"active, no JSON": {"/v2/state/active-contracts", `[]`, invalidArgument},
	} {
		list, refused, code := s.open(c.path, c.request).rest()
		if refused == nil || refused.Code != string(c.code) || code != 1011 || len(list) > 0 {
			t.Errorf("%s: %+v, code %d, %d elements", name, refused, code, len(list))
		}
	}
}

// A store that fails in the middle shows as an error, and its reason only in the log.
func TestSocketOfAFailingStore(t *testing.T) {
	t.Parallel()
	source := &memory{}
	source.grow(5)
	s := serve(t, source, nil)
	c := s.open("/v2/updates", updates(0, -1, anyParty))
	c.transactions(5)
	source.mu.Lock()
	source.fail = fmt.Errorf("the disk of host-17 is gone")
	source.mu.Unlock()
	_, refused, code := c.rest()
	if refused == nil || refused.Code != string(internalError) || code != 1011 || strings.Contains(refused.Cause, "host-17") {
		t.Fatalf("%+v, code %d", refused, code)
	}
	s.stop()
	if log := s.log.String(); !strings.Contains(log, "host-17") || !strings.Contains(log, refused.CorrelationID) || !strings.Contains(log, refused.TraceID) {
		t.Errorf("the log does not tell of %+v: %s", refused, log)
	}
}

// A stream without an end goes on as the ledger does, and tells how far it has come when
// there is nothing else to tell.
func TestSocketFollows(t *testing.T) {
	source := &memory{}
	source.grow(5)
	s := serve(t, source, func(c *Config, _ *query.Config) { c.CheckpointDelay = 50 * time.Millisecond })
	c := s.open("/v2/updates", updates(0, -1, byParty(alice)))
	c.transactions(3) // two of alice's, and the end of one
	for n := range 20 {
		source.grow(1)
		_ = n
	}
	var last int64
	for last < offsetOf(25) {
		e, refused, err := c.next()
		if err != nil || refused != nil {
			t.Fatalf("%+v, %v", refused, err)
		}
		if cp := e.Update.OffsetCheckpoint; cp != nil {
			if cp.Value.Offset < last || len(cp.Value.SynchronizerTimes) == 0 {
				t.Errorf("checkpoint %+v after %d", cp.Value, last)
			}
			last = cp.Value.Offset
			continue
		}
		if o := e.Update.Transaction.Value.Offset; o <= last {
			t.Errorf("update %d after %d", o, last)
		} else {
			last = o
		}
	}
}

// The end of the stream is followed once for all, and by nobody when nobody waits.
func TestEndIsFollowedOnce(t *testing.T) {
	source := &memory{}
	source.grow(5)
	s := serve(t, source, func(c *Config, _ *query.Config) { c.EndInterval = 20 * time.Millisecond })
	var clients []*socket
	for range 20 {
		c := s.open("/v2/updates", updates(0, -1, anyParty))
		c.transactions(5)
		clients = append(clients, c)
	}
	reads := func() int {
		source.mu.Lock()
		defer source.mu.Unlock()
		return source.ends
	}
	before := reads()
	time.Sleep(400 * time.Millisecond)
	if n := reads() - before; n < 1 || n > 25 {
		t.Errorf("the end was read %d times in 20 intervals with 20 clients", n)
	}
	source.grow(1)
	for _, c := range clients {
		c.transactions(1)
		c.CloseNow()
	}
	deadline := time.Now().Add(5 * time.Second)
	for still := -1; still != reads(); {
		if time.Now().After(deadline) {
			t.Fatal("the end is read with nobody waiting")
		}
		still = reads()
		time.Sleep(150 * time.Millisecond)
	}
}

func TestSocketTakesOneRequest(t *testing.T) {
	source := &memory{}
	source.grow(5)
	s := serve(t, source, nil)
	c := s.open("/v2/updates", updates(0, -1, anyParty))
	c.transactions(5)
	c.send(updates(0, -1, anyParty))
	if _, refused, code := c.rest(); code != 1002 || refused != nil {
		t.Errorf("after a second request: code %d, %+v", code, refused)
	}
	for _, after := range []bool{false, true} {
		c, _, err := s.dial("/v2/updates", nil)
		if err != nil {
			t.Fatal(err)
		}
		if after {
			c.send(updates(0, -1, anyParty))
			c.transactions(5)
		}
		if err := c.Write(context.Background(), websocket.MessageBinary, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		if _, _, code := c.rest(); code != 1003 {
			t.Errorf("after a binary frame: code %d", code)
		}
	}
	huge, _, err := s.dial("/v2/updates", nil)
	if err != nil {
		t.Fatal(err)
	}
	// The server closes while the client still sends, which may then see a reset.
	err = huge.Write(context.Background(), websocket.MessageText, []byte(`{"a":"`+strings.Repeat("x", 2<<20)+`"}`))
	if list, refused, code := huge.rest(); code != 1009 && (code != -1 || err == nil) || len(list) > 0 || refused != nil {
		t.Errorf("after a frame of 2 MiB: %v, code %d", err, code)
	}
}

func TestSocketEndsWithTheServer(t *testing.T) {
	source := &memory{}
	source.grow(5)
	s := serve(t, source, nil)
	waiting, _, err := s.dial("/v2/updates", nil) // has not asked for anything yet
	if err != nil {
		t.Fatal(err)
	}
	c := s.open("/v2/updates", updates(0, -1, anyParty))
	c.transactions(5)
	stopped := make(chan time.Duration, 1)
	go func() { begin := time.Now(); s.stop(); stopped <- time.Since(begin) }()
	if _, refused, code := c.rest(); code != 1001 || refused != nil {
		t.Errorf("code %d, %+v", code, refused)
	}
	if _, _, code := waiting.rest(); code != 1001 && code != -1 {
		t.Errorf("without a request: code %d", code)
	}
	if took := <-stopped; took > 3*time.Second {
		t.Errorf("the server took %s to stop", took)
	}
}

func TestTooManySockets(t *testing.T) {
	source := &memory{}
	source.grow(1)
	s := serve(t, source, func(c *Config, _ *query.Config) { c.MaxStreams = 5 }) // of which one client gets three
	var open []*socket
	for range 3 {
		c := s.open("/v2/updates", updates(0, -1, anyParty))
		c.transactions(1)
		open = append(open, c)
	}
	_, response, err := s.dial("/v2/updates", nil)
	if err == nil || response.StatusCode != 429 || response.Header.Get("Retry-After") != "1" {
		t.Fatalf("the fourth stream: %v, %v", response, err)
	}
	// Refused handshakes leave nothing behind, and a stream that ends makes room.
	for range 5 {
		s.refused("GET", "/v2/updates", "", 429, tooManyStreams)
	}
	if err := open[0].Close(websocket.StatusNormalClosure, ""); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(5 * time.Second)
	for {
		if c, _, err := s.dial("/v2/updates", nil); err == nil {
			c.CloseNow()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("there is no room after a stream has ended")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// A client that stops reading is cut off, and costs a few pages of memory until then.
func TestSocketOfAClientThatStopsReading(t *testing.T) {
	t.Parallel()
	source := &memory{}
	source.grow(40_000)
	s := serve(t, source, func(_ *Config, tier *query.Config) {
		tier.StallTimeout, tier.PingInterval = 400*time.Millisecond, 100*time.Millisecond
	})
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(conn, "GET /v2/updates HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
	if err != nil || response.StatusCode != 101 {
		t.Fatalf("%v, %v", response, err)
	}
	request := []byte(updates(0, 80_000, anyParty))
	frame := append([]byte{0x81, 0x80 | 126, byte(len(request) >> 8), byte(len(request)), 0, 0, 0, 0}, request...)
	if _, err := conn.Write(frame); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(30 * time.Second)
	for !strings.Contains(s.log.String(), `"msg":"answer cut off"`) {
		if time.Now().After(deadline) {
			t.Fatal("the client is not cut off")
		}
		time.Sleep(20 * time.Millisecond)
	}
	source.mu.Lock()
	defer source.mu.Unlock()
	// What the two ends of the connection hold, and a few pages.
	if source.read > 20_000 {
		t.Errorf("%d of 40,000 updates were read for a client that takes nothing", source.read)
	}
}
