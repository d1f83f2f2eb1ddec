package lab

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Comparator is a program that the product is compared with. It may not be installed: then only
// the rows that need it are missing from the report.
type Comparator struct {
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
func lookForComparators(pieces []Piece, stderr io.Writer) (missing []notInstalled) {
	for _, p := range pieces {
		for _, c := range p.Needs {
			if c.find() == nil {
				continue
			}
			i := slices.IndexFunc(missing, func(n notInstalled) bool { return n.Name == c.name })
			if i < 0 {
				i, missing = len(missing), append(missing, notInstalled{Name: c.name, Install: c.install})
			}
			missing[i].Pieces = append(missing[i].Pieces, p.Name)
		}
	}
	for _, n := range missing {
		fmt.Fprintln(stderr, n)
	}
	return missing
}

// Has reports whether a comparator is installed.
func (l *Lab) Has(c Comparator) bool {
	return !slices.ContainsFunc(l.report.NotInstalled, func(n notInstalled) bool { return n.Name == c.name })
}

// Beside is s for the rows about a comparator, which are dropped where it is not installed.
func (l *Lab) Beside(s Section, c Comparator) Section {
	if !l.Has(c) {
		s.report = &Report{}
	}
	return s
}
