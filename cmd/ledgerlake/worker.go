package main

import (
	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
)

func newWorker(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "worker",
		Short: "run background jobs: exports of closed segments, garbage collection, automations of wallets",
		Long: `worker looks in the store for what is due and runs the jobs of the queue: each closed day of
history, or hour with --bulk-segments hour, is exported once, by whichever worker gets it. Run
several against one --redis-url.`,
		Example: "  ledgerlake worker --clickhouse-dsn clickhouse://default@127.0.0.1:9000/default --redis-url redis://127.0.0.1:6379/0 \\\n" +
			"      --s3-endpoint http://127.0.0.1:7070 --s3-bucket ledgerlake --s3-access-key KEY --s3-secret-key SECRET",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			c.limitExports()
			a := c.app()
			defer a.CloseInto(&err)
			return a.Work(cmd.Context())
		},
	}
}

// limitExports lowers the default memory limit in a process that does nothing but export.
func (c *cli) limitExports() {
	if !c.settings.Changed("memory-limit") {
		settings.LimitMemory(min(c.cfg.MemoryLimit, app.ExportMemory))
	}
}
