package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app"
)

func newDoctor(c *cli) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "doctor",
		Short:   "report what is installed and reachable, what is missing, and how to fix it",
		Example: "  ledgerlake doctor\n  ledgerlake doctor --clickhouse-dsn clickhouse://default@127.0.0.1:9000/default --json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.quiet()
			return c.doctor(cmd.Context(), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func (c *cli) doctor(ctx context.Context, asJSON bool) (err error) {
	a := c.app()
	defer a.CloseInto(&err)
	findings := a.Doctor(ctx)
	failed := 0
	for _, f := range findings {
		if !f.OK && !f.Optional {
			failed++
		}
	}
	if asJSON {
		report := map[string]any{"ok": failed == 0, "checks": findings}
		if err := json.NewEncoder(c.data).Encode(report); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	} else {
		c.printFindings(findings)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d checks failed: %w", failed, len(findings), errReported)
	}
	return nil
}

func (c *cli) printFindings(findings []app.Finding) {
	for _, f := range findings {
		mark := "ok     "
		switch {
		case !f.OK && f.Optional:
			mark = "absent "
		case !f.OK:
			mark = "FAILED "
		}
		fmt.Fprintf(c.stdout, "%s %-14s %s\n", mark, f.Check, f.Detail)
		if f.Fix != "" {
			fmt.Fprintf(c.stdout, "%23sfix: %s\n", "", f.Fix)
		}
	}
}
