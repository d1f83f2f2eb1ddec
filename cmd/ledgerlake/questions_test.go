package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/docs/analytics"
)

// TestQuestions asks each question of the library on the example network, of ClickHouse and of DuckDB, and
// compares the answers with the ones that are kept.
func TestQuestions(t *testing.T) {
	t.Parallel()
	needEngine(t)
	data := filepath.Join(t.TempDir(), "data")
	mustRun(t, "demo", "--updates", "400", "--seed", "3", "--days", "2", "--keep", "--data", data) // as docs/analytics says
	startEngine(t, filepath.Join(data, "engine"))
	questions, err := analytics.Questions()
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join("..", "..", "docs", "analytics", "questions")
	for _, q := range questions {
		args := []string{"sql", "--data", data, "--format", "tsv", "--run", q.Name}
		for name, value := range q.Example {
			args = append(args, "--param", name+"="+value)
		}
		answer := mustRun(t, args...)
		file := filepath.Join(kept, q.Name+".tsv")
		if *updateExamples {
			if err := os.WriteFile(file, answer, 0o644); err != nil {
				t.Fatal(err)
			}
		} else if want, err := os.ReadFile(file); err != nil || !bytes.Equal(answer, want) {
			t.Errorf("%s answers\n%s%v, want\n%s", q.Name, answer, err, want)
		}
		if bytes.Count(answer, []byte("\n")) < 2 && q.Name != "unexplained" && q.Name != "reward_root" { // which a test of its own asks
			t.Errorf("%s has no rows: the example shows nothing", q.Name)
		}
	}
	t.Run("DuckDB", func(t *testing.T) {
		for _, q := range questions {
			if q.DuckDB == "" {
				continue
			}
			want, err := os.ReadFile(filepath.Join(kept, q.Name+".tsv"))
			if err != nil {
				t.Fatal(err)
			}
			if got, want := asked(t, filepath.Join(data, "bucket", "objects", "ledgerlake"), q), plain(string(want)); got != want {
				t.Errorf("%s: DuckDB answers\n%s\nwant\n%s", q.Name, got, want)
			}
		}
		compareLabelled(t, data)
	})
	compareNotebook(t, data)
}

// notebookQuery is what a cell of the notebook asks.
var notebookQuery = regexp.MustCompile(`(?s)ask\("""(.*?)"""\)`)

// compareNotebook compares the answers that the notebook keeps, as `make notebook` wrote them, with those of a store.
func compareNotebook(t *testing.T, data string) {
	t.Helper()
	var notebook struct {
		Cells []struct {
			Source  []string
			Outputs []struct{ Text []string }
		}
	}
	text := readText(t, filepath.Join("..", "..", "docs", "analytics", "notebook", "supply.ipynb"))
	if err := json.Unmarshal([]byte(text), &notebook); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, cell := range notebook.Cells {
		query := notebookQuery.FindStringSubmatch(strings.Join(cell.Source, ""))
		if query == nil {
			continue
		}
		asked++
		kept := ""
		for _, o := range cell.Outputs {
			kept += strings.Join(o.Text, "")
		}
		if answer := string(mustRun(t, "sql", "--data", data, "--format", "tsv", query[1])); answer != kept {
			t.Errorf("%s\nanswers\n%s\nbut the notebook has\n%s\nrun make notebook", query[1], answer, kept)
		}
	}
	if asked < 4 {
		t.Errorf("the notebook asks %d questions", asked)
	}
}

