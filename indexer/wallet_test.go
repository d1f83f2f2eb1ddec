package indexer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go"

	"github.com/ledgerlake/ledgerlake/indexer/journal"
	"github.com/ledgerlake/ledgerlake/indexer/walletlog"
	"github.com/ledgerlake/ledgerlake/ingest/node"
	"github.com/ledgerlake/ledgerlake/ingest/stream"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/devnet/devnettest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	nodehistory "github.com/ledgerlake/ledgerlake/internal/history/node"
	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// nodeItems is the history of a simulated participant, as its node tells it, and what is done to
// the network besides.
func nodeItems(t *testing.T, f *fixture, cfg devnet.Config, pruned bool, do ...func(*devnet.Ledger)) (name string, items []schemas.Item) {
	t.Helper()
	cfg.Dir = t.TempDir()
	ledger, err := devnet.New(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	options := devnet.NodeOptions{}
	if pruned {
		options.PrunedOffset = ledger.NodeDigests().LedgerEnd / 2
	}
	handler, err := ledger.NodeHandler(options)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.Close()
		if err := ledger.Close(); err != nil {
			t.Error(err)
		}
	})
	if pruned { // something must follow the set of contracts
		ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
		defer cancel()
		if err := ledger.Run(ctx, 3000); err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
	}
	for _, some := range do {
		some(ledger)
	}
	ingester, err := node.New(node.Config{BaseURL: server.URL, Settings: stream.Settings{Sink: NewSinks(f.db, f.log), Log: f.log}})
	if err != nil {
		t.Fatal(err)
	}
	if err := ingester.Backfill(t.Context()); err != nil {
		t.Fatal(err)
	}
	name = schemas.NodeStream(ledger.NodeDigests().ParticipantID)
	reader := history.NewReader(f.db, name)
	imports, err := reader.Imports(t.Context(), 0, "", 100_000)
	if err != nil {
		t.Fatal(err)
	}
	updates, err := nodehistory.NewReader(f.db, name).UpdatesByOffset(t.Context(), 0, 1<<40, 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range append(imports, updates...) {
		items = append(items, schemas.Item{Update: &u})
	}
	return name, items
}

// nodeBatches cuts items of a node's stream into batches of a size.
func nodeBatches(stream string, items []schemas.Item, size int) (list []*schemas.Batch) {
	after := schemas.Start
	for len(items) > 0 {
		n := 1
		for n < min(size, len(items)) && items[n].Update.IsImport() == items[0].Update.IsImport() {
			n++
		}
		through := items[n-1].Position()
		if items[0].Update.IsImport() && (n == len(items) || !items[n].Update.IsImport()) {
			through = schemas.AtOffset(through.Offset) // the set is complete
		}
		list = append(list, &schemas.Batch{Stream: stream, After: after, Through: through, Items: items[:n]})
		after, items = through, items[n:]
	}
	return list
}

// walletModel is what wallets must show after some updates, found out in the plainest way.
type walletModel struct {
	active   map[string]*schemas.Update // contract id -> update, of which Events has its create only
	payloads map[string][]byte
	entries  map[string][]store.WalletEntry // by party, oldest first
	statuses []store.WalletStatus
	parser   *walletlog.Parser
	unlocked map[string]decimal.Decimal // by owner
}

func newWalletModel() *walletModel {
	return &walletModel{
		active: map[string]*schemas.Update{}, payloads: map[string][]byte{}, entries: map[string][]store.WalletEntry{},
		parser: walletlog.NewParser(values.Default()), unlocked: map[string]decimal.Decimal{},
	}
}

