package analytics

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/indexer/internal/indexertest"
	"github.com/ledgerlake/ledgerlake/internal/devnet"
	"github.com/ledgerlake/ledgerlake/internal/devnet/devnettest"
	"github.com/ledgerlake/ledgerlake/internal/history"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/coins"
	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/schematest"
	"github.com/ledgerlake/ledgerlake/schemas/values"
)

// roundBook is what results of choices say of mining rounds, read from their JSON alone. Coins that other choices
// create and consume are counted by their payloads.
type roundBook struct {
	t       *testing.T
	u       *schemas.Update
	entries map[string]coins.RoundEntry // by round and party
	coins   map[string]payloadOfCoin    // by contract
	rounds  map[schemas.Micros]string   // by when they open
	unseen  int                         // entries of choices whose results say nothing of coins
}

type payloadOfCoin struct {
	Owner  string
	Amount struct {
		InitialAmount decimal.Decimal
		CreatedAt     struct{ Number string }
		RatePerRound  struct{ Rate decimal.Decimal }
	}
}

type summaryOfTransfer struct {
	InputAppRewardAmount, InputValidatorRewardAmount decimal.Decimal
	BalanceChanges                                   [][2]json.RawMessage
}

type roundResult struct {
	Round   struct{ Number string }
	Summary *summaryOfTransfer

	AmuletPaid     decimal.Decimal
	TransferResult *roundResult
	Result         *roundResult

	AmuletSum *struct {
		Round  struct{ Number string }
		Amulet string
	}
	ExpireSum *struct {
		Owner                              string
		Round                              struct{ Number string }
		ChangeToInitialAmountAsOfRoundZero decimal.Decimal
		ChangeToHoldingFeesRate            decimal.Decimal
	}
}

func (b *roundBook) add(round, party string, change func(*coins.RoundEntry)) {
	e := b.entries[round+" "+party]
	change(&e)
	b.entries[round+" "+party] = e
}

func (b *roundBook) update(u *schemas.Update) {
	b.u = u
	if u.Encoding != schemas.CompactJSON {
		w := values.Writer{Catalog: values.Default(), Want: schemas.CompactJSON}.For(u.Encoding)
		for i := range u.Events {
			e := &u.Events[i]
			if e.Kind == schemas.Created {
				e.Argument = w.AppendCreateArguments(nil, e)
				continue
			}
			e.Argument, e.Result = w.AppendChoiceArgument(nil, e), w.AppendExerciseResult(nil, e)
		}
	}
	below := make(map[int32]bool)
	for i := range u.Events {
		for _, child := range u.Events[i].Children {
			below[child] = true
		}
		b.remember(&u.Events[i])
	}
	if u.RecordTime == schemas.MinMicros {
		return // what a migration carries over does not move
	}
	for i := range u.Events {
		if !below[u.Events[i].Node] {
			b.walk(int32(i))
		}
	}
}

func decodeInto[T any](t *testing.T, raw []byte) (v T) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

// remember notes coins and rounds that are created.
func (b *roundBook) remember(e *schemas.Event) {
	_, name, _ := strings.Cut(e.TemplateID, ":")
	switch {
	case e.Kind != schemas.Created:
	case name == "Splice.Amulet:Amulet":
		b.coins[e.ContractID] = decodeInto[payloadOfCoin](b.t, e.Argument)
	case name == "Splice.Amulet:LockedAmulet":
		b.coins[e.ContractID] = decodeInto[struct{ Amulet payloadOfCoin }](b.t, e.Argument).Amulet
	case name == "Splice.Round:OpenMiningRound":
		round := decodeInto[struct {
			Round   struct{ Number string }
			OpensAt string
		}](b.t, e.Argument)
		at, err := schemas.ParseTime(round.OpensAt)
		if err != nil {
			b.t.Fatal(err)
		}
		b.rounds[at] = round.Round.Number
	}
}

// open is the newest round that is open.
func (b *roundBook) open() string {
	opened := slices.DeleteFunc(slices.Sorted(maps.Keys(b.rounds)), func(at schemas.Micros) bool { return at > b.u.RecordTime })
	return b.rounds[opened[len(opened)-1]]
}

