package query

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"

	"github.com/valyala/fasthttp"
)

const jsonType = "application/json; charset=utf-8"

// Request is one request and its answer. It is valid until the handler returns and,
// for a handler that gave a Producer or a stream, until that has ended.
type Request struct {
	rc     *fasthttp.RequestCtx
	server *Server
	call   *call
	// path is that of the route, with the names of its parameters.
	path string
	// immutable is set by Immutable.
	immutable bool
}

// ID names the request in logs and in the header X-Request-Id.
func (r *Request) ID() string { return r.call.id }

// TraceID is the trace that the request belongs to, in 32 hexadecimal digits: that of its
// header traceparent (W3C) or, without a good one, a new one. Once it is asked for, the
// request's line in the log has it, too.
func (r *Request) TraceID() string {
	if r.call.trace == "" {
		r.call.trace = traceOf(r.rc.Request.Header.Peek("traceparent"))
	}
	return r.call.trace
}

// Client tells clients apart by the address of their connection, such as "192.0.2.7"; those of one
// IPv6 network are one.
func (r *Request) Client() string { return network(clientAddr(r.rc)).String() }

// Method is that of the request, such as GET.
func (r *Request) Method() string { return string(r.rc.Method()) }

// RawBody returns the request's body. It is valid as long as the Request.
func (r *Request) RawBody() []byte { return r.rc.PostBody() }

// IsHead reports whether only the head of the answer is wanted.
func (r *Request) IsHead() bool { return r.rc.IsHead() }

// Header returns a header of the request, "" when absent.
func (r *Request) Header(name string) string { return string(r.rc.Request.Header.Peek(name)) }

// SetHeader sets a header of the answer.
func (r *Request) SetHeader(name, value string) { r.rc.Response.Header.Set(name, value) }

// Path returns a parameter of the path, percent-decoded once.
func (r *Request) Path(name string) (string, error) {
	raw, _ := r.rc.UserValue(name).(string)
	value, err := url.PathUnescape(raw)
	if err != nil {
		return "", Errorf(Invalid, "The path is not well-formed: %s.", err)
	}
	return value, nil
}

// Reserve waits until the rest of the call, which takes so many bytes of memory, may be worked
// on as one of a class. The call gives up the place that it has, so that nobody who waits keeps
// others waiting, and keeps the new one until its answer is complete. The wait does not count
// against the time limit: it begins anew in the context that is returned, which the rest of the
// call is to use. The error is an Error of class Unavailable, or that of ctx.
func (r *Request) Reserve(ctx context.Context, class Class, bytes int64) (context.Context, error) {
	r.call.place.leave()
	again := r.call.extend()
	if err := r.admit(r.call.ctx, class, bytes); err != nil {
		return ctx, err
	}
	return again(ctx), nil
}

// admit waits for a place.
func (r *Request) admit(ctx context.Context, class Class, bytes int64) (err error) {
	key := lineKey{r.call.route, network(clientAddr(r.rc))}
	r.call.place, err = r.server.cfg.Admission.enter(ctx, class, key, bytes)
	return err
}

// Await runs wait, in which the request does no work and waits for what it shares with
// others, without counting as one that is worked on. As many requests may do so as may
// wait for their turn; the others keep their places. If ctx ends before there is a place again,
// the error is that of ctx.
func (r *Request) Await(ctx context.Context, wait func() error) error {
	c := r.call
	if !c.place.lend() {
		return wait()
	}
	err := wait()
	if again := c.place.takeBack(ctx); again != nil {
		return errors.Join(err, again)
	}
	return err
}

// Query reads the query string.
func (r *Request) Query() *Params { return queryParams(r.rc.QueryArgs()) }

// Body reads the request's body, which must be a JSON object.
func (r *Request) Body() *Params { return bodyParams(r.rc.PostBody()) }

// Empty answers with a status and no body.
func (r *Request) Empty(status int) error {
	r.rc.ResetBody()
	r.rc.SetStatusCode(status)
	return nil
}

// JSON answers 200 with v, for small answers. Texts are escaped no more than JSON demands.
func (r *Request) JSON(v any) error { return r.JSONAs(fasthttp.StatusOK, v) }

// JSONAs is JSON with another status.
func (r *Request) JSONAs(status int, v any) error {
	buf := bytes.NewBuffer(r.server.buffers.get())
	e := json.NewEncoder(buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	return r.finish(status, bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}))
}

// Text answers 200 with a JSON text, which it copies.
func (r *Request) Text(text []byte) error {
	return r.finish(fasthttp.StatusOK, append(r.server.buffers.get(), text...))
}

// Kept answers 200 with a JSON text that nobody changes any more. It is not copied.
func (r *Request) Kept(text []byte) error { return r.answer(fasthttp.StatusOK, text, nil) }

// Buffer returns empty memory for an answer that Lent sends. Who has no use for it gives it
// back by PutBack; if it is lost, that is no harm.
func (r *Request) Buffer() []byte { return r.server.buffers.get() }

// PutBack gives memory back that Buffer returned, or that it has grown into.
func (r *Request) PutBack(buf []byte) { r.server.buffers.put(buf) }

// Lent is Kept for a text that begins where memory of Buffer does, which it gives back once
// the text is sent.
func (r *Request) Lent(text []byte) error { return r.finish(fasthttp.StatusOK, text) }

// MaxPageBytes is Config.MaxPageBytes.
func (r *Request) MaxPageBytes() int { return r.server.cfg.MaxPageBytes }

