package choices

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// maxTap is the most that one tap mints.
const maxTap = 100_000_000 * model.One

func addCoinChoices(all *choices) {
	all.on(model.AmuletRulesTemplate, "AmuletRules_DevNet_Tap", nonconsuming(byArgument("receiver"),
		func(e *Execution, _ *model.Contract, arg model.Argument) (model.Value, error) {
			r, err := openMiningRound(e, arg.Contract("openRound"))
			if err != nil {
				return model.Value{}, err
			}
			defer e.at(r)()
			c, err := mintTap(e, arg.Party("receiver"), arg.Numeric("amount"))
			if err != nil {
				return model.Value{}, err
			}
			return e.Tx.Arena().Record(sim.TapDoneShape, e.Tx.WithMeta([]model.Value{e.payments.AmuletSum(c)}, model.None())...), nil
		}))
	all.on(model.AmuletRulesTemplate, "AmuletRules_Mint", nonconsuming(
		func(_ *Execution, _ *model.Contract, arg model.Argument) []model.Party {
			return []model.Party{model.Dso, arg.Party("receiver")}
		},
		func(e *Execution, _ *model.Contract, arg model.Argument) (model.Value, error) {
			r, err := openMiningRound(e, arg.Contract("openRound"))
			if err != nil {
				return model.Value{}, err
			}
			if err := e.positive("amount", arg.Numeric("amount")); err != nil {
				return model.Value{}, err
			}
			defer e.at(r)()
			e.bank.Mint(arg.Numeric("amount"))
			return e.Tx.Arena().Record(sim.MintDoneShape, e.payments.AmuletSum(createCoin(e, arg.Party("receiver"), arg.Numeric("amount")))), nil
		}))
	addLockChoices(all)
	all.on(model.ValidatorRightTemplate, "ValidatorRight_ArchiveAsValidator", consuming(
		byPayload(func(p model.ValidatorRight) []model.Party { return []model.Party{p.Validator} }), toResult("ValidatorRight_ArchiveAsValidatorResult")))
	all.on(model.ValidatorRightTemplate, "ValidatorRight_ArchiveAsUser", consuming(
		byPayload(func(p model.ValidatorRight) []model.Party { return []model.Party{p.User} }), toResult("ValidatorRight_ArchiveAsUserResult")))
	all.creations[model.ValidatorRightTemplate] = func(e *Execution, a model.Argument) (model.Payload, error) {
		return model.ValidatorRight{User: a.Party("user"), Validator: a.Party("validator")}, e.isDSO(a.Party("dso"))
	}
}

// mintTap mints coins in a node of its own below a tap.
func mintTap(e *Execution, receiver model.Party, amount model.Decimal) (*model.Contract, error) {
	if err := e.positive("amount", amount); err != nil {
		return nil, err
	}
	if amount > maxTap {
		return nil, broken("a tap mints at most %s, not %s", maxTap, amount)
	}
	a := e.Tx.Arena()
	fields := []model.Value{model.PartyValue(receiver), model.Numeric(amount), model.ContractID(e.rounds.OpenRound().Contract.Number)}
	if e.Tx.Version() > 0 {
		fields = append(fields, a.Some(model.Text("tap")))
	}
	mint := e.Tx.Exercise(e.Rules.Amulet, "AmuletRules_Mint", a.Record(sim.MintShape, fields...), model.Dso, receiver)
	e.bank.Mint(amount)
	c := createCoin(e, receiver, amount)
	e.Tx.Finish(mint, a.Record(sim.MintDoneShape, e.payments.AmuletSum(c)))
	return c, nil
}

// tapFor taps as a part of another choice.
func tapFor(e *Execution, receiver model.Party, amount model.Decimal) (*model.Contract, error) {
	a := e.Tx.Arena()
	at := e.Tx.Exercise(e.Rules.Amulet, "AmuletRules_DevNet_Tap", a.Record(sim.TapShape, model.PartyValue(receiver),
		model.Numeric(amount), model.ContractID(e.rounds.OpenRound().Contract.Number)), receiver)
	c, err := mintTap(e, receiver, amount)
	if err != nil {
		return nil, err
	}
	e.Tx.Finish(at, a.Record(sim.TapDoneShape, e.Tx.WithMeta([]model.Value{e.payments.AmuletSum(c)}, model.None())...))
	return c, nil
}

func addLockChoices(all *choices) {
	holders := byPayload(func(p model.LockedAmulet) []model.Party { return append([]model.Party{p.Owner, p.Holder}, p.Others...) })
	owner := byPayload(func(p model.LockedAmulet) []model.Party { return []model.Party{p.Owner} })
	all.on(model.LockedAmuletTemplate, "LockedAmulet_Unlock", consuming(holders, unlockIn))
	all.on(model.LockedAmuletTemplate, "LockedAmulet_UnlockV2", consuming(holders, unlock))
	all.on(model.LockedAmuletTemplate, "LockedAmulet_OwnerExpireLock", consuming(owner, afterLock(unlockIn)))
	all.on(model.LockedAmuletTemplate, "LockedAmulet_OwnerExpireLockV2", consuming(owner, afterLock(unlock)))
}

// afterLock lets a choice be exercised once the lock has expired only.
func afterLock(run runOf) runOf {
	return func(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
		if p := c.Payload.(model.LockedAmulet); p.ExpiresAt > e.Now() {
			return model.Value{}, broken("the lock expires at %s only", microsText(p.ExpiresAt))
		}
		return run(e, c, arg)
	}
}

// unlockIn frees a coin at the price of a round.
func unlockIn(e *Execution, c *model.Contract, arg model.Argument) (model.Value, error) {
	r, err := openMiningRound(e, arg.Contract("openRoundCid"))
	if err != nil {
		return model.Value{}, err
	}
	defer e.at(r)()
	return e.Tx.Arena().Record(sim.TapDoneShape, e.Tx.WithMeta([]model.Value{e.payments.AmuletSum(freeCoin(e, c))}, model.None())...), nil
}

func unlock(e *Execution, c *model.Contract, _ model.Argument) (model.Value, error) {
	a := e.Tx.Arena()
	return a.Record(sim.UnlockV2DoneShape, model.ContractID(freeCoin(e, c).Number), model.Metadata(a, model.TxKindMetaKey, "unlock")), nil
}

// freeCoin creates the coin that was in a locked one, whose archival is the node in work.
func freeCoin(e *Execution, c *model.Contract) *model.Contract {
	p := c.Payload.(model.LockedAmulet)
	e.bank.Supply.Circulating -= p.Amount
	return createCoin(e, p.Owner, p.Amount)
}
