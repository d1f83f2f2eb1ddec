package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// Odd is a way of answering every request oddly, for as long as HTTP.Answer says so. It is
// what a proxy, a gateway or a sign-in that stands before an upstream does for a while.
type Odd struct {
	Name string

	// answer answers a request; ask gives what the upstream says.
	answer oddAnswer
	// socket answers a websocket that has been accepted; nil: answer does, in place of the
	// upgrade.
	socket func(ctx context.Context, conn *websocket.Conn)
}

type oddAnswer func(p *HTTP, w http.ResponseWriter, r *http.Request, ask func() answer)

// Odds are all ways of answering oddly.
func Odds() []Odd {
	odds := []Odd{
		{Name: "reset", answer: func(*HTTP, http.ResponseWriter, *http.Request, func() answer) { panic(http.ErrAbortHandler) }},
		{Name: "silence", answer: silently, socket: func(ctx context.Context, _ *websocket.Conn) { <-ctx.Done() }},
		{Name: "a byte now and then", answer: dripping, socket: drippingFrame},
		{Name: "cut in the middle", answer: cutShort(true), socket: says(`{"update":{"Transaction":{"val`)},
		{Name: "cut and called whole", answer: cutShort(false), socket: says(`{"update":{"Transac`)},
		{Name: "damaged gzip", answer: func(_ *HTTP, w http.ResponseWriter, _ *http.Request, ask func() answer) {
			a := ask()
			w.Header().Set("Content-Encoding", "gzip")
			send(w, http.StatusOK, nil, damaged(a.body, 0.3))
		}, socket: closes(websocket.StatusInternalError)},
		{Name: "gzip that is none", answer: func(_ *HTTP, w http.ResponseWriter, _ *http.Request, ask func() answer) {
			w.Header().Set("Content-Encoding", "gzip")
			send(w, http.StatusOK, nil, ask().body)
		}, socket: closes(websocket.StatusGoingAway)},
		{Name: "websocket closed properly at once", answer: honestly, socket: closes(websocket.StatusNormalClosure)},
		{Name: "binary frames", answer: honestly, socket: func(ctx context.Context, conn *websocket.Conn) {
			_ = conn.Write(ctx, websocket.MessageBinary, []byte{0, 1, 2, 3})
			<-ctx.Done()
		}},
		{Name: "the last element left out", answer: edits(func(l []json.RawMessage) []json.RawMessage { return l[:max(0, len(l)-1)] })},
		{Name: "elements twice", answer: edits(func(l []json.RawMessage) []json.RawMessage { return slices.Concat(l, l) })},
		{Name: "backwards", answer: edits(func(l []json.RawMessage) []json.RawMessage {
			l = slices.Clone(l)
			slices.Reverse(l)
			return l
		})},
		{Name: "null among the elements", answer: edits(func(l []json.RawMessage) []json.RawMessage {
			return append(slices.Clone(l), json.RawMessage("null"))
		})},
		{Name: "lists that are null", answer: replaces(`null`)},
		{Name: "lists that are empty", answer: replaces(`[]`)},
		{Name: "lists that are objects", answer: replaces(`{}`)},
		{Name: "lists that are texts", answer: replaces(`"none"`)},
		{Name: "another operation's answer", answer: body(`{"contracts":[],"record_time":"2026-01-01T00:00:00Z"}`), socket: says(`{"completionResponse":{"Empty":{}}}`)},
		{Name: "deep nesting", answer: body(strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)), socket: says(`{"update":` + strings.Repeat("[", 10_000))},
		{Name: "invalid UTF-8", answer: body("{\"transactions\":[],\"events\":[],\"x\":\"\xff\xfe\"}"), socket: says("{\"update\":\"\xff\"}")},
		{Name: "future", answer: shiftsYears(+10)},
		{Name: "past", answer: shiftsYears(-10)},
	}
	for name, text := range map[string]string{
		"empty": "", "null": "null", "an empty list": "[]", "an empty object": "{}", "a number": "42", "a text": `"ok"`,
		"true": "true", "a page for people": "<!doctype html><title>Sign in</title>", "plain text": "upstream connect error",
	} {
		odds = append(odds, Odd{Name: "body: " + name, answer: body(text), socket: says(text)})
	}
	for _, status := range []int{
		201, 202, 204, 206, 301, 304, 307, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 418,
		421, 422, 423, 425, 426, 428, 431, 451, 500, 501, 502, 503, 504, 505, 507, 511, 520, 599,
	} {
		odds = append(odds, Odd{Name: fmt.Sprintf("status %d", status), answer: refuses(status, nil)})
	}
	odds = append(odds, Odd{Name: "status 429 for an hour", answer: refuses(http.StatusTooManyRequests, http.Header{"Retry-After": {"3600"}})})
	slices.SortFunc(odds, func(a, b Odd) int { return strings.Compare(a.Name, b.Name) })
	return odds
}

