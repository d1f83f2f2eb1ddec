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
		Short: "take a stream back to an earlier position, from where it is read again",
		Long: `rewind takes the batches of a stream that reach beyond a record time, or an offset of a
node's stream, out of the store, and with them all that was derived from them and the
segments, folders and Iceberg entries published since. What comes next is read from the
upstream again. It undoes history that an upstream should never have given,
such as an update dated years ahead, and from a stream that has stopped because the
upstream's history diverged.

Whole batches go, so that the stream may end earlier than asked for. Stop ingest and the
workers first: with a store of its own rewind refuses while another process holds it, with
a ClickHouse server while a writer has committed within the last minute. A writer that only
waits stops. If a rewind is interrupted, repeat it to finish it; until then the stream does
not continue.`,
		Example: "  ledgerlake rewind --to 2026-07-05T00:00:00Z --dry-run\n" +
			"  ledgerlake rewind --stream scan --to 2026-07-05T00:00:00Z --yes\n" +
			"  ledgerlake rewind --stream node:PAR::validator-1::1220ab --to-offset 120000 --yes",
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
	cmd.Flags().BoolVar(&r.DryRun, "dry-run", false, "only show what would be taken back")
	cmd.Flags().BoolVar(&r.Yes, "yes", false, "take it back; without, it is only shown")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	cmd.Flags().BoolVar(&r.KeepPublished, "keep-published", false, "leave what is published in the bucket as it is")
	return cmd
}

func (c *cli) printRewind(r *app.RewindReport, dryRun, asJSON bool) error {
	if asJSON {
		if err := json.NewEncoder(c.stdout).Encode(r); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
		return nil
	}
	fmt.Fprintf(c.stdout, "%s stands at %s\n", r.Stream, r.From)
	if r.Stopped != "" {
		fmt.Fprintf(c.stdout, "it has stopped: %s\n", r.Stopped)
	}
	if r.Nothing {
		fmt.Fprintln(c.stdout, "nothing reaches beyond that: there is nothing to take back")
		return nil
	}
	fmt.Fprintf(c.stdout, "back to %s go %d batches with %d items and %d events", r.To, r.Batches, r.Items, r.Events)
	if r.Pending {
		fmt.Fprint(c.stdout, ", a batch that was announced only")
	}
	fmt.Fprintf(c.stdout, ", and %d published segments and folders\n", r.Published)
	switch {
	case r.Done:
		fmt.Fprintln(c.stdout, "done: ingest goes on from there")
	case !dryRun:
		fmt.Fprintln(c.stdout, "nothing was changed: repeat it with --yes")
	}
	return nil
}
