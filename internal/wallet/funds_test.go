package wallet

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

func coins(amounts ...int64) (list []Input) {
	for i, amount := range amounts {
		list = append(list, Input{"InputAmulet", fmt.Sprint("coin", i), decimal.FromInt(amount), noRound})
	}
	return list
}

func reward(id string, round, amount int64) Input {
	return Input{"InputAppRewardCoupon", id, decimal.FromInt(amount), round}
}

func ids(list []Input) (ids []string) {
	for _, in := range list {
		ids = append(ids, in.ContractID)
	}
	return ids
}

func TestOrderOfInputs(t *testing.T) {
	many := make([]int64, 12)
	for i := range many {
		many[i] = int64(100 - i)
	}
	f := &Funds{
		Coins:   coins(many...),
		Rewards: []Input{reward("late", 9, 5), reward("v2", noRound, 50), reward("early, small", 7, 1), reward("early, large", 7, 3)},
		Records: []Input{{"InputUnclaimedActivityRecord", "record", decimal.FromInt(1), noRound}},
		Grants:  []Input{{"InputDevelopmentFundCoupon", "grant", decimal.FromInt(1), noRound}},
	}
	sortRewards(f.Rewards)
	want := []string{"coin0", "coin1", "coin2", "coin3", "coin4", "coin5", "coin6", "coin7", "coin8", "coin9",
		"early, large", "early, small", "late", "v2", "coin10", "coin11", "record", "grant"}
	if got := ids(f.Inputs(100)); !slices.Equal(got, want) {
		t.Errorf("the order is %q, want %q", got, want)
	}
	if got := ids(f.Inputs(12)); !slices.Equal(got, want[:12]) {
		t.Errorf("12 inputs are %q", got)
	}
	if got := f.Inputs(-1); len(got) != 0 {
		t.Errorf("-1 inputs are %q", ids(got))
	}
	if got := f.RewardValue().String(); got != "61.0000000000" {
		t.Errorf("the rewards are worth %s", got)
	}
}

func TestCoinsComeFirst(t *testing.T) {
	for available, want := range map[int]int{0: 10, 1: 10, 100: 10, 104: 10, 105: 11, 200: 20, 2000: 200} {
		if got := coinsFirst(available); got != want {
			t.Errorf("of %d there are %d coins first, want %d", available, got, want)
		}
	}
}

// Coupons of the development fund that the ledger would refuse would undo the whole batch.
func TestFundCouponsThatCannotBeMinted(t *testing.T) {
	now := time.Date(2026, 7, 5, 12, 0, 0, 0, time.UTC)
	m := &Market{At: now}
	m.Schedule.Initial.FundBarred = []string{"barred"}
	at := func(d time.Duration) *time.Time { then := now.Add(d); return &then }
	for _, c := range []struct {
		name    string
		payload couponPayload
		want    bool
	}{
		{"without a time", couponPayload{FundManager: "manager", ExpiresAt: at(time.Hour)}, true},
		{"since now", couponPayload{FundManager: "manager", MintAfter: at(0)}, true},
		{"later", couponPayload{FundManager: "manager", MintAfter: at(time.Second)}, false},
		{"expired", couponPayload{FundManager: "manager", ExpiresAt: at(0)}, false},
		{"of a manager who is barred", couponPayload{FundManager: "barred"}, false},
	} {
		c.payload.Provider, c.payload.Amount = "alice", decimal.FromInt(1)
		f := &Funds{}
		if f.add(kindOf("p:Splice.Amulet:DevelopmentFundCoupon"), "coupon", &c.payload, "alice", m); (len(f.Grants) == 1) != c.want {
			t.Errorf("%s: the grants are %+v", c.name, f.Grants)
		}
	}
}

