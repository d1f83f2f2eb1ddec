package wallet

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// maxInputs is how many inputs a transfer may have, unless the rules allow fewer.
const maxInputs = 100

// noRound is the round of what can be minted at any time.
const noRound = -1

// Input is a contract that a transfer takes coins from.
type Input struct {
	Tag        string
	ContractID string
	// Amount is what it is worth, in coins.
	Amount decimal.Decimal
	// Round is that of a coupon, -1 for what has none.
	Round int64
}

// MarshalJSON writes the variant TransferInput.
func (in Input) MarshalJSON() ([]byte, error) {
	var value any = in.ContractID
	if in.Tag == "ExtTransferInput" {
		value = map[string]any{"dummyUnitField": struct{}{}, "optInputValidatorFaucetCoupon": in.ContractID}
	}
	return json.Marshal(map[string]any{"tag": in.Tag, "value": value})
}

// Funds is what a party can pay with at present.
type Funds struct {
	// Coins are the largest ones, largest first.
	Coins []Input
	// Rewards are coupons of rounds that are issuing now, and those that are worth what
	// they say; soonest to expire first, of those the most valuable first.
	Rewards []Input
	// Records and Grants are unclaimed activity records and development fund coupons.
	Records, Grants []Input

	rights   []validatorRight
	featured *Contract
}

// validatorRight lets its validator mint a user's coupons.
type validatorRight struct{ user, id string }

// RewardValue is what all but the coins are worth.
func (f *Funds) RewardValue() (sum decimal.Decimal) {
	for _, list := range [][]Input{f.Rewards, f.Records, f.Grants} {
		for _, in := range list {
			sum = sum.Plus(in.Amount)
		}
	}
	return sum
}

// CoinValue is what the coins are worth.
func (f *Funds) CoinValue() (sum decimal.Decimal) {
	for _, in := range f.Coins {
		sum = sum.Plus(in.Amount)
	}
	return sum
}

// WorthMerging reports whether a transfer to oneself would change anything for the better.
func (f *Funds) WorthMerging() bool { return f.RewardValue().Sign() > 0 || len(f.Coins) > 1 }

// usesRound reports whether a reward is of a round.
func (f *Funds) usesRound(round int64) bool {
	return slices.ContainsFunc(f.Rewards, func(in Input) bool { return in.Round == round })
}

// Inputs puts at most limit inputs in the order in which the wallet uses them: some coins,
// so that there is always something to pay with, then the rewards, then the rest.
func (f *Funds) Inputs(limit int) []Input {
	first := min(len(f.Coins), coinsFirst(len(f.Coins)+len(f.Rewards)))
	list := slices.Concat(f.Coins[:first], f.Rewards, f.Coins[first:], f.Records, f.Grants)
	return list[:min(len(list), max(limit, 0))]
}

// coinsFirst is a tenth of what there is, at least 10.
func coinsFirst(available int) int { return max(2, (max(available, 100)+5)/10) }

// Funds reads what a party can pay with.
func (w *Coins) Funds(ctx context.Context, party string, m *Market) (*Funds, error) {
	f := &Funds{}
	var err error
	if f.Coins, err = coinsOf(ctx, w.reader, party); err != nil {
		return nil, err
	}
	slices.SortStableFunc(f.Coins, func(a, b Input) int { return b.Amount.Cmp(a.Amount) })
	if err := w.addCoupons(ctx, f, party, m); err != nil {
		return nil, err
	}
	sortRewards(f.Rewards)
	return f, nil
}

// sortRewards puts those first that expire soonest: of the earliest round, then those
// without one.
func sortRewards(list []Input) {
	slices.SortStableFunc(list, func(a, b Input) int {
		if (a.Round == noRound) != (b.Round == noRound) {
			return cmp.Compare(b.Round, a.Round)
		}
		return cmp.Or(cmp.Compare(a.Round, b.Round), b.Amount.Cmp(a.Amount))
	})
}

