package devnet

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/choices"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// TestRewardsByTraffic has a network reward apps by traffic: coupons for transfers end when it
// begins to, and those of each round are what was computed for it.
func TestRewardsByTraffic(t *testing.T) {
	l, c := startLedger(t, sim.Config{Updates: 3000, Seed: 36, TrafficRewards: true})
	digestsMatch(t, c)
	r := newReplay(t)
	issued, collected := map[int64]model.Decimal{}, 0
	for _, it := range c.allUpdates("/v2/updates", "protobuf_json", 1000) {
		r.add(it)
	}
	compareSupply(t, r, l)
	type coupon struct {
		Provider string
		Amount   string
		Round    struct {
			Number int64 `json:",string"`
		}
	}
	for _, it := range c.allUpdates("/v2/updates", "compact_json", 1000) {
		for _, raw := range it.EventsByID {
			var e struct {
				Template string          `json:"template_id"`
				Argument json.RawMessage `json:"create_arguments"`
				Choice   string          `json:"choice"`
				Inputs   struct {
					Transfer struct {
						Inputs []struct{ Tag string }
					}
				} `json:"choice_argument"`
			}
			if err := json.Unmarshal(raw, &e); err != nil && e.Choice == "AmuletRules_Transfer" {
				t.Fatal(err)
			}
			for _, in := range e.Inputs.Transfer.Inputs {
				if in.Tag == "InputRewardCouponV2" {
					collected++
				}
			}
			if e.Argument == nil || e.Template[65:] != model.RewardCouponTemplate.Name {
				continue
			}
			var p coupon
			if err := json.Unmarshal(e.Argument, &p); err != nil {
				t.Fatal(err)
			}
			amount, err := model.ParseDecimal(p.Amount)
			if err != nil {
				t.Fatal(err)
			}
			issued[p.Round.Number] += amount
		}
	}
	if len(issued) < 10 || collected < 10 {
		t.Errorf("%d rounds have coupons, %d were collected", len(issued), collected)
	}
	for round, sum := range issued {
		if want := l.Executor.Rewards.RewardsOf(round).Minting; sum != want {
			t.Errorf("coupons of round %d are worth %s, computed was %s", round, sum, want)
		}
	}
	if left := l.OfTemplate(model.AppRewardTemplate, func(c *model.Contract) bool { return c.Payload.(model.AppReward).Featured && c.Version > 0 }); len(left) > 0 {
		t.Errorf("%d coupons for transfers are there in spite of it", len(left))
	}
}

