package faults

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"time"
)

// give answers with what the upstream said, as the fault has it.
func (p *HTTP) give(w http.ResponseWriter, r *http.Request, f HTTPFault, a answer) {
	switch f.Kind {
	case Unanswered:
		panic(http.ErrAbortHandler)
	case Later:
		p.afterAnother(r, f.Wait)
	case Slow:
		p.wait(r, f.Wait)
	case Drip:
		p.drip(w, r, f.Wait, a)
		return
	case HalfBody:
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
		send(w, a.status, nil, a.body[:int(f.Part*float64(len(a.body)))])
		flush(w)
		panic(http.ErrAbortHandler)
	case EmptyBody:
		a.body = nil
	case Garbage:
		a.body = []byte("<!doctype html><title>Sign in</title><p>" + strconv.FormatFloat(f.Part, 'g', -1, 64))
	case BadGzip:
		w.Header().Set("Content-Encoding", "gzip")
		a.body = damaged(a.body, f.Part)
	}
	send(w, a.status, nil, a.body)
}

// afterAnother waits until another reply has gone out, at most for most.
func (p *HTTP) afterAnother(r *http.Request, most time.Duration) {
	p.mu.Lock()
	replied := p.replied
	p.mu.Unlock()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-replied:
	case <-timer.C:
	case <-r.Context().Done():
	case <-p.ctx.Done():
	}
}

// drip sends the body in a few pieces, taking altogether.
func (p *HTTP) drip(w http.ResponseWriter, r *http.Request, altogether time.Duration, a answer) {
	const pieces = 8
	w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	send(w, a.status, nil, nil)
	for i := range pieces {
		p.wait(r, altogether/pieces)
		if _, err := w.Write(a.body[i*len(a.body)/pieces : (i+1)*len(a.body)/pieces]); err != nil {
			return // the client has gone
		}
		flush(w)
	}
}

// damaged compresses a body and changes some of the bytes behind the header.
func damaged(body []byte, part float64) []byte {
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	_, _ = zip.Write(body) // into memory
	_ = zip.Close()
	raw := b.Bytes()
	const header = 10
	for i := header + int(part*float64(len(raw)-header-8)); i < len(raw)-4; i += 1 + len(raw)/7 {
		raw[i] ^= 0x5a
	}
	return raw
}

func send(w http.ResponseWriter, status int, header http.Header, body []byte) {
	for name, values := range header {
		w.Header()[name] = values
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // if the client is gone, nobody is left to tell
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
