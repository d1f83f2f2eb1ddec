package sqlprompt

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

//go:embed sql/functions_that_reach_out.sql
var functionsThatReachOut string

// errOnlyReads tells which statements command sql takes.
var errOnlyReads = errors.New("sql is read-only: it runs SELECT, SHOW, DESCRIBE, EXISTS and EXPLAIN")

// readGuard refuses statements that do more than read the store: readonly alone leaves those
// that write to files and to the network, and KILL. It judges the syntax tree that the server
// itself makes of a statement.
type readGuard struct {
	conn driver.Conn
	// reachOut are functions that read or write beyond the store, in lower case; loaded on
	// first use.
	reachOut map[string]bool
}

// check returns nil if a statement may be run.
func (g *readGuard) check(ctx context.Context, s statement) error {
	if err := g.load(ctx); err != nil {
		return err
	}
	// A statement cannot be a parameter. This one is only parsed.
	tree, err := texts(ctx, g.conn, "EXPLAIN AST "+s.text)
	if err != nil {
		return explain(g.place(ctx, err, s.text), s)
	}
	return g.judge(s.text, tree)
}

// escapeText writes a text as the value of a parameter.
var escapeText = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`)

// place returns a syntax error with its place in query: that of the statement behind EXPLAIN AST may blame
// another word.
func (g *readGuard) place(ctx context.Context, err error, query string) error {
	var wrong, better *clickhouse.Exception
	if errors.As(err, &wrong) && wrong.Code == codeSyntax {
		ctx = clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters{"query": escapeText.Replace(query)}))
		_, again := texts(ctx, g.conn, "SELECT formatQuery({query:String}) SETTINGS implicit_select = 0")
		if errors.As(again, &better) && better.Code == codeSyntax {
			return again
		}
	}
	return err
}

func (g *readGuard) load(ctx context.Context) error {
	if g.reachOut != nil {
		return nil
	}
	names, err := texts(ctx, g.conn, functionsThatReachOut)
	if err != nil {
		return fmt.Errorf("reading which functions may be used: %w", err)
	}
	g.reachOut = make(map[string]bool, len(names))
	for _, name := range names {
		g.reachOut[name] = true
	}
	return nil
}

// judge looks at the syntax tree of query, a node a line, indented by depth.
func (g *readGuard) judge(query string, tree []string) error {
	if len(tree) == 0 {
		return errOnlyReads
	}
	root := nodeType(tree[0])
	switch {
	case !isOneOf(root, "Select", "Show", "Describe", "Exists", "Explain"):
		return errOnlyReads
	case strings.HasPrefix(root, "Show") && strings.Contains(strings.ToUpper(query), "WHERE"):
		// The tree leaves conditions of SHOW out.
		return errors.New("SHOW with WHERE is refused: use LIKE, or read the tables of database system")
	}
	for _, line := range tree[1:] {
		node := nodeType(line)
		depth := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case depth == 1 && root == "Explain" && !isOneOf(node, "Select", "Set"):
			return errOnlyReads
		case depth == 1 && strings.HasPrefix(root, "Select") && node == "Literal":
			return errors.New("INTO OUTFILE is refused: redirect the output of ledgerlake sql instead")
		case node == "ColumnsApplyTransformer":
			return errors.New("APPLY is refused: the syntax tree does not tell which function it applies")
		case node == "Function" && g.reachOut[functionName(line)]:
			return fmt.Errorf("function %s is refused: it may reach beyond the store", functionName(line))
		}
	}
	return nil
}

// nodeType is the first word of a line.
func nodeType(line string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(line, " "), " ")
	return name
}

func isOneOf(node string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(node, p) {
			return true
		}
	}
	return false
}

// functionName is the name in a line such as "  Function file (alias x) (children 1)", in
// lower case.
func functionName(line string) string {
	_, rest, _ := strings.Cut(line, "Function ")
	for _, mark := range []string{" (alias ", " (children "} {
		rest, _, _ = strings.Cut(rest, mark)
	}
	return strings.ToLower(strings.TrimSpace(rest))
}

// texts returns the single column of a query, as lines.
func texts(ctx context.Context, conn driver.Conn, query string) ([]string, error) {
	rows, err := conn.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	var list []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		list = append(list, text)
	}
	return list, errors.Join(rows.Err(), rows.Close())
}
