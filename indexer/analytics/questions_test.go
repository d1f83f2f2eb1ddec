package analytics

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
)

var update = flag.Bool("update", false, "write the answers that the store gives into the page of questions")

const questionsPage = "../../docs/analytics/README.md"

// question is a query of the page with its answer.
var question = regexp.MustCompile("(?s)```sql\n(.*?)\n```\n\n```text\n(.*?)```")

// TestQuestionsHaveTheirAnswers runs each query of the page on the history that it names.
func TestQuestionsHaveTheirAnswers(t *testing.T) {
	page, err := os.ReadFile(questionsPage)
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t)
	items := indexertest.ScanItems(t, network(t, devnet.Config{Updates: 400, Seed: 3, Days: 2}))
	f.write(t, items, len(items), f.movements())
	asked := 0
	answered := question.ReplaceAllStringFunc(string(page), func(text string) string {
		asked++
		parts := question.FindStringSubmatch(text)
		lines := indexertest.Texts(t, f.DSN, "SELECT arrayStringConcat(arrayMap(v -> toString(v), [*]), '\t') FROM (SELECT * APPLY toString FROM ("+parts[1]+"))")
		answer := strings.Join(lines, "\n") + "\n"
		if answer != parts[2] && !*update {
			t.Errorf("%s\nanswers\n%sbut the page has\n%s", parts[1], answer, parts[2])
		}
		return "```sql\n" + parts[1] + "\n```\n\n```text\n" + answer + "```"
	})
	if asked < 3 {
		t.Fatalf("only %d questions were found", asked)
	}
	if *update {
		if err := os.WriteFile(questionsPage, []byte(answered), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
