package wallet

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ledgerlake/ledgerlake/schemas/decimal"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Network reads the public state of the network.
type Network struct {
	public Public
	reader Reader
}

// Now is the time of the network.
func (w *Network) Now(ctx context.Context) (time.Time, error) { return w.public.Now(ctx) }

// Market is the present state of the network that payments need.
type Market struct {
	// At is the time of the network.
	At time.Time
	// Rules are the coin rules, with DSO the governance party.
	Rules Contract
	RulesPayload
	// Open is the latest open round, Price that of a coin in dollars in it.
	Open   Contract
	Round  int64
	Price  decimal.Decimal
	opens  []OpenRound
	issues []IssuingRound
}

// RulesPayload is what is read of AmuletRules.
type RulesPayload struct {
	DSO      string `json:"dso"`
	DevNet   bool   `json:"isDevNet"`
	Schedule struct {
		Initial CoinConfig `json:"initialValue"`
	} `json:"configSchedule"`
}

// CoinConfig is what is read of AmuletConfig.
type CoinConfig struct {
	Transfer struct {
		MaxInputs int64 `json:"maxNumInputs,string"`
	} `json:"transferConfig"`
	Synchronizer struct {
		Active string `json:"activeSynchronizer"`
		Fees   struct {
			TrafficPrice decimal.Decimal `json:"extraTrafficPrice"` // USD per MB
			MinTopUp     int64           `json:"minTopupAmount,string"`
		} `json:"fees"`
	} `json:"decentralizedSynchronizer"`
	Issuance struct {
		Initial struct {
			FaucetCap *decimal.Decimal `json:"optValidatorFaucetCap"`
		} `json:"initialValue"`
	} `json:"issuanceCurve"`
	// FundManager gives the development fund away, "" for nobody. Coupons of those who are barred
	// from it cannot be minted.
	FundManager string   `json:"optDevelopmentFundManager"`
	FundBarred  []string `json:"developmentFundManagerBlacklist"`
}

// Config is the configuration of the coin.
func (m *Market) Config() *CoinConfig { return &m.Schedule.Initial }

// OpenRounds are those that are open now, ascending by number.
func (m *Market) OpenRounds() []OpenRound { return m.opens }

// OpenRound is an OpenMiningRound.
type OpenRound struct {
	Contract Contract
	Number   int64
	Price    decimal.Decimal // USD per coin
	OpensAt  time.Time
	// TrafficPrice is in USD per MB, nil in older rounds.
	TrafficPrice *decimal.Decimal
}

// IssuingRound is an IssuingMiningRound: what coupons of a round are worth, in coins.
type IssuingRound struct {
	Contract                            Contract
	Number                              int64
	OpensAt                             time.Time
	Validator, Featured, Unfeatured, SV decimal.Decimal
	Faucet                              decimal.Decimal
}

type roundPayload struct {
	Round struct {
		Number int64 `json:"number,string"`
	} `json:"round"`
	OpensAt      time.Time        `json:"opensAt"`
	Price        decimal.Decimal  `json:"amuletPrice"`
	TrafficPrice *decimal.Decimal `json:"trafficPrice"`
	Validator    decimal.Decimal  `json:"issuancePerValidatorRewardCoupon"`
	Featured     decimal.Decimal  `json:"issuancePerFeaturedAppRewardCoupon"`
	Unfeatured   decimal.Decimal  `json:"issuancePerUnfeaturedAppRewardCoupon"`
	SV           decimal.Decimal  `json:"issuancePerSvRewardCoupon"`
	Faucet       *decimal.Decimal `json:"optIssuancePerValidatorFaucetCoupon"`
}

// Market reads the present state. It is ErrUnavailable as long as the network has no rules
// or no open round.
func (w *Network) Market(ctx context.Context) (*Market, error) {
	m := &Market{}
	var err error
	if m.At, err = w.public.Now(ctx); err != nil {
		return nil, fmt.Errorf("requesting the network's time: %w", err)
	}
	contracts, err := w.public.Public(ctx, "", template.CoinRules, template.OpenMiningRound, template.IssuingMiningRound)
	if err != nil {
		return nil, fmt.Errorf("reading the rules and rounds of the network: %w", err)
	}
	for _, c := range contracts {
		if ofTemplate(c.TemplateID, template.CoinRules) {
			m.Rules = c
		} else if err := m.takeRound(c); err != nil {
			return nil, err
		}
	}
	return m, m.check()
}

// single returns the newest of public contracts of which there should be one.
func (w *Network) single(ctx context.Context, name, what string) (Contract, error) {
	list, err := w.public.Public(ctx, "", name)
	if err != nil {
		return Contract{}, fmt.Errorf("reading the %s: %w", what, err)
	}
	if len(list) == 0 {
		return Contract{}, fail(ErrUnavailable, "the network's %s are not known yet", what)
	}
	return list[len(list)-1], nil
}

// takeRound adds a round unless it opens later.
func (m *Market) takeRound(c Contract) error {
	var p roundPayload
	if err := c.decode(&p); err != nil {
		return err
	}
	switch {
	case p.OpensAt.After(m.At):
	case ofTemplate(c.TemplateID, template.OpenMiningRound):
		m.opens = append(m.opens, OpenRound{Contract: c, Number: p.Round.Number, Price: p.Price, OpensAt: p.OpensAt, TrafficPrice: p.TrafficPrice})
	default:
		round := IssuingRound{Contract: c, Number: p.Round.Number, OpensAt: p.OpensAt, Validator: p.Validator, Featured: p.Featured, Unfeatured: p.Unfeatured, SV: p.SV}
		if p.Faucet != nil {
			round.Faucet = *p.Faucet
		}
		m.issues = append(m.issues, round)
	}
	return nil
}

