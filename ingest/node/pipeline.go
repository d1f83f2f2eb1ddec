package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/guard"
	"github.com/ledgerlake/ledgerlake/schemas"
)

const (
	// A chunk is decoded by one worker: enough frames to make the exchange of chunks
	// cheap, few enough to keep all workers busy.
	chunkFrames = 128
	chunkBytes  = 512 << 10
	// framesWaiting is how many frames may wait for being put into a chunk.
	framesWaiting = 256
)

// chunk is a run of frames that is decoded at once.
type chunk struct {
	frames []frame
	bytes  int64
	// Once decoded is closed, elements are those of the frames; of an element that is
	// not a frame but a mark, only covered is set. err is why the rest is missing.
	decoded  chan struct{}
	elements []element
	err      error
}

// pipeline takes frames to the sink: they are grouped into chunks, decoded by several
// workers, checked in order and cut into batches. As long as nothing waits, a frame
// passes at once; under load chunks and batches grow.
type pipeline struct {
	workers  int
	inFlight int64
	decoders []*decoder
	seq      *sequence
	batches  *batcher
	// eager reports whether a batch is written as soon as the writer is free,
	// given the offset reached; otherwise only full ones are.
	eager func(at int64) bool
	// hurried receives when somebody waits for the next batch; it may be nil.
	hurried <-chan struct{}
	// write stores a batch.
	write func(ctx context.Context, b stream.Batch) error
	// seen is called with each offset that the stream is complete through.
	seen func(at int64)
	// horizon is the last record time that is taken as of now; nil for no limit.
	horizon func() schemas.Micros
}

