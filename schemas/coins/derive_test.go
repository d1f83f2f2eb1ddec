package coins

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// tree builds an update: each event says which one it is below, by index.
type tree struct{ Update }

func (t *tree) exercise(parent int, choice string, told *Told) int {
	t.Events = append(t.Events, Event{Node: int32(len(t.Events)), Parent: parent, Choice: choice, Told: told})
	return len(t.Events) - 1
}

func (t *tree) coin(parent int, does Does, id uint64, owner, amount string, locked bool) {
	choice := ""
	if does == Consumes {
		choice = "Archive"
	}
	t.Events = append(t.Events, Event{Node: int32(len(t.Events)), Parent: parent, Choice: choice, Does: does, ID: id, Coin: Coin{Owner: owner, Amount: decimal.Must(amount), Locked: locked}})
}

// lines are the movements in short.
func (t *tree) lines() (list []string) {
	t.Admin = "dso"
	for _, m := range new(Deriver).Update(&t.Update) {
		list = append(list, strings.Join(strings.Fields(fmt.Sprintf("%d %s %s %s %s %s %s %s %s", m.Event, m.Party, m.Pocket, strings.TrimSuffix(m.Amount.Short(), ".0"), m.Cause, m.Class, m.Counterparty, m.Purpose, m.Source)), " "))
	}
	return list
}

