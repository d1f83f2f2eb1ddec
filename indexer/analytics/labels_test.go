package analytics

import (
	"fmt"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// TestEventsAreLabelled compares every argument and result of view labelled_events with what the converter
// makes of it, first with the built-in catalogue, then with one that knows the templates of applications, too.
func TestEventsAreLabelled(t *testing.T) {
	t.Parallel()
	items := indexertest.ScanItems(t, network(t, devnet.Config{Updates: schematest.Rounds(250, 20_000), Seed: 5, Days: 2}))
	addRareValues(t, items)
	f := newFixture(t)
	m := f.movements()
	f.write(t, items, len(items)/3, m)
	f.compareLabels(t, items, values.Default())

	known, err := values.Load(os.DirFS("../../bench/catalog"), rareTemplate)
	if err != nil {
		t.Fatal(err)
	}
	if err := NewMovements(f.db, schemas.ScanStream, known, time.Millisecond, f.log).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.compareLabels(t, items, known)
	owners := indexertest.Texts(t, f.DSN, `
		SELECT concat(toString(countIf(argument.owner = '')), ' of ', toString(count() > 50)) FROM labelled_events
		WHERE kind = 'created' AND endsWith(template_id, ':Splice.Amulet:Amulet')`)
	if owners[0] != "0 of 1" {
		t.Errorf("coins without an owner: %s", owners[0])
	}
}

// rareTemplate has values of all kinds.
var rareTemplate = fstest.MapFS{"rare.yaml": {Data: []byte(`
package: rare
records:
  Pair: {left: Text, right: Int64}
  Other: {one: Text, two: Int64}
variants:
  Either: {Left: Pair, Right: Other, Neither: Unit}
enums:
  Colour: [Red, Green]
templates:
  Rare:Values:
    fields: {at: Timestamp, day: Date, either: Either, plain: optional optional Text, tags: TextMap<Numeric>, by: "GenMap<Int64, Colour>", note: Text}
    choices: {}
`)}}

// addRareValues gives some contracts arguments with what the network's own seldom or never have.
func addRareValues(t *testing.T, items []schemas.Item) {
	t.Helper()
	either := []string{
		`"Left","value":{"record":{"fields":[{"value":{"text":"a"}},{"value":{"int64":"1"}}]}}`,
		`"Right","value":{"record":{"fields":[{"value":{"text":"b"}},{"value":{"int64":"2"}}]}}`,
		`"Neither","value":{"unit":{}}`,
	}
	instants := []string{"0", "1", "1726839089552000", "-2208988800000001", "-62135596800000000", "253402300799999999", "10413792000000000"}
	days := []int{0, -25568, -719162, 2932896, 120530}
	changed := 0
	for i := range items {
		u := items[i].Update
		if u == nil || u.IsImport() || len(u.Events) == 0 || u.Events[0].Kind != schemas.Created || changed == 40 {
			continue
		}
		e := &u.Events[0]
		e.PackageName, e.TemplateID = "rare", "0a:Rare:Values"
		e.Argument = fmt.Appendf(nil, `{"record":{"fields":[{"value":{"timestamp":"%s"}},{"value":{"date":%d}},{"value":{"variant":{"constructor":%s}}},`+
			`{"value":{"optional":{"value":{"optional":{"value":{"text":"x"}}}}}},{"value":{"textMap":{"entries":[{"key":"k%d","value":{"numeric":"1.5000000000"}},{"key":"l","value":{"numeric":"2.0000000000"}}]}}},`+
			`{"value":{"genMap":{"entries":[{"key":{"int64":"-5"},"value":{"enum":{"constructor":"Green"}}}]}}},{"value":{"text":"\\\"\u0007:\"1\",\"date\":5 %s"}}]}}`,
			instants[changed%len(instants)], days[changed%len(days)], either[changed%len(either)], changed, u.UpdateID)
		changed++
	}
	if changed < len(instants) {
		t.Fatalf("only %d contracts have rare values", changed)
	}
}

// compareLabels compares all events with what the converter makes of them. What it cannot convert stays as it
// is stored.
func (f *fixture) compareLabels(t *testing.T, items []schemas.Item, catalog *values.Catalog) {
	t.Helper()
	labelled := make(map[string]string)
	for _, row := range indexertest.Texts(t, f.DSN, "SELECT concat(update_id, ':', toString(node), ' ', argument_text, ' ', result_text) FROM labelled_events") {
		var id string
		fmt.Sscan(row, &id)
		labelled[id] = row
	}
	differences, fallbacks, compared := 0, 0, 0
	to := func(value []byte, of *values.Type) string {
		compact, err := values.AppendCompact(nil, value, of)
		if err != nil {
			fallbacks++
			return string(value)
		}
		return string(compact)
	}
	for _, it := range items {
		if it.Update == nil || it.Update.IsImport() {
			continue
		}
		for i := range it.Update.Events {
			e := &it.Update.Events[i]
			argument, result := "", ""
			if e.Kind == schemas.Created {
				argument = to(e.Argument, catalog.Template(e.PackageName, e.TemplateID))
			} else {
				argument = to(e.Argument, catalog.ChoiceArgument(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice))
				result = to(e.Result, catalog.ChoiceResult(e.PackageName, e.TemplateID, e.InterfaceID, e.Choice))
			}
			id := fmt.Sprintf("%s:%d", it.Update.UpdateID, e.Node)
			compared++
			if want := fmt.Sprintf("%s %s %s", id, argument, result); labelled[id] != want {
				if differences++; differences < 5 {
					t.Errorf("%s of %s is labelled\n%s\nwant\n%s", e.Choice, e.TemplateID, labelled[id], want)
				}
			}
		}
	}
	t.Logf("%d events, %d differences, %d values that cannot be converted", compared, differences, fallbacks)
	if compared == 0 || len(labelled) != compared {
		t.Errorf("%d events are labelled, and %d were compared", len(labelled), compared)
	}
}
