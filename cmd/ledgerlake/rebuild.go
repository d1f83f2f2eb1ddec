package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newRebuild(c *cli) *cobra.Command {
	var stream string
	cmd := &cobra.Command{
		Use:   "rebuild wallets",
		Short: "derive tables again from the history in the store",
		Long: `rebuild empties tables that are derived from history and fills them again. You need it only
if verify has found them wrong. An ingest that runs on the store stops: start it again
afterwards.

Only wallets can be rebuilt: the contracts, transaction logs and tracked offers of a node's
parties, from the node's own stream. They are missing from the validator interface until it
has finished.`,
		Example:   "  ledgerlake rebuild wallets --data /srv/ledgerlake",
		ValidArgs: []string{"wallets"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] != "wallets" {
				return fmt.Errorf("rebuild needs one argument, wallets, not %q: ledgerlake rebuild wallets", strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			c.quiet()
			a := c.app()
			defer a.CloseInto(&err)
			rebuilt := 0
			err = a.RebuildWallets(cmd.Context(), stream, func(stream string) {
				rebuilt++
				fmt.Fprintf(c.stdout, "%s: wallets have been rebuilt\n", stream)
			})
			if err == nil && rebuilt == 0 {
				fmt.Fprintln(c.stdout, "the store has no node's stream")
			}
			return err
		},
	}
	cmd.Flags().StringVar(&stream, "stream", "", "the stream whose tables to rebuild, node:PARTICIPANT; default the streams of all nodes")
	return cmd
}