// walk goes down a tree in preorder, up to the choices whose results say all.
func (b *roundBook) walk(node int32) {
	e := &b.u.Events[node]
	_, isCoin := b.coins[e.ContractID]
	if e.Kind == schemas.Created {
		if isCoin {
			b.coin(e.ContractID, b.open(), 1)
		}
		return
	}
	if b.matched(e) {
		return
	}
	if isCoin && e.Consuming {
		b.coin(e.ContractID, b.open(), -1)
	}
	for _, child := range e.Children {
		b.walk(child)
	}
}

func (b *roundBook) coin(id, round string, sign int64) {
	c := b.coins[id]
	since, err := strconv.ParseInt(c.Amount.CreatedAt.Number, 10, 64)
	if err != nil {
		b.t.Fatal(err)
	}
	b.unseen++
	b.add(round, c.Owner, func(e *coins.RoundEntry) {
		e.InitialChange = e.InitialChange.Plus(c.Amount.InitialAmount.Plus(c.Amount.RatePerRound.Rate.TimesInt(since)).TimesInt(sign))
		e.RateChange = e.RateChange.Plus(c.Amount.RatePerRound.Rate.TimesInt(sign))
	})
}

// matched reads the result of a choice that says all; it is false for others.
func (b *roundBook) matched(e *schemas.Event) bool {
	argument := func(path ...string) string {
		raw := json.RawMessage(e.Argument)
		for _, label := range path {
			raw = decodeInto[map[string]json.RawMessage](b.t, raw)[label]
		}
		return decodeInto[string](b.t, raw)
	}
	switch e.Choice {
	case "AmuletRules_Transfer":
		b.transfer(argument("transfer", "sender"), decodeInto[roundResult](b.t, e.Result))
	case "AmuletRules_BuyMemberTraffic":
		r, buyer := decodeInto[roundResult](b.t, e.Result), argument("provider")
		bytes, err := strconv.ParseInt(argument("trafficAmount"), 10, 64)
		if err != nil {
			b.t.Fatal(err)
		}
		b.transfer(buyer, r)
		b.add(r.Round.Number, buyer, func(e *coins.RoundEntry) {
			e.TrafficBytes, e.TrafficPurchases, e.TrafficSpent = e.TrafficBytes+bytes, e.TrafficPurchases+1, e.TrafficSpent.Plus(r.AmuletPaid)
		})
		b.paid(e)
	case "AmuletRules_CreateExternalPartySetupProposal":
		b.paid(e)
		b.transfer(argument("validator"), *decodeInto[roundResult](b.t, e.Result).TransferResult)
	case "AmuletRules_CreateTransferPreapproval", "TransferPreapproval_Renew":
		provider := ""
		if e.Choice == "AmuletRules_CreateTransferPreapproval" {
			provider = argument("provider")
		}
		b.paid(e)
		b.transfer(provider, *decodeInto[roundResult](b.t, e.Result).TransferResult)
	case "TransferPreapproval_SendV2":
		b.transfer(argument("sender"), *decodeInto[roundResult](b.t, e.Result).Result)
	case "AmuletRules_DevNet_Tap", "AmuletRules_Mint":
		sum := decodeInto[roundResult](b.t, e.Result).AmuletSum
		b.coin(sum.Amulet, b.coins[sum.Amulet].Amount.CreatedAt.Number, 1)
	case "Amulet_Expire", "LockedAmulet_ExpireAmulet":
		sum := decodeInto[roundResult](b.t, e.Result).ExpireSum
		b.add(sum.Round.Number, sum.Owner, func(e *coins.RoundEntry) {
			e.InitialChange, e.RateChange = e.InitialChange.Plus(sum.ChangeToInitialAmountAsOfRoundZero), e.RateChange.Plus(sum.ChangeToHoldingFeesRate)
		})
	case "LockedAmulet_Unlock", "LockedAmulet_OwnerExpireLock": // which the simulated network does with a coin of the day's terms
		sum := decodeInto[roundResult](b.t, e.Result).AmuletSum
		b.coin(e.ContractID, sum.Round.Number, -1)
		b.coin(sum.Amulet, sum.Round.Number, 1)
	default:
		return false
	}
	return true
}

