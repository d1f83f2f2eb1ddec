package sqlprompt

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
)

var (
	//go:embed sql/tables.sql
	tablesOfStore string
	//go:embed sql/columns_of_table.sql
	columnsOfTable string
)

const help = `\d          tables
\d TABLE    columns of a table: types and meanings
\timing     show rows and time of each statement, or stop it
\?          this help
\q          leave, as exit and Ctrl-D do

Statements end with a semicolon and may have several lines. Tab completes names, the arrow
keys and Ctrl-R find earlier statements, Ctrl-C cancels a statement.
`

// command does what a line with a backslash says.
func (p *prompt) command(ctx context.Context, words []string) error {
	name, rest := strings.TrimRight(words[0], ";"), words[1:]
	switch {
	case name == `\?`:
		_, err := io.WriteString(p.Screen, help)
		return err
	case name == `\timing`:
		p.timing = !p.timing
		fmt.Fprintln(p.Messages, "timing is "+map[bool]string{true: "on", false: "off"}[p.timing])
		return nil
	case name == `\d` && len(rest) == 0:
		return p.show(ctx, tablesOfStore, nil, "the store has no tables")
	case name == `\d` && len(rest) == 1:
		table := strings.Trim(rest[0], ";`\"")
		return p.show(ctx, columnsOfTable, clickhouse.Parameters{"table": table}, fmt.Sprintf(`there is no table %s: \d lists them`, table))
	}
	return fmt.Errorf(`%s is no command: \? lists them`, strings.Join(words, " "))
}

// show prints the rows of one of our own queries. That there is none is an error.
func (p *prompt) show(ctx context.Context, query string, params clickhouse.Parameters, none string) error {
	rows, err := p.Conn.Query(clickhouse.Context(ctx, clickhouse.WithParameters(params)), query)
	if err != nil {
		return err
	}
	counted := &countedRows{Rows: rows}
	var table bytes.Buffer
	if err := errors.Join(writeTable(&table, counted), rows.Close()); err != nil {
		return err
	}
	if counted.n == 0 {
		return errors.New(none)
	}
	_, err = p.Screen.Write(table.Bytes())
	return err
}