// TestAssignedRewards has a delegate divide the coupon of an app and collect its part.
func TestAssignedRewards(t *testing.T) {
	d := newDesk(t, sim.Config{Updates: 2500, Days: 1, Seed: 66, TrafficRewards: true})
	alice, bob := d.party("alice", nil), d.party("bob", nil)
	wallet := d.onboard(alice)
	right := in(t, d.must([]string{d.operator, alice}, exercise(model.WalletInstallTemplate, wallet, "WalletAppInstall_FeaturedAppRights_SelfGrant", "amuletRulesCid", d.rules()))[0], "featuredAppRight")
	proposal := in(t, d.must([]string{alice}, create(model.MintingProposalTemplate, "delegation", map[string]any{"beneficiary": alice,
		"delegate": d.operator, "dso": d.l.GovernanceParty(), "expiresAt": d.l.Now().Add(100 * time.Hour).Format(time.RFC3339Nano), "amuletMergeLimit": 3}))[0])
	delegation := in(t, d.must([]string{d.operator}, exercise(model.MintingProposalTemplate, proposal, "MintingDelegationProposal_Accept"))[0], "mintingDelegationCid")
	d.advance(4 * d.l.Config.Tick()) // activity counts for apps that were featured when the round opened
	// earn has alice's app be busy for a round, and waits for its coupons.
	earn := func() []string {
		d.tap(alice, 10)
		for range 12 {
			ids, sum := d.coins(alice)
			c := d.transfer(alice, ids, alice, sum.String())
			c.Argument = edited(t, c.Argument, "context", "featuredAppRight", right)
			d.must([]string{alice}, c)
		}
		d.advance(4 * d.l.Config.Tick())
		ids := []string{}
		for _, c := range d.l.OfTemplate(model.RewardCouponTemplate, func(c *model.Contract) bool { return d.l.Names.Name(c.Payload.(model.CouponV2).Owner()) == alice }) {
			ids = append(ids, ledger.ContractIDOf(d.l, c.Contract))
		}
		if len(ids) == 0 {
			t.Fatal("alice has no coupon")
		}
		return ids
	}
	worth := func(party string) (sum model.Decimal) {
		for _, c := range d.l.OfTemplate(model.RewardCouponTemplate, func(c *model.Contract) bool { return d.l.Names.Name(c.Payload.(model.CouponV2).Owner()) == party }) {
			sum += c.Payload.(model.CouponV2).Amount
		}
		return sum
	}
	ids := earn()
	total, before := worth(alice), d.balance(alice)
	mint := func(parts ...any) choices.Submission {
		shares := []any{}
		for i := 0; i < len(parts); i += 2 {
			shares = append(shares, map[string]any{"beneficiary": parts[i], "percentage": parts[i+1]})
		}
		s := d.submission([]string{d.operator}, exercise(model.MintingDelegationTemplate, delegation, "MintingDelegation_AssignAndMint", "couponCid", ids[0],
			"assignBeneficiaries", map[string]any{"additionalCoupons": ids[1:], "newBeneficiaries": shares, "extraArgs": emptyExtraArgs},
			"inputs", []any{}, "context", d.payment()))
		s.ReadAs = []string{alice}
		return s
	}
	for what, parts := range map[string][]any{"too little": {alice, "0.5", bob, "0.4"}, "too much": {alice, "0.5", bob, "0.6"}, "a negative part": {alice, "1.5", bob, "-0.5"}, "nobody": {}} {
		if r := d.refused(mint(parts...)); r.Code != choices.CodeFailed {
			t.Errorf("%s: %v", what, r)
		}
	}
	done := d.mustSubmit(mint(alice, "0.75", bob, "0.25"))
	if got := in(t, done.Results[0], "assignResult", "newBeneficiariesCouponCids", 1, "_1"); got != bob {
		t.Errorf("the second beneficiary is %s", got)
	}
	got := d.balance(alice) - before
	if got+worth(bob) != total || got < worth(bob)*29/10 || got > worth(bob)*31/10 || worth(alice) != 0 {
		t.Errorf("of %s alice gets %s, bob is left %s", total, got, worth(bob))
	}
	collect := func(party, coupon string) choices.Submission {
		return d.submission([]string{party}, exercise(model.AmuletRulesTemplate, d.rules(), "AmuletRules_Transfer", "transfer", map[string]any{
			"sender": party, "provider": party, "inputs": []any{operation("InputRewardCouponV2", coupon)}, "outputs": []any{}}, "context", d.context()))
	}
	bobs := d.newest(model.RewardCouponTemplate, func(c *model.Contract) bool { return d.l.Names.Name(c.Payload.(model.CouponV2).Owner()) == bob })
	s := d.submission([]string{alice}, exercise(model.RewardCouponTemplate, bobs, "RewardCoupon_AssignBeneficiaries", "additionalCoupons", []any{},
		"newBeneficiaries", []any{map[string]any{"beneficiary": alice, "percentage": "1"}}, "extraArgs", emptyExtraArgs))
	if r := d.refused(s); r.Code != choices.CodeFailed {
		t.Errorf("assigned twice: %v", r)
	}
	if r := d.refused(collect(alice, bobs)); r.Context["error_id"] != "not-owner" {
		t.Errorf("collected by the provider: %v", r)
	}
	d.mustSubmit(collect(bob, bobs))
	if d.balance(bob) != total-got {
		t.Errorf("bob has %s of %s", d.balance(bob), total-got)
	}
	late := earn()[0]
	d.advance(37 * time.Hour)
	if r := d.refused(collect(alice, late)); r.Code != choices.CodeContractNotFound || worth(alice) != 0 {
		t.Errorf("collected too late: %v, %s are left", r, worth(alice))
	}
	d.finish()
}