// run lets read emit frames until it returns, and writes what comes of them. Frames that
// were emitted before read fails are written as well. It returns the first of: a failure
// of write, which is final; a frame that does not fit; the error of read.
func (p *pipeline) run(ctx context.Context, read func(ctx context.Context, out emit) error) error {
	group, inner := guard.WithContext(ctx)
	frames := make(chan frame, framesWaiting)
	work := make(chan *chunk, p.workers)
	ordered := make(chan *chunk, p.workers+1)
	batches := make(chan stream.Batch) // one is written, one is being filled
	memory := semaphore.NewWeighted(p.inFlight)

	var readErr error
	readCtx, stopReading := context.WithCancelCause(inner)
	defer stopReading(nil)
	group.Go(func() error {
		defer close(frames)
		readErr = read(readCtx, func(ctx context.Context, f frame) error {
			if err := memory.Acquire(ctx, min(int64(len(f.body)), p.inFlight)); err != nil {
				return context.Cause(ctx)
			}
			select {
			case frames <- f:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		return nil
	})
	group.Go(func() error {
		defer close(work)
		defer close(ordered)
		return groupFrames(inner, frames, work, ordered)
	})
	for i := range p.workers {
		group.Go(func() error {
			for c := range work {
				c.decode(p.decoders[i])
			}
			return nil
		})
	}
	var badFrame error
	group.Go(func() error {
		defer close(batches)
		badFrame = p.assemble(inner, ordered, batches, memory)
		stopReading(errStopped) // nothing after a bad frame is wanted
		for range ordered {     // what was read already
		}
		return nil
	})
	group.Go(func() error {
		for b := range batches {
			if err := p.write(inner, b); err != nil {
				return final{err}
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	if badFrame != nil {
		return badFrame
	}
	if errors.Is(readErr, errStopped) {
		return nil
	}
	return readErr
}

// errStopped ends reading once the pipeline has all that it wants.
var errStopped = errors.New("reading has ended")

// groupFrames puts frames into chunks. A chunk is passed on as soon as there is room for it.
func groupFrames(ctx context.Context, frames <-chan frame, work, ordered chan<- *chunk) error {
	next := newChunk()
	for frames != nil || len(next.frames) > 0 {
		in, out := frames, ordered
		if len(next.frames) == 0 {
			out = nil
		}
		if len(next.frames) >= chunkFrames || next.bytes >= chunkBytes {
			in = nil
		}
		select {
		case f, ok := <-in:
			if !ok {
				frames = nil
				continue
			}
			next.frames = append(next.frames, f)
			next.bytes += int64(len(f.body))
		case out <- next:
			select {
			case work <- next:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			next = newChunk()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func newChunk() *chunk { return &chunk{decoded: make(chan struct{})} }

// decode decodes the frames of c, up to the first that cannot be.
func (c *chunk) decode(d *decoder) {
	defer close(c.decoded)
	c.elements = make([]element, 0, len(c.frames))
	for _, f := range c.frames {
		if f.covered > 0 {
			c.elements = append(c.elements, element{offset: f.covered})
			continue
		}
		var el element
		err := guard.Call(func() (err error) { el, err = d.decodeElement(f.body); return err })
		if panicked := (*guard.PanicError)(nil); errors.As(err, &panicked) {
			err = fmt.Errorf("%w: %w", schemas.ErrMalformed, err) // the answer's, as it were
		}
		if err != nil {
			c.err = err
			return
		}
		c.elements = append(c.elements, el)
	}
}

// assemble puts the updates of chunks into batches until there are no more chunks. A
// batch that is complete waits for the writer; one that is not goes as soon as the
// writer waits for it, if the stream is at its tail and the batch has waited for more. There it is also
// written when nothing comes any more: a node may have told its last checkpoint.
func (p *pipeline) assemble(ctx context.Context, ordered <-chan *chunk, batches chan<- stream.Batch, memory *semaphore.Weighted) error {
	for {
		var out chan<- stream.Batch
		var due <-chan time.Time
		if wait, some := p.batches.dueIn(); some && p.eager(p.seq.at) {
			if wait > 0 {
				due = time.After(wait)
			} else {
				out = batches
			}
		}
		select {
		case c, ok := <-ordered:
			if !ok {
				return p.handOver(ctx, batches)
			}
			if err := p.take(ctx, c, batches, memory); err != nil {
				if ended := p.handOver(ctx, batches); ended != nil {
					return ended
				}
				return err
			}
		case out <- p.batches.batch():
			p.batches.next()
		case <-p.hurried:
			p.batches.hurried = true
		case <-due:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// take puts the updates of c into batches.
func (p *pipeline) take(ctx context.Context, c *chunk, batches chan<- stream.Batch, memory *semaphore.Weighted) error {
	select {
	case <-c.decoded:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for i := range c.elements {
		if err := p.element(ctx, &c.elements[i], batches); err != nil {
			return err
		}
	}
	for i := range c.frames {
		memory.Release(min(int64(len(c.frames[i].body)), p.inFlight))
	}
	p.seen(p.seq.at)
	return c.err
}

func (p *pipeline) element(ctx context.Context, el *element, batches chan<- stream.Batch) error {
	if el.update == nil && el.size == 0 {
		p.seq.covered(el.offset)
		p.batches.cover(schemas.AtOffset(p.seq.at))
		return nil
	}
	if err := p.checkFuture(el.update); err != nil {
		return err
	}
	if err := p.seq.next(el); errors.Is(err, errOrder) {
		return p.outOfOrder(el, err)
	} else if err != nil {
		return malformedAt(&element{}, err)
	}
	if el.update == nil {
		p.batches.cover(schemas.AtOffset(p.seq.at))
		return nil
	}
	if err := p.checkPast(el.update); err != nil {
		return err
	}
	if !p.batches.HasRoom(el.size) {
		if err := p.handOver(ctx, batches); err != nil {
			return err
		}
	}
	p.batches.add(el.update, el.size)
	return nil
}

// outOfOrder drops what has not been handed over, so that it is read again with the
// update that came late. If its place has been handed over it is too late for that.
func (p *pipeline) outOfOrder(el *element, err error) error {
	if el.offset > p.seq.from && el.offset <= p.batches.After.Offset {
		return final{fmt.Errorf("%w: %w; drop the rows of the stream, in all tables, and read it again", errLate, err)}
	}
	p.batches.drop()
	p.seq.update = nil
	return malformedAt(&element{}, err)
}

// handOver waits for the writer to take the batch, if it is due.
func (p *pipeline) handOver(ctx context.Context, batches chan<- stream.Batch) error {
	if !p.batches.isDue() {
		return nil
	}
	select {
	case batches <- p.batches.batch():
		p.batches.next()
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
