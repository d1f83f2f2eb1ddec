package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/app/sqlprompt"
)

func newSQL(c *cli) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "sql [QUERY]",
		Short: "run one query on the store, or open a prompt",
		Long: `sql runs a query on the store and prints its rows. Without a query it reads queries from
standard input, each up to a semicolon at the end of a line; on a terminal it shows a prompt.
The tables are described in docs/formats/store.md. Rows above a stream's watermark, which is
in table batches, are not final.

Queries can only read the store: SELECT, SHOW, DESCRIBE, EXISTS and EXPLAIN, without functions
that reach files, other servers or other services. They go to the engine of the ledgerlake
that runs on --data, as a user who may read the product's tables and the harmless ones of
database system; if none runs, the command starts an engine. With --clickhouse-dsn you can
read whatever the DSN's user can.`,
		Example: "  ledgerlake sql \"SELECT stream, count() FROM updates GROUP BY stream\"\n" +
			"  ledgerlake sql --format json \"SELECT * FROM contracts_live LIMIT 10\" | jq .\n" +
			"  ledgerlake sql < queries.sql",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("sql takes one query, not %d arguments: put it in quotes", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			c.quiet()
			out := c.data
			if format == "table" {
				out = c.stdout
			}
			a := c.app()
			defer a.CloseInto(&err)
			if !slices.Contains(sqlprompt.Formats, format) {
				return settings.Usage("--format must be table, tsv or json, not %q", format)
			}
			conn, err := a.OpenSQL(cmd.Context())
			if err != nil {
				return err
			}
			shell := sqlprompt.New(conn, out, format)
			if len(args) == 1 {
				return shell.Run(cmd.Context(), args[0])
			}
			if in, ok := cmd.InOrStdin().(*os.File); ok && isTerminal(in) {
				shell.Errors, shell.Prompt = c.stderr, c.stderr
			}
			return shell.RunAll(cmd.Context(), cmd.InOrStdin())
		},
	}
	cmd.Flags().StringVar(&format, "format", "table", "format of the rows: table, tsv, or json with one object per line")
	return cmd
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