func TestRules(t *testing.T) {
	number := decimal.Must
	for _, c := range []struct {
		name  string
		build func(t *tree)
		want  []string
	}{
		{"a transfer with its fee", func(t *tree) {
			at := t.exercise(-1, template.CoinRulesTransfer, &Told{Round: 3, Summed: true})
			t.coin(at, Consumes, 1, "a", "10", false)
			t.coin(at, Creates, 2, "b", "4", false)
			t.coin(at, Creates, 3, "a", "5.5", false)
		}, []string{
			"0 a unlocked -0.5 burn fee transfer coins",
			"0 a unlocked -4 transfer b transfer coins",
			"0 b unlocked 4 transfer a transfer coins",
		}},
		{"rewards are collected, and said twice", func(t *tree) {
			minted := []ClassAmount{{Operator, number("2")}}
			outer := t.exercise(-1, template.TransferPreapprovalSend, &Told{Round: 3, Summed: true, Minted: minted})
			at := t.exercise(outer, template.CoinRulesTransfer, &Told{Round: 3, Summed: true, Minted: minted})
			t.coin(at, Creates, 3, "a", "2", false)
		}, []string{"1 a unlocked 2 mint operator send coins"}},
		{"coins that a transfer locks for another", func(t *tree) {
			at := t.exercise(-1, template.TransferFactoryTransfer, &Told{Round: -1})
			t.coin(at, Consumes, 1, "a", "10", false)
			t.coin(at, Creates, 2, "a", "7", true)
			t.coin(at, Creates, 3, "a", "3", false)
		}, []string{"0 a locked 7 lock instruction coins", "0 a unlocked -7 lock instruction coins"}},
		{"a purchase: what was paid, and the fee", func(t *tree) {
			at := t.exercise(-1, template.CoinRulesBuyMemberTraffic, &Told{Paid: number("6"), Round: 3})
			t.coin(at, Consumes, 1, "a", "10", false)
			t.coin(at, Creates, 2, "a", "6", false)
			t.coin(at, Creates, 3, "a", "3", false)
			t.coin(at, Consumes, 2, "a", "6", false)
		}, []string{"0 a unlocked -1 burn fee traffic coins", "0 a unlocked -6 burn traffic traffic coins"}},
		{"the governance party keeps no payment for a name", func(t *tree) {
			name := t.exercise(-1, template.NameRulesCollectInitialEntryPayment, &Told{Round: -1})
			at := t.exercise(name, template.CoinRulesTransfer, &Told{Round: 3, Summed: true})
			t.coin(at, Consumes, 1, "a", "5", false)
			t.coin(at, Creates, 2, "dso", "5", false)
			t.coin(name, Consumes, 2, "dso", "5", false)
		}, []string{"1 a unlocked -5 burn name name coins"}},
		{"a payment that the governance party keeps", func(t *tree) {
			at := t.exercise(-1, template.CoinRulesTransfer, &Told{Round: 3, Summed: true})
			t.coin(at, Consumes, 1, "a", "5", false)
			t.coin(at, Creates, 2, "dso", "5", false)
		}, []string{"0 a unlocked -5 transfer dso transfer coins", "0 dso unlocked 5 transfer a transfer coins"}},
		{"a settlement with a burnt leg, of allocations of both versions", func(t *tree) {
			batch := t.exercise(-1, template.SettlementFactorySettleBatch, &Told{Round: -1, Legs: []TransferLeg{
				{ID: "1", Sender: "a", Receiver: "b", Amount: number("4")}, {ID: "2", Sender: "b", Receiver: "a", Amount: number("1")}, {ID: "3", Sender: "a", Amount: number("2")},
			}})
			one := t.exercise(batch, "Allocation_Settle", nil)
			t.coin(one, Consumes, 1, "a", "8", true)
			t.coin(one, Creates, 2, "a", "2", true)
			t.coin(one, Creates, 3, "a", "1", false)
			two := t.exercise(batch, template.AllocationExecuteTransfer, nil)
			t.coin(two, Creates, 4, "b", "3", false)
		}, []string{
			"0 a locked -6 lock settlement coins", "0 a unlocked -2 burn leg settlement coins", "0 a unlocked 6 lock settlement coins",
			"0 a unlocked -4 transfer b settlement coins", "0 a unlocked 1 transfer b settlement coins",
			"0 b unlocked 4 transfer a settlement coins", "0 b unlocked -1 transfer a settlement coins",
		}},
		{"a settlement that nets to nothing", func(t *tree) {
			t.exercise(-1, template.SettlementFactorySettleBatch, &Told{Round: -1, Legs: []TransferLeg{
				{ID: "1", Sender: "a", Receiver: "b", Amount: number("4")}, {ID: "2", Sender: "b", Receiver: "a", Amount: number("4")},
			}})
		}, []string{
			"0 a unlocked -4 transfer b settlement coins", "0 a unlocked 4 transfer b settlement coins",
			"0 b unlocked 4 transfer a settlement coins", "0 b unlocked -4 transfer a settlement coins",
		}},
		{"settlements by themselves, as the event log has them", func(t *tree) {
			one := t.exercise(-1, template.AllocationSettle, nil)
			t.coin(one, Consumes, 1, "a", "8", true)
			t.coin(one, Creates, 2, "a", "1", true)
			t.coin(one, Creates, 3, "a", "2", false)
			t.exercise(one, template.EventLogHoldingsChange, &Told{Round: -1, Log: &Log{Account: "a", Sides: []LegSide{
				{ID: "1", Other: "b", Amount: number("-4")}, {ID: "2", Amount: number("-2")}, {ID: "3", Amount: number("1")},
			}}})
			two := t.exercise(-1, template.AllocationSettle, nil)
			t.coin(two, Creates, 4, "b", "4", false)
			t.exercise(two, template.EventLogHoldingsChange, &Told{Round: -1, Log: &Log{Account: "b", Sides: []LegSide{{ID: "1", Other: "a", Amount: number("4")}}}})
		}, []string{
			"0 a locked -7 lock settlement coins", "0 a unlocked -2 burn leg settlement coins",
			"0 a unlocked 7 lock settlement coins", "0 a unlocked 1 mint other settlement coins", "0 a unlocked -4 transfer b settlement coins", "5 b unlocked 4 transfer a settlement coins",
		}},
		{"a mint for an operator", func(t *tree) {
			t.coin(t.exercise(t.exercise(-1, "DsoRules_ReceiveSvRewardCoupon", nil), template.CoinRulesMint, nil), Creates, 1, "a", "9", false)
		}, []string{"1 a unlocked 9 mint operator coins"}},
		{"a mint for nobody knows what", func(t *tree) {
			t.coin(t.exercise(-1, template.CoinRulesMint, nil), Creates, 1, "a", "9", false)
		}, []string{"0 a unlocked 9 mint other coins"}},
		{"an expired lock", func(t *tree) {
			t.coin(t.exercise(-1, template.LockedCoinExpireCoinV2, nil), Consumes, 1, "a", "0.1", true)
		}, []string{"0 a locked -0.1 burn expiry expiry coins"}},
		{"a tap", func(t *tree) {
			t.coin(t.exercise(t.exercise(-1, template.CoinRulesTap, nil), template.CoinRulesMint, nil), Creates, 1, "a", "9", false)
		}, []string{"1 a unlocked 9 mint tap tap coins"}},
		{"a choice that nobody knows", func(t *tree) {
			at := t.exercise(-1, "AmuletRules_Halve", nil)
			t.coin(at, Consumes, 1, "a", "9", false)
			t.coin(at, Creates, 2, "a", "4", true)
			t.coin(at, Creates, 3, "b", "4", false)
		}, []string{"0 a locked 4 unexplained residual", "0 a unlocked -9 unexplained residual", "0 b unlocked 4 unexplained residual"}},
		{"more than a choice explains", func(t *tree) {
			at := t.exercise(-1, template.TransferInstructionAccept, nil)
			t.coin(at, Consumes, 1, "a", "5", true)
			t.coin(at, Creates, 2, "b", "6", false)
		}, []string{
			"0 a locked -5 lock instruction coins", "0 a unlocked 5 lock instruction coins", "0 a unlocked -6 transfer b instruction coins",
			"0 a unlocked 1 unexplained instruction residual", "0 b unlocked 6 transfer a instruction coins",
		}},
		{"less than a choice explains", func(t *tree) {
			at := t.exercise(-1, template.LockedCoinUnlock, nil)
			t.coin(at, Consumes, 1, "a", "5", true)
			t.coin(at, Creates, 2, "a", "4", false)
		}, []string{
			"0 a locked -5 lock unlock coins", "0 a unlocked 5 lock unlock coins", "0 a unlocked -1 unexplained unlock residual",
		}},
		{"an opening", func(t *tree) {
			t.Opening = true
			t.coin(-1, Creates, 1, "a", "5", true)
		}, []string{"-1 a locked 5 opening opening"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := new(tree)
			c.build(u)
			if got := u.lines(); !slices.Equal(got, c.want) {
				t.Errorf("the movements are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}
