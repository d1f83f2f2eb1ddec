package analytics

import (
	"errors"
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
	"github.com/ledgerlake/ledgerlake/internal/devnet/devnettest"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

type fixture struct {
	*enginetest.Store
	db     *store.DB
	log    *slog.Logger
	stream string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s := enginetest.StartMigrated(t, indexer.MigrateCluster)
	return &fixture{s, storetest.Open(t, s), slog.New(slog.DiscardHandler), schemas.ScanStream}
}

func (f *fixture) movements() *Movements {
	return NewMovements(f.db, f.stream, values.Default(), time.Millisecond, f.log)
}

// network is a simulated network.
func network(t *testing.T, cfg devnet.Config) *devnet.Ledger {
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
	return ledger
}

// write stores items in batches of a size, with their lifetimes, and derives movements after each.
func (f *fixture) write(t *testing.T, items []schemas.Item, size int, m *Movements) {
	t.Helper()
	writer := indexer.NewWriter(f.db, f.stream, f.log)
	for _, b := range f.batches(items, size) {
		if err := writer.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if err := m.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := indexer.NewLifetimes(f.db, f.stream, time.Millisecond, f.log).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) batches(items []schemas.Item, size int) []*schemas.Batch {
	if f.stream == schemas.ScanStream {
		return indexertest.ScanBatches(items, size)
	}
	return indexertest.NodeBatches(f.stream, items, size)
}

// TestMovementsAreThoseOfTheNetwork derives the movements of a history in which everything happens that
// commands and the network itself can do, and compares them with what the network has minted and burnt, and
// with the coins that its parties held at several times.
func TestMovementsAreThoseOfTheNetwork(t *testing.T) {
	ledger := network(t, devnet.Config{Updates: schematest.Rounds(1500, 20_000), Seed: 11, Days: 3, Node: &devnet.NodeConfig{}})
	devnettest.New(t, ledger).Live()
	f := newFixture(t)
	items := indexertest.ScanItems(t, ledger)
	f.write(t, items, len(items)/5, f.movements())
	f.compareSupply(t, ledger)
	f.compareBalances(t, items)
	if found, looked := f.audit(t); len(found) > 0 || looked["reports"] < 20 {
		t.Errorf("the audit looked at %v and found %q", looked, found)
	}
	wantKinds := []string{"burn expiry", "burn fee", "burn leg", "burn name", "burn preapproval", "burn traffic", "lock ", "mint app", "mint development_fund",
		"mint operator", "mint tap", "mint validator_liveness", "mint validator_usage", "transfer "}
	if kinds := indexertest.Texts(t, f.DSN, "SELECT DISTINCT concat(toString(cause), ' ', class) AS kind FROM movements ORDER BY kind"); !slices.Equal(kinds, wantKinds) {
		t.Errorf("the history has movements of kinds %q, want %q", kinds, wantKinds)
	}
}

// TestMovementsOfRandomHistories is TestMovementsAreThoseOfTheNetwork for histories of other seeds, with rewards by traffic
// as well, that end in the middle of anything.
func TestMovementsOfRandomHistories(t *testing.T) {
	for i, seed := range []uint64{2, 29, 4711, 90001} {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			ledger := network(t, devnet.Config{Updates: 500 + 100*i, Seed: seed, Days: 1 + i, TrafficRewards: i%2 == 1})
			f := newFixture(t)
			items := indexertest.ScanItems(t, ledger)
			f.write(t, items, len(items)/(2+i), f.movements())
			f.compareSupply(t, ledger)
			f.compareBalances(t, items)
			if found, looked := f.audit(t); len(found) > 0 || looked["rows"] < 300 {
				t.Errorf("the audit looked at %v and found %q", looked, found)
			}
		})
	}
}

