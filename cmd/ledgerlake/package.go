package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/packages/kept"
)

func newPackage(c *cli) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "package",
		Short: "keep compiled packages, so that values of their templates are served with labels",
		Long: `package keeps compiled packages (.dar files) in the store. Values of their templates, choices and
interfaces are then served in both encodings, with the labels of their fields: those that nodes and
scans send by position have none of their own. Processes that run on the store know a package that is
added within some seconds.

It works beside a process that runs on the data folder, too.`,
		Example: "  ledgerlake package add acme-trade-1.0.0.dar\n  ledgerlake package list\n  ledgerlake package show acme-trade",
		Args:    anyCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPackageAdd(c), newPackageList(c), newPackageShow(c), newPackageDrop(c))
	return cmd
}

func newPackageAdd(c *cli) *cobra.Command {
	var fromNode, noTables, asJSON bool
	cmd := &cobra.Command{
		Use:   "add FILE... | --packages-from-node",
		Short: "keep the packages of .dar files, or those that a node has",
		Long: `add keeps the packages of .dar files with all that they depend on; a file may also be one package
alone, as a node serves it. If one file cannot be read, nothing is kept. With --packages-from-node it
keeps the packages of the node of --node-url. What the store has already stays as it is.

The package that a file is of gets typed tables, see ledgerlake table, unless --no-tables is given. Those
of a node get none, because it has dozens, most of them of the network itself: ledgerlake table add NAME
makes those of a package that is wanted.`,
		Example: "  ledgerlake package add acme-trade-1.0.0.dar acme-trade-1.1.0.dar\n" +
			"  ledgerlake package add --packages-from-node --node-url http://127.0.0.1:7575 --node-token-file token.txt",
		RunE: func(cmd *cobra.Command, files []string) (err error) {
			if fromNode == (len(files) > 0) {
				return settings.Usage("package add needs either .dar files or --packages-from-node")
			}
			c.quiet()
			a := c.app()
			defer a.CloseInto(&err)
			add := addFiles
			if fromNode {
				add = addFromNode
			}
			report, mains, err := add(cmd.Context(), a, files)
			if err != nil {
				return err
			}
			if asJSON {
				err = json.NewEncoder(c.data).Encode(report)
			} else {
				err = printAdded(c.stdout, report)
			}
			if err == nil && !noTables && len(mains) > 0 {
				if err = c.makeTables(cmd.Context(), a, mains, asJSON); errors.Is(err, app.ErrNoTypedTables) {
					_, err = fmt.Fprintln(c.stderr, err)
				}
			}
			if err == nil && len(report.Failed) > 0 {
				err = errReported
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&noTables, "no-tables", false, "make no typed tables")
	cmd.Flags().BoolVar(&fromNode, "packages-from-node", false, "keep the packages that the node of --node-url has")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// addFiles reads all files before anything is kept. mains are the names of the packages that the files are of,
// if these have templates or interfaces.
func addFiles(ctx context.Context, a *app.App, paths []string) (report *kept.Added, mains []string, err error) {
	files, err := kept.ReadFiles(paths)
	if err != nil {
		return nil, nil, err
	}
	store, err := app.OpenPackages(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		if main := f.Packages[0]; main.Templates()+main.Interfaces() > 0 && !slices.Contains(mains, main.Name) {
			mains = append(mains, main.Name)
		}
	}
	report, err = store.AddFiles(ctx, files)
	return report, mains, err
}

// addFromNode keeps what a node has. It names no mains: tables of all its packages would be hundreds that nobody asked for.
func addFromNode(ctx context.Context, a *app.App, _ []string) (report *kept.Added, mains []string, err error) {
	node, name, err := app.NodeOfPackages(a)
	if err != nil {
		return nil, nil, err
	}
	store, err := app.OpenPackages(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	report, err = store.AddFromNode(ctx, node, name)
	return report, nil, err
}

func printAdded(to io.Writer, report *kept.Added) error {
	for _, p := range report.Added {
		fmt.Fprintf(to, "%s %s  %s  %s\n", p.Name, p.Version, p.ID, contents(p))
	}
	for _, f := range report.Failed {
		fmt.Fprintf(to, "not kept: %s: %s\n", f.ID, f.Error)
	}
	_, err := fmt.Fprintf(to, "%d added, %d were there, %d failed\n", len(report.Added), report.Known, len(report.Failed))
	return err
}

func contents(p kept.Summary) string {
	return fmt.Sprintf("%d templates, %d interfaces", p.Templates, p.Interfaces)
}

func newPackageList(c *cli) *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "list the packages that the store keeps",
		Example: "  ledgerlake package list\n  ledgerlake package list --all --json",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			c.quiet()
			a := c.app()
			defer a.CloseInto(&err)
			store, err := app.OpenPackages(cmd.Context(), a)
			if err != nil {
				return err
			}
			list, err := store.List(cmd.Context())
			if err != nil {
				return err
			}
			shown := []kept.Summary{}
			for _, p := range list {
				if s := p.Summary(); all || s.Templates+s.Interfaces > 0 {
					shown = append(shown, s)
				}
			}
			if asJSON {
				return json.NewEncoder(c.data).Encode(shown)
			}
			return printPackages(c.stdout, shown, len(list))
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "those without templates and interfaces, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printPackages(to io.Writer, shown []kept.Summary, all int) error {
	if all == 0 {
		_, err := fmt.Fprintln(to, "the store keeps no package: add one with ledgerlake package add FILE.dar")
		return err
	}
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tVERSION\tTEMPLATES\tINTERFACES\tSOURCE\tID")
	for _, p := range shown {
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%s\t%s\n", p.Name, p.Version, p.Templates, p.Interfaces, p.Source, p.ID)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if hidden := all - len(shown); hidden > 0 {
		_, err := fmt.Fprintf(to, "%d more have neither templates nor interfaces: --all lists them\n", hidden)
		return err
	}
	return nil
}

func newPackageShow(c *cli) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show PACKAGE",
		Short: "show a package's templates, choices, interfaces and types",
		Long: `show prints what a package has. PACKAGE is its name, which stands for the newest version, its name
and version (acme-trade-1.0.0), or the beginning of its id.`,
		Example: "  ledgerlake package show acme-trade\n  ledgerlake package show acme-trade-1.0.0 --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("package show needs one package: its name, name-version or id")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			c.quiet()
			a := c.app()
			defer a.CloseInto(&err)
			store, err := app.OpenPackages(cmd.Context(), a)
			if err != nil {
				return err
			}
			p, err := store.Details(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(c.data).Encode(p)
			}
			return printPackage(c.stdout, p)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printPackage(to io.Writer, p *kept.Details) error {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s, LF %s, from %s\n%s\n", p.Name, p.Version, p.LF, p.Source, p.ID)
	if p.Upgrades != "" {
		fmt.Fprintf(&out, "upgrade of %s\n", p.Upgrades)
	}
	for _, m := range p.Modules {
		for _, t := range m.Templates {
			fmt.Fprintf(&out, "\ntemplate %s:%s%s\n", m.Name, t.Name, listed(" implements ", t.Implements))
			printFields(&out, t.Fields)
			printChoices(&out, t.Choices)
		}
		for _, i := range m.Interfaces {
			fmt.Fprintf(&out, "\ninterface %s:%s%s\n  view %s\n", m.Name, i.Name, listed(" requires ", i.Requires), i.View)
			printChoices(&out, i.Choices)
		}
		for _, t := range m.Types {
			fmt.Fprintf(&out, "\n%s %s:%s%s\n", t.Shape, m.Name, t.Name, listed(" of ", t.Parameters))
			printFields(&out, t.Fields)
		}
	}
	_, err := io.WriteString(to, out.String())
	return err
}

func listed(what string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return what + strings.Join(names, ", ")
}

func printFields(out io.Writer, fields []kept.FieldDetails) {
	for _, f := range fields {
		fmt.Fprintf(out, "  %s\n", strings.TrimSuffix(f.Name+": "+f.Type, ": "))
	}
}

func printChoices(out io.Writer, choices []kept.ChoiceDetails) {
	for _, ch := range choices {
		kind := map[bool]string{true: "choice", false: "nonconsuming choice"}[ch.Consuming]
		fmt.Fprintf(out, "  %s %s: %s -> %s\n", kind, ch.Name, ch.Argument, ch.Result)
	}
}

func newPackageDrop(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "drop PACKAGE...",
		Short: "forget packages; history keeps its values as they are",
		Long: `drop forgets packages by name, which stands for all versions, name and version, or the beginning of
an id. Packages that refer to their types are then known without these, and typed tables of templates that
are no longer known are dropped. Nothing of history changes.`,
		Example: "  ledgerlake package drop acme-trade-1.0.0",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("package drop needs packages: their name, name-version or id")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			c.quiet()
			a := c.app()
			defer a.CloseInto(&err)
			store, err := app.OpenPackages(cmd.Context(), a)
			if err != nil {
				return err
			}
			dropped, err := store.Drop(cmd.Context(), args)
			if err != nil {
				return err
			}
			for _, p := range dropped {
				fmt.Fprintf(c.stdout, "dropped %s %s  %s\n", p.Name, p.Version, p.ID)
			}
			return c.dropTables(cmd.Context(), a)
		},
	}
}
