// Package guard keeps a panic to the work it happens in: one request, one socket, one job or
// one step of a loop fails with an error, and the process lives.
//
// A goroutine of the product is started by this package alone, so each has an owner that waits
// for it and takes its error; a test in internal/layering enforces it.
package guard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// PanicError is the error of work that panicked.
type PanicError struct {
	Value any
	// Stack is the stack of the goroutine at the panic, for the log: see LogStack.
	Stack []byte
}

// Error gives the value alone: the error may be shown where a stack does not belong.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// recovered counts panics. A process has one count, as it has one fate.
var recovered atomic.Int64

// Recovered is how many panics this process has survived.
func Recovered() int64 { return recovered.Load() }

// Recover turns a panic into *err. It must itself be the deferred call:
//
//	defer guard.Recover(&err)
func Recover(err *error) {
	p := recover()
	if p == nil {
		return
	}
	var before *PanicError
	if again, ok := p.(error); ok && errors.As(again, &before) {
		*err = again // handed on from another goroutine, whose stack it has
		return
	}
	recovered.Add(1)
	*err = &PanicError{Value: p, Stack: debug.Stack()}
}

// Call returns the error of f; a panic of f is one.
func Call(f func() error) (err error) {
	defer Recover(&err)
	return f()
}

// Go runs f on a goroutine of its own, which ends with ended. ended gets the error of f, a panic
// included; the owner learns by it that the goroutine is over.
func Go(f func() error, ended func(error)) {
	go func() { ended(Call(f)) }()
}

// Group runs functions on goroutines of its own, like an errgroup.Group; a panic is the error of
// its function. Make one by WithContext or NewGroup.
type Group struct{ *errgroup.Group }

// WithContext returns a group and a context that ends with the first error of the group, or when
// Wait returns.
func WithContext(ctx context.Context) (*Group, context.Context) {
	group, ctx := errgroup.WithContext(ctx)
	return &Group{group}, ctx
}

// NewGroup returns a group whose functions do not end each other.
func NewGroup() *Group { return &Group{new(errgroup.Group)} }

// Go runs f on a goroutine.
func (g *Group) Go(f func() error) {
	g.Group.Go(func() error { return Call(f) })
}

// LogStack is for slog.HandlerOptions.ReplaceAttr: it puts the stack of a panic beside the error
// that tells of it.
func LogStack(_ []string, a slog.Attr) slog.Attr {
	err, ok := a.Value.Any().(error)
	if !ok {
		return a
	}
	var p *PanicError
	if !errors.As(err, &p) {
		return a
	}
	return slog.Attr{Value: slog.GroupValue(slog.String(a.Key, err.Error()), slog.String("stack", string(p.Stack)))}
}
