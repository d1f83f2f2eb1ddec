package typed

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/history/typedviews"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

var update = flag.Bool("update", false, "write the answers that the store gives into the page")

const page = "../../docs/analytics/typed-tables.md"

var (
	// adding are the commands of the page that make tables, with their names.
	adding = regexp.MustCompile("(?m)^ledgerlake table add (.*)$")
	// question is a query of the page with its answer.
	question = regexp.MustCompile("(?s)```sql\n(.*?)\n```\n\n```text\n(.*?)```")
)

// TestThePageHasTheAnswers runs each query of the page on the history that it names.
func TestThePageHasTheAnswers(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t)
	for _, names := range adding.FindAllStringSubmatch(string(text), -1) {
		f.add(t, values.Default(), strings.Fields(names[1])...)
	}
	items := scanItems(t, devnet.Config{Updates: 400, Seed: 3, Days: 2})
	f.write(t, indexertest.ScanBatches(items, len(items))...)
	f.catchUp(t, f.typed(values.Default()))
	if err := indexer.NewLifetimes(f.db, schemas.ScanStream, time.Millisecond, f.log).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	asked := 0
	answered := question.ReplaceAllStringFunc(string(text), func(text string) string {
		asked++
		parts := question.FindStringSubmatch(text)
		lines := indexertest.Texts(t, f.DSN, "SELECT arrayStringConcat(arrayMap(v -> toString(v), [*]), '\t') FROM (SELECT * APPLY toString FROM ("+parts[1]+"))")
		answer := strings.Join(lines, "\n") + "\n"
		if answer != parts[2] && !*update {
			t.Errorf("%s\nanswers\n%sbut the page has\n%s", parts[1], answer, parts[2])
		}
		return "```sql\n" + parts[1] + "\n```\n\n```text\n" + answer + "```"
	})
	for _, v := range typedviews.All {
		undocumented := indexertest.Texts(t, f.DSN, "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = '"+v.Name+"' AND comment = ''")
		columns := indexertest.Texts(t, f.DSN, "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = '"+v.Name+"'")
		if len(undocumented) > 0 || len(columns) != len(v.Columns) || !strings.Contains(string(text), "| `"+v.Name+"` |") {
			t.Errorf("view %s has columns %q, of which %q have no comment, and needs a line in the page", v.Name, columns, undocumented)
		}
	}
	if asked < 8 {
		t.Fatalf("only %d questions were found", asked)
	}
	if *update {
		if err := os.WriteFile(page, []byte(answered), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