// compareSupply compares the sums of all movements with the books of the network.
func (f *fixture) compareSupply(t *testing.T, ledger *devnet.Ledger) {
	t.Helper()
	sums := indexertest.Texts(t, f.DSN, `
		SELECT concat('minted ', toString(sumIf(amount, cause = 'mint')), ', burnt ', toString(-sumIf(amount, cause = 'burn')), ', circulating ', toString(sum(amount)), ', transfers ', toString(sumIf(amount, cause = 'transfer')),
		              ', locks ', toString(sumIf(amount, cause = 'lock')), ', unexplained ', toString(countIf(cause = 'unexplained')), ' of ', toString(countIf(round < 0)))
		FROM movements`)
	supply, short := ledger.Supply(), func(amount string) string { return strings.TrimSuffix(decimal.Must(amount).Short(), ".0") }
	want := fmt.Sprintf("minted %s, burnt %s, circulating %s, transfers 0, locks 0, unexplained 0 of 0", short(supply.Minted), short(supply.Burned), short(supply.Circulating))
	if sums[0] != want {
		t.Errorf("movements: %s\nthe network: %s", sums[0], want)
	}
}

// compareBalances compares what parties have moved with the coins that they hold, at several times.
func (f *fixture) compareBalances(t *testing.T, items []schemas.Item) {
	t.Helper()
	for _, at := range []int{len(items) / 4, len(items) / 2, len(items) - 1} {
		for items[at].Update != nil && items[at].Update.IsImport() { // among which coins are not all there
			at++
		}
		if got, want := f.balances(t, items[at].Position(), movedBalances), f.balances(t, items[at].Position(), heldBalances); !slices.Equal(got, want) || len(got) < 5 {
			t.Errorf("at %s the balances by movements are %q, by coins %q", items[at].Position(), got, want)
		}
	}
}

// Balances by party and pocket at a position.
const (
	movedBalances = `
		SELECT concat(party, ' ', toString(pocket), ' ', toString(sum(amount)))
		FROM movements
		WHERE (migration_id, record_time) <= (%[1]d, %[2]s)
		GROUP BY party, pocket HAVING sum(amount) != 0 ORDER BY party, pocket`
	heldBalances = `
		SELECT concat(owner, ' ', if(locked, 'locked', 'unlocked'), ' ', toString(sum(amount)))
		FROM
		(
			SELECT endsWith(template, ':LockedAmulet') AS locked, if(locked, JSONExtractRaw(argument, 'record', 'fields', 1, 'value'), argument) AS coin,
			       JSONExtractString(coin, 'record', 'fields', 2, 'value', 'party') AS owner,
			       toDecimal128(JSONExtractString(coin, 'record', 'fields', 3, 'value', 'record', 'fields', 1, 'value', 'numeric'), 10) AS amount
			FROM (
				SELECT template, migration_id, created_time, archived_at, argument AS argument FROM contracts_live
				UNION ALL SELECT template, migration_id, created_time, archived_at, argument AS argument FROM contracts_archived
			)
			WHERE template IN ('splice-amulet:Splice.Amulet:Amulet', 'splice-amulet:Splice.Amulet:LockedAmulet') AND migration_id = %[1]d AND created_time <= %[2]s AND archived_at > %[2]s
		)
		GROUP BY owner, locked ORDER BY owner, locked`
)

func (f *fixture) balances(t *testing.T, at schemas.Position, query string) []string {
	t.Helper()
	instant := fmt.Sprintf("fromUnixTimestamp64Micro(%d, 'UTC')", at.RecordTime)
	return indexertest.Texts(t, f.DSN, fmt.Sprintf(query, at.MigrationID, instant))
}

// rows is the count and the sum of hashes of the tables.
func (f *fixture) rows(t *testing.T) (rows string) {
	t.Helper()
	for _, table := range []string{"movements", "round_entries"} {
		rows += indexertest.Texts(t, f.DSN, "SELECT concat(' ', toString(count()), ' ', toString(sum(cityHash64(*)))) FROM "+table)[0]
	}
	return rows
}

