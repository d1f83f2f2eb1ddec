package query

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

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

// quality reads the q parameter of a coding; without one it is 1.
func quality(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		name, value, ok := strings.Cut(strings.TrimSpace(param), "=")
		if !ok || !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil {
			return 0
		}
		return q
	}
	return 1
}

// minGzip is the smallest body worth compressing: about what one packet holds.
const minGzip = 1400

// zstdWindow bounds the memory of a compressor and of who reads its output.
const zstdWindow = 1 << 20

// coder is a writer that compresses; *gzip.Writer and *zstd.Encoder are.
type coder interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// coders recycles the writers of one coding: each holds about a megabyte of tables.
type coders struct {
	name string // in the header Content-Encoding
	pool sync.Pool
}

// The only errors of both are of options that are unknown.
func newGzip() *coders {
	return &coders{name: "gzip", pool: sync.Pool{New: func() any {
		zw, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		return zw
	}}}
}

func newZstd() *coders {
	return &coders{name: "zstd", pool: sync.Pool{New: func() any {
		zw, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(zstdWindow))
		return zw
	}}}
}

// coding compresses an answer piece by piece. Close ends its use, complete or not.
type coding struct {
	from *coders
	zw   coder
	out  sliceWriter
}

func (c *coders) begin() *coding {
	s := &coding{from: c, zw: c.pool.Get().(coder)}
	s.zw.Reset(&s.out)
	return s
}

// piece compresses src and appends what is ready to dst.
func (s *coding) piece(dst, src []byte, last bool) ([]byte, error) {
	s.out.buf = dst
	_, err := s.zw.Write(src)
	if err == nil && last {
		err = s.zw.Close()
	}
	return s.out.buf, err
}

// Close gives the writer back.
func (s *coding) Close() error {
	s.zw.Reset(nil)
	s.from.pool.Put(s.zw)
	return nil
}

// sliceWriter appends to a slice; it never fails.
type sliceWriter struct{ buf []byte }

func (s *sliceWriter) Write(p []byte) (int, error) {
	s.buf = append(s.buf, p...)
	return len(p), nil
}
