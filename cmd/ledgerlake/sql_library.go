package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/ledgerlake/ledgerlake/docs/analytics"
	"github.com/ledgerlake/ledgerlake/internal/app/settings"
)

// listQuestions prints the names and titles of the library by group, with the parameters.
func listQuestions(out io.Writer) error {
	questions, err := analytics.Questions()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	group := ""
	for _, q := range questions {
		if q.Group != group {
			group = q.Group
			fmt.Fprintf(w, "%s\n", group)
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", q.Name, q.Title, q.ParameterNames())
	}
	return w.Flush()
}

// libraryQuestion is the statement of a question of the library, with values of all its parameters.
func libraryQuestion(name string, given map[string]string) (statement string, params map[string]string, err error) {
	questions, err := analytics.Questions()
	if err != nil {
		return "", nil, err
	}
	for _, q := range questions {
		if q.Name != name {
			continue
		}
		params, err := q.Values(given)
		if err != nil {
			return "", nil, settings.AsUsage(err)
		}
		return strings.TrimSpace(q.ClickHouse), params, nil
	}
	return "", nil, settings.Usage("there is no question %q: ledgerlake sql --list shows them", name)
}
