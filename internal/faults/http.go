package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// HTTPConfig says what an HTTP proxy stands before.
type HTTPConfig struct {
	// Name is put before the kinds in the tally, such as "upstream".
	Name string
	// Target is the base URL of the real scan service.
	Target string
	// Faults are what happens, at most one per request.
	Faults []HTTPFault
	// Liar, if not nil, changes what the service says.
	Liar *Liar
	// PageLimit, if positive, is the largest page that is allowed, in items: larger
	// ones are refused in the words of the interface. It makes many pages of a short
	// history.
	PageLimit int
	// Latency is added to every reply. Clients that can choose choose others.
	Latency time.Duration
	// Frames are what happens on websockets, at most one per frame, and NodeLiar, if not nil,
	// changes what a node says. They are for the ledger API of a node.
	Frames   []FrameFault
	NodeLiar *NodeLiar
	// Tokens says that requests need a token, that of HTTP.Token, which changes with
	// FrameStale.
	Tokens bool
	// Record, when set, is told of each frame that comes from the upstream.
	Record func(frame []byte)
	// Tally counts what did happen. Required.
	Tally *Tally
}

// HTTP is a proxy before a scan service, or a node's ledger API, that answers wrongly as
// planned.
type HTTP struct {
	listening
	cfg    HTTPConfig
	client *http.Client
	ctx    context.Context // ends with Close
	stop   context.CancelFunc

	mu       sync.Mutex
	faults   map[int]HTTPFault
	requests numbered
	replied  chan struct{} // closed and replaced with every reply
	quiet    bool
	liar     *Liar

	frameFaults map[int]FrameFault
	frames      int
	nodeLiar    *NodeLiar
	tokens      int // number of the one that is good

	odd      *Odd
	oddities numbered
	era      context.Context // ends when answers begin to be odd
	endEra   context.CancelFunc
}

// silence is how long Silent lasts, unless the client goes away before.
const silence = 2 * time.Second

// NewHTTP listens on a free port of the loopback interface.
func NewHTTP(cfg HTTPConfig) (*HTTP, error) {
	p := &HTTP{
		cfg: cfg, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}},
		faults: make(map[int]HTTPFault), replied: make(chan struct{}), liar: cfg.Liar,
		frameFaults: make(map[int]FrameFault), nodeLiar: cfg.NodeLiar,
	}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.era, p.endEra = context.WithCancel(p.ctx)
	for _, f := range cfg.Faults {
		p.faults[f.Request] = f
	}
	for _, f := range cfg.Frames {
		p.frameFaults[f.Frame] = f
	}
	return p, p.listen(cfg.Name, p)
}

// Close ends the proxy and its connections.
func (p *HTTP) Close() error {
	p.stop()
	p.client.CloseIdleConnections()
	return p.listening.Close()
}

// Pass lets everything through from now on, but goes on lying.
func (p *HTTP) Pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.quiet = true
}

// Lie lets another speak from now on; nil is the truth.
func (p *HTTP) Lie(liar *Liar) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.liar = liar
}

// LieOfNode is Lie for a node.
func (p *HTTP) LieOfNode(liar *NodeLiar) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nodeLiar = liar
}

func (p *HTTP) speakerOfNode() *NodeLiar {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.nodeLiar
}

func (p *HTTP) speaker() *Liar {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.liar
}

// Requests is the number of requests so far.
func (p *HTTP) Requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests.count
}

// Request returns a channel that is closed when request n comes in, or at once if it
// has come.
func (p *HTTP) Request(n int) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests.reached(n)
}

// ServeHTTP answers a request, with the fault that is planned for it.
func (p *HTTP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := p.begin()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if p.refusesBefore(w, r, f) || !p.authorized(w, r) || p.answersOddly(w, r, body) {
		return
	}
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		p.upgrade(w, r, f)
		return
	}
	if refusal := p.tooLarge(body); refusal != "" {
		send(w, http.StatusBadRequest, nil, []byte(refusal))
		return
	}
	if p.cfg.Latency > 0 {
		p.wait(r, p.cfg.Latency)
	}
	operation := strings.TrimPrefix(r.URL.Path, "/api/scan")
	liar := p.speaker()
	question := liar.question(operation, body)
	a, err := p.ask(r, question)
	if err == nil && f.Kind == Twice {
		a, err = p.ask(r, question)
	}
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if a.status == http.StatusOK {
		a.body = p.speakerOfNode().rewrite(liar.rewrite(operation, body, a.body))
	}
	p.give(w, r, f, a)
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.replied)
	p.replied = make(chan struct{})
}

// begin counts a request and returns its fault, the zero value if it has none.
func (p *HTTP) begin() HTTPFault {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, planned := p.faults[p.requests.next()]
	if !planned || p.quiet {
		return HTTPFault{}
	}
	p.cfg.Tally.Add(p.cfg.Name + ": " + string(f.Kind))
	return f
}

// refusesBefore carries out the faults in which the upstream is not asked.
func (p *HTTP) refusesBefore(w http.ResponseWriter, r *http.Request, f HTTPFault) bool {
	switch f.Kind {
	case Unheard:
		panic(http.ErrAbortHandler)
	case Silent:
		p.wait(r, silence)
		panic(http.ErrAbortHandler)
	case TooMany:
		// Zero seconds is a value that the header allows; a whole second would be most
		// of a test.
		send(w, http.StatusTooManyRequests, http.Header{"Retry-After": {"0"}}, []byte(`{"error":"slow down"}`))
	case Broken:
		send(w, http.StatusInternalServerError, nil, []byte(`{"error":"An unexpected error occurred."}`))
	case Unavailable:
		send(w, http.StatusServiceUnavailable, nil, []byte(`{"error":"not now"}`))
	case Missing:
		send(w, http.StatusNotFound, nil, []byte(`<html>no such page</html>`))
	default:
		return false
	}
	return true
}

// tooLarge returns the refusal of a page beyond PageLimit, or "".
func (p *HTTP) tooLarge(body []byte) string {
	if p.cfg.PageLimit <= 0 {
		return ""
	}
	var q struct {
		PageSize int `json:"page_size"`
		Count    int `json:"count"`
		Limit    int `json:"limit"`
	}
	if json.Unmarshal(body, &q) != nil {
		return "" // the upstream says what is wrong with it
	}
	if size := max(q.PageSize, q.Count, q.Limit); size > p.cfg.PageLimit {
		return fmt.Sprintf(`{"error":"Exceeded limit maximum (%d > %d)."}`, size, p.cfg.PageLimit)
	}
	return ""
}

// answer is what the upstream said.
type answer struct {
	status int
	body   []byte
}

func (p *HTTP) ask(r *http.Request, body []byte) (answer, error) {
	request, err := http.NewRequestWithContext(r.Context(), r.Method, p.cfg.Target+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if kind := r.Header.Get("Content-Type"); kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	response, err := p.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	raw, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return answer{}, err
	}
	return answer{response.StatusCode, raw}, nil
}

// wait waits for d, or until the client has gone or the proxy is closed.
func (p *HTTP) wait(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	case <-p.ctx.Done():
	}
}
