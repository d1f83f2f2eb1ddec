package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/simulated"
)

func newUp(c *cli) *cobra.Command {
	var n simulated.Network
	cmd := &cobra.Command{
		Use:   "up",
		Short: "run everything in one process tree and print the URLs",
		Long: `up ingests, exports closed days and serves the scan interface and, for a node's stream, the
ledger interface and wallets, all from one process tree, until you stop it. Without --scan-url
and --node-url it runs a simulated network that keeps producing updates, so that there is
something to see, and also ingests the stream of one of its nodes. The network is kept in the
data folder; the next start continues it.`,
		Example: "  ledgerlake up\n  ledgerlake up --scan-url https://scan.example.com --data /srv/ledgerlake --listen 0.0.0.0:8080",
		Args:    noArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.up(cmd.Context(), n) },
	}
	networkFlags(cmd, &n, 20_000)
	liveFlags(cmd, &n, 5)
	return cmd
}

func (c *cli) up(ctx context.Context, n simulated.Network) (err error) {
	a := c.app()
	defer a.CloseInto(&err)
	return a.Up(ctx, app.UpConfig{Network: n, Progress: console.NewProgress(c.console), Out: c.stdout, Ready: c.printAddresses})
}

func (c *cli) printAddresses(at app.Addresses) {
	for _, upstream := range at.Upstreams {
		fmt.Fprintf(c.stdout, "upstream         %s\n", upstream)
	}
	fmt.Fprintf(c.stdout, "in a browser     http://%s/\n", at.Scan)
	fmt.Fprintf(c.stdout, "scan interface   http://%s/  (also below /api/scan)\n", at.Scan)
	if at.Ledger != "" {
		fmt.Fprintf(c.stdout, "ledger interface %s\n", at.Ledger)
	}
	c.printValidator(at)
	fmt.Fprintf(c.stdout, "streams          http://%s/streams\n", at.Scan)
	fmt.Fprintf(c.stdout, "metrics          http://%s/metrics\n", at.Scan)
	fmt.Fprintf(c.stdout, "ClickHouse       %s\n", at.ClickHouse)
	fmt.Fprintf(c.stdout, "data             %s\n", c.cfg.Data)
	fmt.Fprintf(c.stdout, "Try: curl -s http://%s/v2/updates -d '{\"page_size\": 1}'\n", at.Scan)
}

// printValidator says where the validator interface is, if it is anywhere.
func (c *cli) printValidator(at app.Addresses) {
	if at.Validator == "" {
		return
	}
	fmt.Fprintf(c.stdout, "validator interface %s\n", at.Validator)
	switch {
	case at.Simulated && !at.LiveClock:
		fmt.Fprintf(c.stdout, "  to have wallets, start with --live-clock\n")
	case at.Simulated && at.Secret != "":
		fmt.Fprintf(c.stdout, "  for development: tokens with the secret %q for the audience %q; ledgerlake token --validator --user alice\n",
			at.Secret, c.cfg.ValidatorAuthAudience)
	}
}
