package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/query/openapi"
	"github.com/ledgerlake/ledgerlake/query/openapi/openapitest"
	"github.com/ledgerlake/ledgerlake/query/scan"
	"github.com/ledgerlake/ledgerlake/query/validator"
)

const (
	fuzzTimeEnv = "LEDGERLAKE_FUZZ_TIME"
	fuzzSeedEnv = "LEDGERLAKE_FUZZ_SEED"
	// fuzzTime is how long an ordinary test run takes.
	fuzzTime = 4 * time.Second
	// longestAnswer bounds an answer on a machine that others use, too.
	longestAnswer = 20 * time.Second
	// fuzzReports is how many failures are written down.
	fuzzReports = 20
)

var scanLine = regexp.MustCompile(`scan interface +(http://\S+)/ `)

// TestFuzz sends what strangers may send to every route of a running product: requests by
// chance from the OpenAPI documents, requests with damaged heads, and frames of websockets.
//
//	LEDGERLAKE_FUZZ_TIME=10m LEDGERLAKE_FUZZ_SEED=7 go test ./cmd/ledgerlake -run TestFuzz -v -timeout 0
func TestFuzz(t *testing.T) {
	needEngine(t)
	up := start(t, "up", "--data", t.TempDir(), "--updates", "300", "--days", "2", "--live-clock", "--live", "0", "--listen", "127.0.0.1:0", "--follow-interval", "100ms", "--wallet-wait", "200ms")
	f := &fuzz{t: t, seen: map[string]bool{}, statuses: map[int]int{}}
	f.readOptions()
	wallet := validatorURL(t, up)
	ledgerAt := ledgerURL(t, up)
	public := scanLine.FindStringSubmatch(up.stdout.String())
	if public == nil {
		t.Fatalf("there is no URL of the scan interface in %q", up.stdout.String())
	}
	token := strings.TrimSpace(string(mustRun(t, "token", "--validator", "--user", "validator")))
	ctx, cancel := context.WithTimeout(t.Context(), f.time)
	defer cancel()
	var all sync.WaitGroup
	for i, work := range []func(*rand.Rand){
		func(r *rand.Rand) { f.requests(ctx, r, openapi.Scan, scan.Prefixes[:], public[1], "") },
		func(r *rand.Rand) { f.requests(ctx, r, openapi.Ledger, []string{""}, ledgerAt, "") },
		func(r *rand.Rand) {
			f.requests(ctx, r, openapi.Validator, validator.Prefixes[:], strings.TrimSuffix(wallet, "/api/validator"), token)
		},
		func(r *rand.Rand) { f.heads(ctx, r, ledgerAt) },
		func(r *rand.Rand) { f.sockets(ctx, r, ledgerAt) },
	} {
		r := rand.New(rand.NewPCG(f.seed, uint64(i)))
		all.Add(1)
		go func() { defer all.Done(); work(r) }()
	}
	all.Wait()
	for _, url := range []string{wallet + "/readyz", ledgerAt + "/readyz", public[1] + "/readyz"} {
		if !ready(url) {
			t.Errorf("%s does not answer after the run", url)
		}
	}
	if err := up.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatalf("the product has ended: %v", err)
	}
	if err := up.Wait(); err != nil {
		t.Errorf("the product ends with %v", err)
	}
	log := up.stderr.String()
	for _, sign := range []string{"panic:", "fatal error:", "DATA RACE"} {
		if i := strings.Index(log, sign); i >= 0 {
			t.Errorf("the log has %q: %.2000s", sign, log[max(0, i-300):])
		}
	}
	if t.Failed() {
		for line := range strings.Lines(log) {
			if strings.Contains(line, "request failed") {
				t.Logf("%.500s", line)
			}
		}
	}
	t.Logf("seed %d: %d requests, %d heads, %d websockets; statuses %v", f.seed, f.sent, f.headsSent, f.socketsOpened, f.statuses)
}

// fuzz is one run.
type fuzz struct {
	t    *testing.T
	time time.Duration
	seed uint64

	mu                             sync.Mutex
	seen                           map[string]bool // operations and what was wrong with their answers
	sent, headsSent, socketsOpened int
	statuses                       map[int]int
}

func (f *fuzz) readOptions() {
	f.time, f.seed = fuzzTime, uint64(time.Now().UnixNano())
	var err error
	if text := os.Getenv(fuzzTimeEnv); text != "" {
		if f.time, err = time.ParseDuration(text); err != nil {
			f.t.Fatalf("%s: %v", fuzzTimeEnv, err)
		}
	}
	if text := os.Getenv(fuzzSeedEnv); text != "" {
		if f.seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			f.t.Fatalf("%s: %v", fuzzSeedEnv, err)
		}
	}
}

