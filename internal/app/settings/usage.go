package settings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// UsageError is a mistake in what a command was given: its arguments, flags, variables or
// configuration file. It is found before anything is done. The process exits with statusUsage.
type UsageError struct{ error }

func (e *UsageError) Unwrap() error { return e.error }

// Usage returns a UsageError that names what is wrong, and the fix.
func Usage(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// AsUsage makes a mistake of an error, nil of nil.
func AsUsage(err error) error {
	if err == nil {
		return nil
	}
	return &UsageError{err}
}

// WantedValue says what values a flag takes.
func WantedValue(f *pflag.Flag) string {
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

// DidYouMean ends a clause with the known name that is most like a word, if there is one.
func DidYouMean(word, prefix string, known []string) string {
	if name := Nearest(word, known); name != "" {
		return "; did you mean " + prefix + name + "?"
	}
	return ";"
}

// Nearest is the known name that a word was probably meant to be, "" if there is none: it differs
// in a third of its letters at most, or the word is the beginning of it alone.
func Nearest(word string, known []string) string {
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
