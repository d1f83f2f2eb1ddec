// Package sqlprompt runs queries of people on the store, of which none does more than read: single ones,
// files of them, and at a prompt.
package sqlprompt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Config is what a Shell works with.
type Config struct {
	Conn driver.Conn
	// Out takes the rows, in Format, one of Formats.
	Out    io.Writer
	Format string
	// Params are the values of the queries' parameters, such as {from:Date}, by name.
	Params map[string]string
	// Bar, if there is one, shows the progress of long queries.
	Bar Bar
}

// Shell runs queries and prints their rows.
type Shell struct {
	Config
	guard *readGuard
}

// New returns a shell.
func New(cfg Config) *Shell { return &Shell{Config: cfg, guard: &readGuard{conn: cfg.Conn}} }

// RunAll runs the statements of a text, separated by semicolons, up to the first error, which names the
// place. Text without a statement is an error.
func (q *Shell) RunAll(ctx context.Context, in io.Reader) error {
	n := 0
	err := eachStatement(in, func(s statement) error {
		if n++; n > 1 && IsBinary(q.Format) {
			return fmt.Errorf("format %s has the rows of one statement, and line %d begins another one", q.Format, s.line)
		}
		_, err := q.run(ctx, s, q.Out, rowWriters[q.Format])
		return err
	})
	if err == nil && n == 0 {
		return errors.New("there is no statement")
	}
	return err
}

// run runs a statement, which may only read, and returns the number of its rows.
func (q *Shell) run(ctx context.Context, s statement, out io.Writer, write rowWriter) (n int64, err error) {
	ctx = clickhouse.Context(ctx, clickhouse.WithParameters(q.Params))
	if err := q.guard.check(ctx, s); err != nil {
		return 0, refusal{err}
	}
	progress := begin(q.Bar, time.Now)
	defer progress.end()
	ctx = clickhouse.Context(ctx, clickhouse.WithProgress(progress.add), clickhouse.WithSettings(clickhouse.Settings{"readonly": 2}))
	rows, err := q.Conn.Query(ctx, s.text)
	if err != nil {
		return 0, explain(err, s)
	}
	counted := &countedRows{Rows: rows}
	err = write(out, counted)
	if closeErr := rows.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return counted.n, explain(err, s)
	}
	return counted.n, nil
}

// refusal is why a statement is not run.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// countedRows counts the rows that are read.
type countedRows struct {
	driver.Rows
	n int64
}

// Next implements driver.Rows.
func (c *countedRows) Next() bool {
	next := c.Rows.Next()
	if next {
		c.n++
	}
	return next
}
