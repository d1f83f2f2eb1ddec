package query

import (
	"context"
	"io"
	"slices"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// Producer appends the next piece of an answer to dst and reports whether another
// one follows. It must not keep dst. After an error it is not called again.
type Producer func(ctx context.Context, dst []byte) (out []byte, more bool, err error)

// maxPooledBuffer is the largest buffer that is pooled: a page of 1,000 usual updates takes 6 MB,
// and larger ones are rare enough to allocate.
const maxPooledBuffer = 16 << 20

// newBuffer is the size of a new buffer for an answer.
const newBuffer = 64 << 10

// buffers recycles buffers of size to largest bytes; larger ones are let go.
type buffers struct {
	pool          sync.Pool
	size, largest int
}

func (b *buffers) get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return (*p)[:0]
	}
	return make([]byte, 0, b.size)
}

// put takes a buffer back; a nil b takes none.
func (b *buffers) put(buf []byte) {
	if b != nil && cap(buf) > 0 && cap(buf) <= b.largest {
		b.pool.Put(&buf)
	}
}

// body is an answer on its way to the client: the bytes that are ready and, for
// answers too large to buffer, the producer of the rest. The server reads it on the
// goroutine of the connection and closes it in every case.
type body struct {
	buf  []byte
	read int
	// next renders the following piece into an empty buffer; nil when buf is all.
	next func(dst []byte) (out []byte, more bool, err error)
	// direct sends everything by itself instead; nil for most. See Request.Send.
	direct io.WriterTo
	// source is closed with the body; it may be nil.
	source io.Closer
	// done is called once with the error that ended the transfer, or nil.
	done func(sent int64, err error)
	pool *buffers
	sent int64
	err  error
}

// WriteTo sends everything. The server prefers it to Read, which saves a copy.
func (b *body) WriteTo(w io.Writer) (int64, error) {
	if b.direct != nil {
		return b.sendDirect(w)
	}
	for {
		// A compressor may hold back all of a piece, and an empty chunk would end the answer.
		if b.read < len(b.buf) {
			n, err := w.Write(b.buf[b.read:])
			b.sent += int64(n)
			b.read += n
			if err != nil {
				return b.sent, err
			}
		}
		if b.next == nil {
			return b.sent, nil
		}
		if err := b.refill(); err != nil {
			return b.sent, err
		}
	}
}

// sendDirect has the stream write itself. What is buffered before it goes first: only then
// is the stream given to the connection as it is, and not copied through the buffer.
func (b *body) sendDirect(w io.Writer) (int64, error) {
	if buffered, ok := w.(interface{ Flush() error }); ok {
		if b.err = buffered.Flush(); b.err != nil {
			return 0, b.err
		}
	}
	b.err = guard.Call(func() (err error) {
		b.sent, err = b.direct.WriteTo(w)
		return err
	})
	return b.sent, b.err
}

// SupportsBodyWriteTo tells the server that WriteTo gives what Read gives.
func (b *body) SupportsBodyWriteTo() bool { return true }

// Read gives the same bytes as WriteTo.
func (b *body) Read(p []byte) (int, error) {
	for b.read == len(b.buf) {
		if b.next == nil {
			return 0, io.EOF
		}
		if err := b.refill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, b.buf[b.read:])
	b.read += n
	b.sent += int64(n)
	return n, nil
}

func (b *body) refill() error {
	more := false
	err := guard.Call(func() (err error) { // the handler has returned: nothing else is around it
		b.buf, more, err = b.next(b.buf[:0])
		return err
	})
	b.read = 0
	if err != nil {
		b.err = err
		return err
	}
	if !more {
		b.next = nil
	}
	return nil
}

// CloseWithError ends the transfer; the server calls it after the last byte, and
// with the reason when it could not send all.
func (b *body) CloseWithError(err error) error {
	if b.done == nil {
		return nil
	}
	if b.err != nil {
		err = b.err
	}
	done := b.done
	b.done = nil
	var closeErr error
	if b.source != nil {
		closeErr = b.source.Close()
	}
	b.pool.put(b.buf)
	b.buf, b.next, b.direct = nil, nil, nil
	done(b.sent, err)
	return closeErr
}

// copyPiece is how much of a raw stream is moved at a time. Streams have a pool of
// their own: a large buffer from a page would be held for as long as a slow client takes.
const copyPiece = 64 << 10

// readPiece is a next function over a reader, for buffers of copyPiece. The number of bytes is known to the
// server from elsewhere, so a reader that ends early makes it cut the connection.
func readPiece(r io.Reader) func(dst []byte) ([]byte, bool, error) {
	return func(dst []byte) ([]byte, bool, error) {
		dst = slices.Grow(dst, copyPiece) // in case it is none of ours
		n, err := r.Read(dst[:copyPiece])
		if err == io.EOF {
			return dst[:n], false, nil
		}
		return dst[:n], true, err
	}
}
