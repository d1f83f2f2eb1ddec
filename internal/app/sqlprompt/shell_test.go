package sqlprompt

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

// Statements are run one after another up to the first error, with their parameters.
func TestRunAll(t *testing.T) {
	conn := enginetest.Start(t).Conn
	run := func(format, text string) (string, error) {
		var out bytes.Buffer
		err := New(Config{Conn: conn, Out: &out, Format: format, Params: map[string]string{"from": "2026-07-01", "names": "['a','it\\'s']"}}).
			RunAll(t.Context(), strings.NewReader(text))
		return out.String(), err
	}
	got, err := run("tsv", "SELECT 1 AS one,\n  '; ' AS mark; -- next;\nSELECT {from:Date} AS day, {names:Array(String)} AS names; SELEC 3; SELECT 4")
	if want := "one\tmark\n1\t; \nday\tnames\n2026-07-01\t[\"a\",\"it's\"]\n"; got != want || err == nil {
		t.Errorf("printed %q, %v, want %q and an error", got, err, want)
	}
	got, err = run("csv", `SELECT 'a,b' AS text, '"' AS quote, NULL AS nothing, [1, 2] AS list, toDecimal64('1.50', 2) AS n UNION ALL SELECT 'x\ny', '', NULL, [], 3`)
	if want := "text,quote,nothing,list,n\n\"a,b\",\"\"\"\",,\"[1,2]\",1.5\n\"x\ny\",,,[],3\n"; sorted(got) != sorted(want) || err != nil {
		t.Errorf("printed %q, %v, want %q", got, err, want)
	}
	got, err = run("tsv", "SELECT toDateTime64('2299-12-31 23:59:59.999999', 6, 'UTC') AS never, toDateTime64('1900-01-01', 6, 'UTC') AS least")
	if want := "never\tleast\n2299-12-31T23:59:59.999999Z\t1900-01-01T00:00:00Z\n"; got != want || err != nil {
		t.Errorf("printed %q, %v, want %q", got, err, want)
	}
	if _, err := run("tsv", " -- nothing; \n"); err == nil {
		t.Error("a text without a statement is no error")
	}
}

func sorted(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		for j := range lines[:i] {
			if lines[i] < lines[j] {
				lines[i], lines[j] = lines[j], lines[i]
			}
		}
	}
	return strings.Join(lines, "\n")
}

// Errors of statements are one line with the place.
func TestMistakes(t *testing.T) {
	conn := enginetest.Start(t).Conn
	for text, want := range map[string]string{
		"SELEC 1":                         `line 1, column 1: syntax error at "SELEC": expected `,
		"SELECT 1;\n\nSELECT a\nFRM b, c": `line 4, column 5: syntax error at "b": expected token, Comma, FROM, PREWHERE, WHERE, GROUP BY, WITH, HAVING, ... (code 62)`,
		"SELECT 1 +":                      `line 1, column 11: syntax error at the end: expected `,
		"SELECT (1":                       `line 1, column 8: syntax error at "(": unmatched parentheses: ( (code 62)`,
		"SELECT\n  'a":                    `line 2, column 3: syntax error at "'a": Single quoted string is not closed (code 62)`,
		"\nSELECT 1,\n number FROM numbers(1) WHERE nowhere":              "line 3, column 31: Unknown expression identifier `nowhere` (code 47)",
		"SELECT 1 FROM absent":                                            `line 1, column 15: Unknown table expression identifier 'absent' (code 60)`,
		"SELECT {to:Date}":                                                "line 1, column 9: Substitution `to` is not set (code 456)",
		"SELECT 1;\nSELECT throwIf(number = 5, 'five')\nFROM numbers(10)": "statement of line 2: five",
		"DROP TABLE x":                                                    "sql is read-only",
	} {
		err := New(Config{Conn: conn, Out: new(bytes.Buffer), Format: "tsv"}).RunAll(t.Context(), strings.NewReader(text))
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: the error is\n%v\nwant\n%s", text, err, want)
		}
	}
}

// screenLine is a Bar that keeps what it shows.
type screenLine struct {
	shown   string
	drawn   int
	cleared bool
}