// paid takes away the coin that a choice creates to burn it as a payment: the summary has it as one that is received.
func (b *roundBook) paid(e *schemas.Event) {
	round := decodeInto[roundResult](b.t, e.Result).Round.Number
	for _, child := range e.Children {
		archived := &b.u.Events[child]
		created := slices.ContainsFunc(b.u.Events, func(c schemas.Event) bool {
			return c.Kind == schemas.Created && c.ContractID == archived.ContractID && c.Node > e.Node
		})
		if _, isCoin := b.coins[archived.ContractID]; isCoin && archived.Kind == schemas.Exercised && created { // archived behind it, so both are below the choice
			b.coin(archived.ContractID, cmp.Or(round, b.open()), -1)
		}
	}
}

// transfer adds what the result of a transfer says.
func (b *roundBook) transfer(sender string, r roundResult) {
	b.add(r.Round.Number, sender, func(e *coins.RoundEntry) {
		e.AppRewards = e.AppRewards.Plus(r.Summary.InputAppRewardAmount)
		e.ValidatorRewards = e.ValidatorRewards.Plus(r.Summary.InputValidatorRewardAmount)
	})
	for _, pair := range r.Summary.BalanceChanges {
		change := decodeInto[struct {
			ChangeToInitialAmountAsOfRoundZero, ChangeToHoldingFeesRate decimal.Decimal
		}](b.t, pair[1])
		b.add(r.Round.Number, decodeInto[string](b.t, pair[0]), func(e *coins.RoundEntry) {
			e.InitialChange = e.InitialChange.Plus(change.ChangeToInitialAmountAsOfRoundZero)
			e.RateChange = e.RateChange.Plus(change.ChangeToHoldingFeesRate)
		})
	}
}

// lines are entries that are not of nothing, by round and party.
func lines(entries map[string]coins.RoundEntry) (list []string) {
	for key, e := range entries {
		if e != (coins.RoundEntry{}) {
			list = append(list, fmt.Sprintf("%s: %s %s, %d bytes %d times for %s, %s %s", key, e.AppRewards, e.ValidatorRewards,
				e.TrafficBytes, e.TrafficPurchases, e.TrafficSpent, e.InitialChange, e.RateChange))
		}
	}
	slices.Sort(list)
	return list
}

// TestRoundsAreThoseOfResults compares what is in mining rounds with what results of choices say, over a history in
// which everything happens that commands and the network itself can do.
func TestRoundsAreThoseOfResults(t *testing.T) {
	t.Parallel()
	ledger := network(t, devnet.Config{Updates: schematest.Rounds(1500, 20_000), Seed: 11, Days: 3, Node: &devnet.NodeConfig{}})
	devnettest.New(t, ledger).Live()
	f := newFixture(t)
	items := indexertest.ScanItems(t, ledger)
	f.write(t, items, len(items)/5, f.movements())
	found := indexertest.Texts(t, f.DSN, `
		SELECT concat(toString(round), ' ', party, ': ', toDecimalString(sum(app_rewards), 10), ' ', toDecimalString(sum(validator_rewards), 10), ', ', toString(sum(traffic_bytes)), ' bytes ', toString(sum(traffic_purchases)),
		              ' times for ', toDecimalString(sum(traffic_spent), 10), ', ', toDecimalString(sum(initial_change), 10), ' ', toDecimalString(sum(rate_change), 10)) AS line
		FROM round_entries
		GROUP BY round, party
		HAVING (sum(app_rewards), sum(validator_rewards), sum(traffic_purchases), sum(initial_change), sum(rate_change)) != (0, 0, 0, 0, 0)
		ORDER BY line`)
	book := roundBook{t: t, entries: make(map[string]coins.RoundEntry), coins: make(map[string]payloadOfCoin), rounds: make(map[schemas.Micros]string)}
	for _, item := range items {
		if item.Update != nil {
			book.update(item.Update)
		}
	}
	want := lines(book.entries)
	if missing, more := without(want, found), without(found, want); len(missing)+len(more) > 0 {
		t.Errorf("of %d rows of rounds and parties these are not what results say:\n%s\nbut\n%s", len(found), strings.Join(more, "\n"), strings.Join(missing, "\n"))
	}
	book.compareSums(t, f)
	if len(want) < 300 || book.unseen < 20 {
		t.Errorf("the history has %d rows, %d of coins that results do not tell of", len(want), book.unseen)
	}
}

