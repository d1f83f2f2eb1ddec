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

	"github.com/ledgerlake/ledgerlake/internal/bucket"
	"github.com/ledgerlake/ledgerlake/internal/engine"
)

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
	case len(os.Args) > 1 && os.Args[1] == childCommand:
		err = childMain(ctx, os.Args[2:], os.Stdin, os.Stdout, os.Stderr)
	default:
		err = run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

var errMissedTarget = errors.New("a target was missed")

// run measures what args ask for and prints the report. With --strict it returns
// errMissedTarget when a target was missed.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	report, err := measure(ctx, o, stderr)
	if err != nil {
		return err
	}
	if o.json {
		err = json.NewEncoder(stdout).Encode(report)
	} else {
		err = report.markdown(stdout)
	}
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	if o.strict && report.missed() > 0 {
		return errMissedTarget
	}
	return nil
}

// measure runs the chosen pieces one after another: two at once would measure each other.
func measure(ctx context.Context, o options, stderr io.Writer) (_ *report, err error) {
	l, err := newLab(o, stderr)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	r := &report{Updates: o.updates}
	if r.Machine, err = describeMachine(); err != nil {
		return nil, err
	}
	for _, p := range pieces {
		if !o.wants(p.name) {
			continue
		}
		if err := p.measure(ctx, l, r); err != nil {
			return nil, fmt.Errorf("measuring %s: %w", p.name, err)
		}
	}
	return r, nil
}
