package devnet

// maxTap is the most that one tap mints.
const maxTap = 100_000_000 * one

func addCoinChoices(all *choices) {
	all.on(amuletRulesTemplate, "AmuletRules_DevNet_Tap", nonconsuming(byArgument("receiver"),
		func(e *execution, _ *contract, arg argument) (value, error) {
			r, err := openMiningRound(e, arg.contract("openRound"))
			if err != nil {
				return value{}, err
			}
			defer e.at(r)()
			c, err := mintTap(e, arg.party("receiver"), arg.numeric("amount"))
			if err != nil {
				return value{}, err
			}
			return e.tx.arena().record(tapDoneShape, e.tx.withMeta([]value{e.payments.amuletSum(c)}, none())...), nil
		}))
	all.on(amuletRulesTemplate, "AmuletRules_Mint", nonconsuming(
		func(_ *execution, _ *contract, arg argument) []party { return []party{dso, arg.party("receiver")} },
		func(e *execution, _ *contract, arg argument) (value, error) {
			r, err := openMiningRound(e, arg.contract("openRound"))
			if err != nil {
				return value{}, err
			}
			if err := e.positive("amount", arg.numeric("amount")); err != nil {
				return value{}, err
			}
			defer e.at(r)()
			e.bank.mint(arg.numeric("amount"))
			return e.tx.arena().record(mintDoneShape, e.payments.amuletSum(createCoin(e, arg.party("receiver"), arg.numeric("amount")))), nil
		}))
	addLockChoices(all)
	all.on(validatorRightTemplate, "ValidatorRight_ArchiveAsValidator", consuming(
		byPayload(func(p validatorRight) []party { return []party{p.validator} }), toResult("ValidatorRight_ArchiveAsValidatorResult")))
	all.on(validatorRightTemplate, "ValidatorRight_ArchiveAsUser", consuming(
		byPayload(func(p validatorRight) []party { return []party{p.user} }), toResult("ValidatorRight_ArchiveAsUserResult")))
	all.creations[validatorRightTemplate] = func(e *execution, a argument) (payload, error) {
		return validatorRight{user: a.party("user"), validator: a.party("validator")}, e.isDSO(a.party("dso"))
	}
}

// mintTap mints coins in a node of its own below a tap.
func mintTap(e *execution, receiver party, amount decimal) (*contract, error) {
	if err := e.positive("amount", amount); err != nil {
		return nil, err
	}
	if amount > maxTap {
		return nil, broken("a tap mints at most %s, not %s", maxTap, amount)
	}
	a := e.tx.arena()
	fields := []value{partyValue(receiver), numeric(amount), contractID(e.rounds.openRound().contract.number)}
	if e.tx.version() > 0 {
		fields = append(fields, a.some(text("tap")))
	}
	mint := e.tx.exercise(e.rules.amulet, "AmuletRules_Mint", a.record(mintShape, fields...), dso, receiver)
	e.bank.mint(amount)
	c := createCoin(e, receiver, amount)
	e.tx.finish(mint, a.record(mintDoneShape, e.payments.amuletSum(c)))
	return c, nil
}

// tapFor taps as a part of another choice.
func tapFor(e *execution, receiver party, amount decimal) (*contract, error) {
	a := e.tx.arena()
	at := e.tx.exercise(e.rules.amulet, "AmuletRules_DevNet_Tap", a.record(tapShape, partyValue(receiver),
		numeric(amount), contractID(e.rounds.openRound().contract.number)), receiver)
	c, err := mintTap(e, receiver, amount)
	if err != nil {
		return nil, err
	}
	e.tx.finish(at, a.record(tapDoneShape, e.tx.withMeta([]value{e.payments.amuletSum(c)}, none())...))
	return c, nil
}

func addLockChoices(all *choices) {
	holders := byPayload(func(p lockedAmulet) []party { return append([]party{p.owner, p.holder}, p.others...) })
	owner := byPayload(func(p lockedAmulet) []party { return []party{p.owner} })
	all.on(lockedAmuletTemplate, "LockedAmulet_Unlock", consuming(holders, unlockIn))
	all.on(lockedAmuletTemplate, "LockedAmulet_UnlockV2", consuming(holders, unlock))
	all.on(lockedAmuletTemplate, "LockedAmulet_OwnerExpireLock", consuming(owner, afterLock(unlockIn)))
	all.on(lockedAmuletTemplate, "LockedAmulet_OwnerExpireLockV2", consuming(owner, afterLock(unlock)))
}

// afterLock lets a choice be exercised once the lock has expired only.
func afterLock(run runOf) runOf {
	return func(e *execution, c *contract, arg argument) (value, error) {
		if p := c.payload.(lockedAmulet); p.expiresAt > e.now() {
			return value{}, broken("the lock expires at %s only", microsText(p.expiresAt))
		}
		return run(e, c, arg)
	}
}

// unlockIn frees a coin at the price of a round.
func unlockIn(e *execution, c *contract, arg argument) (value, error) {
	r, err := openMiningRound(e, arg.contract("openRoundCid"))
	if err != nil {
		return value{}, err
	}
	defer e.at(r)()
	return e.tx.arena().record(tapDoneShape, e.tx.withMeta([]value{e.payments.amuletSum(freeCoin(e, c))}, none())...), nil
}

func unlock(e *execution, c *contract, _ argument) (value, error) {
	a := e.tx.arena()
	return a.record(unlockV2DoneShape, contractID(freeCoin(e, c).number), metadata(a, txKindMetaKey, "unlock")), nil
}

// freeCoin creates the coin that was in a locked one, whose archival is the node in work.
func freeCoin(e *execution, c *contract) *contract {
	p := c.payload.(lockedAmulet)
	e.bank.supply.circulating -= p.amount
	return createCoin(e, p.owner, p.amount)
}
