// Package sqlprompt runs queries of people on the store, of which none does more than read.
package sqlprompt

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Shell runs queries and prints their rows.
type Shell struct {
	conn  driver.Conn
	guard *readGuard
	out   io.Writer
	write func(out io.Writer, rows driver.Rows) error
	// Errors, when set, takes the error of a query, after which the next one is run.
	Errors io.Writer
	// Prompt, when set, asks for queries.
	Prompt io.Writer
}

// New returns a shell on conn that prints rows to out, in one of Formats.
func New(conn driver.Conn, out io.Writer, format string) *Shell {
	return &Shell{conn: conn, guard: &readGuard{conn: conn}, out: out, write: rowWriters[format]}
}

// Run runs one query, which may only read.
func (q *Shell) Run(ctx context.Context, query string) error {
	query = strings.TrimSuffix(strings.TrimSpace(query), ";")
	if err := q.guard.check(ctx, query); err != nil {
		return err
	}
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"readonly": 2}))
	rows, err := q.conn.Query(ctx, query)
	if err != nil {
		return fmt.Errorf("running the query: %w", err)
	}
	err = q.write(q.out, rows)
	if closeErr := rows.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("reading rows: %w", err)
	}
	return nil
}

// maxQuery bounds the text of one query.
const maxQuery = 1 << 20

// RunAll runs the queries that it reads, each up to a semicolon at the end of a line.
func (q *Shell) RunAll(ctx context.Context, in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxQuery)
	var query strings.Builder
	finish := func() error {
		text := strings.TrimSpace(query.String())
		query.Reset()
		if text == "" {
			return nil
		}
		err := q.Run(ctx, text)
		if err == nil || q.Errors == nil || ctx.Err() != nil {
			return err
		}
		_, err = fmt.Fprintln(q.Errors, err)
		return err
	}
	for q.ask(query.Len() > 0); lines.Scan(); q.ask(query.Len() > 0) {
		if query.Len() == 0 && strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		query.WriteString(lines.Text() + "\n")
		if !strings.HasSuffix(strings.TrimSpace(lines.Text()), ";") {
			continue
		}
		if err := finish(); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading queries: %w", err)
	}
	return finish()
}

// ask prints the prompt, another one within a query.
func (q *Shell) ask(within bool) {
	if q.Prompt == nil {
		return
	}
	text := "ledgerlake> "
	if within {
		text = "       ...> "
	}
	fmt.Fprint(q.Prompt, text) // to a terminal: if that is gone, so is its input
}
