package wallet

import (
	"context"

	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// Rewards has what entitles to rewards: the operator's license and featured app rights.
type Rewards struct {
	*submitter
	network *Network
}

// RecordLiveness has the operator record in a round that it is alive. license is its
// ValidatorLicense. The contract of the result is the record.
func (w *Rewards) RecordLiveness(ctx context.Context, license string, round Contract) (Done, error) {
	const choice = "ValidatorLicense_RecordValidatorLivenessActivity"
	s := exerciseAs(w.operator, template.ValidatorLicense, license, choice, map[string]any{"openRoundCid": round.ID})
	s.Disclosed = disclose(&round)
	return w.submitFor(ctx, s, choice, "couponCid")
}

// License is the operator's ValidatorLicense.
type License struct {
	ID string
	// LastReceived is the last round in which it recorded that it is alive, -1 if none.
	LastReceived int64
}

// License returns the operator's license; nil without one.
func (w *Rewards) License(ctx context.Context) (*License, error) {
	type payload struct {
		Validator string `json:"validator"`
		Faucet    *struct {
			Last struct {
				Number int64 `json:"number,string"`
			} `json:"lastReceivedFor"`
		} `json:"faucetState"`
	}
	list, err := listed(ctx, w.reader, ContractQuery{Parties: []string{w.operator}, Templates: []string{template.ValidatorLicense}}, func(c *Contract, p *payload) (License, bool) {
		l := License{ID: c.ID, LastReceived: -1}
		if p.Faucet != nil {
			l.LastReceived = p.Faucet.Last.Number
		}
		return l, p.Validator == w.operator
	})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[len(list)-1], nil
}

// GrantFeaturedRight makes the actor a featured app provider, on a development network. The
// contract of the result is the FeaturedAppRight; one that is there already is returned.
func (w *Rewards) GrantFeaturedRight(ctx context.Context, actor Actor) (Done, error) {
	m, err := w.network.devNet(ctx)
	if err != nil {
		return Done{}, err
	}
	rights, err := w.featuredRights(ctx, actor)
	if err != nil {
		return Done{}, err
	}
	if len(rights) > 0 {
		return Done{ContractID: rights[0], Visible: true}, nil
	}
	install, err := w.install(ctx, actor)
	if err != nil {
		return Done{}, err
	}
	const choice = "WalletAppInstall_FeaturedAppRights_SelfGrant"
	s := w.onInstall(actor, install, attempt{}, choice, map[string]any{"amuletRulesCid": m.Rules.ID})
	s.Disclosed = disclose(&m.Rules)
	return w.submitFor(ctx, s, choice, "featuredAppRight")
}

// featuredRights are the contracts that make the actor a featured app provider.
func (w *Rewards) featuredRights(ctx context.Context, actor Actor) ([]string, error) {
	q := ContractQuery{Parties: []string{actor.Party}, Templates: []string{template.FeaturedAppRight}, Limit: 100}
	return matching(ctx, w.reader, q, func(p *couponPayload) bool { return p.Provider == actor.Party })
}

// CancelFeaturedRights gives up all rights of the actor as featured app provider.
func (w *Rewards) CancelFeaturedRights(ctx context.Context, actor Actor) (Done, error) {
	rights, err := w.featuredRights(ctx, actor)
	if err != nil || len(rights) == 0 {
		return Done{Visible: true}, err
	}
	install, err := w.install(ctx, actor)
	if err != nil {
		return Done{}, err
	}
	s := node.Submission{ActAs: w.asBoth(actor.Party)}
	for _, id := range rights {
		argument := map[string]any{"cid": id}
		s.Commands = append(s.Commands, node.Exercise(command(template.WalletAppInstall), install, "WalletAppInstall_FeaturedAppRights_Cancel", argument))
	}
	_, done, err := w.submit(ctx, s)
	return done, err
}
