package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// options are the command line.
type options struct {
	updates       int
	hugeUpdates   int
	hugeBytes     int
	only          []string
	binary        string
	kills         int
	hours         int
	lifetimes     int
	liveContracts int
	work          string
	quiet         time.Duration
	json          bool
	strict        bool
}

// piece is one thing that can be measured alone.
type piece struct {
	name    string
	measure func(context.Context, *lab, *report) error
}

// pieces in the order in which they run; later ones reuse what earlier ones made.
var pieces = []piece{
	{"backfill", measureBackfill},
	{"verify", measureVerify},
	{"baseline", measureBaseline},
	{"size", measureSize},
	{"export", measureExport},
	{"faults", measureFaults},
	{"closing", measureClosing},
	{"download", measureDownload},
	{"huge", measureHuge},
	{"node", measureNodeStream},
	{"latency", measureLatency},
	{"restart", measureRestart},
	{"reads", measureReads},
	{"activeset", measureActiveSet},
	{"ledger", measureLedger},
	{"wallet", measureWallet},
	{"commands", measureCommands},
	{"demo", measureDemo},
}

func parseOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	f := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.updates, "updates", 100_000, "updates of the history that is measured with")
	f.IntVar(&o.hugeUpdates, "huge-updates", 3000, "updates of the history with a huge one")
	f.IntVar(&o.hugeBytes, "huge-update-bytes", 50_000_000, "size of the huge update")
	f.StringSliceVar(&o.only, "only", nil, "measure only these: "+pieceNames())
	f.IntVar(&o.kills, "kills", 100, "times that the product is killed to measure restarts")
	f.IntVar(&o.hours, "hours", 100, "segments of an hour that are closed one after another")
	f.IntVar(&o.lifetimes, "lifetimes", 20_000_000, "lifetimes out of which active contract sets are read")
	f.IntVar(&o.liveContracts, "live-contracts", 1_000_000, "those of them that have not ended")
	f.StringVar(&o.binary, "binary", "", "ledgerlake binary for the demo; built when empty")
	f.StringVar(&o.work, "work", "", "existing folder to work in, which is kept with the store of many lifetimes for the next run; a temporary one when empty")
	f.DurationVar(&o.quiet, "quiet", 5*time.Second, "time without merges after which the engine counts as settled")
	f.BoolVar(&o.json, "json", false, "print one JSON object instead of Markdown")
	f.BoolVar(&o.strict, "strict", false, "exit with status 1 when a target is missed")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	return o, o.check(f.Args())
}

func (o options) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case o.liveContracts < 1 || o.lifetimes <= o.liveContracts:
		return errors.New("--live-contracts must be positive and less than --lifetimes")
	case o.updates < 1 || o.hugeUpdates < 1 || o.hugeBytes < 1 || o.kills < 1 || o.hours < 1:
		return errors.New("--updates, --huge-updates, --huge-update-bytes, --kills and --hours must be positive")
	case o.quiet <= 0:
		return errors.New("--quiet must be positive")
	}
	for _, name := range o.only {
		if !slices.ContainsFunc(pieces, func(p piece) bool { return p.name == name }) {
			return fmt.Errorf("--only %s: there is only %s", name, pieceNames())
		}
	}
	return nil
}

func (o options) wants(name string) bool { return len(o.only) == 0 || slices.Contains(o.only, name) }

func pieceNames() string {
	var names []string
	for _, p := range pieces {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}
