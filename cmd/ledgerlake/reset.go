package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app"
)

func newReset(c *cli) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "reset",
		Short: "delete what ledgerlake keeps in a data folder",
		Long: `reset deletes what ledgerlake keeps in --data: the embedded store, the objects of the
embedded S3 gateway, the simulated network, keys and caches. It leaves other files of the
folder alone, and everything in an external ClickHouse, Redis or S3 store. Without --yes it
only reports what it would delete.`,
		Example: "  ledgerlake reset --data ./ledgerlake-data\n  ledgerlake reset --yes --data ./ledgerlake-data",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			deleted, err := app.Reset(c.cfg.Data, yes)
			if err == nil {
				_, err = fmt.Fprintf(c.stdout, "deleted from %s: %s\n", c.cfg.Data, deleted)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "delete it")
	return cmd
}
