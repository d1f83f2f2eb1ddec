package query

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/valyala/fasthttp"
	"github.com/zeebo/xxh3"
)

// reply sends the answer of a request.
type reply struct {
	rc     *fasthttp.RequestCtx
	server *Server
	call   *call
	// immutable is set by Request.Immutable.
	immutable bool
}

func (r *reply) header(name string) string { return string(r.rc.Request.Header.Peek(name)) }

func (r *reply) setHeader(name, value string) { r.rc.Response.Header.Set(name, value) }

// empty answers with a status and no body.
func (r *reply) empty(status int) {
	r.rc.ResetBody()
	r.rc.SetStatusCode(status)
}

// finish sends a complete JSON body out of a buffer of the server.
func (r *reply) finish(status int, buf []byte) error {
	return r.answer(status, buf, &r.server.buffers)
}

// answer sends a complete JSON body and gives its buffer back to pool, if that is not nil.
func (r *reply) answer(status int, buf []byte, pool *buffers) error {
	r.setHeader("Vary", "Accept-Encoding")
	if r.immutable && r.tagged(buf) {
		pool.put(buf)
		r.empty(fasthttp.StatusNotModified)
		return nil
	}
	if len(buf) >= minGzip && r.wantsGzip() {
		c := r.server.gzip.begin()
		packed, err := c.piece(r.server.buffers.get(), buf, true)
		err = errors.Join(err, c.Close())
		pool.put(buf)
		if err != nil {
			return err
		}
		buf, pool = packed, &r.server.buffers
		r.setHeader(fasthttp.HeaderContentEncoding, "gzip")
	}
	r.rc.SetStatusCode(status)
	r.rc.SetContentType(jsonType)
	r.send(&body{buf: buf, pool: pool}, len(buf))
	return nil
}

// stream sends first and then everything else that next makes. Each piece has the
// request's whole time limit: a slow reader must not be cut off for being slow.
func (r *reply) stream(first []byte, next Producer) error {
	piece := func(dst []byte) ([]byte, bool, error) {
		ctx, cancel := context.WithTimeout(r.call.ctx, r.server.cfg.RequestTimeout)
		defer cancel()
		return next(ctx, dst)
	}
	b := &body{buf: first, next: piece, pool: &r.server.buffers}
	if r.wantsGzip() {
		if err := r.compress(b, r.server.gzip); err != nil {
			return err
		}
	}
	return r.sendStream(jsonType, b)
}

// sendStream sends a body of unknown length.
func (r *reply) sendStream(contentType string, b *body) error {
	r.setHeader("Vary", "Accept-Encoding")
	r.rc.SetContentType(contentType)
	r.send(b, -1)
	return nil
}

// compress puts a coding between the producer of b and the connection.
func (r *reply) compress(b *body, by *coders) error {
	c := by.begin()
	packed, err := c.piece(r.server.buffers.get(), b.buf, b.next == nil)
	if err != nil {
		return errors.Join(err, c.Close())
	}
	plain, next := b.buf, b.next
	b.buf, b.source = packed, c
	if next != nil {
		b.next = func(dst []byte) ([]byte, bool, error) {
			var more bool
			var err error
			if plain, more, err = next(plain[:0]); err != nil {
				return dst, false, err
			}
			dst, err = c.piece(dst, plain, !more)
			return dst, more, err
		}
	}
	r.setHeader(fasthttp.HeaderContentEncoding, by.name)
	return nil
}

func (r *reply) wantsGzip() bool {
	return accepts(r.header(fasthttp.HeaderAcceptEncoding), "gzip", "x-gzip")
}

// send hands the body to the server; from here on its end is the request's end.
func (r *reply) send(b *body, size int) {
	b.done = r.call.end
	if b.next == nil || size >= 0 {
		r.call.park(int64(len(b.buf)))
	}
	r.call.sending = true
	r.rc.Response.SetBodyStream(b, size)
}

// tagged sets the headers of an immutable answer and reports whether the client has it. The
// tag is weak because the same content may be sent compressed or not.
func (r *reply) tagged(body []byte) bool {
	sum := xxh3.Hash128(body).Bytes()
	tag := `W/"` + hex.EncodeToString(sum[:]) + `"`
	r.setHeader("ETag", tag)
	r.setHeader("Cache-Control", immutableFor)
	return !r.rc.IsPost() && matches(r.header("If-None-Match"), tag)
}
