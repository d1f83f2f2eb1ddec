package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/app/simulated"
)

func newDemo(c *cli) *cobra.Command {
	var n simulated.Network
	var keep, asJSON bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "run the whole path on a simulated network: backfill, export, verify, query",
		Long: `demo executes the history of a simulated network, serves it over HTTP, backfills it into
an embedded ClickHouse, and exports the closed days as Parquet objects to an embedded S3
gateway. It then checks that three results, each computed independently, agree: what the
network served, what the store has, and what the objects contain when they are read back.
At the end it sends the query tier a few real requests.

With --clickhouse-dsn, --redis-url or --s3-endpoint it uses those services instead; the
ClickHouse database and the bucket must then be empty.`,
		Example: "  ledgerlake demo\n  ledgerlake demo --updates 20000 --seed 7 --json\n  ledgerlake demo --data ./demo --keep",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			c.quiet()
			if err := n.Check(); err != nil {
				return err
			}
			if !c.settings.Changed("data") {
				dir, err := os.MkdirTemp("", "ledgerlake-demo-")
				if err != nil {
					return fmt.Errorf("making a folder for the demo: %w", err)
				}
				c.cfg.Data = dir
			}
			entries, err := os.ReadDir(c.cfg.Data)
			if !keep && len(entries) > 0 {
				return fmt.Errorf("%s is not empty and would be removed after the demo; add --keep to keep it", c.cfg.Data)
			}
			if isFolder := err == nil || errors.Is(err, fs.ErrNotExist); !keep && isFolder { // a file is refused below, and stays
				defer func() { err = errors.Join(err, os.RemoveAll(c.cfg.Data)) }()
			}
			if !c.settings.Changed("listen") {
				c.cfg.Listen = "127.0.0.1:0"
			}
			if !c.settings.Changed("bulk-layouts") {
				// The other layout, in its two encodings, takes longer than the Parquet objects.
				c.cfg.BulkLayouts = []string{settings.LayoutParquet}
			}
			return c.demo(cmd.Context(), n, keep, asJSON)
		},
	}
	networkFlags(cmd, &n, 100_000)
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the data folder")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object as the last line")
	return cmd
}

func (c *cli) demo(ctx context.Context, n simulated.Network, keep, asJSON bool) (err error) {
	report := c.stdout
	if asJSON {
		report = c.stderr
	}
	a := c.app()
	defer a.CloseInto(&err)
	summary, err := a.Demo(ctx, app.DemoConfig{Network: n, Progress: console.NewProgress(c.console), Report: report})
	if err != nil {
		return err
	}
	c.printDemo(report, summary, keep)
	if asJSON {
		if err := json.NewEncoder(c.data).Encode(summary); err != nil {
			return fmt.Errorf("writing the summary: %w", err)
		}
	}
	if !summary.Verify.OK {
		for _, f := range summary.Verify.Findings {
			fmt.Fprintln(c.stderr, "DIFFERENCE:", f)
		}
		return fmt.Errorf("the network, the store and the objects differ: %w", errReported)
	}
	return nil
}

func (c *cli) printDemo(w io.Writer, s *app.DemoSummary, keep bool) {
	fmt.Fprintf(w, "\n%d updates, %d events, %d contracts (%d active at the end)\n", s.Updates, s.Events, s.Contracts, s.ActiveContracts)
	fmt.Fprintf(w, "backfill %.0f updates/s; %d Parquet objects, %s; store %s; the network's own layout %s\n",
		s.UpdatesPerSec, s.Objects, app.Megabytes(s.ParquetBytes), app.Megabytes(int64(s.StoreBytes)), app.Megabytes(s.JSONZstdBytes))
	if s.Verify.OK {
		fmt.Fprintf(w, "verified: network, store and %d objects agree on %d tables\n", s.Verify.ObjectsChecked, len(s.Verify.Tables))
	}
	fmt.Fprintf(w, "%.1f s in all\n", s.Seconds["total"])
	if keep {
		fmt.Fprintf(w, "kept in %s: ledgerlake serve --data %s\n", c.cfg.Data, c.cfg.Data)
	}
}
