package view_test

import (
	"fmt"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/query/ledger/view"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// BenchmarkAppendUpdate writes the updates of a node as a stream does: one operation is one
// update that is looked at.
func BenchmarkAppendUpdate(b *testing.B) {
	w := newWorld(b, devnet.Config{Updates: 2000, Seed: 41, Node: &devnet.NodeConfig{}}, false)
	w.bench(b, "node of users", w.updates)
	sv := newWorld(b, devnet.Config{Updates: 1000, Seed: 42, Node: &devnet.NodeConfig{Participant: "Super-Validator-1"}}, false)
	var small, large []schemas.Update
	for _, u := range sv.updates {
		if len(u.Events) <= 2 {
			small = append(small, u)
		}
		if len(u.Events) >= 7 && len(u.Events) <= 9 {
			large = append(large, u)
		}
	}
	sv.bench(b, "up to 2 events", small)
	sv.bench(b, "about 8 events", large)
}

func (w *world) bench(b *testing.B, what string, updates []schemas.Update) {
	busiest := w.busiest()
	one := `{"filtersByParty":{"` + busiest + `":{}}}`
	for _, c := range []struct{ name, format string }{
		{"effects of any party with blobs", transactionsOf(`{"filtersForAnyParty":{"cumulative":[{"identifierFilter":{"WildcardFilter":{"value":{"includeCreatedEventBlob":true}}}}]}}`, "LEDGER_EFFECTS")},
		{"effects of any party", transactionsOf(everyone, "LEDGER_EFFECTS")},
		{"deltas of any party", transactionsOf(everyone, "ACS_DELTA")},
		{"effects of one party", transactionsOf(one, "LEDGER_EFFECTS")},
		{"coins of one party", transactionsOf(`{"filtersByParty":{"`+busiest+`":{"cumulative":[{"identifierFilter":{"TemplateFilter":{"value":{"templateId":"#splice-amulet:Splice.Amulet:Amulet"}}}}]}}}`, "ACS_DELTA")},
	} {
		b.Run(fmt.Sprintf("%s/%s", what, c.name), func(b *testing.B) {
			format := formatOf(b, w.known(), c.format)
			written, events, buf := 0, 0, []byte(nil)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				u := &updates[n%len(updates)]
				n++
				out, _, err := format.AppendUpdate(buf[:0], u)
				if err != nil {
					b.Fatal(err)
				}
				written, events, buf = written+len(out), events+len(u.Events), out
			}
			b.SetBytes(int64(written / n))
			b.ReportMetric(float64(events)/float64(n), "events/op")
		})
	}
}

// busiest is the party that sees most.
func (w *world) busiest() string {
	count, best := map[string]int{}, ""
	for i := range w.updates {
		for j := range w.updates[i].Events {
			for _, p := range w.updates[i].Events[j].Local.Witnesses {
				if count[p]++; count[p] > count[best] {
					best = p
				}
			}
		}
	}
	return best
}

func BenchmarkParse(b *testing.B) {
	for _, parties := range []int{1, 10_000} {
		byParty := map[string]any{}
		for i := range parties {
			byParty[fmt.Sprintf("party-%d::1220%064d", i, i)] = map[string]any{}
		}
		body := []byte(`{"updateFormat":` + transactionsOf(toJSON(map[string]any{"filtersByParty": byParty}), "LEDGER_EFFECTS") + `}`)
		k := fewKnown()
		b.Run(fmt.Sprint(parties, " parties"), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				q, err := view.ParseUpdates(body, k, view.Formats)
				if err != nil {
					b.Fatal(err)
				}
				q.Format.Selection()
			}
		})
	}
}
