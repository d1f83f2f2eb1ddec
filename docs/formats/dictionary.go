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
	columnRow = regexp.MustCompile("^\\| `(\\w+)` \\| (.+) \\| (.+) \\|$")
	// pageLink is a link, of which the text remains.
	pageLink = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)
)

// Column is a column of a table of the store, with its meaning in plain text.
type Column struct{ Table, Name, Type, Meaning string }

// Dictionary are the store's columns in the order of store.md, the data dictionary. Types have no " | " in them.
func Dictionary() (columns []Column) {
	table := ""
	for line := range strings.Lines(storePage) {
		line = strings.TrimSuffix(line, "\n")
		if name, ok := strings.CutPrefix(line, "## "); ok {
			table = name
			continue
		}
		if row := columnRow.FindStringSubmatch(line); row != nil {
			meaning := strings.ReplaceAll(pageLink.ReplaceAllString(row[3], "$1"), `\|`, "|")
			columns = append(columns, Column{table, row[1], row[2], meaning})
		}
	}
	return columns
}

// Columns are the meanings of the store's columns by table and column.
func Columns() map[string]map[string]string {
	tables := make(map[string]map[string]string)
	for _, c := range Dictionary() {
		if tables[c.Table] == nil {
			tables[c.Table] = make(map[string]string)
		}
		tables[c.Table][c.Name] = c.Meaning
	}
	return tables
}
