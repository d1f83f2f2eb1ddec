package devnet

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
)

// updatesPerBatch bounds what is in work at a time: a batch is some 3 MB of JSON.
const updatesPerBatch = 256

// pipeline executes updates in one goroutine, renders and writes them in several
// and publishes them in the order of execution in one. The bytes do not depend on
// the number of goroutines.
type pipeline struct {
	executor    *executor
	store       *store
	names       *names
	skipCompact bool
}

// run executes n updates. If ctx ends first, those that were executed are still
// appended, and a later run continues behind them.
func (p *pipeline) run(ctx context.Context, n int, progress func(done, total int)) error {
	workers := runtime.GOMAXPROCS(0)
	todo := make(chan *batch, workers)    // to render
	ordered := make(chan *batch, workers) // the same, to publish
	free := make(chan *batch, 2*workers+2)
	for range cap(free) {
		free <- newBatch()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group errgroup.Group
	group.Go(func() error {
		defer close(todo)
		defer close(ordered)
		return p.execute(ctx, n, free, todo, ordered)
	})
	var renderers sync.WaitGroup
	for range workers {
		renderers.Go(func() { p.render(todo) })
	}
	group.Go(func() error { return p.publish(ordered, free, cancel, n, progress) })
	err := group.Wait()
	renderers.Wait()
	return err
}

// execute fills batches and sends each to both channels.
func (p *pipeline) execute(ctx context.Context, n int, free <-chan *batch, todo, ordered chan<- *batch) error {
	at := make(chan sizes, 1)
	at <- p.store.end()
	send := func(b *batch) {
		b.at, b.next = at, make(chan sizes, 1)
		at = b.next
		todo <- b
		ordered <- b
	}
	for left := n; left > 0; {
		if p.executor.switchDue() {
			if err := p.carryOver(ctx, free, send); err != nil {
				return err
			}
		}
		b, err := take(ctx, free)
		if err != nil {
			return err
		}
		for left > 0 && b.counted < updatesPerBatch && !p.executor.switchDue() {
			left--
			if err := p.executor.step(b, left == 0); err != nil {
				return err
			}
		}
		send(b)
	}
	return nil
}

// importsPerBatch makes a batch about as large as one of updates.
const importsPerBatch = 2000

// carryOver switches the migration and sends its import updates. It does so to the
// end even if ctx ends, as half a switch is no state to stop in.
func (p *pipeline) carryOver(ctx context.Context, free <-chan *batch, send func(*batch)) error {
	imports := p.executor.switchMigration()
	for first := true; first || len(imports) > 0; first = false {
		b, err := take(context.WithoutCancel(ctx), free)
		if err != nil {
			return err
		}
		n := min(importsPerBatch, len(imports))
		b.imports = append(b.imports, imports[:n]...)
		b.migration, b.startsMigration = p.executor.migration, first
		imports = imports[n:]
		send(b)
	}
	return nil
}

func take(ctx context.Context, free <-chan *batch) (*batch, error) {
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case b := <-free:
		b.reset()
		return b, nil
	}
}

// render renders batches and writes them. Where a batch goes is known as soon as
// the one before it is rendered, which another goroutine took earlier.
func (p *pipeline) render(todo <-chan *batch) {
	r := renderer{names: p.names, skipCompact: p.skipCompact}
	for b := range todo {
		r.render(b)
		at := <-b.at
		b.next <- at.behind(&b.out)
		b.done <- p.store.write(&b.out, at)
	}
}

// publish makes batches visible in order and frees them. After an error it cancels
// the execution and only frees, so that nobody waits for a batch forever.
func (p *pipeline) publish(ordered <-chan *batch, free chan<- *batch, cancel context.CancelCauseFunc, n int, progress func(done, total int)) error {
	var failed error
	done := 0
	for b := range ordered {
		if err := <-b.done; err != nil && failed == nil {
			failed = err
			cancel(err)
		}
		if failed == nil {
			if b.startsMigration {
				p.store.startMigration()
			}
			p.store.publish(&b.out)
			if done += b.counted; progress != nil {
				progress(done, n)
			}
		}
		free <- b
	}
	return failed
}
