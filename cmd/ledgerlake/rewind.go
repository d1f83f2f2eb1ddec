package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/schemas"
)

func newRewind(c *cli) *cobra.Command {
	var r app.Rewind
	asJSON := false
	cmd := &cobra.Command{
		Use:   "rewind --to TIME | --stream node:PARTICIPANT --to-offset N",
		Short: "take a stream back to an earlier position and read it again from there",
		Long: `rewind removes the batches of a stream that reach beyond a record time, or beyond an offset
of a node's stream, with everything that was derived from them and the segments, folders and
Iceberg entries published since. Ingest then reads that history from the upstream again. Use
it to remove history that an upstream should never have returned, such as an update dated
years ahead, and to restart a stream that has stopped because history diverged.

It removes whole batches, so the stream may end earlier than requested. Stop ingest and the
workers first: on an embedded store rewind refuses to run while another process uses it, on
a ClickHouse server while a writer has committed within the last minute. A writer that only
waits stands by until it is done. If a rewind is interrupted, run the same command again to finish it; until then
the stream does not continue.`,
		Example: "  ledgerlake rewind --to 2026-07-05T00:00:00Z --dry-run\n" +
			"  ledgerlake rewind --stream scan --to 2026-07-05T00:00:00Z --yes\n" +
			"  ledgerlake rewind --stream node:validator-1::1220ab --to-offset 120000 --yes",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			r.ByOffset = cmd.Flags().Changed("to-offset")
			c.quiet()
			a := c.app()
			defer a.CloseInto(&err)
			report, err := a.Rewind(cmd.Context(), r)
			if err != nil {
				return err
			}
			return c.printRewind(report, r.DryRun, asJSON)
		},
	}
	cmd.Flags().StringVar(&r.Stream, "stream", schemas.ScanStream, "the stream: scan, or node:PARTICIPANT")
	cmd.Flags().StringVar(&r.To, "to", "", "last record time to keep, such as 2026-07-05T00:00:00Z, of the stream scan")
	cmd.Flags().Int64Var(&r.ToOffset, "to-offset", 0, "last offset to keep, of a node's stream")
	cmd.Flags().BoolVar(&r.DryRun, "dry-run", false, "only show what would be removed")
	cmd.Flags().BoolVar(&r.Yes, "yes", false, "remove it; without this flag it is only shown")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	cmd.Flags().BoolVar(&r.KeepPublished, "keep-published", false, "leave published objects in the bucket")
	return cmd
}

func (c *cli) printRewind(r *app.RewindReport, dryRun, asJSON bool) error {
	if asJSON {
		if err := json.NewEncoder(c.stdout).Encode(r); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
		return nil
	}
	fmt.Fprintf(c.stdout, "%s is at %s\n", r.Stream, r.From)
	if r.Stopped != "" {
		fmt.Fprintf(c.stdout, "it has stopped: %s\n", r.Stopped)
	}
	if r.Nothing {
		fmt.Fprintln(c.stdout, "nothing is stored beyond that: there is nothing to remove")
		return nil
	}
	fmt.Fprintf(c.stdout, "taking it back to %s removes %d batches with %d items and %d events", r.To, r.Batches, r.Items, r.Events)
	if r.Pending {
		fmt.Fprint(c.stdout, ", a batch that was only announced")
	}
	fmt.Fprintf(c.stdout, ", and %d published segments and folders\n", r.Published)
	switch {
	case r.Done:
		fmt.Fprintln(c.stdout, "done: ingest continues from there")
	case !dryRun:
		fmt.Fprintln(c.stdout, "nothing was changed: repeat the command with --yes")
	}
	return nil
}
