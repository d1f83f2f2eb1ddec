package wallet

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer/walletlog"
	"github.com/ledgerlake/ledgerlake/internal/history"
	wallethistory "github.com/ledgerlake/ledgerlake/internal/history/wallet"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/jsonscan"
	"github.com/ledgerlake/ledgerlake/schemas/template"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

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
		if _, ok := templates[name]; !ok || !slices.Contains(e.Local.Witnesses, party) ||
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
			Parties: []string{party}, Templates: slices.Collect(maps.Keys(templates)), Limit: max(7, len(m.active)/20),
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
		var listed []string
		for _, c := range page {
			listed = append(listed, c.Event.ContractID)
		}
		ids = append(ids, listed...)
		blobs, err := w.Blobs(t.Context(), append(listed, "00ab"))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page {
			if blobs[c.Event.ContractID] != c.Blob || len(blobs) > len(page) {
				t.Errorf("the blob of contract %s is %.80q, want %.80q; there are %d of %d contracts", c.Event.ContractID, blobs[c.Event.ContractID], c.Blob, len(blobs), len(page))
			}
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
