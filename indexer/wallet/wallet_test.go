package wallet

import (
	"errors"
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/indexer/journal"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/internal/store/storetest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

type fixture struct {
	*enginetest.Store
	db  *store.DB
	log *slog.Logger
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s := enginetest.StartMigrated(t, indexer.MigrateCluster)
	return &fixture{s, storetest.Open(t, s), slog.New(slog.DiscardHandler)}
}

// stored writes the history of a simulated participant and returns it.
func (f *fixture) stored(t *testing.T, cfg devnet.Config) (stream string, items []schemas.Item) {
	t.Helper()
	stream, items = indexertest.NodeItems(t, cfg, false)
	writer := indexer.NewWriter(f.db, stream, f.log)
	for _, b := range indexertest.NodeBatches(stream, items, 8192) {
		if err := writer.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	return stream, items
}

// TestWalletsShowWhatANodeTells compares wallets with a plain model, after each range and
// after housekeeping, of nodes that tell all of their history and that have pruned some.
func TestWalletsShowWhatANodeTells(t *testing.T) {
	for _, c := range []struct {
		name, participant string
		pruned            bool
	}{
		{"a validator", "", false},
		{"a validator that has pruned", "", true},
		{"a super-validator, which sees all coins", "Super-Validator-1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			stream, items := indexertest.NodeItems(t, devnet.Config{Updates: schematest.Rounds(400, 600), Seed: 11, Days: 3, Node: &devnet.NodeConfig{Participant: c.participant}}, c.pruned)
			f := newFixture(t)
			wallets, reader, model := New(f.db, stream, time.Millisecond, f.log), wallethistory.NewReader(f.db, stream), newWalletModel()
			writer := indexer.NewWriter(f.db, stream, f.log)
			list := indexertest.NodeBatches(stream, items, len(items)/3)
			for i, b := range list {
				if err := writer.Write(t.Context(), b); err != nil {
					t.Fatal(err)
				}
				if err := wallets.CatchUp(t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, it := range b.Items {
					model.take(it.Update)
				}
				if i == len(list)/2 && b.Through.RecordTime != schemas.MinMicros || i == len(list)-1 {
					model.check(t, reader)
				}
			}
			if err := wallets.Tidy(t.Context()); err != nil {
				t.Fatal(err)
			}
			model.check(t, reader)
			if n := indexertest.Texts(t, f.DSN, "SELECT toString(count()) FROM wallet_contracts WHERE ended"); n[0] != "0" {
				t.Errorf("%s ends are left", n[0])
			}
		})
	}
}

// rows are counts and sums of hashes of the tables of wallets, and of the ranges committed.
func (f *fixture) walletRows(t *testing.T) []string {
	t.Helper()
	return indexertest.Texts(t, f.DSN, `
		SELECT line FROM (
			SELECT concat('contracts ', toString(count()), ' ', toString(sum(cityHash64(*)))) AS line FROM wallet_contracts
			UNION ALL SELECT concat('log ', toString(count()), ' ', toString(sum(cityHash64(*)))) FROM wallet_log
			UNION ALL SELECT concat('status ', toString(count()), ' ', toString(sum(cityHash64(*)))) FROM wallet_status
		) ORDER BY line`)
}

func (f *fixture) exec(t *testing.T, statement string) {
	t.Helper()
	for _, shard := range f.Shards {
		if err := shard.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// TestWalletsSurviveAnyEnd ends the derivation at each of its steps, and has another process
// go on: the tables then have the rows of an undisturbed run.
func TestWalletsSurviveAnyEnd(t *testing.T) {
	stream, items := indexertest.NodeItems(t, devnet.Config{Updates: 300, Seed: 3, Days: 2, Node: &devnet.NodeConfig{}}, false)
	undisturbed, f := newFixture(t), newFixture(t)
	writer, disturbed := indexer.NewWriter(undisturbed.db, stream, undisturbed.log), indexer.NewWriter(f.db, stream, f.log)
	calm := New(undisturbed.db, stream, time.Millisecond, undisturbed.log)
	model := newWalletModel()
	newWallets := func() *Wallets { return New(f.db, stream, time.Millisecond, f.log) }
	// announced is a process that is about to apply its first range.
	announced := func() (*Wallets, store.BatchRow) {
		w := newWallets()
		if _, err := w.follower.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		row, _, err := w.follower.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return w, row
	}
	for i, b := range indexertest.NodeBatches(stream, items, len(items)/3) {
		if err := writer.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if err := disturbed.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if err := calm.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, it := range b.Items {
			model.take(it.Update)
		}
		first, row := announced()
		missing := []string{"wallet_contracts", "wallet_log", "wallet_status"}[i%3]
		f.exec(t, "RENAME TABLE "+missing+" TO lost")
		if _, err := first.apply(t.Context(), row); err == nil {
			t.Fatalf("a range is applied without table %s", missing)
		}
		f.exec(t, "RENAME TABLE lost TO "+missing)
		second, row := announced()
		if _, err := second.apply(t.Context(), row); err != nil {
			t.Fatal(err)
		}
		if err := newWallets().CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		// One that was replaced while it applied the range does no harm when it goes on.
		if err := second.Step(t.Context()); (err == nil || errors.Is(err, journal.ErrCaughtUp)) && i == 0 {
			t.Errorf("a process that was replaced does not give way: %v", err)
		}
		if err := calm.Tidy(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, want := f.walletRows(t), undisturbed.walletRows(t); !slices.Equal(got, want) {
			t.Fatalf("after batch %d the tables have %q, undisturbed %q", i, got, want)
		}
	}
	model.check(t, wallethistory.NewReader(f.db, stream))
}

// TestWalletsAreRebuilt takes wallets back to the start, ends the process while they are
// derived again, and has another one finish.
func TestWalletsAreRebuilt(t *testing.T) {
	f := newFixture(t)
	stream, items := f.stored(t, devnet.Config{Updates: 300, Seed: 5, Days: 2, Node: &devnet.NodeConfig{}})
	model, reader := newWalletModel(), wallethistory.NewReader(f.db, stream)
	for _, it := range items {
		model.take(it.Update)
	}
	newWallets := func() *Wallets { return New(f.db, stream, time.Millisecond, f.log) }
	old := newWallets()
	if err := old.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := f.walletRows(t)
	f.exec(t, "ALTER TABLE wallet_log DELETE WHERE entry = 0 SETTINGS mutations_sync = 2")
	for range 2 { // also of wallets that are being rebuilt
		if err := newWallets().Rebuild(t.Context()); err != nil {
			t.Fatal(err)
		}
		if mark, err := reader.Watermark(t.Context()); err != nil || mark != schemas.Start {
			t.Errorf("while it is rebuilt the watermark is %s: %v", mark, err)
		}
		w := newWallets()
		if _, err := w.follower.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		row, _, err := w.follower.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.apply(t.Context(), row); err != nil {
			t.Fatal(err)
		}
	}
	if err := newWallets().CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := f.walletRows(t); !slices.Equal(got, want) {
		t.Errorf("the tables have %q, want %q", got, want)
	}
	model.check(t, reader)
}
