package remote

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
)

// ErrTooLarge means that an answer, or a frame, is larger than what is accepted.
var ErrTooLarge = errors.New("the answer is larger than the limit")

// Reader reads an answer into memory without ever holding more than Limit.
type Reader struct {
	// Limit caps the size of the answer after decompression.
	Limit int64
	// Reserve, when set, is asked before the buffer grows to size bytes.
	Reserve func(size int64) error
	// Expect is about how large the answer will be, 0 if unknown. It counts only when
	// the answer does not say its size.
	Expect int64
	// Progress, when set, is told how many bytes arrived.
	Progress func(n int)
}

// Body returns the whole body of resp. An answer beyond the limit is ErrTooLarge,
// without reading it to its end.
func (b Reader) Body(resp *http.Response) ([]byte, error) {
	if !strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		return b.All(resp.Body, resp.ContentLength)
	}
	unzip, err := gzip.NewReader(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("reading a gzip answer: %w", err)
	}
	defer unzip.Close()
	return b.All(unzip, -1)
}

// All reads r to its end. size is how much it has by its own word, below 0 if unknown.
func (b Reader) All(r io.Reader, size int64) ([]byte, error) {
	if size > b.Limit {
		return nil, fmt.Errorf("%w: %d bytes, limit %d", ErrTooLarge, size, b.Limit)
	}
	if size < 0 {
		size = min(max(b.Expect-1, 64<<10), b.Limit)
	}
	// One byte more than announced, so that the read that finds the end needs no growth.
	buf, err := b.grow(nil, size+1)
	if err != nil {
		return nil, err
	}
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if b.Progress != nil {
			b.Progress(n)
		}
		switch {
		case int64(len(buf)) > b.Limit:
			return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, b.Limit)
		case err == io.EOF:
			return trim(buf), nil
		case err != nil:
			return nil, fmt.Errorf("reading the answer after %d bytes: %w", len(buf), err)
		case len(buf) < cap(buf):
			continue
		}
		if buf, err = b.grow(buf, min(nextSize(int64(cap(buf))), b.Limit+1)); err != nil {
			return nil, err
		}
	}
}

func (b Reader) grow(buf []byte, size int64) ([]byte, error) {
	if b.Reserve != nil {
		if err := b.Reserve(size); err != nil {
			return nil, err
		}
	}
	larger := make([]byte, len(buf), size)
	copy(larger, buf)
	return larger, nil
}

// trim copies buf if much of it is unused: answers stay in memory as long as the items
// that were decoded from them.
func trim(buf []byte) []byte {
	if cap(buf)-len(buf) <= len(buf)/8+4<<10 {
		return buf
	}
	return append(make([]byte, 0, len(buf)), buf...)
}

// nextSize doubles small buffers and grows large ones by a quarter, which keeps what
// is allocated in vain small where it would hurt.
func nextSize(size int64) int64 {
	if size < 1<<20 {
		return 2 * size
	}
	return size + size/4
}

// OneLine cuts a text from outside to one short line.
func OneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	const longest = 200
	if len(text) > longest {
		cut := longest
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "..."
	}
	return cmp.Or(text, "no reason given")
}

// ErrPage means that a page for people came where an interface should have answered: the
// word of something that stands before it, such as a proxy or a sign-in.
var ErrPage = errors.New("the answer is an HTML page")

// IsPage reports whether an answer is markup: no JSON text begins like it.
func IsPage(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n\ufeff"), []byte("<"))
}