// wrong reports a failure, once for each kind.
func (f *fuzz) wrong(kind, format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen[kind] || len(f.seen) >= fuzzReports {
		return
	}
	f.seen[kind] = true
	f.t.Errorf("seed %d: %s: %s", f.seed, kind, fmt.Sprintf(format, args...))
}

// requests sends requests of a document until ctx ends.
func (f *fuzz) requests(ctx context.Context, r *rand.Rand, yaml []byte, prefixes []string, url, token string) {
	document, err := openapitest.Load(yaml, prefixes)
	if err != nil {
		f.t.Error(err)
		return
	}
	// The last prefix is that on a listener that interfaces share.
	prefix := prefixes[len(prefixes)-1]
	client := &http.Client{Timeout: longestAnswer, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	operations := slices.DeleteFunc(slices.Clone(document.Operations), (*openapitest.Operation).IsSocket)
	var known []string
	for ctx.Err() == nil {
		op := operations[r.IntN(len(operations))]
		request, err := document.Random(op, r, known)
		if err != nil {
			f.wrong(op.String(), "%v", err)
			continue
		}
		known = f.one(client, document, op, request, url+prefix, token, known)
	}
}

var idsInAnswers = regexp.MustCompile(`"([^"\\]{6,200})"`)

// mostKnown bounds the values that are remembered.
const mostKnown = 2000

// one sends a request and looks at its answer. It returns what is known then.
func (f *fuzz) one(client *http.Client, document *openapitest.Document, op *openapitest.Operation, q openapitest.Request, url, token string, known []string) []string {
	what := fmt.Sprintf("%s %.600s %.1500s", q.Method, q.Target, q.Body)
	r, err := http.NewRequest(q.Method, url+q.Target, strings.NewReader(q.Body))
	if err != nil {
		return known // not a target that this client can send
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	begun := time.Now()
	response, err := client.Do(r)
	if err != nil {
		f.wrong(op.String()+" has no answer", "%s: after %s: %v", what, time.Since(begun), err)
		return known
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	f.mu.Lock()
	f.sent++
	f.statuses[response.StatusCode]++
	f.mu.Unlock()
	status := response.StatusCode
	switch {
	case err != nil:
		f.wrong(op.String()+" is cut off", "%s: after %s: %v", what, time.Since(begun), err)
	case status >= 500 && status != 501 && status != 503:
		f.wrong(fmt.Sprint(op, " has status ", status), "%s: %.300s", what, body)
	case status == 400 && strings.Contains(string(body), "The path "), status == 503, status == 431:
	default:
		if err := document.Check(r, nil, openapitest.Answer{Status: status, Header: response.Header, Body: body}); err != nil {
			f.wrong(fmt.Sprint(op, " with status ", status, " is not as documented"), "%s: %.1500s", what, err)
		}
	}
	for _, m := range idsInAnswers.FindAllSubmatch(body[:min(len(body), 4096)], 20) {
		if len(known) >= mostKnown {
			known = known[mostKnown/2:]
		}
		known = append(known, string(m[1]))
	}
	return known
}

// heads sends requests whose bytes are damaged.
func (f *fuzz) heads(ctx context.Context, r *rand.Rand, url string) {
	good := "POST /v2/updates HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nAccept-Encoding: gzip\r\n\r\n2\r\n{}\r\n0\r\n\r\n" +
		"POST /v2/updates/update-by-id HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}GET /v2/version HTTP/1.1\r\nHost: localhost\r\n\r\n"
	for ctx.Err() == nil {
		text := []byte(good)
		for range 1 + r.IntN(4) {
			at := r.IntN(len(text))
			switch r.IntN(4) {
			case 0:
				text[at] = byte(r.Uint32())
			case 1:
				text = slices.Delete(text, at, min(len(text), at+1+r.IntN(8)))
			case 2:
				text = slices.Insert(text, at, []byte("\r\n :;\x00%,\t\xff")[r.IntN(10)])
			case 3:
				from := r.IntN(len(text))
				text = slices.Insert(text, at, slices.Clone(text[from:min(len(text), from+r.IntN(40))])...)
			}
		}
		f.bytes(url, text, r)
	}
}

// bytes sends bytes and reads all answers to them.
func (f *fuzz) bytes(url string, text []byte, r *rand.Rand) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		f.wrong("no connection", "%v", err)
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(longestAnswer))
	cut := r.IntN(len(text) + 1)
	for _, piece := range [][]byte{text[:cut], text[cut:]} {
		if _, err := conn.Write(piece); err != nil {
			break
		}
	}
	// So that the server does not wait for what does not come.
	_ = conn.(*net.TCPConn).CloseWrite()
	f.mu.Lock()
	f.headsSent++
	f.mu.Unlock()
	for answers := bufio.NewReader(conn); ; {
		a, err := http.ReadResponse(answers, nil)
		if err != nil {
			if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
				f.wrong("a head without an answer", "%q", text)
			}
			return
		}
		if a.StatusCode >= 500 && a.StatusCode != 503 {
			f.wrong(fmt.Sprint("a head has status ", a.StatusCode), "%q", text)
		}
		if _, err := io.Copy(io.Discard, a.Body); err != nil {
			return
		}
	}
}