// couponPayload has the members of all kinds of coupons.
type couponPayload struct {
	Provider    string          `json:"provider"`
	Beneficiary *string         `json:"beneficiary"`
	User        string          `json:"user"`
	Validator   string          `json:"validator"`
	Featured    bool            `json:"featured"`
	Amount      decimal.Decimal `json:"amount"`
	Weight      int64           `json:"weight,string"`
	Round       struct {
		Number int64 `json:"number,string"`
	} `json:"round"`
	ExpiresAt *time.Time `json:"expiresAt"`
	// FundManager and MintAfter are those of a coupon of the development fund.
	FundManager string     `json:"fundManager"`
	MintAfter   *time.Time `json:"mintAfter"`
}

// mintable reports whether the coupon can be minted now, whatever its round.
func (p *couponPayload) mintable(m *Market) bool {
	return (p.ExpiresAt == nil || p.ExpiresAt.After(m.At)) && (p.MintAfter == nil || !p.MintAfter.After(m.At)) &&
		!slices.Contains(m.Config().FundBarred, p.FundManager)
}

// beneficiary is who may mint the coupon of a provider.
func (p *couponPayload) beneficiary() string {
	if p.Beneficiary != nil {
		return *p.Beneficiary
	}
	return p.Provider
}

// couponKind is how contracts of a template become inputs.
type couponKind struct {
	template, tag string
	// owner is the party that may mint it.
	owner func(*couponPayload) string
	// value is what it is worth in an issuing round, which is nil for those without.
	value   func(*couponPayload, *IssuingRound) decimal.Decimal
	ofRound bool
	into    func(*Funds) *[]Input
}

func rewardsOf(f *Funds) *[]Input { return &f.Rewards }

func ownAmount(p *couponPayload, _ *IssuingRound) decimal.Decimal { return p.Amount }

// couponKinds are the inputs that one's own contracts make. Coupons of validators are those
// of their users, see addUserCoupons.
var couponKinds = []couponKind{
	{template.AppRewardCoupon, "InputAppRewardCoupon", (*couponPayload).beneficiary, func(p *couponPayload, r *IssuingRound) decimal.Decimal {
		if p.Featured {
			return p.Amount.Times(r.Featured)
		}
		return p.Amount.Times(r.Unfeatured)
	}, true, rewardsOf},
	{template.SvRewardCoupon, "InputSvRewardCoupon", (*couponPayload).beneficiary, func(p *couponPayload, r *IssuingRound) decimal.Decimal {
		return r.SV.TimesInt(p.Weight)
	}, true, rewardsOf},
	{template.ValidatorLivenessActivityRecord, "InputValidatorLivenessActivityRecord", func(p *couponPayload) string { return p.Validator }, faucetValue, true, rewardsOf},
	{template.ValidatorFaucetCoupon, "ExtTransferInput", func(p *couponPayload) string { return p.Validator }, faucetValue, true, rewardsOf},
	{template.RewardCouponV2, "InputRewardCouponV2", (*couponPayload).beneficiary, ownAmount, false, rewardsOf},
	{template.UnclaimedActivityRecord, "InputUnclaimedActivityRecord", (*couponPayload).beneficiary, ownAmount, false, func(f *Funds) *[]Input { return &f.Records }},
	{template.DevelopmentFundCoupon, "InputDevelopmentFundCoupon", (*couponPayload).beneficiary, ownAmount, false, func(f *Funds) *[]Input { return &f.Grants }},
}

var validatorCoupons = couponKind{template.ValidatorRewardCoupon, "InputValidatorRewardCoupon", func(p *couponPayload) string { return p.User },
	func(p *couponPayload, r *IssuingRound) decimal.Decimal { return p.Amount.Times(r.Validator) }, true, rewardsOf}

func faucetValue(_ *couponPayload, r *IssuingRound) decimal.Decimal { return r.Faucet }

