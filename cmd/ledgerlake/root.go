package main

import (
	"errors"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/guard"
)

// cli is what all subcommands share.
type cli struct {
	cfg      settings.Config
	groups   settings.Flags
	settings *pflag.FlagSet // of all groups
	build    app.Build
	console  *console.Console
	stdout   io.Writer // what people read
	data     io.Writer // the same place, for what programs read
	stderr   io.Writer // messages
	log      *slog.Logger
}

const long = `ledgerlake keeps the whole history of a shared-ledger network in ClickHouse, publishes
it as Parquet objects in S3-compatible storage, and serves it over the network's own
scan interface.

By itself it needs no other service: it runs an embedded ClickHouse engine, an S3 gateway
and a job queue below --data. With your own ClickHouse, Redis and S3 bucket, the
same commands make a deployment that scales out.`

func newRoot(to *console.Console, build app.Build) *cobra.Command {
	c := &cli{build: build, console: to, stdout: to.Stdout, data: to.Data, stderr: to.Stderr}
	c.groups = c.cfg.Flags()
	c.settings = c.groups.All()
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
			return c.configure(cmd.Flags(), file)
		},
	}
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	root.PersistentFlags().StringVar(&file, "config", "", "YAML file of settings; ledgerlake config prints one")
	root.Flags().AddFlagSet(c.settings) // they may precede the command, which then takes them or does not
	for _, command := range c.commands() {
		c.accept(command)
		root.AddCommand(command.Command)
	}
	c.explainUsage(root)
	return root
}

// command is a subcommand with the settings that it uses.
type command struct {
	*cobra.Command
	groups []settings.Group
	also   []string // settings of other groups
}

func (c *cli) commands() []command {
	const (
		general, upstream, store, objects, jobs = settings.GroupGeneral, settings.GroupUpstream, settings.GroupStore, settings.GroupObjects, settings.GroupJobs
		query, ledger, validator, wallet        = settings.GroupQuery, settings.GroupLedger, settings.GroupValidator, settings.GroupWallet
		console                                 = settings.GroupConsole
	)
	of := func(groups ...settings.Group) []settings.Group { return groups }
	return []command{
		{newUp(c), settings.Groups, nil},
		{newDemo(c), of(general, upstream, store, objects, jobs, query), nil},
		{newIngest(c), of(general, upstream, store), []string{"allowed-hosts", "public-url"}},
		{newWorker(c), of(general, upstream, store, objects, jobs, validator, wallet), []string{"ledger-participant"}},
		{newServe(c), of(general, upstream, store, objects, query, ledger, validator, wallet, console), nil},
		{newExport(c), of(general, store, objects, jobs), []string{"record-time-ahead"}},
		{newRestore(c), of(general, store, objects), []string{"scan-url", "scan-rate", "scan-page-bytes"}},
		{newReshard(c), of(general, store), nil},
		{newVerify(c), of(general, upstream, store, objects), nil},
		{newRebuild(c), of(general, store), nil},
		{newRepair(c), of(general, upstream, store, objects), nil},
		{newRewind(c), of(general, store, objects), nil},
		{newSQL(c), of(general, store), nil},
		{newPackage(c), of(general, upstream, store), nil},
		{newTable(c), of(general, store), nil},
		{newGet(c), of(general, objects), nil},
		{newProve(c), of(general, objects), nil},
		{newCheckProof(c), of(general), nil},
		{newDevnet(c), of(general), nil},
		{newReset(c), of(general), nil},
		{newToken(c), of(general, ledger, validator), nil},
		{newOperator(c), of(general, upstream, validator), nil},
		{newAutomation(c), of(general, upstream, store, validator, wallet), []string{"ledger-participant"}},
		{newDoctor(c), settings.Groups, nil},
		{newConfig(c), settings.Groups, nil},
		{newVersion(c), of(general), nil},
	}
}

// accept lets a command, and those below it, be given the settings that it uses.
func (c *cli) accept(to command) {
	for _, cmd := range append(to.Commands(), to.Command) {
		for _, group := range to.groups {
			cmd.Flags().AddFlagSet(c.groups[group])
		}
		for _, name := range to.also {
			cmd.Flags().AddFlag(c.settings.Lookup(name))
		}
	}
}

func (c *cli) configure(flags *pflag.FlagSet, file string) error {
	if err := settings.Fill(c.settings, flags, file); err != nil {
		return err
	}
	if err := c.cfg.Check(); err != nil {
		return settings.AsUsage(err)
	}
	settings.LimitMemory(c.cfg.MemoryLimit)
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.cfg.LogLevel)); err != nil {
		return settings.Usage("--log-level must be debug, info, warn or error, not %q", c.cfg.LogLevel)
	}
	c.log = slog.New(slog.NewTextHandler(c.stderr, &slog.HandlerOptions{Level: level, ReplaceAttr: guard.LogStack}))
	return nil
}

// app returns the product with the settings of this command.
func (c *cli) app() *app.App { return app.New(&c.cfg, c.build, c.log) }

// quiet leaves only warnings in the log, for commands that show progress instead.
func (c *cli) quiet() {
	if !c.settings.Changed("log-level") {
		c.log = slog.New(slog.NewTextHandler(c.stderr, &slog.HandlerOptions{Level: slog.LevelWarn, ReplaceAttr: guard.LogStack}))
	}
}

func newConfig(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:     "config",
		Short:   "print the effective configuration, with secrets masked",
		Example: "  ledgerlake config\n  LEDGERLAKE_LISTEN=0.0.0.0:8080 ledgerlake config --data /srv/ledgerlake",
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return c.cfg.Print(c.stdout, c.settings) },
	}
}

// errReported ends a command whose report says what is wrong.
var errReported = errors.New("see the report above")
