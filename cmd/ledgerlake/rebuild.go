package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app"
)

var rebuilds = []string{app.RebuildsWallets, app.RebuildsMovements, app.RebuildsRollups, app.RebuildsTables}

func newRebuild(c *cli) *cobra.Command {
	var stream string
	cmd := &cobra.Command{
		Use:   "rebuild wallets|movements|rollups|tables",
		Short: "derive tables again from the history in the store",
		Long: `rebuild empties tables that are derived from history and fills them again. You need it only
if verify has found them wrong. An ingest that runs on the store stops: start it again
afterwards.

rebuild wallets derives the contracts, transaction logs and tracked offers of a node's
parties, from the node's own stream. They are missing from the validator interface until it
has finished. rebuild movements derives table movements, from all streams, and then what
rebuild rollups does: the tables that sum public history up by hours. rebuild tables derives
the typed tables, from all streams.`,
		Example: `  ledgerlake rebuild wallets --data /srv/ledgerlake
  ledgerlake rebuild rollups`,
		ValidArgs: rebuilds,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(rebuilds, args[0]) {
				return fmt.Errorf("rebuild needs one argument, wallets, movements, rollups or tables, not %q: ledgerlake rebuild wallets", strings.Join(args, " "))
			}
			if stream != "" && args[0] != app.RebuildsWallets && args[0] != app.RebuildsMovements {
				return fmt.Errorf("--stream %s is for wallets and movements alone: ledgerlake rebuild %s", stream, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			c.quiet()
			a := c.app()
			defer a.CloseInto(&err)
			rebuilt := 0
			err = a.Rebuild(cmd.Context(), args[0], stream, func(stream string) {
				rebuilt++
				fmt.Fprintf(c.stdout, "%s: %s have been rebuilt\n", stream, args[0])
			})
			if err == nil && rebuilt == 0 {
				fmt.Fprintln(c.stdout, "the store has no node's stream")
			}
			return err
		},
	}
	cmd.Flags().StringVar(&stream, "stream", "", "the stream whose wallets or movements to rebuild, scan or node:PARTICIPANT; default all that have some")
	return cmd
}
