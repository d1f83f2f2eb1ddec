package ledger

import (
	"context"
	"runtime"
	"sync"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/history"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"golang.org/x/sync/errgroup"
)

// UpdatesPerBatch bounds what is in work at a time. A batch is about 1.5 MB of JSON:
// what was rendered is then hashed and written while it is still in the processor's
// cache. With four times as many, an update costs a quarter more processor time.
const UpdatesPerBatch = 64

// pipeline executes updates in one goroutine, renders and writes them in several
// and publishes them in the order of execution in one. The bytes do not depend on
// the number of goroutines.
type pipeline struct {
	executor    *sim.Executor
	store       *history.Store
	names       *model.Names
	skipCompact bool
	view        *history.NodeView // nil if no participant's view is kept
	workers     int
	free        chan *work // kept from run to run with their buffers
}

// work is a batch on its way into the files.
type work struct {
	sim.Batch
	out history.Rendered
	// at receives where in the files the batch goes, next passes on where the one
	// after it goes. done receives once when the batch is written.
	at, next chan history.Sizes
	done     chan error
}

func newPipeline(l *Ledger) *pipeline {
	// One renderer more than there are processors: while one waits for its bytes to
	// be written, the others work.
	workers := runtime.GOMAXPROCS(0) + 1
	p := &pipeline{executor: l.Executor, store: l.Store, names: l.Names, skipCompact: l.Config.SkipCompact, view: l.View,
		workers: workers, free: make(chan *work, 2*workers+2)}
	for range cap(p.free) {
		p.free <- &work{done: make(chan error, 1)}
	}
	return p
}

// course says what to execute next.
type course interface {
	// more reports whether anything is left.
	more() bool
	// step executes the next thing into b.
	step(x *sim.Executor, b *sim.Batch) error
}

// updatesLeft is a number of updates in a row.
type updatesLeft int

func (n *updatesLeft) more() bool { return *n > 0 }

func (n *updatesLeft) step(x *sim.Executor, b *sim.Batch) error {
	*n--
	return x.Step(b, *n == 0)
}

// run executes n updates. If ctx ends first, those that were executed are still
// appended, and a later run continues behind them.
func (p *pipeline) run(ctx context.Context, n int, progress func(done, total int)) error {
	left := updatesLeft(n)
	return p.follow(ctx, &left, func(done int) {
		if progress != nil {
			progress(done, n)
		}
	})
}

// follow executes a course. progress is called with the updates that are done.
func (p *pipeline) follow(ctx context.Context, c course, progress func(done int)) error {
	todo := make(chan *work, p.workers)      // to render
	ordered := make(chan *work, cap(p.free)) // the same, to publish
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group errgroup.Group
	group.Go(func() error {
		defer close(todo)
		defer close(ordered)
		return p.execute(ctx, c, todo, ordered)
	})
	var renderers sync.WaitGroup
	for range p.workers {
		renderers.Go(func() { p.render(todo) })
	}
	group.Go(func() error { return p.publish(ordered, cancel, progress) })
	err := group.Wait()
	renderers.Wait()
	return err
}

// execute fills batches and sends each to both channels.
func (p *pipeline) execute(ctx context.Context, c course, todo, ordered chan<- *work) error {
	at := make(chan history.Sizes, 1)
	at <- p.store.End()
	send := func(b *work) {
		b.at, b.next = at, make(chan history.Sizes, 1)
		at = b.next
		todo <- b
		ordered <- b
	}
	for c.more() {
		if p.executor.SwitchDue() {
			if err := p.carryOver(ctx, send); err != nil {
				return err
			}
		}
		b, err := take(ctx, p.free)
		if err != nil {
			return err
		}
		for c.more() && b.Counted < UpdatesPerBatch && !p.executor.SwitchDue() {
			if err := c.step(p.executor, &b.Batch); err != nil {
				return err
			}
		}
		send(b)
	}
	return nil
}

// importsPerBatch makes a batch about as large as one of updates.
const importsPerBatch = 500

// carryOver switches the migration and sends its import updates. It does so to the
// end even if ctx ends, as half a switch is no state to stop in.
func (p *pipeline) carryOver(ctx context.Context, send func(*work)) error {
	imports := p.executor.SwitchMigration()
	for first := true; first || len(imports) > 0; first = false {
		b, err := take(context.WithoutCancel(ctx), p.free)
		if err != nil {
			return err
		}
		n := min(importsPerBatch, len(imports))
		b.Imports = append(b.Imports, imports[:n]...)
		b.Migration, b.StartsMigration = p.executor.Tx.Migration, first
		imports = imports[n:]
		send(b)
	}
	return nil
}

func take(ctx context.Context, free <-chan *work) (*work, error) {
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case b := <-free:
		b.Reset()
		b.out.Reset()
		return b, nil
	}
}

// render renders batches and writes them. Where a batch goes is known as soon as
// the one before it is packed, which another goroutine took earlier.
func (p *pipeline) render(todo <-chan *work) {
	r := history.Renderer{Names: p.names, SkipCompact: p.skipCompact}
	node := history.NodeRenderer{Renderer: &r, View: p.view, Witnesses: history.Witnesses{View: p.view}}
	for b := range todo {
		r.Render(&b.Batch, &b.out)
		if p.view != nil {
			node.Render(&b.Batch, &b.out)
		}
		b.out.Pack()
		at := <-b.at
		b.next <- at.Behind(&b.out)
		b.done <- p.store.Write(&b.out, at)
	}
}

// publish makes batches visible in order and frees them. After an error it cancels
// the execution and only frees, so that nobody waits for a batch forever.
func (p *pipeline) publish(ordered <-chan *work, cancel context.CancelCauseFunc, progress func(done int)) error {
	var failed error
	done := 0
	for b := range ordered {
		if err := <-b.done; err != nil && failed == nil {
			failed = err
			cancel(err)
		}
		if failed == nil {
			if b.StartsMigration {
				p.store.StartMigration()
			}
			p.store.Publish(&b.out)
			done += b.Counted
			progress(done)
		}
		p.free <- b
	}
	return failed
}
