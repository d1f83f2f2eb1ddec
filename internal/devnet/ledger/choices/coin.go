package choices

import (
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// maxTap is the most that one tap mints.
const maxTap = 100_000_000 * One

func addCoinChoices(all *choices) {
	all.on(AmuletRulesTemplate, "AmuletRules_DevNet_Tap", nonconsuming(byArgument("receiver"),
		func(e *Execution, _ *Contract, arg Argument) (Value, error) {
			r, err := openMiningRound(e, arg.Contract("openRound"))
			if err != nil {
				return Value{}, err
			}
			defer e.at(r)()
			c, err := mintTap(e, arg.Party("receiver"), arg.Numeric("amount"))
			if err != nil {
				return Value{}, err
			}
			return e.Tx.Arena().Record(TapDoneShape, e.Tx.WithMeta([]Value{e.payments.AmuletSum(c)}, None())...), nil
		}))
	all.on(AmuletRulesTemplate, "AmuletRules_Mint", nonconsuming(
		func(_ *Execution, _ *Contract, arg Argument) []Party { return []Party{Dso, arg.Party("receiver")} },
		func(e *Execution, _ *Contract, arg Argument) (Value, error) {
			r, err := openMiningRound(e, arg.Contract("openRound"))
			if err != nil {
				return Value{}, err
			}
			if err := e.positive("amount", arg.Numeric("amount")); err != nil {
				return Value{}, err
			}
			defer e.at(r)()
			e.bank.Mint(arg.Numeric("amount"))
			return e.Tx.Arena().Record(MintDoneShape, e.payments.AmuletSum(createCoin(e, arg.Party("receiver"), arg.Numeric("amount")))), nil
		}))
	addLockChoices(all)
	all.on(ValidatorRightTemplate, "ValidatorRight_ArchiveAsValidator", consuming(
		byPayload(func(p ValidatorRight) []Party { return []Party{p.Validator} }), toResult("ValidatorRight_ArchiveAsValidatorResult")))
	all.on(ValidatorRightTemplate, "ValidatorRight_ArchiveAsUser", consuming(
		byPayload(func(p ValidatorRight) []Party { return []Party{p.User} }), toResult("ValidatorRight_ArchiveAsUserResult")))
	all.creations[ValidatorRightTemplate] = func(e *Execution, a Argument) (Payload, error) {
		return ValidatorRight{User: a.Party("user"), Validator: a.Party("validator")}, e.isDSO(a.Party("dso"))
	}
}

// mintTap mints coins in a node of its own below a tap.
func mintTap(e *Execution, receiver Party, amount Decimal) (*Contract, error) {
	if err := e.positive("amount", amount); err != nil {
		return nil, err
	}
	if amount > maxTap {
		return nil, broken("a tap mints at most %s, not %s", maxTap, amount)
	}
	a := e.Tx.Arena()
	fields := []Value{PartyValue(receiver), Numeric(amount), ContractID(e.rounds.OpenRound().Contract.Number)}
	if e.Tx.Version() > 0 {
		fields = append(fields, a.Some(Text("tap")))
	}
	mint := e.Tx.Exercise(e.Rules.Amulet, "AmuletRules_Mint", a.Record(MintShape, fields...), Dso, receiver)
	e.bank.Mint(amount)
	c := createCoin(e, receiver, amount)
	e.Tx.Finish(mint, a.Record(MintDoneShape, e.payments.AmuletSum(c)))
	return c, nil
}

// tapFor taps as a part of another choice.
func tapFor(e *Execution, receiver Party, amount Decimal) (*Contract, error) {
	a := e.Tx.Arena()
	at := e.Tx.Exercise(e.Rules.Amulet, "AmuletRules_DevNet_Tap", a.Record(TapShape, PartyValue(receiver),
		Numeric(amount), ContractID(e.rounds.OpenRound().Contract.Number)), receiver)
	c, err := mintTap(e, receiver, amount)
	if err != nil {
		return nil, err
	}
	e.Tx.Finish(at, a.Record(TapDoneShape, e.Tx.WithMeta([]Value{e.payments.AmuletSum(c)}, None())...))
	return c, nil
}

func addLockChoices(all *choices) {
	holders := byPayload(func(p LockedAmulet) []Party { return append([]Party{p.Owner, p.Holder}, p.Others...) })
	owner := byPayload(func(p LockedAmulet) []Party { return []Party{p.Owner} })
	all.on(LockedAmuletTemplate, "LockedAmulet_Unlock", consuming(holders, unlockIn))
	all.on(LockedAmuletTemplate, "LockedAmulet_UnlockV2", consuming(holders, unlock))
	all.on(LockedAmuletTemplate, "LockedAmulet_OwnerExpireLock", consuming(owner, afterLock(unlockIn)))
	all.on(LockedAmuletTemplate, "LockedAmulet_OwnerExpireLockV2", consuming(owner, afterLock(unlock)))
}

// afterLock lets a choice be exercised once the lock has expired only.
func afterLock(run runOf) runOf {
	return func(e *Execution, c *Contract, arg Argument) (Value, error) {
		if p := c.Payload.(LockedAmulet); p.ExpiresAt > e.Now() {
			return Value{}, broken("the lock expires at %s only", microsText(p.ExpiresAt))
		}
		return run(e, c, arg)
	}
}

// unlockIn frees a coin at the price of a round.
func unlockIn(e *Execution, c *Contract, arg Argument) (Value, error) {
	r, err := openMiningRound(e, arg.Contract("openRoundCid"))
	if err != nil {
		return Value{}, err
	}
	defer e.at(r)()
	return e.Tx.Arena().Record(TapDoneShape, e.Tx.WithMeta([]Value{e.payments.AmuletSum(freeCoin(e, c))}, None())...), nil
}

func unlock(e *Execution, c *Contract, _ Argument) (Value, error) {
	a := e.Tx.Arena()
	return a.Record(UnlockV2DoneShape, ContractID(freeCoin(e, c).Number), Metadata(a, TxKindMetaKey, "unlock")), nil
}

// freeCoin creates the coin that was in a locked one, whose archival is the node in work.
func freeCoin(e *Execution, c *Contract) *Contract {
	p := c.Payload.(LockedAmulet)
	e.bank.Supply.Circulating -= p.Amount
	return createCoin(e, p.Owner, p.Amount)
}