// take applies an update and returns how the unlocked coins of each owner changed.
func (m *walletModel) take(u *schemas.Update) map[string]decimal.Decimal {
	before := maps.Clone(m.unlocked)
	for i := range u.Events {
		e := &u.Events[i]
		if e.Kind == schemas.Created {
			m.payloads[e.ContractID] = e.Argument
		}
		if !e.Local.ACSDelta {
			continue
		}
		switch {
		case e.Kind == schemas.Created:
			only := *u
			only.Events = u.Events[i : i+1]
			m.active[e.ContractID] = &only
			m.count(e, 1)
		case e.Consuming || e.Kind == schemas.Unassigned:
			if c := m.active[e.ContractID]; c != nil {
				m.count(&c.Events[0], -1)
			}
			delete(m.active, e.ContractID)
		}
	}
	r := m.parser.Update(u, func(id string) []byte { return m.payloads[id] })
	for _, e := range r.Entries {
		m.entries[e.Party] = append(m.entries[e.Party], e)
	}
	m.statuses = append(m.statuses, r.Statuses...)
	changes := map[string]decimal.Decimal{}
	for party, sum := range m.unlocked {
		if d := sum.Minus(before[party]); d.Sign() != 0 {
			changes[party] = d
		}
	}
	return changes
}

// count adds a coin to the sums.
func (m *walletModel) count(e *schemas.Event, sign int64) {
	if schemas.TemplateName(e.PackageName, e.TemplateID) == template.Coin {
		v := jsonscan.Value(e.Argument)
		owner := v.At("owner").Text()
		m.unlocked[owner] = m.unlocked[owner].Plus(decimal.Must(v.At("amount", "initialAmount").Text()).TimesInt(sign))
	}
}

// contracts are the ids of the active contracts that are kept for a party, in the order of
// wallets.
func (m *walletModel) contracts(party string) (ids []string) {
	var found []*schemas.Event
	for _, u := range m.active {
		e := &u.Events[0]
		name := schemas.TemplateName(e.PackageName, e.TemplateID)
		if _, ok := walletTemplates[name]; !ok || !slices.Contains(e.Local.Witnesses, party) ||
			!slices.Contains(e.Signatories, party) && !slices.Contains(e.Observers, party) {
			continue
		}
		v, holder := jsonscan.Value(e.Argument), false
		for _, h := range v.At("lock", "holders").Elements() {
			holder = holder || h.Text() == party
		}
		owner := v.At("owner").Text() + v.At("amulet", "owner").Text()
		if owner != party && !holder && (name == template.Coin || name == template.LockedCoin) {
			continue
		}
		found = append(found, e)
	}
	slices.SortFunc(found, func(a, b *schemas.Event) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), strings.Compare(a.ContractID, b.ContractID))
	})
	for _, e := range found {
		ids = append(ids, e.ContractID)
	}
	return ids
}

