package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/spf13/cobra"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/engine"
)

func newSQL(a *app) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "sql [QUERY]",
		Short: "a prompt, or one query, on the store",
		Long: `sql runs a query on the store and prints its rows; without one it reads queries from
standard input, each up to a semicolon at the end of a line, from a terminal with a prompt.
The tables are described in docs/formats/store.md. What lies above a stream's watermark is
not final: table batches tells where that is.

Queries may read the store and nothing else: SELECT, SHOW, DESCRIBE, EXISTS and EXPLAIN,
without functions that reach files, other servers or other services. It uses the engine of a
ledgerlake that runs on --data, as a user who may read the product's tables and the harmless
ones of database system, and starts one if none does. With --clickhouse-dsn the tables that
can be read are those of the DSN's user.`,
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
			a.quiet()
			write, ok := rowWriters[format]
			if !ok {
				return settings.Usage("--format must be table, tsv or json, not %q", format)
			}
			s := newStack(a)
			defer s.closeInto(&err)
			conn, err := s.openSQL(cmd.Context())
			if err != nil {
				return err
			}
			out := a.data
			if format == "table" {
				out = a.stdout
			}
			q := newQuerying(conn, out, write)
			if len(args) == 1 {
				return q.run(cmd.Context(), args[0])
			}
			if in, ok := cmd.InOrStdin().(*os.File); ok && isTerminal(in) {
				q.errors, q.prompt = a.stderr, a.stderr
			}
			return q.runAll(cmd.Context(), cmd.InOrStdin())
		},
	}
	cmd.Flags().StringVar(&format, "format", "table", "how rows are printed: table, tsv or json, an object a line")
	return cmd
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// openSQL connects to the ClickHouse that is given, to an engine that runs on the data
// folder, or to one that it starts.
func (s *stack) openSQL(ctx context.Context) (driver.Conn, error) {
	s.dsn = s.app.cfg.ClickHouseDSN
	if s.dsn != "" {
		if err := s.reachStore(ctx); err != nil {
			return nil, err
		}
	} else {
		conn, err := s.openRunning(ctx)
		if conn != nil || err != nil {
			return conn, err
		}
		if err := s.checkLocal(ctx); err != nil {
			return nil, err
		}
		if err := s.startEngine(ctx); err != nil {
			return nil, err
		}
	}
	return s.connectSQL(ctx, s.readerDSN())
}

// openRunning connects to the engine that another process runs on the data folder; the
// connection is nil if none answers.
func (s *stack) openRunning(ctx context.Context) (driver.Conn, error) {
	dsn, err := engine.RunningDSN(filepath.Join(s.app.cfg.Data, "engine"))
	if errors.Is(err, engine.ErrNotRunning) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	conn, err := s.connectSQL(ctx, dsn)
	if err != nil {
		s.app.log.DebugContext(ctx, "the engine that was running does not answer", "err", err)
		return nil, nil
	}
	return conn, nil
}

func (s *stack) connectSQL(ctx context.Context, dsn string) (driver.Conn, error) {
	conn, err := engine.Open(ctx, dsn)
	if err != nil {
		return nil, err
	}
	s.onClose(conn.Close)
	return conn, nil
}

// querying runs queries and prints their rows.
type querying struct {
	conn  driver.Conn
	guard *readGuard
	out   io.Writer
	write func(out io.Writer, rows driver.Rows) error
	// errors, when set, takes the error of a query, after which the next one is run.
	errors io.Writer
	// prompt, when set, asks for queries.
	prompt io.Writer
}

func newQuerying(conn driver.Conn, out io.Writer, write func(out io.Writer, rows driver.Rows) error) *querying {
	return &querying{conn: conn, guard: &readGuard{conn: conn}, out: out, write: write}
}

// run runs one query, which may only read.
func (q *querying) run(ctx context.Context, query string) error {
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

// runAll runs the queries that it reads, each up to a semicolon at the end of a line.
func (q *querying) runAll(ctx context.Context, in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxQuery)
	var query strings.Builder
	finish := func() error {
		text := strings.TrimSpace(query.String())
		query.Reset()
		if text == "" {
			return nil
		}
		err := q.run(ctx, text)
		if err == nil || q.errors == nil || ctx.Err() != nil {
			return err
		}
		_, err = fmt.Fprintln(q.errors, err)
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
func (q *querying) ask(within bool) {
	if q.prompt == nil {
		return
	}
	text := "ledgerlake> "
	if within {
		text = "       ...> "
	}
	fmt.Fprint(q.prompt, text) // to a terminal: if that is gone, so is its input
}
