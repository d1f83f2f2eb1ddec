package scan

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
)

// bodyReader reads an answer into memory without ever holding more than limit.
type bodyReader struct {
	// limit caps the size of the answer after decompression.
	limit int64
	// reserve, when set, is asked before the buffer grows to size bytes.
	reserve func(size int64) error
	// expect is about how large the answer will be, 0 if unknown. It counts only when
	// the answer does not say its size.
	expect int64
	// progress is called after each piece that arrived.
	progress func()
}

// read returns the whole body of resp. An answer beyond the limit is errTooLarge,
// without reading it to its end.
func (b bodyReader) read(resp *http.Response) ([]byte, error) {
	var r io.Reader = resp.Body
	size := resp.ContentLength
	if strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		unzip, err := gzip.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("reading a gzip answer: %w", err)
		}
		defer unzip.Close()
		r, size = unzip, -1
	}
	if size > b.limit {
		return nil, fmt.Errorf("%w: %d bytes, limit %d", errTooLarge, size, b.limit)
	}
	if size < 0 {
		size = min(max(b.expect-1, 64<<10), b.limit)
	}
	// One byte more than announced, so that the read that finds the end needs no growth.
	buf, err := b.grow(nil, size+1)
	if err != nil {
		return nil, err
	}
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		b.progress()
		switch {
		case int64(len(buf)) > b.limit:
			return nil, fmt.Errorf("%w: more than %d bytes", errTooLarge, b.limit)
		case err == io.EOF:
			return trim(buf), nil
		case err != nil:
			return nil, fmt.Errorf("reading the answer after %d bytes: %w", len(buf), err)
		case len(buf) < cap(buf):
			continue
		}
		if buf, err = b.grow(buf, min(nextSize(int64(cap(buf))), b.limit+1)); err != nil {
			return nil, err
		}
	}
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

func (b bodyReader) grow(buf []byte, size int64) ([]byte, error) {
	if b.reserve != nil {
		if err := b.reserve(size); err != nil {
			return nil, err
		}
	}
	larger := make([]byte, len(buf), size)
	copy(larger, buf)
	return larger, nil
}

// errorText takes the reason out of an error answer, {"error": ...} or plain text,
// cut to one short line.
func errorText(body []byte) string {
	text := string(bytes.TrimSpace(body))
	if reason, ok := jsonReason(body); ok {
		text = reason
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	const longest = 200
	if len(text) > longest {
		cut := longest
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "..."
	}
	if text == "" {
		return "no reason given"
	}
	return text
}
