package lab

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Units of what is measured.
const (
	Megabyte = 1e6
	Mebibyte = 1 << 20
	Million  = 1e6
)

// Report is everything that was measured.
type Report struct {
	Machine machine `json:"machine"`
	Engine  string  `json:"engine,omitempty"` // version of ClickHouse
	Updates int     `json:"updates"`
	Rows    []row   `json:"rows"`
	// NotInstalled are the comparators whose rows are missing, Failed the pieces that did not end.
	NotInstalled []notInstalled `json:"not_installed,omitempty"`
	Failed       []failure      `json:"failed,omitempty"`
}

// row is one measured number.
type row struct {
	Piece string  `json:"piece"`
	What  string  `json:"what"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Target is what the number is judged by, such as "at most 1024", or "".
	Target string `json:"target,omitempty"`
	Missed bool   `json:"missed,omitempty"`
}

// Section adds the rows of one piece.
type Section struct {
	report *Report
	piece  string
}

// Add adds a row.
func (s Section) Add(what string, value float64, unit string) {
	s.report.Rows = append(s.report.Rows, row{Piece: s.piece, What: what, Value: value, Unit: unit})
}

// AtLeast adds a row that is to reach a target.
func (s Section) AtLeast(target float64, what string, value float64, unit string) {
	s.judge("at least", target, value >= target, what, value, unit)
}

// AtMost adds a row that is not to exceed a target.
func (s Section) AtMost(target float64, what string, value float64, unit string) {
	s.judge("at most", target, value <= target, what, value, unit)
}

func (s Section) judge(how string, target float64, met bool, what string, value float64, unit string) {
	s.Add(what, value, unit)
	last := &s.report.Rows[len(s.report.Rows)-1]
	last.Target, last.Missed = how+" "+number(target), !met
}

// Missed counts the targets that were missed.
func (r *Report) Missed() int {
	n := 0
	for _, row := range r.Rows {
		if row.Missed {
			n++
		}
	}
	return n
}

// Markdown writes the report as bench/RESULTS.md holds it.
func (r *Report) Markdown(w io.Writer) error {
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "%d updates; %d cores of %s, %.0f GiB, Linux %s, %s", r.Updates, m.Cores, m.Processor, float64(m.MemoryBytes)/(1<<30), m.Kernel, m.Go)
	if r.Engine != "" {
		fmt.Fprintf(&b, ", ClickHouse %s", r.Engine)
	}
	b.WriteString("\n\n| | What | Measured | Unit | Target | Met |\n| --- | --- | ---: | --- | --- | --- |\n")
	piece := ""
	for _, row := range r.Rows {
		name := ""
		if row.Piece != piece {
			name, piece = row.Piece, row.Piece
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", name, row.What, number(row.Value), row.Unit, row.Target, row.verdict())
	}
	for _, n := range r.NotInstalled {
		fmt.Fprintf(&b, "\nWithout %s, which is not installed: %s.\n", n.Name, strings.Join(n.Pieces, ", "))
	}
	for _, f := range r.Failed {
		fmt.Fprintf(&b, "\nNot complete: %s\n", f)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r row) verdict() string {
	switch {
	case r.Target == "":
		return ""
	case r.Missed:
		return "no"
	}
	return "yes"
}

// number writes a value with three digits that mean something, large ones in groups.
func number(v float64) string {
	switch {
	case v >= 100:
		return grouped(strconv.FormatFloat(v, 'f', 0, 64))
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v == float64(int64(v)):
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// grouped puts a comma between thousands of a number without sign.
func grouped(digits string) string {
	first := cmp.Or(len(digits)%3, 3)
	groups := []string{digits[:first]}
	for rest := digits[first:]; rest != ""; rest = rest[3:] {
		groups = append(groups, rest[:3])
	}
	return strings.Join(groups, ",")
}
