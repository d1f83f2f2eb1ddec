package main

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// leavingClients are clients as people are: most of them leave before they have their answer.
type leavingClients struct {
	visits []visit
	// left counts clients by how they left.
	left [departures]atomic.Int64
	// refused counts connections that the product did not take, which no clients may bring about.
	refused atomic.Int64
}

// visit is something to ask for, with a request as it is sent; that of a websocket is followed by
// a frame.
type visit struct {
	address string // host:port
	head    string
	frame   []byte
}

// departure is how a client leaves.
type departure int

const (
	silently    departure = iota // connects and says nothing
	askingHalf                   // leaves in the middle of its request
	atOnce                       // sends its request and leaves
	readingSome                  // leaves after some bytes of the answer
	readingSlow                  // takes a few bytes at a time, then leaves
	rudely                       // like readingSome, with a reset of the connection
	cancelling                   // an HTTP client whose context ends
	staying                      // reads all that comes, for a while
	departures                   // how many there are
)

const (
	// slowFor is how long a slow reader takes its bytes, and one who stays stays.
	slowFor = 500 * time.Millisecond
	// visitors is how many clients are there at once.
	visitors = 48
	// soonest is how long a client may have to wait for its connection.
	connectWithin = 20 * time.Second
)

// come has n clients visit and leave, which the seed draws.
func (c *leavingClients) come(ctx context.Context, seed uint64, n int) {
	numbers := make(chan int)
	var inside sync.WaitGroup
	for range min(visitors, n) {
		inside.Go(func() {
			for i := range numbers {
				r := rand.New(rand.NewPCG(seed, uint64(i)))
				c.one(ctx, r, departure(r.IntN(int(departures))), c.visits[r.IntN(len(c.visits))])
			}
		})
	}
	for i := range n {
		select {
		case numbers <- i:
		case <-ctx.Done():
		}
	}
	close(numbers)
	inside.Wait()
}

// one is one client from its connection to its departure.
func (c *leavingClients) one(ctx context.Context, r *rand.Rand, way departure, v visit) {
	c.left[way].Add(1)
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	if way == cancelling && v.frame == nil {
		v.cancel(ctx, r)
		return
	}
	var dialer net.Dialer
	raw, err := dialer.DialContext(ctx, "tcp", v.address)
	if err != nil {
		c.refused.Add(1)
		return
	}
	conn := raw.(*net.TCPConn)
	defer conn.Close() //nolint:errcheck // it is given up
	if way == rudely {
		_ = conn.SetLinger(0)
	}
	_ = conn.SetDeadline(time.Now().Add(connectWithin))
	v.stay(conn, r, way)
}

// some is a number of bytes, small and large ones alike.
func some(r *rand.Rand) int64 { return r.Int64N(1 << (1 + r.IntN(20))) }

// stay is what a client does between its connection and its departure. Errors are not looked at:
// the product may close the connection first.
func (v *visit) stay(conn net.Conn, r *rand.Rand, way departure) {
	if way == silently {
		return
	}
	text := []byte(v.head)
	if way == askingHalf {
		_, _ = conn.Write(text[:r.IntN(len(text))])
		return
	}
	if _, err := conn.Write(text); err != nil {
		return
	}
	if v.frame != nil {
		if !v.talk(conn, r) {
			return
		}
	}
	switch way {
	case readingSome, rudely, cancelling:
		_, _ = io.CopyN(io.Discard, conn, some(r))
	case staying:
		_ = conn.SetReadDeadline(time.Now().Add(slowFor))
		_, _ = io.Copy(io.Discard, conn)
	case readingSlow:
		piece := make([]byte, 1+r.IntN(64))
		for until := time.Now().Add(slowFor); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
			if _, err := conn.Read(piece); err != nil {
				return
			}
		}
	}
}

// talk sends the frame of a websocket behind the answer to its head, or a part of it, and reports
// whether there is more to come.
func (v *visit) talk(conn net.Conn, r *rand.Rand) bool {
	answer := make([]byte, 12)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return false
	}
	frame := v.frame
	if r.IntN(8) == 0 {
		frame = frame[:r.IntN(len(frame))]
	}
	_, err := conn.Write(frame)
	return err == nil
}

// cancel sends the request by an HTTP client that gives up at some time.
func (v *visit) cancel(ctx context.Context, r *rand.Rand) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(r.Int64N(int64(150*time.Millisecond))))
	defer cancel()
	head, body, _ := strings.Cut(v.head, "\r\n\r\n")
	line := strings.Fields(head)
	request, err := http.NewRequestWithContext(ctx, line[0], "http://"+v.address+line[1], strings.NewReader(body))
	if err != nil {
		return
	}
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
}

// String says how the clients left.
func (c *leavingClients) String() string {
	names := [departures]string{"said nothing", "left in their request", "left at once", "left in the answer", "read slowly", "reset", "cancelled", "stayed"}
	var parts []string
	for i := range names {
		parts = append(parts, fmt.Sprintf("%d %s", c.left[i].Load(), names[i]))
	}
	return strings.Join(parts, ", ")
}

// request is an HTTP request as it is sent.
func request(address, method, path, body string, headers ...string) visit {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, address)
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n" + body)
	return visit{address: address, head: b.String()}
}