// without is a list less what another one has.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(line string) bool { return slices.Contains(other, line) })
}

// compareSums compares what is read of rounds with sums over the book.
func (b *roundBook) compareSums(t *testing.T, f *fixture) {
	t.Helper()
	reader := history.NewReader(f.db, f.stream)
	through, err := reader.MovementsWatermark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const first, last = 9, 14
	sums := make(map[string]history.RoundSum) // by round and party, "" for all, and by the earlier rounds as one
	rounds, parties := make(map[int64]bool), make(map[string]bool)
	for key, e := range b.entries {
		number, party, _ := strings.Cut(key, " ")
		round, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		if round > last {
			continue
		}
		one := history.RoundSum{
			AppRewards: e.AppRewards, ValidatorRewards: e.ValidatorRewards, TrafficBytes: e.TrafficBytes, TrafficPurchases: e.TrafficPurchases,
			TrafficSpent: e.TrafficSpent, Initial: e.InitialChange, Rate: e.RateChange,
		}
		if round >= first && e != (coins.RoundEntry{}) {
			parties[party] = true
		}
		rounds[max(round, first-1)] = true
		for _, of := range []string{party, ""} {
			one.Round, one.Party = max(round, first-1), of
			for _, at := range []string{fmt.Sprint(one.Round, " ", of), "all " + of} {
				sums[at] = sums[at].Plus(one)
			}
		}
	}
	all, err := reader.Rounds().RoundSums(t.Context(), through, "", first, last)
	if err != nil || len(all) != len(rounds) || len(all) < 5 {
		t.Fatalf("sums of %d rounds, want %d, %v", len(all), len(rounds), err)
	}
	byParty, err := reader.Rounds().RoundPartySums(t.Context(), through, first, last, 10_000)
	if err != nil || len(byParty) < 30 {
		t.Fatalf("%d sums of parties, %v", len(byParty), err)
	}
	for _, got := range append(all, byParty...) {
		if want := sums[fmt.Sprint(got.Round, " ", got.Party)]; got != want {
			t.Errorf("in round %d party %q has %+v, by results %+v", got.Round, got.Party, got, want)
		}
		if got.Party != "" && !parties[got.Party] {
			t.Errorf("party %s has sums, but nothing in the rounds", got.Party)
		}
	}
	for by, of := range map[string]func(history.RoundSum) decimal.Decimal{
		history.ByAppRewards:       func(s history.RoundSum) decimal.Decimal { return s.AppRewards },
		history.ByValidatorRewards: func(s history.RoundSum) decimal.Decimal { return s.ValidatorRewards },
		history.ByTraffic:          func(s history.RoundSum) decimal.Decimal { return decimal.FromInt(s.TrafficBytes) },
	} {
		var want []string
		for key, s := range sums {
			if party, ok := strings.CutPrefix(key, "all "); ok && party != "" && of(s).Sign() > 0 {
				want = append(want, fmt.Sprintf("%40s %s", of(s), party))
			}
		}
		slices.Sort(want)
		slices.Reverse(want)
		leaders, err := reader.Rounds().RoundLeaders(t.Context(), through, by, last, 4)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range leaders {
			got = append(got, fmt.Sprintf("%40s %s", of(s), s.Party))
		}
		if want = want[:min(4, len(want))]; !slices.Equal(got, want) {
			t.Errorf("by %s the first are %q, by results %q", by, got, want)
		}
	}
	if alice, err := reader.Rounds().RoundSums(t.Context(), through, byParty[0].Party, last+1, last); err != nil || len(alice) != 1 || alice[0].Initial != sums["all "+byParty[0].Party].Initial {
		t.Errorf("%s has %+v up to round %d, %v, by results %+v", byParty[0].Party, alice, last, err, sums["all "+byParty[0].Party])
	}
}
