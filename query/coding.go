package query

import (
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// coding compresses an answer piece by piece. Close ends its use, complete or not.
type coding interface {
	piece(dst, src []byte, last bool) ([]byte, error)
	io.Closer
}

// accepts reports whether an Accept-Encoding header allows a coding by one of its names. One
// with q=0 is refused; "*" stands for those that are not named.
func accepts(header string, names ...string) bool {
	others := false
	for item := range strings.SplitSeq(header, ",") {
		coding, params, _ := strings.Cut(item, ";")
		coding = strings.ToLower(strings.TrimSpace(coding))
		switch {
		case slices.Contains(names, coding):
			return quality(params) > 0
		case coding == "*":
			others = quality(params) > 0
		}
	}
	return others
}

// zstdWindow bounds the memory of a compressor and of who reads its output.
const zstdWindow = 1 << 20

// zstdWriters recycles zstd writers.
type zstdWriters struct{ pool sync.Pool }

func (z *zstdWriters) get(w io.Writer) (*zstd.Encoder, error) {
	if zw, ok := z.pool.Get().(*zstd.Encoder); ok {
		zw.Reset(w)
		return zw, nil
	}
	return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(zstdWindow))
}

// zstdStream compresses pieces as they come.
type zstdStream struct {
	writers *zstdWriters
	zw      *zstd.Encoder
	out     sliceWriter
}

func newZstdStream(z *zstdWriters) (*zstdStream, error) {
	s := &zstdStream{writers: z}
	zw, err := z.get(&s.out)
	s.zw = zw
	return s, err
}

func (s *zstdStream) piece(dst, src []byte, last bool) ([]byte, error) {
	s.out.buf = dst
	_, err := s.zw.Write(src)
	if err == nil && last {
		err = s.zw.Close()
	}
	return s.out.buf, err
}

// Close gives the writer back.
func (s *zstdStream) Close() error {
	s.zw.Reset(nil)
	s.writers.pool.Put(s.zw)
	return nil
}
