package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/app/sqlprompt"
)

// sqlFlags are the flags of command sql.
type sqlFlags struct {
	format string
	output string   // a file, "" for standard output
	given  []string // parameters as NAME=VALUE
	params map[string]string
	list   bool
	run    string // a question of the library
}

func newSQL(c *cli) *cobra.Command {
	var f sqlFlags
	cmd := &cobra.Command{
		Use:   "sql [QUERY]",
		Short: "run queries on the store, or open a prompt",
		Long: `sql runs a query on the store and prints its rows, or several that are separated by semicolons.
Without a query it reads them from standard input; on a terminal it opens a prompt with
history and completion: \? shows its help. The first error ends the run; at the prompt Ctrl-C
cancels a query, and nothing but that. --list shows a library of questions, --run runs one.
The tables are described in docs/formats/store.md, and at the prompt by \d. Rows above a stream's
watermark, which is in table batches, are not final.

Queries can only read the store: SELECT, SHOW, DESCRIBE, EXISTS and EXPLAIN, without functions
that reach files, other servers or other services. They go to the engine of the ledgerlake
that runs on --data, as a user who may read the product's tables and the harmless ones of
database system; if none runs, the command starts an engine. With --clickhouse-dsn you can
read whatever the DSN's user can.`,
		Example: "  ledgerlake sql\n" +
			"  ledgerlake sql \"SELECT stream, count() FROM updates GROUP BY stream\"\n" +
			"  ledgerlake sql --format json \"SELECT * FROM contracts_live LIMIT 10\" | jq .\n" +
			"  ledgerlake sql -o updates.csv \"SELECT * FROM updates WHERE record_time >= {from:Date}\" --param from=2026-07-01\n" +
			"  ledgerlake sql < queries.sql\n" +
			"  ledgerlake sql --list\n" +
			"  ledgerlake sql --run supply --param from=2026-07-01",
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return fmt.Errorf("sql takes one query, not %d arguments: put it in quotes", len(args))
			case len(args) == 1 && f.run != "":
				return errors.New("sql takes a query or --run, not both")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if f.list {
				return listQuestions(c.stdout)
			}
			if err := f.complete(cmd.Flags().Changed("format")); err != nil {
				return err
			}
			if sqlprompt.IsBinary(f.format) && f.output == "" && c.console.Stdout.IsTerminal() {
				return settings.Usage("--format %s is not for a terminal: add -o FILE, or redirect the output", f.format)
			}
			if f.run != "" {
				var text string
				if text, f.params, err = libraryQuestion(f.run, f.params); err != nil {
					return err
				}
				args = []string{text}
			}
			c.quiet()
			a := c.app()
			defer a.CloseInto(&err)
			conn, err := a.OpenSQL(cmd.Context())
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return c.runSQL(cmd.Context(), conn, f, strings.NewReader(args[0]))
			}
			in, ok := cmd.InOrStdin().(*os.File)
			if ok && f.output == "" && term.IsTerminal(int(in.Fd())) && c.console.Stdout.IsTerminal() {
				return c.promptSQL(cmd.Context(), conn, f)
			}
			return c.runSQL(cmd.Context(), conn, f, cmd.InOrStdin())
		},
	}
	cmd.Flags().StringVar(&f.format, "format", "table", "format of the rows: "+strings.Join(sqlprompt.Formats, ", ")+" (an object in each line); by default that of the file's name with -o")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "`FILE` that gets the rows when all are read")
	cmd.Flags().BoolVar(&f.list, "list", false, "list the questions of the library with their parameters")
	cmd.Flags().StringVar(&f.run, "run", "", "`NAME` of a question of the library to run")
	cmd.Flags().StringArrayVar(&f.given, "param", nil, "value of a parameter of the query such as {from:Date}, as `NAME=VALUE`; may be repeated")
	return cmd
}

// complete checks the flags, and takes the format from the file's name unless one is given.
func (f *sqlFlags) complete(formatGiven bool) error {
	if extension := strings.TrimPrefix(filepath.Ext(f.output), "."); !formatGiven && slices.Contains(sqlprompt.Formats, extension) {
		f.format = extension
	}
	if !slices.Contains(sqlprompt.Formats, f.format) {
		return settings.Usage("--format must be %s, not %q", oneOf(sqlprompt.Formats), f.format)
	}
	f.params = make(map[string]string, len(f.given))
	for _, param := range f.given {
		name, value, ok := strings.Cut(param, "=")
		if !ok || name == "" {
			return settings.Usage("--param must be NAME=VALUE, not %q", param)
		}
		f.params[name] = value
	}
	return nil
}

// oneOf is such as "table, csv or json".
func oneOf(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// shell is one that writes rows to out.
func (c *cli) shell(conn driver.Conn, f sqlFlags, out io.Writer) *sqlprompt.Shell {
	cfg := sqlprompt.Config{Conn: conn, Out: out, Format: f.format, Params: f.params}
	if c.console.HasBar() {
		cfg.Bar = c.console
	}
	return sqlprompt.New(cfg)
}

// runSQL runs the statements that it reads.
func (c *cli) runSQL(ctx context.Context, conn driver.Conn, f sqlFlags, in io.Reader) (err error) {
	if f.output != "" {
		return toFile(f.output, func(out io.Writer) error { return c.shell(conn, f, out).RunAll(ctx, in) })
	}
	return c.shell(conn, f, c.rows(f.format)).RunAll(ctx, in)
}

// rows is where rows go: people read tables, and programs all other formats.
func (c *cli) rows(format string) io.Writer {
	if format == "table" {
		return c.stdout
	}
	return c.data
}

// promptSQL opens a prompt on the terminal.
func (c *cli) promptSQL(ctx context.Context, conn driver.Conn, f sqlFlags) error {
	history, err := sqlprompt.HistoryFile()
	if err != nil {
		return err
	}
	return c.shell(conn, f, c.rows(f.format)).Prompt(ctx, sqlprompt.Terminal{
		Screen: c.stdout, Messages: c.stderr, History: history,
		Interrupts: func(do func()) func() { return takeInterrupts(ctx, do) },
	})
}

// toFile makes a file of what is written, when that succeeds, or leaves what was there. What is no ordinary
// file, such as a pipe, is written to at once.
func toFile(name string, write func(io.Writer) error) (err error) {
	part := name + ".part"
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		part = name
	}
	file, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	err = errors.Join(write(file), file.Close())
	switch {
	case part == name:
		return err
	case err != nil:
		return errors.Join(err, os.Remove(part))
	}
	if err := os.Rename(part, name); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	return nil
}
