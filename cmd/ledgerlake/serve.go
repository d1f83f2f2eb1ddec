package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app"
)

func newServe(c *cli) *cobra.Command {
	var damaged bool
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "serve the console and the scan, ledger, validator and analytics interfaces from the store",
		Long: `serve has a console for browsers at /, and answers the network's scan interface
(updates, events, active contract set, present state, backfilling, bulk objects) from the
store, at / and at /api/scan, and, on a separate address (--ledger-listen), the ledger
query interface of a node whose stream is in the store. Run as many as you need beside one
ingest. With --scan-url it asks that service for the few things that depend on a request
and are not in history, such as the participants of a party, and stores the answers. With
a key for tokens and --node-url it asks that node what users may read. With --node-url and
a key for the tokens of wallets it also serves the validator interface, below
/api/validator or on a separate address (--validator-listen); it sends changes to the
ledger to the node as commands, or to an existing validator (--wallet-mode forward).`,
		Example: "  ledgerlake serve --clickhouse-dsn clickhouse://default@127.0.0.1:9000/default --listen 0.0.0.0:8080\n" +
			"  ledgerlake serve --data /srv/ledgerlake",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			a := c.app()
			defer a.CloseInto(&err)
			return a.Serve(cmd.Context(), damaged, func(at app.Addresses) {
				fmt.Fprintf(c.stdout, "in a browser: http://%s/\n", at.Scan)
				fmt.Fprintf(c.stdout, "scan interface: http://%s/ and http://%s/api/scan/\n", at.Scan, at.Scan)
				if at.Ledger != "" {
					fmt.Fprintf(c.stdout, "ledger interface: %s\n", at.Ledger)
				}
				c.printValidator(at)
			})
		},
	}
	cmd.Flags().BoolVar(&damaged, "serve-damaged", false, "serve a store that has lost rows: a page with a gap fails if the gap can be detected, and is shorter than history otherwise")
	return cmd
}
