package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/bench/lab"

	"github.com/spf13/pflag"
)

// options are the command line.
type options struct {
	lab.Settings
	only   []string
	json   bool
	strict bool
}

const usage = `Measures the product and what it is compared with, and prints a Markdown table.
bench/RESULTS.md says how to read it and has earlier results.

Usage:
  go run ./bench [flags]
  make bench ARGS="[flags]"      first installs what it can

Examples:
  go run ./bench                                       everything: about an hour
  go run ./bench --only backfill,verify,size           what these share is prepared once
  go run ./bench --only reads --updates 5000           a quick look; the targets are for 100,000 updates
  go run ./bench --only export --json >export.json     for machines
  go run ./bench --only activeset --work ./sets        keeps the store of many lifetimes for the next run

Interrupt it (Ctrl-C) to print what has been measured so far.

Flags:
`

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	f := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	f.SetOutput(stderr)
	f.SortFlags = false
	f.Usage = func() { fmt.Fprint(stderr, usage, f.FlagUsagesWrapped(100)) }
	f.StringSliceVar(&o.only, "only", nil, "measure only these: "+pieceNames())
	f.IntVar(&o.Updates, "updates", 100_000, "number of updates in the measured history")
	f.BoolVar(&o.json, "json", false, "print one JSON object instead of Markdown")
	f.BoolVar(&o.strict, "strict", false, "exit with status 1 when a target is missed")
	f.StringVar(&o.Binary, "binary", "", "ledgerlake `FILE` to measure; built from this module when empty")
	f.StringVar(&o.Work, "work", "", "existing `FOLDER` to work in; the store of many lifetimes is kept there for the next run; default a temporary folder")
	f.IntVar(&o.HugeUpdates, "huge-updates", 3000, "number of updates in the history with a huge update")
	f.IntVar(&o.HugeBytes, "huge-update-bytes", 50_000_000, "size of the huge update")
	f.IntVar(&o.AnalyticsUpdates, "analytics-updates", 20_000, "number of updates in the history that questions are asked of")
	f.IntVar(&o.Kills, "kills", 100, "how often to kill the product to measure restarts")
	f.IntVar(&o.Hours, "hours", 100, "number of hourly segments to close one after another")
	f.IntVar(&o.Lifetimes, "lifetimes", 20_000_000, "number of lifetimes from which active contract sets are read")
	f.IntVar(&o.LiveContracts, "live-contracts", 1_000_000, "how many of the lifetimes have not ended")
	f.DurationVar(&o.Quiet, "quiet", 5*time.Second, "time without merges after which the engine counts as settled")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	return o, o.check(f.Args())
}

func (o options) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case o.LiveContracts < 1 || o.Lifetimes <= o.LiveContracts:
		return errors.New("--live-contracts must be positive and less than --lifetimes")
	case o.Updates < 1 || o.HugeUpdates < 1 || o.HugeBytes < 1 || o.AnalyticsUpdates < 1 || o.Kills < 1 || o.Hours < 1:
		return errors.New("--updates, --huge-updates, --huge-update-bytes, --analytics-updates, --kills and --hours must be positive")
	case o.Quiet <= 0:
		return errors.New("--quiet must be positive")
	}
	for _, name := range o.only {
		if !slices.ContainsFunc(allPieces, func(p lab.Piece) bool { return p.Name == name }) {
			return fmt.Errorf("--only %s is unknown: choose from %s", name, pieceNames())
		}
	}
	return nil
}