// firstFrames are requests on websockets.
var firstFrames = []string{
	`{"beginExclusive":0,"endInclusive":50,"filter":{"filtersForAnyParty":{}},"verbose":true}`,
	`{"beginExclusive":0,"filter":{"filtersForAnyParty":{}}}`,
	`{"activeAtOffset":20,"filter":{"filtersForAnyParty":{}},"verbose":false}`,
	`{"beginExclusive":-1}`, `{}`, `[]`, `null`, ``, `{"beginExclusive":9223372036854775807,"endInclusive":1}`, `{"a":` + "\xff" + `}`,
}

// sockets opens websockets and sends frames, good and bad, cut anywhere.
func (f *fuzz) sockets(ctx context.Context, r *rand.Rand, url string) {
	for ctx.Err() == nil {
		path := []string{"/v2/updates", "/v2/state/active-contracts"}[r.IntN(2)]
		head := "GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: daml.ws.auth\r\n\r\n"
		var frames []byte
		for range 1 + r.IntN(4) {
			frames = appendFrame(frames, r)
		}
		if r.IntN(3) == 0 {
			frames = frames[:r.IntN(len(frames)+1)]
		}
		f.socket(url, head, frames, r)
	}
}

// appendFrame adds a frame of a client. Most are well-formed.
func appendFrame(frames []byte, r *rand.Rand) []byte {
	payload := []byte(firstFrames[r.IntN(len(firstFrames))])
	if r.IntN(6) == 0 {
		payload = make([]byte, []int{0, 1, 125, 126, 127, 65535, 65536, 100_000}[r.IntN(8)])
	}
	first := byte(0x81)
	if r.IntN(3) == 0 {
		first = byte(r.Uint32()) // any code, fragments and reserved bits
	}
	length, size := len(payload), make([]byte, 0, 9)
	if r.IntN(10) == 0 {
		length = []int{0, 1 << 20, 1 << 30, 1<<63 - 1}[r.IntN(4)] // a lie
	}
	masked := byte(0x80)
	if r.IntN(10) == 0 {
		masked = 0
	}
	switch {
	case length < 126:
		size = append(size, byte(length)|masked)
	case length < 1<<16:
		size = binary.BigEndian.AppendUint16(append(size, 126|masked), uint16(length))
	default:
		size = binary.BigEndian.AppendUint64(append(size, 127|masked), uint64(length))
	}
	frames = append(append(frames, first), size...)
	if masked != 0 {
		mask := [4]byte{}
		binary.BigEndian.PutUint32(mask[:], r.Uint32())
		frames = append(frames, mask[:]...)
		for i := range payload {
			payload[i] ^= mask[i%4]
		}
	}
	return append(frames, payload...)
}

// socket sends frames on a websocket, reads some of what comes, and hangs up.
func (f *fuzz) socket(url, head string, frames []byte, r *rand.Rand) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		f.wrong("no connection", "%v", err)
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(longestAnswer))
	if _, err := io.WriteString(conn, head); err != nil {
		f.wrong("no handshake", "%v", err)
		return
	}
	answers := bufio.NewReader(conn)
	a, err := http.ReadResponse(answers, nil)
	if err != nil || a.StatusCode != http.StatusSwitchingProtocols && a.StatusCode != http.StatusTooManyRequests && a.StatusCode != http.StatusServiceUnavailable {
		f.wrong("a websocket is refused", "%v %+v", err, a)
		return
	}
	f.mu.Lock()
	f.socketsOpened++
	f.mu.Unlock()
	if _, err := conn.Write(frames); err != nil {
		return // closed already, as it may be
	}
	// It may have no end: a while of it is enough.
	_ = conn.SetReadDeadline(time.Now().Add(time.Duration(r.IntN(80)) * time.Millisecond))
	_, _ = io.CopyN(io.Discard, answers, int64(r.IntN(1<<16)))
}