// parties are those on the node.
func (m *walletModel) parties() []string {
	set := map[string]bool{}
	for _, u := range m.active {
		for _, p := range u.Events[0].Local.Witnesses {
			set[p] = true
		}
	}
	for p := range m.entries {
		set[p] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// check compares what a wallet reader shows with the model.
func (m *walletModel) check(t *testing.T, w *wallethistory.Reader) {
	t.Helper()
	shown := 0
	for _, party := range m.parties() {
		want, got := m.contracts(party), m.pages(t, w, wallethistory.Query{
			Parties: []string{party}, Templates: slices.Collect(maps.Keys(walletTemplates)), Limit: max(7, len(m.active)/20),
		})
		if !slices.Equal(got, want) {
			t.Errorf("%s has %d contracts, want %d:\n%.1000q\n%.1000q", party, len(got), len(want), got, want)
		}
		shown += len(got)
		m.checkBalance(t, w, party)
		m.checkLog(t, w, party)
	}
	if shown == 0 {
		t.Error("no contracts are shown")
	}
	m.checkStatuses(t, w)
}

// pages reads the ids of all contracts that a query selects, and compares their payloads.
func (m *walletModel) pages(t *testing.T, w *wallethistory.Reader, q wallethistory.Query) (ids []string) {
	t.Helper()
	for {
		page, err := w.Contracts(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page {
			ids = append(ids, c.Event.ContractID)
			if payload := m.payloads[c.Event.ContractID]; string(c.Event.Argument) != string(payload) {
				t.Errorf("contract %s is %s, want %s", c.Event.ContractID, c.Event.Argument, payload)
			}
		}
		if len(page) < q.Limit {
			return ids
		}
		last := page[len(page)-1].Event
		q.After = history.ContractKey{CreatedAt: last.CreatedAt, ContractID: last.ContractID}
	}
}

func (m *walletModel) checkBalance(t *testing.T, w *wallethistory.Reader, party string) {
	t.Helper()
	balance, err := w.Balance(t.Context(), party, 1000)
	if err != nil || balance.Unlocked.Cmp(m.unlocked[party]) != 0 {
		t.Errorf("the balance of %s is %s, want %s: %v", party, balance.Unlocked, m.unlocked[party], err)
	}
	holdings, err := w.Holdings(t.Context(), party)
	if err != nil || len(holdings.Coins) != balance.Coins || len(holdings.Locked) != balance.LockedCoins {
		t.Errorf("%s has %d and %d coins, the balance is of %d and %d: %v", party, len(holdings.Coins), len(holdings.Locked), balance.Coins, balance.LockedCoins, err)
	}
	var sums wallethistory.Balance
	for _, c := range holdings.Coins {
		sums.Unlocked = sums.Unlocked.Plus(c.Amount)
		sums.UnlockedFees = sums.UnlockedFees.Plus(wallethistory.HoldingFee(c.Amount, c.Rate, c.Round, 1000))
	}
	if sums.Unlocked.Cmp(balance.Unlocked) != 0 || sums.UnlockedFees.Cmp(balance.UnlockedFees) != 0 {
		t.Errorf("the coins of %s are worth %s, fees %s; the balance says %s, fees %s", party, sums.Unlocked, sums.UnlockedFees, balance.Unlocked, balance.UnlockedFees)
	}
}

func (m *walletModel) checkLog(t *testing.T, w *wallethistory.Reader, party string) {
	t.Helper()
	want := slices.Clone(m.entries[party])
	slices.Reverse(want)
	limit := max(10, len(want)/4)
	var got []wallethistory.Entry
	for before := ""; ; {
		page, err := w.Log(t.Context(), party, before, limit)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, page...)
		if len(page) < limit {
			break
		}
		before = page[limit-1].EventID
	}
	if len(got) != len(want) {
		t.Fatalf("the log of %s has %d entries, want %d", party, len(got), len(want))
	}
	for i := range got {
		if g, w := entryText(got[i]), entryText(want[i]); g != w {
			t.Fatalf("entry %d of %s is\n%s\nwant\n%s", i, party, g, w)
		}
	}
	if _, err := w.Log(t.Context(), party, "1220nothing:0", 10); !errors.Is(err, schemas.ErrNotFound) {
		t.Errorf("an unknown event id: %v", err)
	}
}

func (m *walletModel) checkStatuses(t *testing.T, w *wallethistory.Reader) {
	t.Helper()
	type key struct{ kind, party, id string }
	last := map[key]store.WalletStatus{}
	for _, s := range m.statuses {
		last[key{s.Kind, s.Party, s.TrackingID}] = s
	}
	for k, want := range last {
		read := w.OfferStatus
		if k.kind == store.TrackedTraffic {
			read = w.TrafficStatus
		}
		got, err := read(t.Context(), k.party, k.id)
		if err != nil || got != want {
			t.Errorf("%s %s of %s is %+v, want %+v: %v", k.kind, k.id, k.party, got, want, err)
		}
	}
	if _, err := w.OfferStatus(t.Context(), "nobody", "nothing"); !errors.Is(err, schemas.ErrNotFound) {
		t.Errorf("an offer that there is not: %v", err)
	}
}

// entryText writes an entry out, amounts as numbers.
func entryText(e store.WalletEntry) string {
	return strings.ReplaceAll(fmt.Sprintf("%+v", e), "{units:<nil>}", "0")
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
			stream, items := nodeItems(t, newFixture(t), devnet.Config{Updates: 600, Seed: 11, Days: 3, Node: &devnet.NodeConfig{Participant: c.participant}}, c.pruned)
			f := newFixture(t)
			wallets, reader, model := NewWallets(f.db, stream, time.Millisecond, f.log), wallethistory.NewReader(f.db, stream), newWalletModel()
			writer := NewWriter(f.db, stream, f.log)
			list := nodeBatches(stream, items, len(items)/3)
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
			if n := f.texts(t, "SELECT toString(count()) FROM wallet_contracts WHERE ended"); n[0] != "0" {
				t.Errorf("%s ends are left", n[0])
			}
		})
	}
}