// Produce answers 200 with the JSON text that next makes piece by piece. Up to
// Config.MaxPageBytes it is gathered and sent with its length, so that an error on
// the way still becomes an error answer. A longer answer is sent while it is made;
// then an error cuts the connection, which no client can take for the end.
func (r *Request) Produce(ctx context.Context, next Producer) error {
	buf := r.server.buffers.get()
	for {
		var more bool
		var err error
		if buf, more, err = next(ctx, buf); err != nil {
			r.server.buffers.put(buf)
			return err
		}
		if !more {
			return r.finish(fasthttp.StatusOK, buf)
		}
		if len(buf) > r.server.cfg.MaxPageBytes {
			return r.stream(buf, next)
		}
	}
}

// finish sends a complete JSON body out of a buffer of the server.
func (r *Request) finish(status int, buf []byte) error {
	return r.answer(status, buf, &r.server.buffers)
}

// answer sends a complete JSON body and gives its buffer back to pool, if that is not nil.
func (r *Request) answer(status int, buf []byte, pool *buffers) error {
	r.SetHeader("Vary", "Accept-Encoding")
	if r.immutable && r.tagged(buf) {
		pool.put(buf)
		return r.Empty(fasthttp.StatusNotModified)
	}
	if len(buf) >= minGzip && r.wantsGzip() {
		packed, err := r.server.gzip.all(r.server.buffers.get(), buf)
		pool.put(buf)
		if err != nil {
			return err
		}
		buf, pool = packed, &r.server.buffers
		r.SetHeader(fasthttp.HeaderContentEncoding, "gzip")
	}
	r.rc.SetStatusCode(status)
	r.rc.SetContentType(jsonType)
	r.send(&body{buf: buf, pool: pool}, len(buf))
	return nil
}

// stream sends first and then everything else that next makes. Each piece has the
// request's whole time limit: a slow reader must not be cut off for being slow.
func (r *Request) stream(first []byte, next Producer) error {
	piece := func(dst []byte) ([]byte, bool, error) {
		ctx, cancel := context.WithTimeout(r.call.ctx, r.server.cfg.RequestTimeout)
		defer cancel()
		return next(ctx, dst)
	}
	b := &body{buf: first, next: piece, pool: &r.server.buffers}
	if r.wantsGzip() {
		if err := r.compress(b, "gzip", newGzipStream(&r.server.gzip)); err != nil {
			return err
		}
	}
	return r.sendStream(jsonType, b)
}

// sendStream sends a body of unknown length.
func (r *Request) sendStream(contentType string, b *body) error {
	r.SetHeader("Vary", "Accept-Encoding")
	r.rc.SetContentType(contentType)
	r.send(b, -1)
	return nil
}

// linesType is the type of JSON lines.
const linesType = "application/x-ndjson"

// Lines streams the JSON lines that next makes, in zstd or gzip if the client takes it.
// Nothing of it is gathered: an error after the first piece cuts the connection, as it is
// not known to a client how many lines there are, the last one should tell. For routes
// that are transfers: next gets their context.
func (r *Request) Lines(ctx context.Context, next Producer) error {
	first, more, err := next(ctx, r.server.buffers.get())
	if err != nil {
		return err
	}
	b := &body{buf: first, pool: &r.server.buffers}
	if more {
		b.next = func(dst []byte) ([]byte, bool, error) { return next(ctx, dst) }
	}
	switch accepted := r.Header(fasthttp.HeaderAcceptEncoding); {
	case accepts(accepted, "zstd"):
		var z *zstdStream
		if z, err = newZstdStream(&r.server.zstd); err == nil {
			err = r.compress(b, "zstd", z)
		}
	case r.wantsGzip():
		err = r.compress(b, "gzip", newGzipStream(&r.server.gzip))
	}
	if err != nil {
		return err
	}
	return r.sendStream(linesType, b)
}

// compress puts a coding between the producer of b and the connection.
func (r *Request) compress(b *body, name string, c coding) error {
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
	r.SetHeader(fasthttp.HeaderContentEncoding, name)
	return nil
}

func (r *Request) wantsGzip() bool {
	return accepts(r.Header(fasthttp.HeaderAcceptEncoding), "gzip", "x-gzip")
}

// Send answers with size bytes out of stream as they are, without gathering them,
// and closes stream. For HEAD stream may be nil. A stream that is an io.WriterTo sends
// itself: to a writer to which io.Copy can give a file, which the kernel then copies.
func (r *Request) Send(status int, contentType string, size int64, stream io.ReadCloser) error {
	b := &body{pool: &r.server.pieces, source: stream}
	if stream != nil {
		b.next = readPiece(stream)
		var ok bool
		if b.direct, ok = stream.(io.WriterTo); !ok {
			b.buf = r.server.pieces.get()
		}
	}
	r.rc.SetStatusCode(status)
	r.rc.SetContentType(contentType)
	r.send(b, int(size))
	return nil
}

// send hands the body to the server; from here on its end is the request's end.
func (r *Request) send(b *body, size int) {
	b.done = r.call.end
	if b.next == nil || size >= 0 {
		r.call.park(int64(len(b.buf)))
	}
	r.call.sending = true
	r.rc.Response.SetBodyStream(b, size)
}

// fail answers with an error in a form and returns what is to be logged of it.
func (r *Request) fail(err error, form ErrorForm) error {
	answer := form(r, err)
	r.rc.Response.Header.Del(fasthttp.HeaderContentEncoding)
	answer.write(r.rc)
	return answer.Logged
}