// compareLabelled has DuckDB label all events of the objects below a data folder, and compares them with those of
// the store, and the answer to the question of docs/analytics with the one that it has for ClickHouse.
func compareLabelled(t *testing.T, data string) {
	t.Helper()
	objects := filepath.Join(data, "bucket", "objects", "ledgerlake")
	for file, query := range map[string]string{
		"labels.parquet": "SELECT * FROM labels FINAL",
		"store.parquet":  "SELECT update_id, node, argument_text, result_text FROM labelled_events WHERE stream = 'scan'",
	} {
		mustRun(t, "sql", "--data", data, "-o", filepath.Join(objects, file), query)
	}
	docs := filepath.Join("..", "..", "docs", "analytics")
	labels, page := readText(t, filepath.Join(docs, "labels.duckdb.sql")), readText(t, filepath.Join(docs, "README.md"))
	inDuckDB := func(query string) string {
		return asked(t, objects, analytics.Question{Name: "labels", DuckDB: query}, labels)
	}
	got := inDuckDB(`SELECT count(*) > 1000 AS many, count(*) FILTER (l.argument::VARCHAR <> s.argument_text OR coalesce(l.result::VARCHAR, '') <> s.result_text) AS others
		FROM labelled_events l JOIN read_parquet('store.parquet') s USING (update_id, node)`)
	if want := "many\tothers\ntrue\t0\n"; got != want {
		t.Errorf("DuckDB labels the events of the objects otherwise than the store: %q, want %q", got, want)
	}
	found := labelledQuestion.FindStringSubmatch(page)
	if found == nil {
		t.Fatal("docs/analytics has no question about labelled events")
	}
	_, rows, _ := strings.Cut(inDuckDB(found[2]), "\n")
	if want := plain(found[1]); rows != want {
		t.Errorf("DuckDB answers\n%s\nwant\n%s", rows, want)
	}
}

// labelledQuestion is the answer to the question about labelled events, and the question for DuckDB.
var labelledQuestion = regexp.MustCompile("(?s)FROM labelled_events.*?```text\n(.*?)```.*?```duckdb\n(.*?)\n```")

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// asked is the answer of DuckDB over the objects below a folder, after statements that prepare it.
func asked(t *testing.T, objects string, q analytics.Question, before ...string) string {
	t.Helper()
	home, err := filepath.Abs(filepath.Join("..", "..", "bench", "duckdb"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(home, "node_modules")); errors.Is(err, fs.ErrNotExist) {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no DuckDB: run scripts/setup.sh duckdb")
		}
		t.Skip("there is no DuckDB: run scripts/setup.sh duckdb")
	}
	values, err := q.Values(q.Example)
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	script.WriteString("SET TimeZone = 'UTC';\n")
	for _, table := range []string{"updates", "events", "verdicts", "traffic", "app_activity", "movements"} {
		fmt.Fprintf(&script, "CREATE VIEW %s AS SELECT * FROM read_parquet('%s/v1/**/*.parquet');\n", table, table)
	}
	script.WriteString(strings.Join(before, "\n"))
	for name, value := range values {
		fmt.Fprintf(&script, "SET VARIABLE \"%s\" = '%s';\n", name, value)
	}
	fmt.Fprintf(&script, "SELECT COLUMNS(*)::VARCHAR FROM (%s);", q.DuckDB)
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join(home, "query.mjs"), script.String())
	cmd.Dir, cmd.Stdout, cmd.Stderr = objects, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", q.Name, err, stderr.Bytes())
	}
	return plain(tabbed(t, stdout.Bytes()))
}

// tabbed are rows, which are JSON objects with texts, as lines with tabs below one with the names.
func tabbed(t *testing.T, rows []byte) string {
	t.Helper()
	var lines []string
	decoder := json.NewDecoder(bytes.NewReader(rows))
	var names, cells []string
	for depth, isName := 0, true; ; {
		token, err := decoder.Token()
		if err != nil {
			return strings.Join(append([]string{strings.Join(names, "\t")}, lines...), "\n") + "\n"
		}
		switch {
		case token == json.Delim('{'):
			depth, isName, names, cells = 1, true, nil, nil
		case token == json.Delim('}'):
			depth, lines = 0, append(lines, strings.Join(cells, "\t"))
		case depth == 1 && isName:
			names, isName = append(names, fmt.Sprint(token)), false
		case depth == 1:
			cells, isName = append(cells, fmt.Sprint(token)), true
		}
	}
}

var (
	zeros   = regexp.MustCompile(`(?m)(\.\d*?)0+(\t|$)`)
	instant = regexp.MustCompile(`(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?)(?:Z|\+00)`)
)

// plain is an answer without what each engine writes in its own way: instants, zeros at the end of
// numbers, quotes in lists.
func plain(answer string) string {
	answer = instant.ReplaceAllString(answer, "$1 $2")
	answer = zeros.ReplaceAllString(answer, "$1$2")
	return strings.NewReplacer(`"`, "", "'", "", ", ", ",", ".\t", "\t", ".\n", "\n").Replace(answer)
}
