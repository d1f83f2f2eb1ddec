package faults

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/coder/websocket"
)

// The websockets of a node's ledger API: the client sends one frame, the request, and gets
// frames until the node ends the stream.

// largestFrame is more than any frame of a simulated node.
const largestFrame = 64 << 20

// refusedToken is how a node refuses a token, in an answer and in a frame.
const (
	refusedToken = `{"code":"UNAUTHENTICATED","cause":"the token is not good","context":{},"errorCategory":6}`
	staleToken   = `{"code":"STALE_STREAM_AUTHORIZATION","cause":"the token is not good any more","context":{},"errorCategory":6}`
	notNow       = `{"code":"SERVICE_NOT_RUNNING","cause":"restarting","context":{},"errorCategory":1}`
)

// Token is the only one that is good at present; see HTTPConfig.Tokens.
func (p *HTTP) Token() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("token-%d", p.tokens)
}

// authorized refuses requests with another token than the good one.
func (p *HTTP) authorized(w http.ResponseWriter, r *http.Request) bool {
	if !p.cfg.Tokens || r.Header.Get("Authorization") == "Bearer "+p.Token() {
		return true
	}
	send(w, http.StatusUnauthorized, nil, []byte(refusedToken))
	return false
}

// Frames is the number of frames from the upstream so far.
func (p *HTTP) Frames() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.frames
}

// upgrade opens a websocket, with the fault that is planned for the request.
func (p *HTTP) upgrade(w http.ResponseWriter, r *http.Request, f HTTPFault) {
	switch f.Kind {
	case Unanswered, HalfBody, BadGzip:
		panic(http.ErrAbortHandler)
	case EmptyBody, Garbage:
		send(w, http.StatusOK, nil, []byte("<!doctype html><title>Sign in</title>"))
		return
	case Slow, Drip, Later:
		p.wait(r, f.Wait)
	}
	p.socket(w, r)
}

// socket passes the frames of a websocket on, with the faults that are planned for them.
func (p *HTTP) socket(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	era, _ := p.current()
	defer context.AfterFunc(era, cancel)()
	up, _, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(p.cfg.Target, "http")+r.URL.RequestURI(), &websocket.DialOptions{Subprotocols: []string{"daml.ws.auth"}})
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer up.CloseNow()
	up.SetReadLimit(largestFrame)
	down, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"daml.ws.auth"}})
	if err != nil {
		return // the client has gone
	}
	defer down.CloseNow()
	_, request, err := down.Read(ctx)
	if err != nil || up.Write(ctx, websocket.MessageText, request) != nil {
		return
	}
	ctx = down.CloseRead(ctx) // ends when the client goes
	s := &socket{proxy: p, up: up, write: func(frame []byte) bool { return down.Write(ctx, websocket.MessageText, frame) == nil }}
	if s.pass(ctx, r) {
		_ = down.Close(websocket.StatusNormalClosure, "") // a client that has gone needs none
	}
}

// socket is one websocket that is passed on.
type socket struct {
	proxy *HTTP
	up    *websocket.Conn
	write func(frame []byte) bool // false when the client has gone
	held  [][]byte                // goes out behind the next frame
}

// pass returns true when the upstream has ended the stream properly.
func (s *socket) pass(ctx context.Context, r *http.Request) (whole bool) {
	for {
		_, frame, err := s.up.Read(ctx)
		if err != nil {
			return s.flush() && websocket.CloseStatus(err) == websocket.StatusNormalClosure
		}
		if s.proxy.cfg.Record != nil {
			s.proxy.cfg.Record(frame)
		}
		for _, told := range s.proxy.speakerOfNode().frames(frame) {
			if !s.give(r, told) {
				return false
			}
		}
	}
}

// flush gives what was held back.
func (s *socket) flush() bool {
	held := s.held
	s.held = nil
	for _, frame := range held {
		if !s.write(frame) {
			return false
		}
	}
	return true
}

// give passes a frame on, with its fault if it has one. False ends the connection.
func (s *socket) give(r *http.Request, frame []byte) bool {
	f := s.proxy.beginFrame()
	switch f.Kind {
	case FrameCut:
		return false
	case FrameHalf:
		frame = frame[:int(f.Part*float64(len(frame)))]
	case FrameTwice:
		if !s.write(frame) {
			return false
		}
	case FrameSwap:
		s.held = append(s.held, frame)
		return true
	case FrameSlow:
		s.proxy.wait(r, f.Wait)
	case FrameError:
		s.write([]byte(notNow))
		return false
	case FrameStale:
		s.write([]byte(staleToken))
		return false
	}
	return s.write(frame) && s.flush()
}

// beginFrame counts a frame and returns its fault, the zero value if it has none.
func (p *HTTP) beginFrame() FrameFault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frames++
	f, planned := p.frameFaults[p.frames]
	if !planned || p.quiet || f.Kind == FrameStale && !p.cfg.Tokens {
		return FrameFault{}
	}
	if f.Kind == FrameStale {
		p.tokens++
	}
	p.cfg.Tally.Add(p.cfg.Name + ": " + string(f.Kind))
	return f
}
