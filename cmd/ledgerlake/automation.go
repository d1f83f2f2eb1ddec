package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	automations "github.com/ledgerlake/ledgerlake/jobs/wallet"
)

func newAutomation(c *cli) *cobra.Command {
	var dry, asJSON bool
	cmd := &cobra.Command{
		Use:   "automation [NAME]...",
		Short: "run the automations of the validator's wallets once, or report what they would do",
		Long: `automation runs what worker runs at intervals: it collects rewards, pays accepted offers,
buys traffic, accepts and renews preapprovals, sweeps, and ends what has expired. With
--dry-run it changes nothing: it reports for each wallet what it would do, and why or why not.

It acts on the node of --node-url and reads a store that has that node's stream and the
public history of its network. Without names, all automations run:
` + strings.Join(automations.Names(), ", ") + `.`,
		Example:   "  ledgerlake automation --dry-run --node-url http://127.0.0.1:7575\n  ledgerlake automation collect-rewards --dry-run --json --node-url http://127.0.0.1:7575",
		ValidArgs: automations.Names(),
		Args: func(_ *cobra.Command, args []string) error {
			for _, name := range args {
				if !slices.Contains(automations.Names(), name) {
					return fmt.Errorf("there is no automation %q%s the automations are %s", name, settings.DidYouMean(name, "", automations.Names()), strings.Join(automations.Names(), ", "))
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			c.quiet()
			if c.cfg.NodeURL == "" {
				return settings.Usage("automation needs --node-url, the ledger API of the node that hosts the wallets")
			}
			a := c.app()
			defer a.CloseInto(&err)
			list, err := a.Automations(cmd.Context(), args)
			if err != nil {
				return err
			}
			if dry {
				return c.planAutomations(cmd.Context(), list, asJSON)
			}
			return runAutomations(cmd.Context(), c.stdout, list)
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "report what would be done, and change nothing")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the plan of --dry-run as JSON, one object per line")
	return cmd
}

// planAutomations prints what automations would do.
func (c *cli) planAutomations(ctx context.Context, list *automations.Automations, asJSON bool) error {
	steps, err := list.Plan(ctx)
	if asJSON {
		encoder := json.NewEncoder(c.data)
		for _, step := range steps {
			if err := encoder.Encode(step); err != nil {
				return err
			}
		}
		return err
	}
	for _, step := range steps {
		verb := "would "
		if !step.Do {
			verb = "would not "
		}
		user := ""
		if step.User != "" {
			user = " (" + step.User + ")"
		}
		fmt.Fprintf(c.stdout, "%s%s: %s%s, because %s\n", step.Automation, user, verb, step.What, step.Why)
	}
	if err == nil && len(steps) == 0 {
		_, err = fmt.Fprintln(c.stdout, "there is nothing for automations to do")
	}
	return err
}

// runAutomations runs each once.
func runAutomations(ctx context.Context, to io.Writer, list *automations.Automations) error {
	var failed []error
	for _, name := range list.Names() {
		done, err := list.Run(ctx, name)
		fmt.Fprintf(to, "%s: %d done\n", name, done)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		}
	}
	return errors.Join(failed...)
}
