package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
)

// explainUsage has the commands below root list their flags by group, and say what is wrong with
// what they are given, and what might have been meant.
func (c *cli) explainUsage(root *cobra.Command) {
	root.SetUsageFunc(func(cmd *cobra.Command) error { return c.printUsage(cmd) })
	root.SetFlagErrorFunc(c.explainFlag)
	for _, command := range root.Commands() {
		if args := command.Args; args != nil {
			command.Args = func(cmd *cobra.Command, given []string) error { return settings.AsUsage(args(cmd, given)) }
		}
	}
}

// anyCommand takes the arguments of the command line itself, none of which names a command.
func anyCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return settings.Usage("there is no command %q%s ledgerlake --help lists the commands", args[0], settings.DidYouMean(args[0], "", names))
}

// noArguments is for commands that take flags only.
func noArguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case args[0] == "true" || args[0] == "false":
		return fmt.Errorf("%s takes no arguments, but %q was given: write a flag that is true or false as --flag=%s", cmd.Name(), args[0], args[0])
	}
	return fmt.Errorf("%s takes no arguments, but %q was given: use flags, which ledgerlake %s --help lists", cmd.Name(), args[0], cmd.Name())
}

// explainFlag says what is wrong with a flag of cmd.
func (c *cli) explainFlag(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	var empty *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &missing):
		return c.unknownFlag(cmd, missing)
	case errors.As(err, &empty):
		return settings.Usage("--%s needs a value: %s", empty.GetFlag().Name, empty.GetFlag().Usage)
	case errors.As(err, &invalid):
		return settings.Usage("--%s must be %s, not %q", invalid.GetFlag().Name, settings.WantedValue(invalid.GetFlag()), invalid.GetValue())
	}
	return settings.Usage("%w; ledgerlake %s --help lists the flags", err, strings.TrimPrefix(cmd.CommandPath(), "ledgerlake "))
}

func (c *cli) unknownFlag(cmd *cobra.Command, missing *pflag.NotExistError) error {
	name, help := missing.GetSpecifiedName(), strings.TrimPrefix(cmd.CommandPath()+" --help", "ledgerlake ")
	if group := missing.GetSpecifiedShortnames(); len(group) > 1 {
		group, _, _ = strings.Cut(group, "=")
		if cmd.Flags().Lookup(group) != nil {
			return settings.Usage("-%s is written with two dashes: --%s", group, group)
		}
		name = group
	}
	var names, others []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	for _, other := range cmd.Root().Commands() {
		if other != cmd && other.LocalNonPersistentFlags().Lookup(name) != nil {
			others = append(others, other.Name())
		}
	}
	switch {
	case c.settings.Lookup(name) != nil:
		return settings.Usage("%s does not use the setting --%s, which belongs to %s: leave it out, or set it for all commands with %s or in the file of --config; ledgerlake %s lists its flags",
			cmd.Name(), name, strings.Join(others, ", "), settings.EnvName(name), help)
	case len(others) > 0:
		return settings.Usage("%s has no flag --%s, which belongs to %s; ledgerlake %s lists its flags", cmd.Name(), name, strings.Join(others, ", "), help)
	}
	return settings.Usage("%s has no flag --%s%s ledgerlake %s lists its flags", cmd.Name(), name, settings.DidYouMean(name, "--", names), help)
}

// printUsage prints how a command is called: its own flags, and then the settings that it uses by
// group. All settings are listed below the command that prints them.
func (c *cli) printUsage(cmd *cobra.Command) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	list := func(heading string, flags *pflag.FlagSet) {
		if flags.HasAvailableFlags() {
			fmt.Fprintf(&b, "\n%s:\n%s", heading, flags.FlagUsages())
		}
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nCommands:\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() || sub.Name() == "help" {
				fmt.Fprintf(&b, "  %-12s %s\n", sub.Name(), sub.Short)
			}
		}
	}
	own := pflag.NewFlagSet("own", pflag.ContinueOnError)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if c.settings.Lookup(f.Name) == nil {
			own.AddFlag(f)
		}
	})
	list("Flags", own)
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nledgerlake COMMAND --help lists the flags of a command, ledgerlake config --help all settings.\n")
	} else {
		c.listSettings(cmd, list)
	}
	_, err := io.WriteString(cmd.OutOrStdout(), b.String())
	return err
}

// listSettings lists the settings that a command uses, by group.
func (c *cli) listSettings(cmd *cobra.Command, list func(heading string, flags *pflag.FlagSet)) {
	for _, group := range settings.Groups {
		used := pflag.NewFlagSet(string(group), pflag.ContinueOnError)
		c.groups[group].VisitAll(func(f *pflag.Flag) {
			if cmd.Flags().Lookup(f.Name) != nil {
				used.AddFlag(f)
			}
		})
		list(string(group), used)
	}
}