func TestWorthMerging(t *testing.T) {
	for _, c := range []struct {
		name string
		f    Funds
		want bool
	}{
		{"nothing", Funds{}, false},
		{"one coin", Funds{Coins: coins(5)}, false},
		{"two coins", Funds{Coins: coins(5, 5)}, true},
		{"a reward", Funds{Rewards: []Input{reward("r", 1, 1)}}, true},
		{"a worthless reward", Funds{Rewards: []Input{reward("r", 1, 0)}}, false},
	} {
		if got := c.f.WorthMerging(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestInputsOnTheWire(t *testing.T) {
	got, err := json.Marshal([]Input{{Tag: "InputAmulet", ContractID: "00a"}, {Tag: "ExtTransferInput", ContractID: "00b"}})
	want := `[{"tag":"InputAmulet","value":"00a"},{"tag":"ExtTransferInput","value":{"dummyUnitField":{},"optInputValidatorFaucetCoupon":"00b"}}]`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestWorthOfCoupons(t *testing.T) {
	m := &Market{At: time.Unix(1000, 0), issues: []IssuingRound{{
		Number: 7, Featured: decimal.FromInt(100), Unfeatured: decimal.Must("0.5"), SV: decimal.Must("0.1"), Validator: decimal.Must("0.2"), Faucet: decimal.FromInt(570),
	}}}
	past, future := time.Unix(999, 0), time.Unix(1001, 0)
	alice := "alice"
	round := func(n int64) couponPayload {
		p := couponPayload{Provider: "app", User: "app", Validator: "app", Amount: decimal.FromInt(2), Weight: 30}
		p.Round.Number = n
		return p
	}
	featured, given, expired, good := round(7), round(7), round(0), round(0)
	featured.Featured = true
	given.Beneficiary = &alice
	expired.ExpiresAt, good.ExpiresAt = &past, &future
	plain, later := round(7), round(8)
	cases := []struct {
		name, template string
		p              *couponPayload
		want           string // "" for nothing
	}{
		{"app, featured", template.AppRewardCoupon, &featured, "200.0000000000"},
		{"app", template.AppRewardCoupon, &plain, "1.0000000000"},
		{"app, of another round", template.AppRewardCoupon, &later, ""},
		{"app, for somebody else", template.AppRewardCoupon, &given, ""},
		{"super-validator", template.SvRewardCoupon, &plain, "3.0000000000"},
		{"liveness", template.ValidatorLivenessActivityRecord, &plain, "570.0000000000"},
		{"faucet", template.ValidatorFaucetCoupon, &plain, "570.0000000000"},
		{"V2", template.RewardCouponV2, &good, "2.0000000000"},
		{"V2, expired", template.RewardCouponV2, &expired, ""},
		{"activity", template.UnclaimedActivityRecord, &good, "2.0000000000"},
		{"fund", template.DevelopmentFundCoupon, &expired, ""},
	}
	for _, c := range cases {
		in, ok := kindOf("ab:"+template.Entity(c.template)).input("00", c.p, "app", m)
		if ok != (c.want != "") || ok && in.Amount.String() != c.want {
			t.Errorf("%s: worth %s, %v, want %q", c.name, in.Amount, ok, c.want)
		}
	}
	if in, ok := validatorCoupons.input("00", &plain, "app", m); !ok || in.Amount.String() != "0.4000000000" || in.Round != 7 {
		t.Errorf("a validator's coupon is %+v, %v", in, ok)
	}
}

func TestTrafficCost(t *testing.T) {
	m := &Market{Price: decimal.Must("0.03"), opens: []OpenRound{{}}}
	m.Schedule.Initial.Synchronizer.Fees.TrafficPrice = decimal.FromInt(60)
	// 200,000 bytes are 0.2 MB, which is 12 USD, which is 400 CC.
	if got := m.TrafficCost(200_000).String(); got != "400.0000000000" {
		t.Errorf("200,000 bytes cost %s", got)
	}
	price := decimal.FromInt(30)
	m.opens[0].TrafficPrice = &price
	if got := m.TrafficCost(200_000).String(); got != "200.0000000000" {
		t.Errorf("at the price of the round they cost %s", got)
	}
}
