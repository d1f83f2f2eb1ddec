package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
)

func newReshard(c *cli) *cobra.Command {
	var r app.Reshard
	asJSON := false
	cmd := &cobra.Command{
		Use:   "reshard --from DSN|FOLDER --clickhouse-dsn DSN --clickhouse-cluster NAME",
		Short: "copy a store into a ClickHouse cluster",
		Long: `reshard copies a store, from a ClickHouse server, from a data folder or from another cluster, into
the cluster of --clickhouse-dsn and --clickhouse-cluster. It goes by tables and partitions, and compares
the rows of each partition in the source and in the cluster by their hashes. The source is only read.

Stop ingest and the workers of the source first: a copy of a store that is written meanwhile is refused
at the end. The source must have the schema of this version. If reshard is interrupted, run the same
command again: it continues where it stopped. Until it has finished, every other command refuses the
store in the cluster. What has changed in the source since is copied again.`,
		Example: "  ledgerlake reshard --from /srv/ledgerlake --clickhouse-dsn clickhouse://user:password@one:9000/ledger --clickhouse-cluster main --dry-run\n" +
			"  ledgerlake reshard --from /srv/ledgerlake --clickhouse-dsn clickhouse://user:password@one:9000/ledger --clickhouse-cluster main\n" +
			"  ledgerlake reshard --from clickhouse://user:password@old:9000/ledger --from-cluster small --clickhouse-dsn clickhouse://user:password@one:9000/ledger --clickhouse-cluster large --json",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			c.quiet()
			a := c.app()
			defer a.CloseInto(&err)
			report, err := a.Reshard(cmd.Context(), r, console.NewProgress(c.console))
			if err != nil {
				if cmd.Context().Err() != nil && !r.DryRun {
					fmt.Fprintln(c.stderr, "the copy is not complete: run the same command again to continue it")
				}
				return err
			}
			return c.printReshard(report, asJSON)
		},
	}
	cmd.Flags().StringVar(&r.From, "from", "", "the store to copy: a data folder, or clickhouse://user:password@host:9000/database")
	cmd.Flags().StringVar(&r.FromCluster, "from-cluster", "", "the cluster over which the store of --from is spread, by its name there")
	cmd.Flags().BoolVar(&r.DryRun, "dry-run", false, "only list the partitions and their sizes")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

func (c *cli) printReshard(r *app.ReshardReport, asJSON bool) error {
	if asJSON {
		if err := json.NewEncoder(c.data).Encode(r); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
		return nil
	}
	switch {
	case r.Result == nil:
		var rows, bytes uint64
		for _, p := range r.Plan {
			fmt.Fprintf(c.stdout, "%-24s %-20s %12d rows %9.1f MB\n", p.Table, p.ID, p.Rows, float64(p.Bytes)/1e6)
			rows, bytes = rows+p.Rows, bytes+p.Bytes
		}
		fmt.Fprintf(c.stdout, "%d partitions, %d rows, %.1f MB; nothing was changed\n", len(r.Plan), rows, float64(bytes)/1e6)
	case r.Nothing:
		fmt.Fprintln(c.stdout, "the cluster has a complete copy of the store already: there is nothing to do")
	default:
		fmt.Fprintf(c.stdout, "copied %d of %d partitions; the cluster has all %d rows of the store\n", r.Copied, r.Partitions, r.Rows)
	}
	return nil
}
