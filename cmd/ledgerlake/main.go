// Command ledgerlake is the whole product in one binary: package app has its parts, this one the
// command line. See ledgerlake --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/guard"
)

func main() { os.Exit(process()) }

// process is main with an exit status. Embedded services run this same binary under a hidden
// first argument.
func process() int {
	if status, ok := app.Child(os.Args[1:]); ok {
		return status
	}
	ctx, stop := interruptible()
	defer stop()
	return execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// The exit statuses, beside those of a command that is interrupted.
const (
	statusDone   = 0
	statusFailed = 1
	statusUsage  = 2 // the command line, a variable or the configuration file is wrong; nothing was done
)

// execute is run with its error printed, and an exit status.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := run(ctx, args, stdout, stderr)
	if err == nil {
		return statusDone
	}
	var by *interruption
	if errors.As(context.Cause(ctx), &by) {
		if errors.Is(err, context.Canceled) {
			err = by // what it was in the middle of says nothing more
		}
		fmt.Fprintln(stderr, oneLine(err))
		return by.status()
	}
	fmt.Fprintln(stderr, oneLine(err))
	var wrong *settings.UsageError
	if errors.As(err, &wrong) {
		return statusUsage
	}
	return statusFailed
}

// oneLine is an error as people are shown it: errors that were joined are separated by
// semicolons, and nothing in it controls the terminal.
func oneLine(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return "ledgerlake: " + console.Printable(strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), "; "))
}

// interruption is the signal that ended a command before its work was done.
type interruption struct{ signal syscall.Signal }

func (i *interruption) Error() string { return fmt.Sprintf("stopped by signal %s", i.signal) }

// Is says that it is a cancellation, for those who look at the cause of a context.
func (*interruption) Is(target error) bool { return target == context.Canceled }

// status is 128 and the number of the signal, as shells have it: 130 for Ctrl-C.
func (i *interruption) status() int { return 128 + int(i.signal) }

// interruptible returns a context that the first interrupt or termination ends. The second one
// ends the process: somebody does not want to wait.
func interruptible() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	guard.Go(func() error {
		select {
		case s := <-signals:
			return &interruption{s.(syscall.Signal)}
		case <-ctx.Done():
			return nil
		}
	}, func(by error) {
		signal.Stop(signals)
		cancel(by)
	})
	return ctx, func() { cancel(nil) }
}

// run is main without the process. Tests call it with their own args and writers.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	c := console.New(stdout, stderr)
	defer func() { err = errors.Join(err, c.Close()) }()
	root := newRoot(c, readBuild())
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}
