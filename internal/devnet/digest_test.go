package devnet

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/big"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/history"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
)

// rowSum computes a table digest the long way.
type rowSum struct {
	rows uint64
	sum  big.Int
}

func (s *rowSum) add(row []byte) {
	h := sha256.Sum256(row)
	s.rows++
	s.sum.Add(&s.sum, new(big.Int).SetBytes(h[:]))
}

func (s *rowSum) compare(t *testing.T, table string, d history.Digests) {
	t.Helper()
	modulus := new(big.Int).Lsh(big.NewInt(1), 256)
	got := history.TableDigest{Rows: s.rows, Hash: fmt.Sprintf("%064x", new(big.Int).Mod(&s.sum, modulus))}
	if got != d.Tables[table] {
		t.Errorf("table %s: what was served digests to %+v, the ledger says %+v", table, got, d.Tables[table])
	}
}

// TestDigestsMatchWhatIsServed recomputes every table from the answers.
func TestDigestsMatchWhatIsServed(t *testing.T) {
	_, c := startLedger(t, sim.Config{Updates: 2500, Seed: 5, SkipCompact: true})
	d, verdicts, traffic, activity := digestsMatch(t, c)
	if d.Counts.Updates != 2500 {
		t.Errorf("counts are %+v", d.Counts)
	}
	if verdicts.rows < 2500*6/5 || activity.rows < 100 || traffic.rows >= verdicts.rows {
		t.Errorf("%d verdicts, %d traffic summaries, %d activity records", verdicts.rows, traffic.rows, activity.rows)
	}
}

// digestsMatch recomputes every table from the answers and returns some of them.
func digestsMatch(t *testing.T, c client) (d history.Digests, verdicts, traffic, activity rowSum) {
	t.Helper()
	c.ask("GET", "/devnet/digests", "", &d)
	var updates, events, imports rowSum
	for _, e := range c.allEvents("protobuf_json", 700) {
		if e.Update != nil {
			updates.add(e.Update)
			it := decodeItem(t, e.Update)
			for _, node := range it.EventsByID {
				events.add(node)
			}
			if it.Event != nil {
				events.add(it.Event)
			}
		}
		if e.Verdict == nil {
			continue
		}
		verdicts.add(e.Verdict)
		id := decodeItem(t, e.Verdict).UpdateID
		if e.Traffic != nil {
			traffic.add(fmt.Appendf(nil, `{"traffic_summary":%s,"update_id":%q}`, e.Traffic, id))
		}
		if e.AppActivity != nil {
			activity.add(fmt.Appendf(nil, `{"app_activity_records":%s,"update_id":%q}`, e.AppActivity, id))
		}
	}
	for _, it := range c.imports(1, 1000) {
		imports.add(it.raw)
	}
	updates.compare(t, "updates", d)
	events.compare(t, "events", d)
	imports.compare(t, "imports", d)
	verdicts.compare(t, "verdicts", d)
	traffic.compare(t, "traffic", d)
	activity.compare(t, "app_activity", d)
	if d.Counts.Updates != updates.rows || d.Counts.Events != events.rows {
		t.Errorf("counts are %+v", d.Counts)
	}
	return d, verdicts, traffic, activity
}

// TestAnswersAreCanonical holds for whole pages, as their items are digested as
// they are.
func TestAnswersAreCanonical(t *testing.T) {
	_, c := startLedger(t, sim.Config{Updates: 1500, Seed: 6})
	for _, q := range []struct{ path, body string }{
		{"/v2/updates", `{"page_size":1000}`},
		{"/v2/updates", `{"page_size":1000,"daml_value_encoding":"protobuf_json"}`},
		{"/v1/updates", `{"page_size":1000,"daml_value_encoding":"protobuf_json"}`},
		{"/v0/events", `{"page_size":1000}`},
		{"/v0/backfilling/import-updates", `{"migration_id":1,"after_update_id":"","limit":1000}`},
	} {
		_, answer := c.do("POST", q.path, q.body)
		canonical, err := jsonscan.AppendCanonical(nil, answer)
		if err != nil {
			t.Errorf("%s: %v", q.path, err)
		} else if string(canonical) != string(answer) {
			t.Errorf("%s: answer is not canonical", q.path)
		}
	}
}

func TestTableDigestJSON(t *testing.T) {
	got, err := json.Marshal(history.TableDigest{Rows: 2, Hash: "ab"})
	if err != nil || string(got) != `{"rows":2,"hash":"ab"}` {
		t.Errorf("got %s, %v", got, err)
	}
}
