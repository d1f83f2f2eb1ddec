// Command ledgerlake is the whole product in one binary: see package documentation
// of the folders it wires together, and ledgerlake --help.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/engine"
)

func main() { os.Exit(process()) }

// process is main with an exit status. Embedded services run this same binary under a
// hidden first argument.
func process() int {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case engine.ChildCommand:
			return engine.ChildMain(os.Args[2:])
		case bucket.GatewayCommand:
			return bucket.GatewayMain(os.Args[2:])
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "ledgerlake:", err)
		return 1
	}
	return 0
}

// run is main without the process. Tests call it with their own args and writers.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	root := newRoot(stdout, stderr)
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}
