package accounts_test

import (
	"cmp"
	"os"
	"slices"
	"testing"

	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/engine/enginetest"
	"github.com/ledgerlake/ledgerlake/internal/history/accounts"
	"github.com/ledgerlake/ledgerlake/internal/store"
	"github.com/ledgerlake/ledgerlake/query/console/consoletest"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/coins"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Run(m)) }

// world is a store with all of its movements, in the order of history.
type world struct {
	*testing.T
	reader *accounts.Reader
	all    []store.Movement
	end    schemas.Micros
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s := consoletest.NewStore(t, devnet.Config{Updates: 700, Seed: 6, Days: 3})
	all, err := store.SelectAll(t.Context(), s.DB, "SELECT * FROM movements WHERE stream = 'scan' ORDER BY migration_id, record_time, update_id, entry", nil, store.NewMovements())
	if err != nil || len(all) < 1000 {
		t.Fatal(len(all), err)
	}
	return &world{t, accounts.NewReader(s.DB, schemas.ScanStream), all, all[len(all)-1].RecordTime}
}

// of are the movements of an account.
func (w *world) of(a accounts.Account) (own []store.Movement) {
	for _, m := range w.all {
		if m.Party == a.Party && m.Instrument == a.Instrument && m.RecordTime <= a.At {
			own = append(own, m)
		}
	}
	return own
}

// busiest are the accounts with the most movements, as of the end and of an instant before.
func (w *world) busiest() (list []accounts.Account) {
	counts := map[accounts.Account]int{}
	for _, m := range w.all {
		counts[accounts.Account{Party: m.Party, Instrument: m.Instrument}]++
	}
	for a := range counts {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b accounts.Account) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a.Party, b.Party)) })
	list = list[:4]
	for _, a := range list[:4] {
		list = append(list, accounts.Account{Party: a.Party, Instrument: a.Instrument, At: w.all[len(w.all)*2/3].RecordTime})
	}
	for i := range list[:4] {
		list[i].At = w.end
	}
	return list
}

// TestAccounts compares what is read of accounts with what their movements add up to.
func TestAccounts(t *testing.T) {
	w := newWorld(t)
	for _, a := range w.busiest() {
		own := w.of(a)
		w.balances(a, own)
		w.pages(a, own)
		w.statement(a, own)
		w.sums(a, own)
		w.series(a, own)
	}
	w.topMinters()
	for _, nobody := range []string{"", "nobody::1220", "'; DROP TABLE movements --"} {
		a := accounts.Account{Party: nobody, Instrument: "x/Amulet", At: w.end}
		list, err := w.reader.Balances(t.Context(), nobody, w.end)
		points, err2 := w.reader.Series(t.Context(), a, 10)
		if _, _, ok, err3 := w.reader.Span(t.Context(), nobody, w.end); len(list) > 0 || len(points) > 0 || ok || err != nil || err2 != nil || err3 != nil {
			t.Errorf("%q has %v, %v, %v: %v, %v, %v", nobody, list, points, ok, err, err2, err3)
		}
	}
}

func total(own []store.Movement, pocket string) (sum decimal.Decimal) {
	for _, m := range own {
		if pocket == "" || m.Pocket == pocket {
			sum = sum.Plus(m.Amount)
		}
	}
	return sum
}

func (w *world) balances(a accounts.Account, own []store.Movement) {
	list, err := w.reader.Balances(w.Context(), a.Party, a.At)
	if err != nil {
		w.Fatal(err)
	}
	b, ok := accounts.Coin(list)
	want := accounts.Balance{
		Instrument: a.Instrument, Unlocked: total(own, coins.Unlocked), Locked: total(own, coins.Locked),
		First: own[0].RecordTime, Last: own[len(own)-1].RecordTime, Movements: int64(len(own)),
	}
	for _, m := range own { // openings of a later migration would stand before others
		want.First, want.Last = min(want.First, m.RecordTime), max(want.Last, m.RecordTime)
	}
	if !ok || b != want {
		w.Errorf("%s has %+v, want %+v", a.Party, b, want)
	}
	first, last, ok, err := w.reader.Span(w.Context(), a.Party, a.At)
	if err != nil || !ok || first > last || last > a.At || last < want.Last && a.At == w.end {
		w.Errorf("%s was seen from %s to %s: %v, %v", a.Party, first, last, ok, err)
	}
}

// pages goes through all pages of the newest movements.
func (w *world) pages(a accounts.Account, own []store.Movement) {
	var got []store.Movement
	for before := accounts.End; ; before = accounts.PlaceOf(&got[len(got)-1]) {
		page, err := w.reader.Newest(w.Context(), a, before, 37)
		if err != nil {
			w.Fatal(err)
		}
		if got = append(got, page...); len(page) < 37 {
			break
		}
	}
	slices.Reverse(got)
	if !slices.Equal(got, own) {
		w.Errorf("the pages of %s have %d movements, not the %d it has", a.Party, len(got), len(own))
	}
}

