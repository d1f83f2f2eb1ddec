package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/app/console"
)

func newRepair(c *cli) *cobra.Command {
	var r app.Repair
	asJSON := false
	cmd := &cobra.Command{
		Use:   "repair",
		Short: "put rows back that the store has lost, from the published objects or an upstream",
		Long: `repair reads all batches of history back and finds those of which rows are missing, doubled or
changed. With --yes it takes their rows from the published objects, or else from --scan-url or
--node-url, and writes them in the place of what is left. Only rows whose hash is that in the
journal are written, so the store afterwards has what it was committed with. Then it fills the
places that lead to the rows, and derives lifetimes and wallets again if they differ.

Stop ingest and the workers first. If a file of a part cannot be read, detach that part before:
ledgerlake verify --check parts names it. An interrupted repair is continued by running it again.
The exit status is 1 if damage is left.`,
		Example: "  ledgerlake repair --data /srv/ledgerlake\n" +
			"  ledgerlake repair --data /srv/ledgerlake --scan-url https://scan.example.com --yes\n" +
			"  ledgerlake repair --stream node:validator-1::1220ab --node-url http://node:7575 --yes --json",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			c.quiet()
			a := c.app()
			defer a.CloseInto(&err)
			report, err := a.Repair(cmd.Context(), r, console.NewProgress(c.console))
			if err != nil {
				return err
			}
			if err := c.printRepair(report, r.Yes, asJSON); err != nil {
				return err
			}
			switch {
			case report.OK:
				return nil
			case !r.Yes:
				return fmt.Errorf("the store is damaged, and nothing was changed: repeat the command with --yes: %w", errReported)
			}
			return fmt.Errorf("the store is still damaged: %w", errReported)
		},
	}
	cmd.Flags().StringVar(&r.Stream, "stream", "", "the stream to repair: scan, or node:PARTICIPANT; default all")
	cmd.Flags().BoolVar(&r.Yes, "yes", false, "repair what is found; without this flag it is only shown")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	return cmd
}

func (c *cli) printRepair(report *app.RepairReport, yes, asJSON bool) error {
	if asJSON {
		if err := json.NewEncoder(c.data).Encode(report); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
		return nil
	}
	for _, s := range report.Streams {
		fmt.Fprintf(c.stdout, "%s: %d batches, %d of them damaged\n", s.Stream, s.Checked, len(s.Batches))
		for _, b := range s.Batches {
			outcome := "damaged"
			switch {
			case b.Failed != "":
				outcome = "not repaired: " + b.Failed
			case yes:
				outcome = "repaired from the " + b.From
			}
			fmt.Fprintf(c.stdout, "  batch %d through %s, %d items: %s\n", b.Sequence, b.Through, b.Items, outcome)
		}
		done := "to fill again"
		if yes {
			done = "filled again"
		}
		if s.PlaceHours > 0 {
			fmt.Fprintf(c.stdout, "  places: %d hours %s\n", s.PlaceHours, done)
		}
		for _, kind := range s.Derived {
			if yes {
				fmt.Fprintf(c.stdout, "  %s: derived again\n", kind)
			} else {
				fmt.Fprintf(c.stdout, "  %s: differ from history, and would be derived again\n", kind)
			}
		}
	}
	return nil
}
