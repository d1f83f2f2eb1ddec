package app

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// app is what all subcommands share.
type app struct {
	cfg      settings.Config
	settings *pflag.FlagSet
	build    Build
	console  *console.Console
	stdout   io.Writer // what people read
	data     io.Writer // the same place, for what programs read
	stderr   io.Writer // messages
	log      *slog.Logger

	// pace and steady are how upstreams' faults are waited out. Only tests set them.
	pace   pace
	steady steady
}

const long = `ledgerlake keeps the whole history of a shared-ledger network in ClickHouse, publishes
it as Parquet objects in S3-compatible storage, and serves it over the network's own
scan interface.

Alone it needs no other service: it runs an embedded ClickHouse engine, an S3 gateway
and a job queue below --data. Pointed at a ClickHouse, a Redis and an S3 bucket, the
same commands are a deployment that scales out.`

func newRoot(c *console.Console, build Build) *cobra.Command {
	a := &app{build: build, console: c, stdout: c.Stdout, data: c.Data, stderr: c.Stderr}
	a.settings = a.cfg.Flags()
	var file string
	root := &cobra.Command{
		Use:           "ledgerlake",
		Short:         "history of a shared-ledger network: ingest, export, serve",
		Long:          long,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          anyCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				file = os.Getenv(settings.EnvPrefix + "CONFIG")
			}
			return a.configure(cmd.Flags(), file)
		},
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.PersistentFlags().StringVar(&file, "config", "", "YAML file of settings; ledgerlake config prints one")
	root.PersistentFlags().AddFlagSet(a.settings)
	root.AddCommand(
		newUp(a), newDemo(a), newIngest(a), newWorker(a), newServe(a), newExport(a), newRestore(a), newVerify(a), newRebuild(a), newRewind(a), newSQL(a),
		newGet(a), newProve(a), newCheckProof(a), newDevnet(a), newReset(a), newToken(a), newAutomation(a), newDoctor(a), newConfig(a), newVersion(a),
	)
	explainUsage(root)
	return root
}

func (a *app) configure(flags *pflag.FlagSet, file string) error {
	if err := settings.Fill(a.settings, flags, file); err != nil {
		return err
	}
	if err := a.cfg.Check(); err != nil {
		return settings.AsUsage(err)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(a.cfg.MemoryLimit)
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.cfg.LogLevel)); err != nil {
		return settings.Usage("--log-level must be debug, info, warn or error, not %q", a.cfg.LogLevel)
	}
	a.log = slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: level, ReplaceAttr: guard.LogStack}))
	return nil
}

// quiet leaves only warnings in the log, for commands that show progress instead.
func (a *app) quiet() {
	if !a.settings.Changed("log-level") {
		a.log = slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: guard.LogStack}))
	}
}

func newConfig(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "config",
		Short:   "print the effective configuration, secrets masked",
		Example: "  ledgerlake config\n  LEDGERLAKE_LISTEN=0.0.0.0:8080 ledgerlake config --data /srv/ledgerlake",
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return a.cfg.Print(a.stdout, a.settings) },
	}
}

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "print the version",
		Example: "  ledgerlake version",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			b := a.build
			what := "built"
			if b.Committed {
				what = "committed"
			}
			_, err := fmt.Fprintf(a.stdout, "ledgerlake %s (%s %s)\n", b.Version, what, b.Time.Format("2006-01-02T15:04:05Z"))
			return err
		},
	}
}

// Build says what program this is.
type Build struct {
	Version string
	// Time is that of the commit, in UTC; of a build that does not know its commit that of
	// the program's file, which is about when it was built.
	Time time.Time
	// Committed says that Time is that of the commit.
	Committed bool
}

// errReported ends a command whose report says what is wrong.
var errReported = errors.New("see the report above")
