package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app"
)

func newTable(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "table",
		Short: "keep tables with typed columns of templates and choices",
		Long: `table keeps typed tables: one for the contracts of a template, with a column for each part of their
payload, and one for each choice, with the parts of its argument and its result. They are filled from all
history and kept up with it by the process that ingests.

The templates of a package that is added have them (ledgerlake package add); table add makes them of any
template of the catalogue, too. It works beside a process that runs on the data folder.`,
		Example: "  ledgerlake table add splice-amulet:Splice.Amulet:Amulet\n  ledgerlake table list\n  ledgerlake table drop t_splice_amulet__splice_amulet_amulet",
		Args:    anyCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTableAdd(c), newTableList(c), newTableDrop(c))
	return cmd
}

func newTableAdd(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "add NAME...",
		Short: "make the typed tables of templates and choices",
		Long: `add makes tables and has them filled. NAME is a template, PACKAGE:MODULE:ENTITY, which stands for its
contracts and its choices; an interface, for its choices; PACKAGE:MODULE:ENTITY/CHOICE for one of them; a
package for all that it has; or a view over tables of the network's own templates, which are made with it:
` + strings.Join(app.TypedViews(), ", ") + `.`,
		Example: "  ledgerlake table add rounds rewards\n  ledgerlake table add splice-amulet:Splice.Amulet:Amulet acme-trade\n" +
			"  ledgerlake table add splice-amulet:Splice.AmuletRules:AmuletRules/AmuletRules_BuyMemberTraffic",
		Args: needsTables("add"),
		RunE: func(cmd *cobra.Command, names []string) (err error) {
			c.quiet()
			a := c.app()
			defer a.CloseInto(&err)
			return c.makeTables(cmd.Context(), a, names, false)
		},
	}
}

func needsTables(command string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("table %s needs a name: ledgerlake table %s splice-amulet:Splice.Amulet:Amulet", command, command)
		}
		return nil
	}
}

// makeTables makes the typed tables of some names, and fills them where no other process does.
func (c *cli) makeTables(ctx context.Context, a *app.App, names []string, silent bool) error {
	tables, err := app.OpenTypedTables(ctx, a)
	if err != nil {
		return err
	}
	made, err := tables.Add(ctx, names)
	if err != nil {
		return err
	}
	filled, err := tables.Fill(ctx)
	if err != nil || silent {
		return err
	}
	for _, t := range made {
		fmt.Fprintf(c.stdout, "%s  %s\n", t.Name, t.Of)
	}
	state := "filled"
	if !filled {
		state = "to be filled by the process that ingests"
	}
	_, err = fmt.Fprintf(c.stdout, "%d made, %s\n", len(made), state)
	return err
}

// dropTables drops the typed tables of templates that no package has any more.
func (c *cli) dropTables(ctx context.Context, a *app.App) error {
	tables, err := app.OpenTypedTables(ctx, a)
	if err != nil || tables.Cluster {
		return err
	}
	dropped, err := tables.DropUnknown(ctx)
	for _, name := range dropped {
		fmt.Fprintf(c.stdout, "dropped %s\n", name)
	}
	return err
}

func newTableList(c *cli) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "list the typed tables of the store",
		Long: `list prints each typed table with what it is of, its rows, and how many of these have values that do
not fit its columns: they are in column _unfit as JSON. Views come last.`,
		Example: "  ledgerlake table list\n  ledgerlake table list --json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			c.quiet()
			a := c.app()
			defer a.CloseInto(&err)
			tables, err := app.OpenTypedTables(cmd.Context(), a)
			if err != nil {
				return err
			}
			list, err := tables.Summaries(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(c.data).Encode(list)
			}
			if len(list) == 0 {
				_, err := fmt.Fprintln(c.stdout, "the store has no typed table: make one with ledgerlake table add NAME or ledgerlake package add FILE.dar")
				return err
			}
			table := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "TABLE\tOF\tCOLUMNS\tROWS\tUNFIT")
			for _, t := range list {
				fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d\n", t.Name, t.Of, t.Columns, t.Rows, t.Unfit)
			}
			return table.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newTableDrop(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:     "drop NAME...",
		Short:   "drop typed tables; history keeps its values as they are",
		Long:    `drop drops typed tables by their names, or by those that table add takes.`,
		Example: "  ledgerlake table drop t_acme_trade__acme_trade_order\n  ledgerlake table drop acme-trade",
		Args:    needsTables("drop"),
		RunE: func(cmd *cobra.Command, names []string) (err error) {
			c.quiet()
			a := c.app()
			defer a.CloseInto(&err)
			tables, err := app.OpenTypedTables(cmd.Context(), a)
			if err != nil {
				return err
			}
			dropped, err := tables.Drop(cmd.Context(), names)
			for _, name := range dropped {
				fmt.Fprintf(c.stdout, "dropped %s\n", name)
			}
			return err
		},
	}
}