func (f *fixture) exec(t *testing.T, statement string) {
	t.Helper()
	for _, shard := range f.Shards {
		if err := shard.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// TestMovementsSurviveAnyEnd ends the derivation at each of its steps, and has another process go on, which
// remembers nothing: the table then has the rows of an undisturbed run, and so has one that is rebuilt.
func TestMovementsSurviveAnyEnd(t *testing.T) {
	t.Run("public history", func(t *testing.T) {
		surviveAnyEnd(t, schemas.ScanStream, indexertest.ScanItems(t, network(t, devnet.Config{Updates: 400, Seed: 3, Days: 2})))
	})
	t.Run("a node's stream", func(t *testing.T) {
		stream, items := indexertest.NodeItems(t, devnet.Config{Updates: 200, Seed: 3, Days: 2, Node: &devnet.NodeConfig{}}, false)
		surviveAnyEnd(t, stream, items)
	})
}

func surviveAnyEnd(t *testing.T, stream string, items []schemas.Item) {
	undisturbed, f := newFixture(t), newFixture(t)
	undisturbed.stream, f.stream = stream, stream
	undisturbed.write(t, items, len(items)/4, undisturbed.movements())
	writer := indexer.NewWriter(f.db, f.stream, f.log)
	// announced is a process that is about to apply a range.
	announced := func() (*Movements, store.BatchRow) {
		m := f.movements()
		if _, err := m.follower.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		row, _, err := m.follower.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m, row
	}
	for i, b := range f.batches(items, len(items)/4) {
		if err := writer.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		first, row := announced()
		f.exec(t, "RENAME TABLE movements TO lost")
		if err := first.apply(t.Context(), &row); err == nil && first.rows.Rows() > 0 {
			t.Fatal("a range is applied without its table")
		}
		f.exec(t, "RENAME TABLE lost TO movements, round_entries TO lost")
		first, row = announced()
		if err := first.apply(t.Context(), &row); err == nil && first.entries.Rows() > 0 {
			t.Fatal("a range is applied without the second of its tables")
		}
		f.exec(t, "RENAME TABLE lost TO round_entries")
		second, row := announced()
		if err := second.apply(t.Context(), &row); err != nil {
			t.Fatal(err)
		}
		if err := f.movements().CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		// One that was replaced while it applied the range does no harm when it goes on.
		if err := second.Step(t.Context()); (err == nil || errors.Is(err, journal.ErrCaughtUp)) && i == 0 {
			t.Errorf("a process that was replaced does not step down: %v", err)
		}
	}
	want := undisturbed.rows(t)
	if got := f.rows(t); got != want {
		t.Fatalf("the table has %s, undisturbed %s", got, want)
	}
	f.exec(t, "ALTER TABLE movements DELETE WHERE entry = 0 SETTINGS mutations_sync = 2")
	f.exec(t, "ALTER TABLE round_entries DELETE WHERE round % 2 = 0 SETTINGS mutations_sync = 2")
	m := f.movements()
	if err := m.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := m.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := f.rows(t); got != want {
		t.Errorf("rebuilt the table has %s, before %s", got, want)
	}
	f.rewind(t, items, len(items)/4)
	if got := f.rows(t); got != want {
		t.Errorf("taken back and written again the table has %s, before %s", got, want)
	}
}

// rewind takes the stream back by half, has the movements of another process catch up with what is left,
// and writes the rest again, in batches of a size.
func (f *fixture) rewind(t *testing.T, items []schemas.Item, size int) {
	t.Helper()
	m := f.movements()
	half := items[len(items)/2].Position()
	plan, err := indexer.NewRewind(f.db, f.stream, func(through schemas.Position) bool { return !half.Before(through) }, f.log).Run(t.Context())
	if err != nil || plan.Batches == 0 {
		t.Fatalf("taking the stream back: %+v, %v", plan, err)
	}
	if err := m.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	above := indexertest.Texts(t, f.DSN, fmt.Sprintf("SELECT toString(count()) FROM movements WHERE (node_offset, migration_id, record_time) > (%d, %d, fromUnixTimestamp64Micro(%d, 'UTC')) AND (node_offset = 0 OR node_offset > %[1]d)", plan.To.Offset, plan.To.MigrationID, store.Clamp(plan.To.RecordTime)))
	if above[0] != "0" {
		t.Errorf("%s movements are left of what was taken back", above[0])
	}
	writer := indexer.NewWriter(f.db, f.stream, f.log)
	for _, b := range f.batches(items, size) {
		if plan.To.Before(b.Through) {
			if err := writer.Write(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := m.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
}
