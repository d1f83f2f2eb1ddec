package query

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	path  string
	reply reply
}

// ID names the request in logs and in the header X-Request-Id.
func (r *Request) ID() string { return r.call.id }

// TraceID is the trace that the request belongs to, in 32 hexadecimal digits: that of its
// header traceparent (W3C) or, if that is missing or invalid, a new one. After the first call the
// log lines of the request have it, too.
func (r *Request) TraceID() string {
	if r.call.trace == "" {
		r.call.trace = traceOf(r.rc.Request.Header.Peek("traceparent"))
	}
	return r.call.trace
}

// Client identifies the client by the address of its connection, such as "192.0.2.7"; clients of
// one IPv6 network have the same.
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

// Reserve waits until there are bytes of memory for the rest of the call and a place in the class
// of its route, which must not be Light. The call gives up its place first, so that waiting calls
// do not keep others waiting, and keeps the new one until its answer is complete. The wait does not
// count against the time limit: it starts over in the context that is returned, which the rest of
// the call must use. The error is an Error of class Unavailable, or that of ctx.
func (r *Request) Reserve(ctx context.Context, bytes int64) (context.Context, error) {
	if r.call.class == Light {
		return ctx, fmt.Errorf("operation %s reserves memory, and its route says that it is light", r.call.route)
	}
	r.call.place.leave()
	again := r.call.extend()
	if err := r.call.admit(r.call.ctx, r.call.class, clientAddr(r.rc), bytes); err != nil {
		return ctx, err
	}
	return again(ctx), nil
}

// Await runs wait, in which the request waits for what it shares with others, and gives its place
// to another request meanwhile. As many requests may do so as may wait for their turn; the others
// keep their places. If ctx ends before there is a place again, the error is that of ctx.
func (r *Request) Await(ctx context.Context, wait func() error) error {
	c := r.call
	if !c.place.pause() {
		return wait()
	}
	err := wait()
	if again := c.place.resume(ctx); again != nil {
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
	r.reply.empty(status)
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
	return r.reply.finish(status, bytes.TrimSuffix(buf.Bytes(), []byte{'\n'}))
}

// Text answers 200 with a JSON text, which it copies.
func (r *Request) Text(text []byte) error {
	return r.reply.finish(fasthttp.StatusOK, append(r.server.buffers.get(), text...))
}

// Shared answers 200 with a JSON text, which must not be changed afterwards. It is not copied.
func (r *Request) Shared(text []byte) error { return r.reply.answer(fasthttp.StatusOK, text, nil) }

// Buffer returns empty memory from the server's pool, for an answer that Pooled sends. A caller
// that does not need it any more should return it with PutBack.
func (r *Request) Buffer() []byte { return r.server.buffers.get() }

// PutBack returns memory of Buffer, or what it has grown into, to the pool.
func (r *Request) PutBack(buf []byte) { r.server.buffers.put(buf) }

// Pooled is Shared for a text in memory of Buffer, from its start; the memory returns to the pool
// once the text is sent.
func (r *Request) Pooled(text []byte) error { return r.reply.finish(fasthttp.StatusOK, text) }

// MaxPageBytes is Config.MaxPageBytes.
func (r *Request) MaxPageBytes() int { return r.server.cfg.MaxPageBytes }

// Produce answers 200 with the JSON text that next makes piece by piece. Up to
// Config.MaxPageBytes it is buffered and sent with its length, so that an error on
// the way still becomes an error answer. A longer answer is sent while it is made;
// then an error cuts the connection, which no client can mistake for the end.
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
			return r.reply.finish(fasthttp.StatusOK, buf)
		}
		if len(buf) > r.server.cfg.MaxPageBytes {
			return r.reply.stream(buf, next)
		}
	}
}

// linesType is the type of JSON lines.
const linesType = "application/x-ndjson"

// Lines streams the JSON lines that next makes, in zstd or gzip if the client takes it.
// Nothing is buffered: an error after the first piece cuts the connection. Clients don't know how
// many lines to expect, so the last one should say that it is the last. Only for routes that are
// transfers: next gets their context.
func (r *Request) Lines(ctx context.Context, next Producer) error {
	return r.Stream(ctx, linesType, next)
}

// Stream is Lines for text of another type.
func (r *Request) Stream(ctx context.Context, contentType string, next Producer) error {
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
		err = r.reply.compress(b, r.server.zstd)
	case r.reply.wantsGzip():
		err = r.reply.compress(b, r.server.gzip)
	}
	if err != nil {
		return err
	}
	return r.reply.sendStream(contentType, b)
}

// Send answers with size bytes out of stream as they are, without buffering them,
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
	r.reply.send(b, int(size))
	return nil
}

// fail answers with an error in a form and returns what should be logged.
func (r *Request) fail(err error, form ErrorForm) error {
	answer := form(r, err)
	r.rc.Response.Header.Del(fasthttp.HeaderContentEncoding)
	answer.write(r.rc)
	return answer.Logged
}
