package typed

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/indexer/journal"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

type fixture struct {
	*enginetest.Store
	db     *store.DB
	log    *slog.Logger
	writer *indexer.Writer
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s := enginetest.StartMigrated(t, indexer.MigrateCluster)
	db, log := storetest.Open(t, s), slog.New(slog.DiscardHandler)
	return &fixture{s, db, log, indexer.NewWriter(db, schemas.ScanStream, log)}
}

func (f *fixture) typed(catalog *values.Catalog) *Typed {
	return New(f.db, schemas.ScanStream, catalog, time.Millisecond, f.log)
}

func (f *fixture) write(t *testing.T, batches ...*schemas.Batch) {
	t.Helper()
	for _, b := range batches {
		if err := f.writer.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
}

func (f *fixture) catchUp(t *testing.T, d *Typed) {
	t.Helper()
	if err := d.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) add(t *testing.T, catalog *values.Catalog, names ...string) (tables []string) {
	t.Helper()
	made, err := NewTables(f.db, catalog).Add(t.Context(), names)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range made {
		tables = append(tables, table.Name)
	}
	return tables
}

func (f *fixture) exec(t *testing.T, statement string) {
	t.Helper()
	if err := f.db.Exec(t.Context(), statement, "", nil); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// scanItems are the public history of a simulated network.
func scanItems(t *testing.T, cfg devnet.Config) []schemas.Item {
	t.Helper()
	cfg.Dir = t.TempDir()
	ledger, err := devnet.New(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	return indexertest.ScanItems(t, ledger)
}

const (
	coin   = "t_splice_amulet__splice_amulet_amulet"
	locked = "t_splice_amulet__splice_amulet_lockedamulet"
	round  = "t_splice_amulet__splice_round_openmininground"
	buy    = "c_splice_amulet__splice_amuletrules_amuletrules__amuletrules_buymembertraffic"
)

// all are the tables that other queries over the JSON of a store can be compared with.
var all = []string{
	"splice-amulet:Splice.Amulet:Amulet", "splice-amulet:Splice.Amulet:LockedAmulet", "splice-amulet:Splice.Round:OpenMiningRound",
	"splice-amulet:Splice.AmuletRules:AmuletRules/AmuletRules_BuyMemberTraffic", "splice-dso-governance:Splice.DsoRules:DsoRules",
}

// digest is the count and the sum of hashes of each table, by name.
func (f *fixture) digest(t *testing.T, tables []string) (list []string) {
	t.Helper()
	for _, table := range tables {
		list = append(list, table+" "+indexertest.Texts(t, f.DSN, "SELECT concat(toString(count()), ' ', toString(sum(cityHash64(formatRow('JSONEachRow', *))))) FROM "+quoted(table))[0])
	}
	return list
}

// TestTablesHaveWhatHistoryHas derives tables of a simulated network's history with a migration in it, and
// compares them with the JSON of the events.
func TestTablesHaveWhatHistoryHas(t *testing.T) {
	f := newFixture(t)
	items := scanItems(t, devnet.Config{Updates: schematest.Rounds(700, 5000), Seed: 5, Days: 2})
	tables := f.add(t, values.Default(), all...)
	if len(tables) < 10 || !slices.Contains(tables, coin) || !slices.Contains(tables, buy) {
		t.Fatalf("made tables %q", tables)
	}
	f.write(t, indexertest.ScanBatches(items, len(items)/4)...)
	f.catchUp(t, f.typed(values.Default()))
	if err := indexer.NewLifetimes(f.db, schemas.ScanStream, time.Millisecond, f.log).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ what, typed, stored string }{
		{
			"contracts",
			"SELECT concat(toString(_migration_id), ' ', toString(count()), ' ', toString(sum(cityHash64(_contract_id)))) FROM " + coin + " GROUP BY _migration_id ORDER BY _migration_id",
			`SELECT concat(toString(migration_id), ' ', toString(count()), ' ', toString(sum(cityHash64(contract_id)))) FROM (
				SELECT migration_id, contract_id AS contract_id FROM events WHERE kind = 'created' AND endsWith(template_id, ':Splice.Amulet:Amulet')
				UNION ALL SELECT migration_id, contract_id FROM imports WHERE endsWith(template_id, ':Splice.Amulet:Amulet')
			) GROUP BY migration_id ORDER BY migration_id`,
		},
		{
			"amounts by owner",
			"SELECT concat(owner, ' ', toString(sum(amount__initialAmount)), ' ', toString(max(amount__createdAt__number))) FROM " + coin + " WHERE _record_time > '1900-01-01' GROUP BY owner ORDER BY owner",
			`SELECT concat(JSONExtractString(argument AS a, 'record', 'fields', 2, 'value', 'party') AS owner, ' ',
				toString(sum(toDecimal128(JSONExtractString(a, 'record', 'fields', 3, 'value', 'record', 'fields', 1, 'value', 'numeric'), 10))), ' ',
				toString(max(toInt64(JSONExtractString(a, 'record', 'fields', 3, 'value', 'record', 'fields', 2, 'value', 'record', 'fields', 1, 'value', 'int64')))))
			FROM events WHERE kind = 'created' AND endsWith(template_id, ':Splice.Amulet:Amulet') GROUP BY owner ORDER BY owner`,
		},
		{
			"what is active",
			"SELECT concat(toString(_migration_id), ' ', toString(count()), ' ', toString(sum(cityHash64(_contract_id)))) FROM l" + coin[1:] + " WHERE _archived_at > now() GROUP BY _migration_id ORDER BY _migration_id",
			`SELECT concat(toString(migration_id), ' ', toString(count()), ' ', toString(sum(cityHash64(contract_id)))) FROM contracts_live
			WHERE template = 'splice-amulet:Splice.Amulet:Amulet' AND archived_at = '2299-12-31' GROUP BY migration_id ORDER BY migration_id`,
		},
		{
			"what has ended, and when",
			"SELECT concat(toString(count()), ' ', toString(sum(cityHash64(_contract_id, _archived_at)))) FROM l" + coin[1:] + " WHERE _archived_at < now() AND NOT _transient",
			`SELECT concat(toString(count()), ' ', toString(sum(cityHash64(contract_id, archived_at)))) FROM (
				SELECT contract_id, archived_at FROM contracts_archived WHERE template = 'splice-amulet:Splice.Amulet:Amulet'
				UNION ALL SELECT contract_id, archived_at FROM contracts_live WHERE template = 'splice-amulet:Splice.Amulet:Amulet' AND archived_at < now())`,
		},
		{
			"what a choice was given and has returned",
			"SELECT concat(arg__memberId, ' ', toString(sum(arg__trafficAmount)), ' ', toString(sum(res__amuletPaid))) FROM " + buy + " GROUP BY arg__memberId ORDER BY arg__memberId",
			`SELECT concat(JSONExtractString(argument AS a, 'record', 'fields', 4, 'value', 'text') AS member, ' ',
				toString(sum(toInt64(JSONExtractString(a, 'record', 'fields', 7, 'value', 'int64')))), ' ',
				toString(sum(toDecimal128(JSONExtractString(result, 'record', 'fields', 3, 'value', 'numeric'), 10))))
			FROM events WHERE choice = 'AmuletRules_BuyMemberTraffic' GROUP BY member ORDER BY member`,
		},
	} {
		got, want := indexertest.Texts(t, f.DSN, c.typed), indexertest.Texts(t, f.DSN, c.stored)
		if len(want) == 0 || want[0] == "0 0" || !slices.Equal(got, want) {
			t.Errorf("%s:\n table %q\nevents %q", c.what, got, want)
		}
	}
	for _, table := range tables {
		if unfit := indexertest.Texts(t, f.DSN, "SELECT DISTINCT _unfit FROM "+quoted(table)+" WHERE _unfit != '' LIMIT 3"); len(unfit) > 0 {
			t.Errorf("%s has values that do not fit: %.600q", table, unfit)
		}
	}
	if n := indexertest.Texts(t, f.DSN, "SELECT toString(count()) FROM "+locked+" WHERE length(lock__holders) > 0 AND amulet__amount__initialAmount > 0"); n[0] == "0" {
		t.Error("there are no locked coins")
	}
}

// TestTablesSurviveAnyEnd ends the derivation at each of its steps, while tables are added and filled, and has
// another process go on: the tables have the rows of an undisturbed run, and so have rebuilt ones and those of
// a stream that was taken back.
func TestTablesSurviveAnyEnd(t *testing.T) {
	items := scanItems(t, devnet.Config{Updates: 300, Seed: 3, Days: 2})
	batches := indexertest.ScanBatches(items, len(items)/6)
	undisturbed, f := newFixture(t), newFixture(t)
	tables := undisturbed.add(t, values.Default(), all[:4]...)
	undisturbed.write(t, batches...)
	undisturbed.catchUp(t, undisturbed.typed(values.Default()))
	want := undisturbed.digest(t, tables)

	for i, b := range batches {
		if i < 4 {
			f.add(t, values.Default(), all[i])
		}
		f.write(t, b)
		first := f.typed(values.Default())
		if err := first.load(t.Context()); err != nil {
			t.Fatal(err)
		}
		for fill, set := range first.sets {
			last := set.all[len(set.all)-1].Name
			f.exec(t, "RENAME TABLE "+last+" TO lost")
			if err := first.take(t.Context(), fill); err == nil && set.all[len(set.all)-1].block.Rows() > 0 {
				t.Fatal("a range is applied without a table")
			}
			f.exec(t, "RENAME TABLE lost TO "+last)
		}
		second := f.typed(values.Default())
		if err := second.Step(t.Context()); err != nil && err != journal.ErrCaughtUp {
			t.Fatal(err)
		}
		f.catchUp(t, f.typed(values.Default()))
	}
	if got := f.digest(t, tables); !slices.Equal(got, want) {
		t.Fatalf("the tables have\n%q, undisturbed\n%q", got, want)
	}
	if fills := indexertest.Texts(t, f.DSN, "SELECT toString(count()) FROM milestones WHERE startsWith(name, 'typed tables of ')"); fills[0] != "4" {
		t.Errorf("%s fills have joined, want 4", fills)
	}
	f.exec(t, "ALTER TABLE "+coin+" DELETE WHERE _node > 3 SETTINGS mutations_sync = 2")
	d := f.typed(values.Default())
	if err := d.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.catchUp(t, d)
	if got := f.digest(t, tables); !slices.Equal(got, want) {
		t.Errorf("rebuilt the tables have\n%q, before\n%q", got, want)
	}
	half := items[len(items)/2].Position()
	plan, err := indexer.NewRewind(f.db, schemas.ScanStream, func(through schemas.Position) bool { return !half.Before(through) }, f.log).Run(t.Context())
	if err != nil || plan.Batches == 0 {
		t.Fatalf("taking the stream back: %+v, %v", plan, err)
	}
	f.catchUp(t, f.typed(values.Default()))
	above := indexertest.Texts(t, f.DSN, fmt.Sprintf("SELECT toString(count()) FROM %s WHERE (_migration_id, _record_time) > (%d, fromUnixTimestamp64Micro(%d, 'UTC'))", coin, plan.To.MigrationID, store.Clamp(plan.To.RecordTime)))
	if above[0] != "0" {
		t.Errorf("%s rows are left of what was taken back", above[0])
	}
	f.writer = indexer.NewWriter(f.db, schemas.ScanStream, f.log)
	for _, b := range batches {
		if plan.To.Before(b.Through) {
			f.write(t, b)
		}
	}
	f.catchUp(t, f.typed(values.Default()))
	if got := f.digest(t, tables); !slices.Equal(got, want) {
		t.Errorf("taken back and written again the tables have\n%q, before\n%q", got, want)
	}
}

// TestTablesOfANode derives tables of the stream of a node that begins with contracts, and compares them with
// its events and with the lifetimes of its contracts.
func TestTablesOfANode(t *testing.T) {
	f := newFixture(t)
	name, items := indexertest.NodeItems(t, devnet.Config{Updates: 300, Seed: 3, Days: 2, Node: &devnet.NodeConfig{}}, true)
	f.writer = indexer.NewWriter(f.db, name, f.log)
	f.add(t, values.Default(), all[0])
	f.write(t, indexertest.NodeBatches(name, items, len(items)/3)...)
	d := New(f.db, name, values.Default(), time.Millisecond, f.log)
	f.catchUp(t, d)
	if err := indexer.NewLifetimes(f.db, name, time.Millisecond, f.log).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ what, typed, stored string }{
		{
			"contracts", "SELECT concat(toString(count()), ' ', toString(sum(cityHash64(_contract_id, _offset))), ' ', toString(countIf(_unfit != ''))) FROM " + coin,
			`SELECT concat(toString(count()), ' ', toString(sum(cityHash64(contract_id, node_offset))), ' 0') FROM (
				SELECT contract_id AS contract_id, node_offset FROM events WHERE kind = 'created' AND endsWith(template_id, ':Splice.Amulet:Amulet')
				UNION ALL SELECT contract_id, node_offset FROM imports WHERE endsWith(template_id, ':Splice.Amulet:Amulet'))`,
		},
		{
			"what is active", "SELECT concat(toString(count()), ' ', toString(sum(cityHash64(_contract_id)))) FROM l" + coin[1:] + " WHERE _archived_at > now()",
			"SELECT concat(toString(count()), ' ', toString(sum(cityHash64(contract_id)))) FROM contracts_live WHERE template = 'splice-amulet:Splice.Amulet:Amulet' AND archived_at = '2299-12-31'",
		},
	} {
		got, want := indexertest.Texts(t, f.DSN, c.typed), indexertest.Texts(t, f.DSN, c.stored)
		if len(want) == 0 || strings.HasPrefix(want[0], "0 ") || !slices.Equal(got, want) {
			t.Errorf("%s: the table has %q, the stream %q", c.what, got, want)
		}
	}
	if looked, err := d.Audit(t.Context(), func(d Difference) { t.Errorf("found %+v", d) }); err != nil || looked == 0 {
		t.Errorf("%d rows were looked at, %v", looked, err)
	}
}