// Answer answers oddly from now on, or, with nil, as the upstream does. Websockets that are
// open break off.
func (p *HTTP) Answer(odd *Odd) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.odd, p.oddities = odd, numbered{}
	if odd != nil {
		p.endEra()
		p.era, p.endEra = context.WithCancel(p.ctx)
	}
}

// Oddity returns a channel that is closed when request n was answered as Answer said last.
func (p *HTTP) Oddity(n int) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.oddities.reached(n)
}

// current is the era that ends with the next oddity, and the oddity of now.
func (p *HTTP) current() (context.Context, *Odd) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.era, p.odd
}

// answersOddly answers a request if answers are odd at present.
func (p *HTTP) answersOddly(w http.ResponseWriter, r *http.Request, asked []byte) bool {
	_, odd := p.current()
	if odd == nil {
		return false
	}
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.odd == odd {
			p.cfg.Tally.Add(p.cfg.Name + ": " + odd.Name)
			p.oddities.next()
		}
	}()
	isSocket := strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
	switch {
	case isSocket && odd.socket != nil:
		p.oddSocket(w, r, odd)
	case isSocket && odd.edits():
		return false
	default:
		odd.answer(p, w, r, func() answer {
			a, err := p.ask(r, asked)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			return a
		})
	}
	return true
}

// edits reports whether only lists are odd, so that websockets are as they should be.
func (o *Odd) edits() bool {
	return o.socket == nil && !strings.HasPrefix(o.Name, "status ") && o.Name != "reset"
}

func (p *HTTP) oddSocket(w http.ResponseWriter, r *http.Request, odd *Odd) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"daml.ws.auth"}, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return // the client has gone
	}
	defer conn.CloseNow()
	if _, _, err := conn.Read(p.ctx); err != nil {
		return
	}
	// Longer than the oddity lasts: what hangs by then goes on hanging.
	odd.socket(conn.CloseRead(p.ctx), conn)
}

func honestly(_ *HTTP, w http.ResponseWriter, _ *http.Request, ask func() answer) {
	a := ask()
	send(w, a.status, nil, a.body)
}

func silently(p *HTTP, _ http.ResponseWriter, r *http.Request, _ func() answer) {
	p.wait(r, time.Hour)
	panic(http.ErrAbortHandler)
}

// dripping sends a byte in a while, which no client sees the end of.
func dripping(p *HTTP, w http.ResponseWriter, r *http.Request, _ func() answer) {
	send(w, http.StatusOK, nil, nil)
	for r.Context().Err() == nil && p.ctx.Err() == nil {
		if _, err := w.Write([]byte(" ")); err != nil {
			return
		}
		flush(w)
		p.wait(r, 20*time.Millisecond)
	}
}

