package export

import (
	"context"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// networkFrameBytes is the compressed size at which the network closes a zstd frame.
const networkFrameBytes = 12 << 20

// NetworkSize counts what the network's own bulk layout takes for one kind of row.
type NetworkSize struct {
	Rows int64
	// JSONBytes is before and ZstdBytes after compression.
	JSONBytes, ZstdBytes int64
	Frames               int64
}

// NetworkSizes are the sizes of the two kinds of objects in the network's layout.
type NetworkSizes struct{ Updates, ACS NetworkSize }

// NetworkLayout writes all closed days in the network's own bulk layout: JSON lines
// with sorted keys in zstd frames of level 3, one run of frames per day for the updates
// and one for the contracts active at its start, values in the stored encoding. open
// gives the writer for each and is called with schemas.ParquetUpdates or
// schemas.ParquetACS, by several goroutines at once; io.Discard is fine for who only
// wants the sizes.
func (e *Exporter) NetworkLayout(ctx context.Context, open func(schemas.SegmentRef, schemas.ParquetTable) (io.Writer, error)) (NetworkSizes, error) {
	refs, err := e.closedSegments(ctx)
	if err != nil {
		return NetworkSizes{}, err
	}
	sizes := make([]NetworkSizes, len(refs))
	running, ctx := errgroup.WithContext(ctx)
	running.SetLimit(e.cfg.Workers)
	for i, ref := range refs {
		if ref.IsImports() {
			continue // the network gives them as part of active sets only
		}
		running.Go(func() error { return e.networkDay(ctx, ref, open, &sizes[i]) })
	}
	if err := running.Wait(); err != nil {
		return NetworkSizes{}, err
	}
	var total NetworkSizes
	for _, s := range sizes {
		total.Updates.add(s.Updates)
		total.ACS.add(s.ACS)
	}
	return total, nil
}

func (n *NetworkSize) add(more NetworkSize) {
	n.Rows += more.Rows
	n.JSONBytes += more.JSONBytes
	n.ZstdBytes += more.ZstdBytes
	n.Frames += more.Frames
}

func (e *Exporter) networkDay(ctx context.Context, ref schemas.SegmentRef, open openFunc, sizes *NetworkSizes) error {
	if err := e.networkUpdates(ctx, ref, open, &sizes.Updates); err != nil {
		return fmt.Errorf("writing updates of %s as JSON lines: %w", ref, err)
	}
	if err := e.networkACS(ctx, ref, open, &sizes.ACS); err != nil {
		return fmt.Errorf("writing the active contracts of %s as JSON lines: %w", ref, err)
	}
	return nil
}

type openFunc = func(schemas.SegmentRef, schemas.ParquetTable) (io.Writer, error)

func (e *Exporter) networkUpdates(ctx context.Context, ref schemas.SegmentRef, open openFunc, size *NetworkSize) error {
	return networkLines(ctx, ref, schemas.ParquetUpdates, open, size, e.updatePages, func(dst []byte, u *schemas.Update) []byte {
		return schemas.AppendUpdate(dst, u, schemas.UpdateForm{})
	})
}

func (e *Exporter) networkACS(ctx context.Context, ref schemas.SegmentRef, open openFunc, size *NetworkSize) error {
	return networkLines(ctx, ref, schemas.ParquetACS, open, size, e.contractPages, func(dst []byte, c *history.ActiveContract) []byte {
		return schemas.AppendActiveContract(dst, &c.Event, c.CreatedIn, schemas.StoredValues{})
	})
}

// networkLines writes all rows of one table of a segment, a JSON line each.
func networkLines[T any](ctx context.Context, ref schemas.SegmentRef, table schemas.ParquetTable, open openFunc, size *NetworkSize,
	pages func(context.Context, schemas.SegmentRef, func(context.Context, []T) error) error, appendRow func([]byte, *T) []byte,
) error {
	out, err := open(ref, table)
	if err != nil {
		return err
	}
	frames, err := newFrameWriter(out, size)
	if err != nil {
		return err
	}
	var line []byte
	err = pages(ctx, ref, func(_ context.Context, page []T) error {
		for i := range page {
			line = append(appendRow(line[:0], &page[i]), '\n')
			if err := frames.writeLine(line); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return frames.end()
}

// frameWriter compresses lines into zstd frames and counts. A run without lines has
// no frame.
type frameWriter struct {
	out     io.Writer
	encoder *zstd.Encoder
	size    *NetworkSize
	frame   int64 // compressed bytes of the open frame so far
	open    bool
}

func newFrameWriter(out io.Writer, size *NetworkSize) (*frameWriter, error) {
	w := &frameWriter{out: out, size: size}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(3)), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, fmt.Errorf("making a zstd encoder: %w", err)
	}
	w.encoder = encoder
	return w, nil
}

// writeLine adds a line. A frame may end after any line.
func (w *frameWriter) writeLine(line []byte) error {
	if !w.open {
		w.encoder.Reset(compressedBytes{w})
		w.open, w.frame = true, 0
	}
	w.size.Rows++
	w.size.JSONBytes += int64(len(line))
	if _, err := w.encoder.Write(line); err != nil {
		return err
	}
	if w.frame < networkFrameBytes {
		return nil
	}
	return w.end()
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