// addCoupons adds what a party can mint, and the rights that payments use.
func (w *Coins) addCoupons(ctx context.Context, f *Funds, party string, m *Market) error {
	templates := []string{template.ValidatorRight, template.FeaturedAppRight}
	for i := range couponKinds {
		templates = append(templates, couponKinds[i].template)
	}
	parties := []string{party}
	if party != w.operator {
		parties = append(parties, w.operator)
	}
	contracts, err := w.reader.Contracts(ctx, ContractQuery{Parties: parties, Templates: templates, Limit: couponsRead * len(templates)})
	if err != nil {
		return fmt.Errorf("reading the coupons of %s: %w", party, err)
	}
	var rights []validatorRight
	for i := range contracts {
		c := &contracts[i]
		var p couponPayload
		if err := c.decode(&p); err != nil {
			return err
		}
		switch {
		case ofTemplate(c.TemplateID, template.FeaturedAppRight):
			if p.Provider == w.operator {
				f.featured = c
			}
		case ofTemplate(c.TemplateID, template.ValidatorRight):
			if p.Validator == party && !slices.ContainsFunc(rights, func(r validatorRight) bool { return r.user == p.User }) {
				rights = append(rights, validatorRight{p.User, c.ID})
			}
		default:
			f.add(kindOf(c.TemplateID), c.ID, &p, party, m)
		}
	}
	return w.addUserCoupons(ctx, f, rights, m)
}

// addUserCoupons adds the validator's coupons of the users that it has rights of.
func (w *Coins) addUserCoupons(ctx context.Context, f *Funds, rights []validatorRight, m *Market) error {
	if len(rights) == 0 {
		return nil
	}
	byUser, users := map[string]validatorRight{}, []string{}
	for _, r := range rights {
		byUser[r.user] = r
		users = append(users, r.user)
	}
	contracts, err := w.reader.Contracts(ctx, ContractQuery{Parties: users, Templates: []string{template.ValidatorRewardCoupon}, Limit: couponsRead})
	if err != nil {
		return fmt.Errorf("reading the validator's coupons of %d users: %w", len(users), err)
	}
	for i := range contracts {
		var p couponPayload
		if err := contracts[i].decode(&p); err != nil {
			return err
		}
		right, ok := byUser[p.User]
		if !ok || !f.add(&validatorCoupons, contracts[i].ID, &p, p.User, m) {
			continue
		}
		if !slices.Contains(f.rights, right) {
			f.rights = append(f.rights, right)
		}
	}
	return nil
}

// kindOf returns the kind of coupon that a template id names; nil for none.
func kindOf(templateID string) *couponKind {
	for i := range couponKinds {
		if ofTemplate(templateID, couponKinds[i].template) {
			return &couponKinds[i]
		}
	}
	return nil
}

// add takes a coupon of a party in, if it is worth something now and there are not too many
// of its kind.
func (f *Funds) add(kind *couponKind, id string, p *couponPayload, party string, m *Market) bool {
	if kind == nil {
		return false
	}
	in, ok := kind.input(id, p, party, m)
	if list := kind.into(f); ok && count(*list, kind.tag) < maxInputs {
		*list = append(*list, in)
		return true
	}
	return false
}

// count is how many inputs of a kind there are.
func count(list []Input, tag string) (n int) {
	for i := range list {
		if list[i].Tag == tag {
			n++
		}
	}
	return n
}

// couponsRead is how many coupons, for each kind, are looked at: the oldest of them may be
// of rounds that are over.
const couponsRead = 1000

// input returns what a coupon contributes now, if it does.
func (k *couponKind) input(id string, p *couponPayload, party string, m *Market) (Input, bool) {
	if k.owner(p) != party || !p.mintable(m) {
		return Input{}, false
	}
	in := Input{Tag: k.tag, ContractID: id, Round: noRound}
	var round *IssuingRound
	if k.ofRound {
		if round = m.Issuing(p.Round.Number); round == nil {
			return Input{}, false
		}
		in.Round = round.Number
	}
	in.Amount = k.value(p, round)
	return in, true
}
