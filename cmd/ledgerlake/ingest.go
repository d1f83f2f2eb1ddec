package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
)

func newIngest(c *cli) *cobra.Command {
	var once bool
	cmd := &cobra.Command{
		Use:   "ingest [--scan-url URL]... [--node-url URL]",
		Short: "backfill history from its upstreams into the store, then follow their tail",
		Long: `ingest reads the whole history of the network from a scan service (its update and
backfilling operations) and, if a node is given, what that node's own parties see from
its ledger API. It writes both into ClickHouse exactly once, and then follows the tail
until it is stopped. You can stop and start it at any time: it resumes at the end of what
is stored. It retries whatever goes wrong with an upstream; a stream stops only if its
upstream's history has changed, which /streams then shows. With --once it ends with an
error instead if an upstream cannot be read.

With --clickhouse-dsn you can run two of it or more: one writes, and the others stand by and
take over within seconds when it ends. With --once it takes over at once.

Several scan services share the work, and take over when one of them is away. With
--scan-agree 2 or more, a range is stored only once that many returned the same content.`,
		Example: "  ledgerlake ingest --scan-url https://scan.example.com\n" +
			"  ledgerlake ingest --scan-url https://scan-a.example.com --scan-url https://scan-b.example.com --scan-agree 2\n" +
			"  ledgerlake ingest --node-url http://127.0.0.1:7575 --node-token-file /run/secrets/token --status-listen 127.0.0.1:8090\n" +
			"  ledgerlake ingest --scan-url http://127.0.0.1:5012 --clickhouse-dsn clickhouse://default@127.0.0.1:9000/default --once",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if len(c.cfg.ScanURLs) == 0 && c.cfg.NodeURL == "" {
				return settings.Usage("ingest needs --scan-url, the address of a scan service such as http://127.0.0.1:5012, or --node-url, that of a node's ledger API")
			}
			a := c.app()
			defer a.CloseInto(&err)
			return a.Ingest(cmd.Context(), once, console.NewProgress(c.console), func(address string) {
				fmt.Fprintf(c.stdout, "streams: http://%s/streams, metrics: http://%s/metrics\n", address, address)
			})
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "stop at the end of the upstreams' history")
	return cmd
}