// rows are counts and sums of hashes of the tables of wallets, and of the ranges committed.
func (f *fixture) walletRows(t *testing.T) []string {
	t.Helper()
	return f.texts(t, `
		SELECT concat('contracts ', toString(count()), ' ', toString(sum(cityHash64(*)))) FROM wallet_contracts
		UNION ALL SELECT concat('log ', toString(count()), ' ', toString(sum(cityHash64(*)))) FROM wallet_log
		UNION ALL SELECT concat('status ', toString(count()), ' ', toString(sum(cityHash64(*)))) FROM wallet_status
		ORDER BY 1`)
}

func (f *fixture) exec(t *testing.T, statement string) {
	t.Helper()
	if err := f.db.Exec(t.Context(), statement, "", nil); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// TestWalletsSurviveAnyEnd ends the derivation at each of its steps, and has another process
// go on: the tables then have the rows of an undisturbed run.
func TestWalletsSurviveAnyEnd(t *testing.T) {
	stream, items := nodeItems(t, newFixture(t), devnet.Config{Updates: 300, Seed: 3, Days: 2, Node: &devnet.NodeConfig{}}, false)
	undisturbed, f := newFixture(t), newFixture(t)
	writer, disturbed := NewWriter(undisturbed.db, stream, undisturbed.log), NewWriter(f.db, stream, f.log)
	calm := NewWallets(undisturbed.db, stream, time.Millisecond, undisturbed.log)
	model := newWalletModel()
	newWallets := func() *Wallets { return NewWallets(f.db, stream, time.Millisecond, f.log) }
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
	for i, b := range nodeBatches(stream, items, len(items)/3) {
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
	stream, items := nodeItems(t, f, devnet.Config{Updates: 300, Seed: 5, Days: 2, Node: &devnet.NodeConfig{}}, false)
	model, reader := newWalletModel(), wallethistory.NewReader(f.db, stream)
	for _, it := range items {
		model.take(it.Update)
	}
	newWallets := func() *Wallets { return NewWallets(f.db, stream, time.Millisecond, f.log) }
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

// TestLogsAddUp compares, update by update, what the logs of wallets say of a party's coins
// with what became of them.
func TestLogsAddUp(t *testing.T) {
	_, items := nodeItems(t, newFixture(t), devnet.Config{Updates: 2500, Seed: 21, Days: 4, Node: &devnet.NodeConfig{}}, false)
	logsAddUp(t, items, "transfer AmuletRules_Transfer", "transfer TransferPreapproval_Send", "transfer TransferFactory_Transfer",
		"transfer TransferInstruction_Accept", "balance_change TransferInstruction_Withdraw", "balance_change LockedAmulet_Unlock",
		"balance_change AmuletRules_DevNet_Tap", "transfer AmuletRules_BuyMemberTraffic", "transfer SubscriptionRequest_AcceptAndMakePayment",
		"transfer SubscriptionInitialPayment_Collect", "transfer SubscriptionPayment_Collect")
}

// TestLogsOfSuperValidatorsAddUp is the same where the governance party is at home, which sees
// all coins.
func TestLogsOfSuperValidatorsAddUp(t *testing.T) {
	cfg := devnet.Config{Updates: 2500, Seed: 23, Days: 4, TrafficRewards: true, Node: &devnet.NodeConfig{Participant: "Super-Validator-1"}}
	_, items := nodeItems(t, newFixture(t), cfg, false)
	logsAddUp(t, items, "transfer AmuletRules_Transfer", "transfer AnsRules_CollectInitialEntryPayment", "transfer AnsRules_CollectEntryRenewalPayment")
}

// TestLogsOfCommandsAddUp is the same for what wallets do by commands.
func TestLogsOfCommandsAddUp(t *testing.T) {
	_, items := nodeItems(t, newFixture(t), devnet.Config{Updates: 600, Seed: 22, Node: &devnet.NodeConfig{}}, false, func(l *devnet.Ledger) {
		devnettest.New(t, l).Live()
	})
	logsAddUp(t, items, "transfer AcceptedTransferOffer_Complete", "transfer AppPaymentRequest_Accept", "transfer AcceptedAppPayment_Collect",
		"balance_change AcceptedAppPayment_Reject", "balance_change AcceptedAppPayment_Expire", "balance_change SubscriptionInitialPayment_Reject",
		"transfer SubscriptionInitialPayment_Collect", "transfer AmuletRules_CreateTransferPreapproval", "transfer TransferPreapproval_Renew",
		"transfer TransferPreapproval_Send", "transfer TransferInstruction_Accept", "balance_change TransferInstruction_Reject",
		"balance_change LockedAmulet_OwnerExpireLock", "balance_change LockedAmulet_Unlock")
}

// logsAddUp compares logs with coins, and wants entries of some kinds.
func logsAddUp(t *testing.T, items []schemas.Item, wanted ...string) {
	t.Helper()
	model := newWalletModel()
	kinds := map[string]int{}
	newest := rulesOf(items)
	for _, it := range items {
		u := it.Update
		before := map[string]int{}
		for party, entries := range model.entries {
			before[party] = len(entries)
		}
		changes := model.take(u)
		for party := range model.entries {
			if _, ok := changes[party]; !ok && len(model.entries[party]) > before[party] {
				changes[party] = decimal.Decimal{}
			}
		}
		for party, change := range changes {
			if !slices.ContainsFunc(u.Events, func(e schemas.Event) bool { return slices.Contains(e.Local.Witnesses, party) }) {
				continue // the party of another node, whose coins a party of this one sees
			}
			var sum decimal.Decimal
			entries := model.entries[party][before[party]:]
			for _, e := range entries {
				kinds[e.Kind+" "+e.Choice]++
				if e.Sender.Party == party {
					sum = sum.Plus(e.Sender.Amount)
				}
				for _, r := range e.Receivers {
					if r.Party == party {
						sum = sum.Plus(r.Amount)
					}
				}
			}
			if len(entries) == 1 && entries[0].Kind == wallethistory.Unknown {
				t.Errorf("update at offset %d makes no sense for %s: %s", u.Local.Offset, party, choicesOf(u))
				continue
			}
			want := change.Minus(ownFees(u, party, entries)).Plus(expired(u, party, model))
			if olderThan(u, newest) && len(entries) == 1 && entries[0].Choice == "TransferFactory_Transfer" && want.Less(sum) {
				continue // there were fees, of which its result does not tell
			}
			if sum.Cmp(want) != 0 {
				t.Errorf("update at offset %d: the log of %s says %s, its coins changed by %s:\n%s", u.Local.Offset, party, sum, want, entryText(store.WalletEntry{Details: fmt.Sprint(entries)}))
			}
		}
	}
	for _, kind := range wanted {
		if kinds[kind] == 0 {
			t.Errorf("no entry is of kind %s; there are %v", kind, kinds)
		}
	}
	t.Logf("entries are %v", kinds)
}

// choicesOf lists what an update creates and exercises.
func choicesOf(u *schemas.Update) (list []string) {
	for i := range u.Events {
		e := &u.Events[i]
		list = append(list, fmt.Sprintf("%s %s seen by %d", cmp.Or(e.Choice, "create"), e.TemplateID[65:], len(e.Local.Witnesses)))
	}
	return list
}

// ownFees are the fees on outputs that a sender sends itself: the log takes them off what the
// sender has received, although the change shows them already.
func ownFees(u *schemas.Update, party string, entries []store.WalletEntry) (sum decimal.Decimal) {
	if len(entries) != 1 || entries[0].Choice != "AmuletRules_Transfer" && entries[0].Choice != "TransferPreapproval_Send" {
		return sum
	}
	for i := range u.Events {
		e := &u.Events[i]
		if e.Choice != "AmuletRules_Transfer" {
			continue
		}
		transfer := jsonscan.Value(e.Argument).At("transfer")
		fees := jsonscan.Value(e.Result).At("summary", "outputFees").Elements()
		for j, o := range transfer.At("outputs").Elements() {
			if transfer.At("sender").Text() == party && o.At("receiver").Text() == party && o.At("lock") == nil {
				sum = sum.Plus(decimal.Must(fees[j].Text()))
			}
		}
	}
	return sum
}

// expired are the coins of a party that the governance party burns, which logs show as 0.
func expired(u *schemas.Update, party string, m *walletModel) (sum decimal.Decimal) {
	for i := range u.Events {
		if e := &u.Events[i]; e.Choice == "Amulet_Expire" || e.Choice == "Amulet_ExpireV2" {
			v := jsonscan.Value(m.payloads[e.ContractID])
			if v.At("owner").Text() == party {
				sum = sum.Plus(decimal.Must(v.At("amount", "initialAmount").Text()))
			}
		}
	}
	return sum
}

// rulesOf is the template id of the rules in their newest version.
func rulesOf(items []schemas.Item) (id string) {
	for _, it := range items {
		for _, e := range it.Update.Events {
			if strings.HasPrefix(e.Choice, "AmuletRules_") {
				id = e.TemplateID
			}
		}
	}
	return id
}

// olderThan reports whether an update was of an older version of the package than a template.
func olderThan(u *schemas.Update, template string) bool {
	return u.Events[0].TemplateID[:64] != template[:64]
}

// TestWalletAudit finds nothing wrong with wallets as they were derived, before and after
// housekeeping, and each damage.
func TestWalletAudit(t *testing.T) {
	f := newFixture(t)
	stream, _ := nodeItems(t, f, devnet.Config{Updates: 400, Seed: 6, Days: 2, Node: &devnet.NodeConfig{}}, false)
	wallets, audit := NewWallets(f.db, stream, time.Millisecond, f.log), NewWalletAudit(f.db, stream)
	if looked, differences, err := audit.Run(t.Context()); err != nil || len(looked)+len(differences) > 0 {
		t.Fatalf("before there are any: %v, %v, %v", looked, differences, err)
	}
	if err := NewLifetimes(f.db, stream, time.Millisecond, f.log).CatchUp(t.Context()); err != nil {
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
		if err != nil || len(differences) == 0 || !slices.ContainsFunc(differences, func(d WalletDifference) bool { return d.Table == c.table }) {
			t.Errorf("after %s: %+v, %v", c.damage, differences, err)
		}
		if err := NewWallets(f.db, stream, time.Millisecond, f.log).Rebuild(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := NewWallets(f.db, stream, time.Millisecond, f.log).CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, differences, err := audit.Run(t.Context()); err != nil || len(differences) > 0 {
		t.Errorf("after all was derived again: %+v, %v", differences, err)
	}
}