// statement begins at the start of history, and in the middle of it.
func (w *world) statement(a accounts.Account, own []store.Movement) {
	for _, from := range []schemas.Micros{schemas.MinMicros, own[len(own)/2].RecordTime} {
		s, err := w.reader.Statement(w.Context(), a, from, 23)
		if err != nil {
			w.Fatal(err)
		}
		var got []accounts.Line
		for more := true; more; {
			page, err := s.Next(w.Context())
			if err != nil {
				w.Fatal(err)
			}
			got, more = append(got, page...), len(page) == 23
		}
		var balance decimal.Decimal
		for _, m := range own {
			balance = balance.Plus(m.Amount)
			if m.RecordTime < store.Clamp(from) {
				continue
			}
			if len(got) == 0 || got[0].Movement != m || got[0].Balance != balance {
				w.Fatalf("the statement of %s from %s goes on without %+v, which leaves %s", a.Party, from, m, balance)
			}
			got = got[1:]
		}
		if len(got) > 0 {
			w.Errorf("the statement of %s from %s has %d lines more", a.Party, from, len(got))
		}
	}
}

func (w *world) sums(a accounts.Account, own []store.Movement) {
	volume, minted := map[string]decimal.Decimal{}, map[string]decimal.Decimal{}
	for _, m := range own {
		switch {
		case m.Cause == coins.Transfer && m.Counterparty != "" && m.Counterparty != a.Party:
			amount := m.Amount
			if amount.Sign() < 0 {
				amount = amount.Neg()
			}
			volume[m.Counterparty] = volume[m.Counterparty].Plus(amount)
		case m.Cause == coins.Mint:
			minted[m.Class] = minted[m.Class].Plus(m.Amount)
		}
	}
	var after *accounts.Counterparty
	for {
		page, err := w.reader.Counterparties(w.Context(), a, after, 3)
		if err != nil {
			w.Fatal(err)
		}
		for i, c := range page {
			if want, ok := volume[c.Party]; !ok || c.Volume() != want || after != nil && after.Volume().Less(c.Volume()) {
				w.Errorf("%s and %s exchanged %s, want %s", a.Party, c.Party, c.Volume(), want)
			}
			delete(volume, c.Party)
			after = &page[i]
		}
		if len(page) < 3 {
			break
		}
	}
	totals, err := w.reader.RewardTotals(w.Context(), a)
	rounds, err2 := w.reader.Rewards(w.Context(), a, accounts.EndRound, 10_000)
	if err != nil || err2 != nil {
		w.Fatal(err, err2)
	}
	for _, one := range rounds {
		minted[one.Class] = minted[one.Class].Minus(one.Amount)
	}
	for _, one := range totals {
		minted[one.Class] = minted[one.Class].Plus(one.Amount)
	}
	if len(volume) > 0 {
		w.Errorf("%s has no counterparties %v", a.Party, volume)
	}
	for class, rest := range minted { // what it minted, less the rounds, plus the totals
		if i := slices.IndexFunc(totals, func(m accounts.Minted) bool { return m.Class == class }); i < 0 || rest != totals[i].Amount {
			w.Errorf("%s has minted %s as %s beside %+v", a.Party, rest, class, totals)
		}
	}
}

// series holds that the points are balances: at hours, and now.
func (w *world) series(a accounts.Account, own []store.Movement) {
	points, err := w.reader.Series(w.Context(), a, 20)
	if err != nil || len(points) < 5 || len(points) > 23 {
		w.Fatalf("%s has %d points, %v", a.Party, len(points), err)
	}
	for i, p := range points {
		var until []store.Movement
		for _, m := range own {
			if m.RecordTime <= p.Time {
				until = append(until, m)
			}
		}
		if p.Unlocked != total(until, coins.Unlocked) || p.Locked != total(until, coins.Locked) || i > 0 && p.Time <= points[i-1].Time {
			w.Errorf("at %s %s has %s and %s, want %s and %s", p.Time, a.Party, p.Unlocked, p.Locked, total(until, coins.Unlocked), total(until, coins.Locked))
		}
	}
	if last := points[len(points)-1]; last.Time != a.At {
		w.Errorf("the points of %s end at %s, want %s", a.Party, last.Time, a.At)
	}
}

// topMinters compares ranks with all mints of two days.
func (w *world) topMinters() {
	after := w.end - 2*24*3600*1e6
	for _, classes := range [][]string{{coins.App}, {coins.ValidatorUsage, coins.ValidatorLiveness}, {"none"}} {
		want := map[string]decimal.Decimal{}
		for _, m := range w.all {
			if m.Cause == coins.Mint && slices.Contains(classes, m.Class) && m.RecordTime > after {
				want[m.Party] = want[m.Party].Plus(m.Amount)
			}
		}
		list, err := w.reader.TopMinters(w.Context(), classes, after, w.end, 100)
		if err != nil || len(list) != len(want) {
			w.Fatalf("%v: %d minters, want %d: %v", classes, len(list), len(want), err)
		}
		for i, m := range list {
			if m.Amount != want[m.Party] || i > 0 && list[i-1].Amount.Less(m.Amount) {
				w.Errorf("%v: %+v at place %d, want %s", classes, m, i, want[m.Party])
			}
		}
	}
}
