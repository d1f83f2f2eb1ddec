package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/ledgerlake/ledgerlake/bench/lab"

	"github.com/spf13/pflag"

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/engine"
)

// The roles of children beside those of the lab.
const (
	roleBaseline = "baseline"
	roleExport   = "export"
	roleCommands = "commands"
)

var roles = map[string]lab.Role{
	roleBaseline: lab.RoleOf(loadRawJSON),
	roleExport:   lab.RoleOf(exportHistory),
	roleCommands: lab.RoleOf(executeTransfers),
}

func main() { os.Exit(process()) }

// process is main with an exit status. The embedded engine and the measured parts run
// this same binary under a hidden first argument.
func process() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := error(nil)
	switch {
	case len(os.Args) > 1 && os.Args[1] == engine.ChildCommand:
		return engine.ChildMain(os.Args[2:])
	case len(os.Args) > 1 && os.Args[1] == bucket.GatewayCommand:
		return bucket.GatewayMain(os.Args[2:])
	case len(os.Args) > 1 && os.Args[1] == lab.ChildCommand:
		err = lab.ChildMain(ctx, os.Args[2:], roles, os.Stdin, os.Stdout)
	default:
		err = run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

var (
	errMissedTarget = errors.New("a target was missed")
	errIncomplete   = errors.New("not everything was measured")
)

// run measures what args ask for and prints the report. It returns errIncomplete when a piece
// failed or the run was interrupted, and, with --strict, errMissedTarget when a target was missed.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, stderr)
	if errors.Is(err, pflag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	report, err := lab.MeasureAll(ctx, o.Settings, o.pieces(), stderr)
	if report == nil {
		return err
	}
	write := report.Markdown
	if o.json {
		write = func(w io.Writer) error { return json.NewEncoder(w).Encode(report) }
	}
	if writeErr := write(stdout); writeErr != nil {
		err = errors.Join(err, fmt.Errorf("writing the report: %w", writeErr))
	}
	switch {
	case err != nil:
		return err
	case len(report.Failed) > 0:
		return errIncomplete
	case o.strict && report.Missed() > 0:
		return errMissedTarget
	}
	return nil
}
