package analytics

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/indexer/journal"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	journals "github.com/ledgerlake/ledgerlake/internal/history/journal"
	"github.com/ledgerlake/ledgerlake/internal/history/rollups"
	"github.com/ledgerlake/ledgerlake/schemas"
)

// late is the stream of verdicts that come late.
var late = journals.SideStream(schemas.ScanStream)

func (f *fixture) rollups(stream string) *Rollups {
	return NewRollups(f.db, stream, time.Millisecond, f.log)
}

func (f *fixture) sumUp(t *testing.T) {
	t.Helper()
	for _, stream := range []string{schemas.ScanStream, late} {
		if err := f.rollups(stream).CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// sums are the count and the sum of hashes of each table of hours.
func (f *fixture) sums(t *testing.T) (list []string) {
	t.Helper()
	for _, table := range rollups.Tables(schemas.ScanStream) {
		list = append(list, indexertest.Texts(t, f.DSN, "SELECT concat('"+table.Name+" ', toString(count()), ' ', toString(sum(cityHash64(*)))) FROM "+table.Name)[0])
	}
	return list
}

func (f *fixture) auditRollups(t *testing.T) (list []string) {
	t.Helper()
	for _, stream := range []string{schemas.ScanStream, late} {
		_, err := NewRollupsAudit(f.db, stream).Run(t.Context(), func(d RollupDifference) {
			list = append(list, fmt.Sprintf("%s at %s: expected %s, found %s", d.Table, d.Where, d.Expected, d.Found))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// withoutVerdicts takes the verdicts of a stretch of a history out of it.
func withoutVerdicts(items []schemas.Item, from, to int) (early []schemas.Item, later []schemas.Item) {
	early = slices.Clone(items[:0:0])
	for i, item := range items {
		if i >= from && i < to && item.Verdict != nil {
			update := item.Update
			item.Update = nil
			later = append(later, item)
			if update == nil {
				continue
			}
			item = schemas.Item{Update: update}
		}
		early = append(early, item)
	}
	return early, later
}

// TestRollupsSurviveAnyEnd writes random histories of two migrations, whose verdicts of some hours come late, and ends
// the rollups at each of their steps. They are then those of a process that sums all up at once; so are those that
// are rebuilt, and those of a stream that was taken back and written again.
func TestRollupsSurviveAnyEnd(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 9))
	all := indexertest.ScanItems(t, network(t, devnet.Config{Updates: 400, Seed: random.Uint64N(1000), Days: 2}))
	items, later := withoutVerdicts(all, len(all)/4, len(all)/2)
	side := &schemas.Batch{Stream: late, After: schemas.Start, Through: later[len(later)-1].Position(), Items: later}
	f, undisturbed := newFixture(t), newFixture(t)
	writer := indexer.NewWriter(f.db, schemas.ScanStream, f.log)
	size := len(items) / 5
	for i, b := range indexertest.ScanBatches(items, size) {
		if err := writer.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if err := f.movements().CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if i == 4 {
			if err := indexer.NewWriter(f.db, late, f.log).Write(t.Context(), side); err != nil {
				t.Fatal(err)
			}
		}
		for _, stream := range []string{schemas.ScanStream, late} {
			f.endWithin(t, stream, rollups.Tables(stream)[random.IntN(len(rollups.Tables(stream)))].Name)
		}
		if i%2 == 0 {
			f.sumUp(t)
		}
	}
	f.sumUp(t)
	undisturbed.write(t, items, len(items), undisturbed.movements())
	if err := indexer.NewWriter(undisturbed.db, late, f.log).Write(t.Context(), side); err != nil {
		t.Fatal(err)
	}
	undisturbed.sumUp(t)
	want := undisturbed.sums(t)
	if got := f.sums(t); !slices.Equal(got, want) {
		t.Fatalf("the tables have %q, undisturbed %q", got, want)
	}
	f.checkSums(t)
	f.exec(t, "ALTER TABLE balance_hours DELETE WHERE first SETTINGS mutations_sync = 2")
	if err := f.rollups(schemas.ScanStream).Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.sumUp(t)
	if got := f.sums(t); !slices.Equal(got, want) {
		t.Errorf("rebuilt the tables have %q, before %q", got, want)
	}
	f.rewind(t, items, size)
	if err := indexer.NewWriter(f.db, late, f.log).Write(t.Context(), side); err != nil {
		t.Fatal(err)
	}
	f.sumUp(t)
	if got := f.sums(t); !slices.Equal(got, want) {
		t.Errorf("taken back and written again the tables have %q, before %q", got, want)
	}
	if found := f.auditRollups(t); len(found) > 0 {
		t.Errorf("of undamaged tables is found: %q", found)
	}
}

// endWithin ends a process after it has announced a range, and another one when it fills a table. A process that was
// replaced steps down when it goes on.
func (f *fixture) endWithin(t *testing.T, stream, table string) {
	t.Helper()
	first := f.rollups(stream)
	if _, err := first.follower.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	row, _, err := first.follower.Next(t.Context())
	if errors.Is(err, journal.ErrCaughtUp) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	f.exec(t, "RENAME TABLE "+table+" TO lost")
	if err := f.rollups(stream).Step(t.Context()); err == nil || errors.Is(err, journal.ErrCaughtUp) {
		t.Fatalf("a range is summed up without table %s: %v", table, err)
	}
	f.exec(t, "RENAME TABLE lost TO "+table)
	if row.After != schemas.Start {
		if err := first.apply(t.Context(), &row); err != nil {
			t.Fatal(err)
		}
	}
}

// checkSums compares the tables of hours that are over with history, in other words than theirs.
func (f *fixture) checkSums(t *testing.T) {
	t.Helper()
	of := "(migration_id, toUnixTimestamp64Micro(record_time) - 1) < (SELECT (argMax(through_migration, sequence), argMax(through_time, sequence)) FROM batches WHERE stream = '%s/rollups' AND state = 'commit')"
	over := "if(stream = 'scan', " + fmt.Sprintf(of, schemas.ScanStream) + ", " + fmt.Sprintf(of, late) + ")"
	for sums, history := range map[string]string{
		"SELECT toString((sum(amount), sum(movements), sumIf(amount, cause = 'mint'), sum(volume))) FROM movement_hours":                                                                                     "SELECT toString((sum(amount), count(), sumIf(amount, cause = 'mint'), sumIf(amount, cause = 'transfer' AND amount > 0 AND party != counterparty))) FROM movements WHERE " + over,
		"SELECT toString((sum(accepted + rejected + undecided), sum(private), sum(traffic))) FROM network_hours":                                                                                             "SELECT toString((count(), countIf(result = 'VERDICT_RESULT_ACCEPTED' AND update_id GLOBAL NOT IN (SELECT update_id FROM updates)), sumIf(traffic_cost, traffic_cost > 0))) FROM verdicts WHERE " + over,
		"SELECT toString((sum(updates), sum(transactions))) FROM network_hours":                                                                                                                              "SELECT toString((count(), countIf(kind = 'transaction'))) FROM updates WHERE " + over,
		"SELECT toString(sum(events)) FROM network_hours":                                                                                                                                                    "SELECT toString(count()) FROM events WHERE " + over,
		"SELECT arrayStringConcat(arraySort(groupArray(line)), ', ') FROM (SELECT toString((party, argMax(unlocked + locked, (migration_id, hour)), max(first))) AS line FROM balance_hours GROUP BY party)": "SELECT arrayStringConcat(arraySort(groupArray(line)), ', ') FROM (SELECT toString((party, sum(amount), true)) AS line FROM movements WHERE " + over + " GROUP BY party)",
		"SELECT arrayStringConcat(arraySort(groupArray(line)), ', ') FROM (SELECT toString((party, sum(transactions), sum(traffic))) AS line FROM party_hours GROUP BY party HAVING sum(traffic) > 0)":       "SELECT arrayStringConcat(arraySort(groupArray(line)), ', ') FROM (SELECT toString((arrayJoin(submitting_parties) AS party, countIf(result = 'VERDICT_RESULT_ACCEPTED'), sumIf(traffic_cost, traffic_cost > 0))) AS line FROM verdicts WHERE " + over + " GROUP BY party HAVING sumIf(traffic_cost, traffic_cost > 0) > 0)",
	} {
		if got, want := indexertest.Texts(t, f.DSN, sums)[0], indexertest.Texts(t, f.DSN, history)[0]; got != want || got == "" {
			t.Errorf("%s\nis %s, by history %s", sums, got, want)
		}
	}
}

// TestRollupsAuditNamesDamage damages a row of each table, in each way. The audit names its table and key, and
// nothing else.
func TestRollupsAuditNamesDamage(t *testing.T) {
	f := newFixture(t)
	items := indexertest.ScanItems(t, network(t, devnet.Config{Updates: 300, Seed: 3, Days: 1}))
	f.write(t, items, len(items), f.movements())
	f.sumUp(t)
	changes := map[string]string{"movement_hours": "amount = amount + 1", "balance_hours": "locked = locked + 1", "network_hours": "traffic = traffic + 1", "party_hours": "active = NOT active"}
	for _, damage := range []string{"ALTER TABLE %[1]s DELETE WHERE %[2]s SETTINGS mutations_sync = 2", "INSERT INTO %[1]s SELECT * FROM %[1]s WHERE %[2]s", "ALTER TABLE %[1]s UPDATE %[3]s WHERE %[2]s SETTINGS mutations_sync = 2"} {
		var want []string
		for _, of := range rollups.Tables(schemas.ScanStream) {
			place := indexertest.Texts(t, f.DSN, "SELECT toString(tuple("+of.Key+")) FROM "+of.Name+" WHERE hour > '2000-01-01' ORDER BY cityHash64(*) LIMIT 1")[0]
			want = append(want, of.Name+" at "+place)
			f.exec(t, "CREATE TABLE undamaged_"+of.Name+" AS "+of.Name)
			f.exec(t, "INSERT INTO undamaged_"+of.Name+" SELECT * FROM "+of.Name)
			f.exec(t, fmt.Sprintf(damage, of.Name, fmt.Sprintf("toString(tuple(%s)) = '%s'", of.Key, strings.ReplaceAll(place, "'", "''")), changes[of.Name]))
		}
		found := f.auditRollups(t)
		if !slices.EqualFunc(found, want, func(line, place string) bool { return strings.HasPrefix(line, place+": expected ") }) {
			t.Errorf("%s: found %q, want those at %q", damage, found, want)
		}
		for _, of := range rollups.Tables(schemas.ScanStream) {
			f.exec(t, "EXCHANGE TABLES "+of.Name+" AND undamaged_"+of.Name)
			f.exec(t, "DROP TABLE undamaged_"+of.Name+" SYNC")
		}
	}
	if found := f.auditRollups(t); len(found) > 0 {
		t.Errorf("of undamaged tables is found: %q", found)
	}
}
