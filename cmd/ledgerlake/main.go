// Command ledgerlake is the whole product in one binary: package app has its parts, this one the
// command line. See ledgerlake --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
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

// run is main without the process. Tests call it with their own args and writers.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	c := console.New(stdout, stderr)
	defer func() { err = errors.Join(err, c.Close()) }()
	root := newRoot(c, readBuild())
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}
