package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
)

// explainUsage has the commands below root say what is wrong with their flags and arguments, and
// what might have been meant.
func explainUsage(root *cobra.Command) {
	root.SetFlagErrorFunc(explainFlag)
	for _, c := range root.Commands() {
		if args := c.Args; args != nil {
			c.Args = func(cmd *cobra.Command, given []string) error { return settings.AsUsage(args(cmd, given)) }
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
		return fmt.Errorf("%s takes no arguments, and %q is one: a flag that is true or false is written --flag=%s", cmd.Name(), args[0], args[0])
	}
	return fmt.Errorf("%s takes no arguments, and %q is one: everything is given by flags, which ledgerlake %s --help lists", cmd.Name(), args[0], cmd.Name())
}

// explainFlag says what is wrong with a flag of cmd.
func explainFlag(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	var empty *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &missing):
		return unknownFlag(cmd, missing)
	case errors.As(err, &empty):
		return settings.Usage("--%s needs a value: %s", empty.GetFlag().Name, empty.GetFlag().Usage)
	case errors.As(err, &invalid):
		return settings.Usage("--%s must be %s, not %q", invalid.GetFlag().Name, settings.WantedValue(invalid.GetFlag()), invalid.GetValue())
	}
	return settings.Usage("%w; ledgerlake %s --help lists the flags", err, strings.TrimPrefix(cmd.CommandPath(), "ledgerlake "))
}

func unknownFlag(cmd *cobra.Command, missing *pflag.NotExistError) error {
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
	for _, c := range cmd.Root().Commands() {
		if c != cmd && c.LocalNonPersistentFlags().Lookup(name) != nil {
			others = append(others, c.Name())
		}
	}
	if len(others) > 0 {
		return settings.Usage("%s has no flag --%s, which is one of %s; ledgerlake %s lists its flags", cmd.Name(), name, strings.Join(others, ", "), help)
	}
	return settings.Usage("%s has no flag --%s%s ledgerlake %s lists its flags", cmd.Name(), name, settings.DidYouMean(name, "--", names), help)
}
