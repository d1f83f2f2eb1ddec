package state

import (
	"context"
	"fmt"

	"github.com/ledgerlake/ledgerlake/query"
	"github.com/ledgerlake/ledgerlake/schemas"
	"github.com/ledgerlake/ledgerlake/schemas/template"
)

// tokenVersion is a version of the token standard: in the first one parties have tokens, in the
// second accounts.
type tokenVersion int

const (
	tokenV1 tokenVersion = iota + 1
	tokenV2
)

// owner reads who owns tokens: a party, or an account that has one. Special accounts have none.
func (v tokenVersion) owner(p *query.Params, name string) string {
	if v == tokenV1 {
		return partyOf(p, name)
	}
	account := p.RequiredObject(name)
	if account == nil || p.Err() != nil {
		return ""
	}
	if !account.Has("owner") {
		p.Fail("Member %s is a special account, without an owner: the coin has none but for minting and burning.", name)
		return ""
	}
	return partyOf(account, "owner")
}

func partyOf(p *query.Params, name string) string {
	party := p.Text(name)
	if p.Err() == nil && !isIdentity(party) {
		p.Fail("Member %s is %q, which is no party: it must have the form NAME::FINGERPRINT.", name, party)
	}
	return party
}

// object reads a member that must be there.
func object(p *query.Params, name string, inner func(*query.Params)) {
	if o := p.RequiredObject(name); o != nil && p.Err() == nil {
		inner(o)
	}
}

// transferKind says what becomes of a transfer.
type transferKind string

const (
	selfTransfer   transferKind = "self"   // to the sender, at once
	directTransfer transferKind = "direct" // at once, by a preapproval
	offerTransfer  transferKind = "offer"  // when the receiver accepts
)

// transferFactory serves what TransferFactory_Transfer needs.
func (g *registry) transferFactory(v tokenVersion) query.Handler {
	return func(ctx context.Context, r *query.Request) error {
		p := r.Body()
		b := g.newContext(p)
		var sender, receiver string
		var of instrumentID
		object(p, "choiceArguments", func(args *query.Params) {
			object(args, "transfer", func(t *query.Params) {
				sender, receiver, of = v.owner(t, "sender"), v.owner(t, "receiver"), instrumentOf(t)
			})
		})
		factory, err := b.factoryOf(ctx, p, of)
		if err != nil {
			return err
		}
		if err := b.addRound(ctx); err != nil {
			return err
		}
		kind, err := b.addReceiver(ctx, sender, receiver)
		if err != nil {
			return err
		}
		return b.answer(ctx, r, func(c choiceContext) any { return factoryAnswer{factory, kind, c} })
	}
}

// instrumentID names an instrument of a registry's party.
type instrumentID struct{ admin, id string }

func instrumentOf(p *query.Params) (i instrumentID) {
	object(p, "instrumentId", func(id *query.Params) { i = instrumentID{id.Text("admin"), id.Text("id")} })
	return i
}

// requireCoin refuses instruments of other registries, and those that this one does not have.
func (g *registry) requireCoin(ctx context.Context, i instrumentID) error {
	admin, err := g.governance.party(ctx)
	if err != nil || i == (instrumentID{admin, template.CoinInstrument}) {
		return err
	}
	return query.Errorf(query.Invalid, "There is no instrument %.100s of %.200s here: this is the registry of %s, whose instrument is %s.", i.id, i.admin, admin, template.CoinInstrument)
}

// addRound adds the rules of the coin and what prices it.
func (b *contextBuilder) addRound(ctx context.Context) error {
	if err := b.addLatest(ctx, template.ContextCoinRules, template.CoinRules); err != nil {
		return err
	}
	round, err := b.registry.governance.usableRound(ctx)
	if err != nil {
		return err
	}
	b.add(template.ContextOpenRound, round)
	return b.addLatest(ctx, template.ContextConfigState, template.ExternalPartyConfigState)
}

// addReceiver adds what the receiver of a transfer has given, and says what becomes of the transfer.
func (b *contextBuilder) addReceiver(ctx context.Context, sender, receiver string) (transferKind, error) {
	if sender == receiver {
		return selfTransfer, nil
	}
	preapproval, err := b.registry.transfers.preapprovalOf(ctx, receiver)
	if err != nil || preapproval == nil {
		return offerTransfer, err
	}
	b.add(template.ContextPreapproval, preapproval)
	var payload struct {
		Provider string `json:"provider"`
	}
	if err := preapproval.decode(&payload); err != nil {
		return "", err
	}
	return directTransfer, b.addFeaturedApp(ctx, payload.Provider)
}

// withoutFeaturedApps is the switch-over of the network's operators after which contexts do not
// name the rights of featured apps.
const withoutFeaturedApps = "no-featured-app-choice-context"

// addFeaturedApp adds the right of a provider that is a featured app.
func (b *contextBuilder) addFeaturedApp(ctx context.Context, provider string) error {
	over, err := b.registry.switchedOver(ctx, withoutFeaturedApps)
	if err != nil || over {
		return err
	}
	right, err := b.registry.apps.rightOf(ctx, provider)
	b.add(template.ContextFeaturedApp, right)
	return err
}

// switchedOver reports whether the time of a switch-over in the governance rules has come.
func (g *registry) switchedOver(ctx context.Context, name string) (bool, error) {
	c, err := g.governance.sets.latest(ctx, template.DsoRules)
	if err != nil || c == nil {
		return false, err
	}
	var rules struct {
		Config struct {
			Times map[string]string `json:"svOperationsSwitchOverTimes"`
		} `json:"config"`
	}
	if err := c.decode(&rules); err != nil {
		return false, err
	}
	text, ok := rules.Config.Times[name]
	if !ok {
		return false, nil
	}
	at, err := schemas.ParseTime(text)
	if err != nil {
		return false, fmt.Errorf("switch-over %s of the governance rules: %w", name, err)
	}
	now, err := g.governance.horizon.Present(ctx)
	return err == nil && at <= now.RecordTime, err
}

// onInstruction serves what a choice on a transfer instruction needs.
func (g *registry) onInstruction(add addContext) query.Handler {
	return g.onContract("transfer_instruction_id", "transfer instruction", add, template.CoinTransferInstruction)
}
