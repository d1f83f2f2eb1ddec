package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// comparator is a program that the product is compared with. It may not be installed: then only
// the rows that need it are missing from the report.
type comparator struct {
	name    string
	install string // the command that installs it
	find    func() error
}

// notInstalled is a comparator that some pieces do without.
type notInstalled struct {
	Name    string   `json:"name"`
	Install string   `json:"install"`
	Pieces  []string `json:"pieces"`
}

func (n notInstalled) String() string {
	return fmt.Sprintf("%s is not installed: %s will have no rows about it. To install it: %s", n.Name, strings.Join(n.Pieces, " and "), n.Install)
}

// lookForComparators finds out which comparators of some pieces are not installed, and reports
// them before anything is measured.
func lookForComparators(pieces []piece, stderr io.Writer) (missing []notInstalled) {
	for _, p := range pieces {
		for _, c := range p.needs {
			if c.find() == nil {
				continue
			}
			i := slices.IndexFunc(missing, func(n notInstalled) bool { return n.Name == c.name })
			if i < 0 {
				i, missing = len(missing), append(missing, notInstalled{Name: c.name, Install: c.install})
			}
			missing[i].Pieces = append(missing[i].Pieces, p.name)
		}
	}
	for _, n := range missing {
		fmt.Fprintln(stderr, n)
	}
	return missing
}

// has reports whether a comparator is installed.
func (l *lab) has(c comparator) bool {
	return !slices.ContainsFunc(l.report.NotInstalled, func(n notInstalled) bool { return n.Name == c.name })
}

// beside is s for the rows about a comparator, which are dropped where it is not installed.
func (l *lab) beside(s section, c comparator) section {
	if !l.has(c) {
		s.report = &report{}
	}
	return s
}