// drippingFrame is the same within a frame: each piece is one of many fragments.
func drippingFrame(ctx context.Context, conn *websocket.Conn) {
	frame, err := conn.Writer(ctx, websocket.MessageText)
	if err != nil {
		return
	}
	for ctx.Err() == nil {
		if _, err := frame.Write([]byte(" ")); err != nil {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// cutShort ends an answer in its middle, with or without a length that shows it.
func cutShort(shows bool) oddAnswer {
	return func(_ *HTTP, w http.ResponseWriter, _ *http.Request, ask func() answer) {
		a := ask()
		if !shows {
			send(w, a.status, nil, a.body[:len(a.body)/2])
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
		send(w, a.status, nil, a.body[:len(a.body)/2])
		flush(w)
		panic(http.ErrAbortHandler)
	}
}

func body(text string) oddAnswer {
	return func(_ *HTTP, w http.ResponseWriter, _ *http.Request, _ func() answer) {
		send(w, http.StatusOK, nil, []byte(text))
	}
}

func refuses(status int, header http.Header) oddAnswer {
	return func(_ *HTTP, w http.ResponseWriter, r *http.Request, _ func() answer) {
		if status == http.StatusMovedPermanently || status == http.StatusTemporaryRedirect {
			w.Header().Set("Location", r.URL.Path)
		}
		for name, values := range header {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
		if status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified {
			_, _ = fmt.Fprintf(w, "<html>%d</html>", status) // if the client is gone, nobody is left to tell
		}
	}
}

// says gives frames of a text.
func says(text string) func(context.Context, *websocket.Conn) {
	return func(ctx context.Context, conn *websocket.Conn) {
		_ = conn.Write(ctx, websocket.MessageText, []byte(text))
		<-ctx.Done()
	}
}

func closes(status websocket.StatusCode) func(context.Context, *websocket.Conn) {
	return func(_ context.Context, conn *websocket.Conn) { _ = conn.Close(status, "") }
}

// listMembers are those of answers that hold a list.
var listMembers = []string{"transactions", "events", "activeContracts", "updates"}

// lists replaces the lists of an answer: itself, or one of its members. Other answers stay as
// they are.
func lists(a answer, change func(json.RawMessage) json.RawMessage) answer {
	if bytes.HasPrefix(bytes.TrimSpace(a.body), []byte("[")) {
		a.body = change(a.body)
		return a
	}
	var members map[string]json.RawMessage
	if a.status != http.StatusOK || json.Unmarshal(a.body, &members) != nil {
		return a
	}
	for _, name := range listMembers {
		if list, ok := members[name]; ok {
			members[name] = change(list)
			a.body, _ = json.Marshal(members) // it was read before
		}
	}
	return a
}

func replaces(list string) oddAnswer {
	return func(_ *HTTP, w http.ResponseWriter, _ *http.Request, ask func() answer) {
		a := lists(ask(), func(json.RawMessage) json.RawMessage { return json.RawMessage(list) })
		send(w, a.status, nil, a.body)
	}
}

// edits changes which elements a list has.
func edits(change func([]json.RawMessage) []json.RawMessage) oddAnswer {
	return func(_ *HTTP, w http.ResponseWriter, _ *http.Request, ask func() answer) {
		a := lists(ask(), func(list json.RawMessage) json.RawMessage {
			var elements []json.RawMessage
			if json.Unmarshal(list, &elements) != nil {
				return list
			}
			changed, err := json.Marshal(change(elements))
			if err != nil {
				return list
			}
			return changed
		})
		send(w, a.status, nil, a.body)
	}
}

var recordTimes = regexp.MustCompile(`("record_?[tT]ime":")(\d{4})`)

// shiftsYears moves all record times.
func shiftsYears(by int) oddAnswer {
	return func(_ *HTTP, w http.ResponseWriter, _ *http.Request, ask func() answer) {
		a := ask()
		a.body = recordTimes.ReplaceAllFunc(a.body, func(found []byte) []byte {
			at := len(found) - 4
			year, _ := strconv.Atoi(string(found[at:])) // digits, by the expression
			return append(bytes.Clone(found[:at]), strconv.Itoa(year+by)...)
		})
		send(w, a.status, nil, a.body)
	}
}
