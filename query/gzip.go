package query

import (
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// minGzip is the smallest body worth compressing: about what one packet holds.
const minGzip = 1400

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

// compressors recycles gzip writers: each holds about 800 kB of tables.
type compressors struct{ pool sync.Pool }

func (c *compressors) get(w io.Writer) *gzip.Writer {
	if zw, ok := c.pool.Get().(*gzip.Writer); ok {
		zw.Reset(w)
		return zw
	}
	// The only possible error is an unknown level.
	zw, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
	return zw
}

func (c *compressors) put(zw *gzip.Writer) { c.pool.Put(zw) }

// sliceWriter appends to a slice; it never fails.
type sliceWriter struct{ buf []byte }

func (s *sliceWriter) Write(p []byte) (int, error) {
	s.buf = append(s.buf, p...)
	return len(p), nil
}

// all compresses src into dst.
func (c *compressors) all(dst, src []byte) ([]byte, error) {
	out := &sliceWriter{buf: dst}
	zw := c.get(out)
	defer c.put(zw)
	if _, err := zw.Write(src); err != nil {
		return out.buf, err
	}
	err := zw.Close()
	return out.buf, err
}

// gzipStream compresses pieces as they come. Close gives the writer back.
type gzipStream struct {
	compressors *compressors
	zw          *gzip.Writer
	out         sliceWriter
}

func newGzipStream(c *compressors) *gzipStream {
	g := &gzipStream{compressors: c}
	g.zw = c.get(&g.out)
	return g
}

// piece compresses src and appends what is ready to dst.
func (g *gzipStream) piece(dst, src []byte, last bool) ([]byte, error) {
	g.out.buf = dst
	_, err := g.zw.Write(src)
	if err == nil && last {
		err = g.zw.Close()
	}
	return g.out.buf, err
}

// Close ends the use of the stream, complete or not.
func (g *gzipStream) Close() error {
	g.compressors.put(g.zw)
	return nil
}
