package memo

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// Read is a value that is read in the background.
type Read[T any] struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when value and err are set
	value  T
	err    error
}

// Start starts to read on a goroutine. The context of read ends with ctx, with Stop and when
// read returns. ended, unless it is nil, is called with the result before any caller gets it.
func Start[T any](ctx context.Context, read func(context.Context) (T, error), ended func(T, error)) *Read[T] {
	ctx, cancel := context.WithCancel(ctx)
	r := &Read[T]{cancel: cancel, done: make(chan struct{})}
	guard.Go(func() (err error) {
		r.value, err = read(ctx)
		return err
	}, func(err error) {
		cancel()
		r.err = err
		if ended != nil {
			ended(r.value, err)
		}
		close(r.done)
	})
	return r
}

// Wait returns the result of the read, or ctx's error if that ends first.
func (r *Read[T]) Wait(ctx context.Context) (T, error) {
	select {
	case <-r.done:
		return r.value, r.err
	case <-ctx.Done():
		var zero T
		return zero, ctx.Err()
	}
}

// Stop ends the context of the read. It does not wait for the read to return.
func (r *Read[T]) Stop() { r.cancel() }

// Done is closed when the read has returned.
func (r *Read[T]) Done() <-chan struct{} { return r.done }
