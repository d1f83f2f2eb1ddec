package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/ledgerlake/ledgerlake/internal/app/settings"
	"github.com/ledgerlake/ledgerlake/internal/node"
	"github.com/ledgerlake/ledgerlake/internal/wallet"
)

// OperatorSetup is the operator of a validator on its node.
type OperatorSetup struct {
	Participant string `json:"participant"`
	User        string `json:"user"`
	Party       string `json:"party"`
	// UserMade and PartyMade say what was not there before.
	UserMade  bool `json:"user_made"`
	PartyMade bool `json:"party_made"`
}

// SetUpOperator makes what the operator of the validator interface lacks on the node: the ledger user,
// its primary party, and the rights to act for it and to administer the node. A new party is named
// after hint, or after the participant if that is "". It may be repeated.
func (a *App) SetUpOperator(ctx context.Context, hint string) (s OperatorSetup, err error) {
	if a.p.nodeURL() == "" {
		return s, settings.Usage("operator needs --node-url, the JSON API of the node that the validator interface works with")
	}
	p, err := a.wallets.find()
	if err != nil {
		return s, err
	}
	if s.Participant, err = p.client.ParticipantID(ctx); err != nil {
		return s, err
	}
	if s.User, err = p.operatorUser(ctx); err != nil {
		return s, err
	}
	if s.User == "" {
		return s, settings.Usage("the node does not say who its token is for: name the operator's ledger user with --validator-user")
	}
	if s.Party, s.PartyMade, err = p.operatorParty(ctx, s, hint); err != nil {
		return s, err
	}
	s.UserMade, err = p.makeOperator(ctx, s.User, s.Party)
	return s, err
}

// operatorParty returns the party of the settings or of the user, or makes one.
func (p *walletParts) operatorParty(ctx context.Context, s OperatorSetup, hint string) (party string, made bool, err error) {
	if party = p.p.cfg.ValidatorParty; party != "" {
		known, ok, err := p.client.Party(ctx, party)
		if err == nil && (!ok || !known.Local) {
			err = fmt.Errorf("%s does not host --validator-party %s", s.Participant, party)
		}
		return party, false, err
	}
	user, known, err := p.client.User(ctx, s.User)
	if err != nil || known && user.PrimaryParty != "" {
		return user.PrimaryParty, false, err
	}
	name, fingerprint, _ := strings.Cut(s.Participant, "::")
	if hint == "" {
		hint = name
	}
	party = hint + "::" + fingerprint
	if _, ok, err := p.client.Party(ctx, party); err != nil || ok {
		if err == nil {
			err = fmt.Errorf("the node has a party %s already: if it is the operator's, repeat this with --validator-party %[1]s, else choose another --hint", party)
		}
		return "", false, err
	}
	party, err = p.client.AllocateParty(ctx, hint)
	return party, true, err
}

// makeOperator makes a ledger user with a primary party and the rights of an operator, or gives one
// that is there what it lacks.
func (p *walletParts) makeOperator(ctx context.Context, name, party string) (made bool, err error) {
	rights := []node.Right{{Kind: node.CanActAs, Party: party}, {Kind: node.CanReadAs, Party: party}, {Kind: node.ParticipantAdmin}}
	user, known, err := p.client.User(ctx, name)
	switch {
	case err != nil:
		return false, err
	case !known:
		return true, p.client.CreateUser(ctx, node.User{ID: name, PrimaryParty: party}, rights)
	case user.PrimaryParty == "":
		if err := p.client.SetPrimaryParty(ctx, name, party); err != nil {
			return false, err
		}
	case user.PrimaryParty != party:
		return false, fmt.Errorf("user %q has primary party %s, not %s: choose another --validator-user, or leave --validator-party out", name, user.PrimaryParty, party)
	}
	return false, p.client.GrantRights(ctx, name, rights...)
}

// Pauses between two attempts to give the operator a wallet. On the simulated network somebody is
// waiting.
const (
	simulatedSetupRetry = 200 * time.Millisecond
	maxSetupRetry       = time.Minute
)

// setUpOperator gives the operator a wallet, as soon as the history that this takes is there, and on
// the simulated network its ledger user before that. It returns when that is done, or ctx ends.
func (p *walletParts) setUpOperator(ctx context.Context) error {
	var told string
	for pause := simulatedSetupRetry; ; pause = min(2*pause, maxSetupRetry) {
		err := p.tryOperator(ctx)
		if err == nil || ctx.Err() != nil {
			return nil
		}
		level := slog.LevelDebug
		if p.p.development() {
			pause = simulatedSetupRetry
		} else if err.Error() != told && pause > time.Second { // what takes a moment is not worth a line
			level, told = slog.LevelWarn, err.Error()
		}
		p.p.log.Log(ctx, level, "the operator of the validator has no wallet yet", "err", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

func (p *walletParts) tryOperator(ctx context.Context) error {
	if p.p.development() {
		if err := p.makeSimulatedOperator(ctx); err != nil {
			return err
		}
	}
	owner, err := p.operator(ctx)
	if err != nil {
		return err
	}
	w, err := p.actions(ctx)
	if err != nil || p.p.cfg.WalletMode != settings.WalletNode {
		return err
	}
	if _, err := w.Users.Operator(ctx); !errors.Is(err, wallet.ErrUnavailable) {
		return err
	}
	_, err = w.Users.Onboard(ctx, wallet.OnboardRequest{User: owner.User, Party: owner.Party})
	return err
}

// makeSimulatedOperator makes the ledger user. The simulated network names its nodes after the parties
// of their operators.
func (p *walletParts) makeSimulatedOperator(ctx context.Context) error {
	participant, err := p.client.ParticipantID(ctx)
	if err != nil {
		return err
	}
	name, err := p.operatorUser(ctx)
	if err != nil {
		return err
	}
	_, err = p.makeOperator(ctx, name, strings.TrimPrefix(participant, "participant-"))
	return err
}
