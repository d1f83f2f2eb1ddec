// Package formats has what this folder's pages say about the store for programs: the meanings of its columns.
package formats

import (
	_ "embed"
	"regexp"
	"strings"
)

//go:embed store.md
var storePage string

var (
	// columnRow is a column in the table of its table: its name, its type and its meaning.
	columnRow = regexp.MustCompile("^\\| `(\\w+)` \\| .+ \\| (.+) \\|$")
	// pageLink is a link, of which the text remains.
	pageLink = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
)

// Columns are the meanings of the store's columns in plain text, by table and column: the data dictionary,
// as store.md has it. Types have no " | " in them.
func Columns() map[string]map[string]string {
	tables := make(map[string]map[string]string)
	table := ""
	for line := range strings.Lines(storePage) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "## "); ok {
			table = name
			continue
		}
		row := columnRow.FindStringSubmatch(line)
		if row == nil {
			continue
		}
		if tables[table] == nil {
			tables[table] = make(map[string]string)
		}
		tables[table][row[1]] = strings.ReplaceAll(pageLink.ReplaceAllString(row[2], "$1"), `\|`, "|")
	}
	return tables
}
