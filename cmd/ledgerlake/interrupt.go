package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// interruption is the signal that ended a command before its work was done.
type interruption struct{ signal syscall.Signal }

func (i *interruption) Error() string { return fmt.Sprintf("stopped by signal %s", i.signal) }

// Is says that it is a cancellation, for those who look at the cause of a context.
func (*interruption) Is(target error) bool { return target == context.Canceled }

// status is 128 and the number of the signal, as shells have it: 130 for Ctrl-C.
func (i *interruption) status() int { return 128 + int(i.signal) }

// interrupts are the interrupts of a process. A command may take them for a while.
type interrupts struct{ taker atomic.Pointer[func()] }

// interruptsKey is the key of the *interrupts in the context of a process.
type interruptsKey struct{}

// takeInterrupts calls do on each interrupt of the process, instead of ending it, until release is called.
func takeInterrupts(ctx context.Context, do func()) (release func()) {
	i, ok := ctx.Value(interruptsKey{}).(*interrupts)
	if !ok { // a test without a process
		return func() {}
	}
	i.taker.Store(&do)
	return func() { i.taker.Store(nil) }
}

// next waits for a signal that ends the process, or for the end of ctx.
func (i *interrupts) next(ctx context.Context, signals <-chan os.Signal) error {
	for {
		select {
		case s := <-signals:
			if do := i.taker.Load(); do != nil && s == os.Interrupt {
				(*do)()
				continue
			}
			return &interruption{s.(syscall.Signal)}
		case <-ctx.Done():
			return nil
		}
	}
}

// interruptible returns a context that the first interrupt or termination ends, unless a command takes it.
// The second one ends the process: somebody does not want to wait.
func interruptible() (ctx context.Context, stop func()) {
	i := new(interrupts)
	ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), interruptsKey{}, i))
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	guard.Go(func() error { return i.next(ctx, signals) }, func(by error) {
		signal.Stop(signals)
		cancel(by)
	})
	return ctx, func() { cancel(nil) }
}
