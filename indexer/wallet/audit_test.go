package wallet

import (
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go"

	"github.com/ledgerlake/ledgerlake/indexer"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
)

// TestWalletAudit finds nothing wrong with wallets as they were derived, before and after
// housekeeping, and each damage.
func TestWalletAudit(t *testing.T) {
	f := newFixture(t)
	stream, _ := f.stored(t, devnet.Config{Updates: 400, Seed: 6, Days: 2, Node: &devnet.NodeConfig{}})
	wallets, audit := New(f.db, stream, time.Millisecond, f.log), NewAudit(f.db, stream)
	if looked, differences, err := audit.Run(t.Context()); err != nil || len(looked)+len(differences) > 0 {
		t.Fatalf("before there are any: %v, %v, %v", looked, differences, err)
	}
	if err := indexer.NewLifetimes(f.db, stream, time.Millisecond, f.log).CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := wallets.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	looked, differences, err := audit.Run(t.Context())
	if err != nil || len(differences) > 0 {
		t.Fatalf("of honest wallets: %+v, %v", differences, err)
	}
	for _, table := range []string{"wallet_contracts", "wallet_log", "wallet_status"} {
		if looked[table] == 0 {
			t.Errorf("no rows of %s were looked at: %v", table, looked)
		}
	}
	for _, c := range []struct{ table, damage string }{
		{"wallet_log", "ALTER TABLE wallet_log UPDATE sender_amount = sender_amount + 1 WHERE (node_offset, party) = (SELECT (max(node_offset), argMax(party, node_offset)) FROM wallet_log) SETTINGS mutations_sync = 2"},
		{"wallet_status", "ALTER TABLE wallet_status DELETE WHERE node_offset = (SELECT min(node_offset) FROM wallet_status) SETTINGS mutations_sync = 2"},
		{"wallet_contracts", "ALTER TABLE wallet_contracts UPDATE amount = amount + 1 WHERE NOT ended AND contract_id = (SELECT min(contract_id) FROM wallet_contracts WHERE NOT ended) SETTINGS mutations_sync = 2"},
		{"wallet_contracts", "ALTER TABLE wallet_contracts DELETE WHERE NOT ended AND contract_id = (SELECT max(contract_id) FROM wallet_contracts WHERE NOT ended) SETTINGS mutations_sync = 2"},
	} {
		err := f.db.Exec(t.Context(), c.damage, "", nil, ch.Setting{Key: "allow_nondeterministic_mutations", Value: "1", Important: true})
		if err != nil {
			t.Fatal(err)
		}
		_, differences, err := audit.Run(t.Context())
		if err != nil || len(differences) == 0 || !slices.ContainsFunc(differences, func(d Difference) bool { return d.Table == c.table }) {
			t.Errorf("after %s: %+v, %v", c.damage, differences, err)
		}
		if err := New(f.db, stream, time.Millisecond, f.log).Rebuild(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := New(f.db, stream, time.Millisecond, f.log).CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, differences, err := audit.Run(t.Context()); err != nil || len(differences) > 0 {
		t.Errorf("after all was derived again: %+v, %v", differences, err)
	}
}
