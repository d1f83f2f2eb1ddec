package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usageError is a mistake in what a command was given: its arguments, flags, variables or
// configuration file. It is found before anything is done. The process exits with statusUsage.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// usage returns a usageError that names what is wrong, and the fix.
func usage(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// asUsage makes a mistake of an error, nil of nil.
func asUsage(err error) error {
	if err == nil {
		return nil
	}
	return &usageError{err}
}

// explainUsage has the commands below root say what is wrong with their flags and arguments, and
// what might have been meant.
func explainUsage(root *cobra.Command) {
	root.SetFlagErrorFunc(explainFlag)
	for _, c := range root.Commands() {
		if args := c.Args; args != nil {
			c.Args = func(cmd *cobra.Command, given []string) error { return asUsage(args(cmd, given)) }
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
	return usage("there is no command %q%s ledgerlake --help lists the commands", args[0], didYouMean(args[0], "", names))
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
		return usage("--%s needs a value: %s", empty.GetFlag().Name, empty.GetFlag().Usage)
	case errors.As(err, &invalid):
		return usage("--%s must be %s, not %q", invalid.GetFlag().Name, wantedValue(invalid.GetFlag()), invalid.GetValue())
	}
	return usage("%w; ledgerlake %s --help lists the flags", err, strings.TrimPrefix(cmd.CommandPath(), "ledgerlake "))
}

func unknownFlag(cmd *cobra.Command, missing *pflag.NotExistError) error {
	name, help := missing.GetSpecifiedName(), strings.TrimPrefix(cmd.CommandPath()+" --help", "ledgerlake ")
	if group := missing.GetSpecifiedShortnames(); len(group) > 1 {
		group, _, _ = strings.Cut(group, "=")
		if cmd.Flags().Lookup(group) != nil {
			return usage("-%s is written with two dashes: --%s", group, group)
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
		return usage("%s has no flag --%s, which is one of %s; ledgerlake %s lists its flags", cmd.Name(), name, strings.Join(others, ", "), help)
	}
	return usage("%s has no flag --%s%s ledgerlake %s lists its flags", cmd.Name(), name, didYouMean(name, "--", names), help)
}

// wantedValue says what values a flag takes.
func wantedValue(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int":
		return "a whole number"
	case "int64": // all of them are amounts of memory
		return "a whole number of bytes such as 268435456, which is 256 MiB"
	case "uint64":
		return "a whole number that is not negative"
	case "float64":
		return "a number"
	case "duration":
		return "a duration such as 90s, 10m or 24h"
	case "bool":
		return "true or false"
	}
	return "a " + f.Value.Type()
}

// didYouMean ends a clause with the known name that is most like a word, if there is one.
func didYouMean(word, prefix string, known []string) string {
	if name := nearest(word, known); name != "" {
		return "; did you mean " + prefix + name + "?"
	}
	return ";"
}

// nearest is the known name that a word was probably meant to be, "" if there is none: it differs
// in a third of its letters at most, or the word is the beginning of it alone.
func nearest(word string, known []string) string {
	best, least := "", max(1, min(3, len(word)/3))+1
	var longer []string
	for _, name := range slices.Sorted(slices.Values(known)) {
		if d := distance(word, name); d < least {
			best, least = name, d
		}
		if len(word) >= 3 && strings.HasPrefix(name, word) {
			longer = append(longer, name)
		}
	}
	if best == "" && len(longer) == 1 {
		return longer[0]
	}
	return best
}

// distance is how many letters have to be changed, added, removed or swapped with their neighbour
// to make b of a (optimal string alignment).
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			row[j+1] = min(last[j]+change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