func (l *screenLine) Draw(line func(int) string) { l.shown, l.drawn = line(200), l.drawn+1 }
func (l *screenLine) Clear()                     { l.cleared = true }

// Progress is shown of long queries only, with rows, share and time, and not after the end.
func TestProgress(t *testing.T) {
	now := time.Unix(0, 0)
	bar := new(screenLine)
	p := begin(bar, func() time.Time { return now })
	p.add(&clickhouse.Progress{Rows: 100, TotalRows: 1000})
	if bar.drawn != 0 {
		t.Error("a short query has a bar")
	}
	now = now.Add(2 * time.Second)
	p.add(&clickhouse.Progress{Rows: 150})
	p.add(&clickhouse.Progress{Rows: 1})
	if want := "250 of 1000 rows, 25%, 125 rows/s, 2.0 s"; bar.shown != want || bar.drawn != 1 {
		t.Errorf("%d times drawn, last %q, want %q", bar.drawn, bar.shown, want)
	}
	p.end()
	now = now.Add(time.Minute)
	if p.add(&clickhouse.Progress{Rows: 1}); bar.drawn != 1 || !bar.cleared {
		t.Errorf("drawn %d times, cleared %t", bar.drawn, bar.cleared)
	}
	begin(nil, time.Now).end() // without a terminal
}

// Tab completes tables where a table belongs, columns of the tables of the statement, and else any word.
func TestWords(t *testing.T) {
	conn := enginetest.Start(t).Conn
	for _, ddl := range []string{"CREATE TABLE payments (amount Int64, sender String) ENGINE = Memory", "CREATE TABLE parties (party String) ENGINE = Memory"} {
		if err := conn.Exec(t.Context(), ddl); err != nil {
			t.Fatal(err)
		}
	}
	w, err := readWords(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		earlier, head, tail string
		before              string
		has, lacks          []string
	}{
		{"", "SELECT 1 FROM pa", "", "SELECT 1 FROM ", []string{"payments", "parties"}, []string{"partition"}},
		{"SELECT 1\nFROM\n", "pa", "", "", []string{"payments", "parties"}, nil},
		{"", `\d par`, "", `\d `, []string{"parties"}, nil},
		{"", "SELECT AM", " FROM payments", "SELECT ", []string{"amount"}, []string{"party"}},
		{"", "SELECT p. FROM payments AS p WHERE p.", "", "SELECT p. FROM payments AS p WHERE p.", []string{"amount", "sender"}, []string{"payments", "party"}},
		{"", "sel", "", "", []string{"select"}, []string{"SELECT"}},
		{"", "GRO", "", "", []string{"GROUP", "groupArray("}, []string{"group"}},
		{"", "é SELECT toStartOfH", "", "é SELECT ", []string{"toStartOfHour("}, nil},
	} {
		before, found, after := w.complete(c.earlier, c.head, c.tail)
		if before != c.before || after != c.tail {
			t.Errorf("%+v: around it are %q and %q", c, before, after)
		}
		all := make(map[string]bool)
		for _, word := range found {
			all[word] = true
		}
		for _, word := range c.has {
			if !all[word] {
				t.Errorf("%+v: %q is not among %q", c, word, found)
			}
		}
		for _, word := range c.lacks {
			if all[word] {
				t.Errorf("%+v: %q is among %q", c, word, found)
			}
		}
	}
}

// The history keeps its newest lines, and nobody else may read it.
func TestHistory(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	name, err := HistoryFile()
	if err != nil || !strings.HasPrefix(name, state) {
		t.Fatalf("the file is %q, %v", name, err)
	}
	var want []string
	for try := range 2 {
		h, err := openHistory(name)
		if err != nil {
			t.Fatal(err)
		}
		if try == 1 && !reflect.DeepEqual(h.lines, want[len(want)-maxHistory:]) {
			t.Errorf("%d lines are read, the first is %q", len(h.lines), h.lines[0])
		}
		for n := range maxHistory + 5 {
			line := fmt.Sprintf("SELECT %d;", n)
			want = append(want, line)
			if err := h.add(line); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.close(); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
}
