package node

import (
	"fmt"
	"io"
)

// readAll reads r to its end without ever holding more than limit bytes; beyond that it
// returns errTooLarge. size is how much is expected, below 0 if unknown. progress is
// called after each piece.
func readAll(r io.Reader, size, limit int64, progress func()) ([]byte, error) {
	if size > limit {
		return nil, fmt.Errorf("%w: %d bytes, limit %d", errTooLarge, size, limit)
	}
	if size < 0 {
		size = min(8<<10, limit)
	}
	// One byte more than announced, so that the read that finds the end needs no growth.
	buf := make([]byte, 0, size+1)
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		progress()
		switch {
		case int64(len(buf)) > limit:
			return nil, fmt.Errorf("%w: more than %d bytes", errTooLarge, limit)
		case err == io.EOF:
			return trim(buf), nil
		case err != nil:
			return nil, fmt.Errorf("reading the answer after %d bytes: %w", len(buf), err)
		case len(buf) == cap(buf):
			larger := make([]byte, len(buf), min(nextSize(int64(cap(buf))), limit+1))
			copy(larger, buf)
			buf = larger
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