// socket is the opening of a websocket, and its first message.
func socket(address, path, message string) visit {
	v := request(address, "GET", path, "", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==")
	v.frame = textFrame(message)
	return v
}

// textFrame is a masked frame of text, by RFC 6455.
func textFrame(message string) []byte {
	frame := []byte{0x81}
	switch n := len(message); {
	case n < 126:
		frame = append(frame, 0x80|byte(n))
	default:
		frame = binary.BigEndian.AppendUint16(append(frame, 0x80|126), uint16(n))
	}
	mask := [4]byte{7, 21, 3, 99}
	frame = append(frame, mask[:]...)
	for i := range len(message) {
		frame = append(frame, message[i]^mask[i%4])
	}
	return frame
}

// newLeavingClients finds out what there is to ask for: all that is streamed, and some lookups.
func newLeavingClients(ctx context.Context, scanURL, ledgerURL string) (*leavingClients, error) {
	scan, ledger := strings.TrimPrefix(scanURL, "http://"), strings.TrimPrefix(ledgerURL, "http://")
	object, err := publishedObject(ctx, scanURL)
	if err != nil {
		return nil, err
	}
	update, err := firstOf(ctx, scanURL+"/v2/updates", `{"page_size":1}`, "transactions", "update_id")
	if err != nil {
		return nil, err
	}
	const at = `"migration_id":0,"at":"2026-07-02T12:34:56Z"`
	updates := `{"beginExclusive":0,"updateFormat":{"includeTransactions":{"transactionShape":"TRANSACTION_SHAPE_LEDGER_EFFECTS","eventFormat":` + anyPartyFormat + `}}}`
	end, err := ledgerEnd(ctx, ledgerURL)
	if err != nil {
		return nil, err
	}
	list := strings.Replace(updates, `"beginExclusive":0`, fmt.Sprintf(`"beginExclusive":0,"endInclusive":%d`, end), 1)
	active := fmt.Sprintf(`{"activeAtOffset":%d,"eventFormat":%s}`, end, anyPartyFormat)
	dump := "/v0/state/acs/dump?migration_id=0&at=2026-07-02T12:34:56Z"
	return &leavingClients{visits: []visit{
		request(scan, "GET", dump, ""),
		request(scan, "GET", dump, "", "Accept-Encoding: zstd"),
		request(scan, "GET", dump, "", "Accept-Encoding: gzip"),
		request(scan, "POST", "/v2/state/acs", `{`+at+`,"page_size":1000}`),
		request(scan, "POST", "/v2/updates", `{"page_size":1000}`),
		request(scan, "POST", "/v2/updates", `{"page_size":300}`, "Accept-Encoding: gzip"),
		request(scan, "POST", "/v0/events", `{"page_size":500}`),
		request(scan, "GET", "/v2/updates/"+update, ""),
		request(scan, "GET", "/v0/history/bulk/download/"+object, ""),
		request(scan, "GET", "/v0/history/bulk/download/"+object, "", "Range: bytes=100-"),
		request(scan, "GET", "/metrics", ""),
		request(ledger, "POST", "/v2/updates", list),
		request(ledger, "POST", "/v2/state/active-contracts", active),
		socket(ledger, "/v2/updates", updates),
		socket(ledger, "/v2/updates", strings.Replace(list, "{", `{"descendingOrder":true,`, 1)),
		socket(ledger, "/v2/state/active-contracts", active),
	}}, nil
}

// publishedObject is the key of a published object.
func publishedObject(ctx context.Context, scanURL string) (string, error) {
	const body = `{"format":"parquet","page_size":1,"start_record_time":"2026-07-01T00:00:00Z","end_record_time":"2026-07-02T00:00:00Z"}`
	at, err := firstOf(ctx, scanURL+"/v0/history/bulk/updates", body, "object_refs", "url")
	if err != nil {
		return "", err
	}
	_, key, _ := strings.Cut(at, "/download/")
	return url.PathUnescape(key)
}

// firstOf asks for a list and returns a member of its first element.
func firstOf(ctx context.Context, at, body, list, member string) (string, error) {
	answer, err := fetchJSON[map[string]json.RawMessage](ctx, http.MethodPost, at, body)
	if err != nil {
		return "", err
	}
	var elements []map[string]any
	if err := json.Unmarshal(answer[list], &elements); err != nil || len(elements) == 0 {
		return "", fmt.Errorf("%s has no %s: %w", at, list, err)
	}
	text, _ := elements[0][member].(string)
	return text, nil
}

func ledgerEnd(ctx context.Context, at string) (int64, error) {
	answer, err := fetchJSON[struct{ Offset int64 }](ctx, http.MethodGet, at+"/v2/state/ledger-end", "")
	return answer.Offset, err
}

// fetchJSON asks for something over a connection of its own.
func fetchJSON[T any](ctx context.Context, method, at, body string) (answer T, err error) {
	raw, err := fetch(ctx, method, at, body)
	if err != nil {
		return answer, err
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return answer, fmt.Errorf("%s %s: %w in %.200q", method, at, err, raw)
	}
	return answer, nil
}

func fetch(ctx context.Context, method, at, body string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, at, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s %.200q", method, at, response.Status, raw)
	}
	return raw, err
}
