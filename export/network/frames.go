package network

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Size counts what lines of the network's layout take.
type Size struct {
	Rows int64
	// JSONBytes is before and ZstdBytes after compression.
	JSONBytes, ZstdBytes int64
	Frames               int64
}

// Add adds what other lines take.
func (n *Size) Add(more Size) {
	n.Rows += more.Rows
	n.JSONBytes += more.JSONBytes
	n.ZstdBytes += more.ZstdBytes
	n.Frames += more.Frames
}

// frameWriter compresses lines into zstd frames and counts. A run without lines has
// no frame. Set out and size before the first line; between frames they may change.
type frameWriter struct {
	out  io.Writer
	size *Size
	// most is the compressed size from which on a frame is closed.
	most    int64
	encoder *zstd.Encoder
	frame   int64 // compressed bytes of the open frame so far
	open    bool
}

func newFrameWriter(most int64) (*frameWriter, error) {
	// One goroutine: with several, zstd cuts its input by their number.
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(3)), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("making a zstd encoder: %w", err)
	}
	return &frameWriter{most: most, encoder: encoder}, nil
}

// writeLine adds a line and says whether it ended a frame. A frame may end after any line.
func (w *frameWriter) writeLine(line []byte) (ended bool, err error) {
	if !w.open {
		w.encoder.Reset(compressedBytes{w})
		w.open, w.frame = true, 0
	}
	w.size.Rows++
	w.size.JSONBytes += int64(len(line))
	if _, err := w.encoder.Write(line); err != nil {
		return false, err
	}
	if w.frame < w.most {
		return false, nil
	}
	return true, w.end()
}

// end closes the open frame, if there is one.
func (w *frameWriter) end() error {
	if !w.open {
		return nil
	}
	w.open = false
	w.size.Frames++
	return w.encoder.Close()
}

// compressedBytes takes the encoder's output.
type compressedBytes struct{ w *frameWriter }

// Write implements io.Writer.
func (c compressedBytes) Write(p []byte) (int, error) {
	n, err := c.w.out.Write(p)
	c.w.frame += int64(n)
	c.w.size.ZstdBytes += int64(n)
	return n, err
}

// maxWindow is the largest zstd window that frames of the network's layout need.
const maxWindow = 8 << 20

// newLineDecoder reads the lines in zstd frames.
func newLineDecoder(in io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
}