// check completes a market of which all contracts were taken.
func (m *Market) check() error {
	switch {
	case m.Rules.ID == "":
		return fail(ErrUnavailable, "the network's coin rules are not known yet")
	case len(m.opens) == 0:
		return fail(ErrUnavailable, "no round of the network is open")
	}
	if err := m.Rules.decode(&m.RulesPayload); err != nil {
		return err
	}
	slices.SortFunc(m.opens, func(a, b OpenRound) int { return cmp.Compare(a.Number, b.Number) })
	latest := m.opens[len(m.opens)-1]
	m.Open, m.Round, m.Price = latest.Contract, latest.Number, latest.Price
	if m.Price.Sign() <= 0 {
		return fmt.Errorf("round %d has a price of %s", m.Round, m.Price)
	}
	return nil
}

// Issuing returns what coupons of a round are worth, nil while they are worth nothing or no
// more.
func (m *Market) Issuing(round int64) *IssuingRound {
	for i := range m.issues {
		if m.issues[i].Number == round {
			return &m.issues[i]
		}
	}
	return nil
}

// transferContext is TransferContext: the contracts by which coins are moved. Maps are lists
// of pairs.
type transferContext struct {
	OpenRound       string   `json:"openMiningRound"`
	IssuingRounds   [][2]any `json:"issuingMiningRounds"`
	ValidatorRights [][2]any `json:"validatorRights"`
	FeaturedRight   *string  `json:"featuredAppRight"`
}

// paymentContext is PaymentTransferContext.
type paymentContext struct {
	Rules   string          `json:"amuletRules"`
	Context transferContext `json:"context"`
}

type roundRef struct {
	Number string `json:"number"`
}

// context names the market's contracts for a payment with some inputs.
func (m *Market) context(f *Funds) paymentContext {
	c := transferContext{OpenRound: m.Open.ID, IssuingRounds: [][2]any{}, ValidatorRights: [][2]any{}}
	for i := range m.issues {
		if f.usesRound(m.issues[i].Number) {
			c.IssuingRounds = append(c.IssuingRounds, [2]any{roundRef{strconv.FormatInt(m.issues[i].Number, 10)}, m.issues[i].Contract.ID})
		}
	}
	for _, right := range f.rights {
		c.ValidatorRights = append(c.ValidatorRights, [2]any{right.user, right.id})
	}
	if f.featured != nil {
		c.FeaturedRight = &f.featured.ID
	}
	return paymentContext{Rules: m.Rules.ID, Context: c}
}

// disclosed are the public contracts of a payment.
func (m *Market) disclosed() []*Contract {
	list := []*Contract{&m.Rules, &m.Open}
	for i := range m.issues {
		list = append(list, &m.issues[i].Contract)
	}
	return list
}

// preapproval returns the newest preapproval of a receiver that is good at a time, nil
// without one. Of a party of this node the store has more than public history has, and
// sooner.
func (w *Network) preapproval(ctx context.Context, receiver string, at time.Time) (*Contract, error) {
	own, err := w.reader.Contracts(ctx, ContractQuery{Parties: []string{receiver}, Templates: []string{template.TransferPreapproval}, Key: receiver, Limit: 10})
	if err != nil {
		return nil, fmt.Errorf("looking for the preapproval of %s: %w", receiver, err)
	}
	if found, err := goodPreapproval(own, receiver, at); err != nil || found != nil {
		return found, err
	}
	list, err := w.public.Public(ctx, receiver, template.TransferPreapproval)
	if err != nil {
		return nil, fmt.Errorf("looking for the preapproval of %s: %w", receiver, err)
	}
	return goodPreapproval(list, receiver, at)
}

func goodPreapproval(list []Contract, receiver string, at time.Time) (*Contract, error) {
	for i := len(list) - 1; i >= 0; i-- {
		var p preapprovalPayload
		if err := list[i].decode(&p); err != nil {
			return nil, err
		}
		if p.Receiver == receiver && p.ExpiresAt.After(at) {
			return &list[i], nil
		}
	}
	return nil, nil
}

// coinRules reads the network's rules.
func (w *Network) coinRules(ctx context.Context) (RulesPayload, error) {
	var p RulesPayload
	c, err := w.single(ctx, template.CoinRules, "coin rules")
	if err != nil {
		return p, err
	}
	return p, c.decode(&p)
}

// providersRight returns the featured app right of the provider of a preapproval, nil
// without one.
func (w *Network) providersRight(ctx context.Context, preapproval *Contract) (*Contract, error) {
	var p preapprovalPayload
	if err := preapproval.decode(&p); err != nil {
		return nil, err
	}
	list, err := w.public.Public(ctx, p.Provider, template.FeaturedAppRight)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// devNet returns the market of a development network; ErrDisabled on any other.
func (w *Network) devNet(ctx context.Context) (*Market, error) {
	m, err := w.Market(ctx)
	if err == nil && !m.DevNet {
		return nil, fail(ErrDisabled, "this is possible on a development network only")
	}
	return m, err
}
