package choices

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/sim"
)

// maxTap is the most that one tap mints.
const maxTap = 100_000_000 * model.One

func addCoinChoices(all *choices) {
	all.on(model.AmuletRulesTemplate, "AmuletRules_DevNet_Tap", nonconsuming(byArgument("receiver"),
		func(e *Execution, _ *model.Contract, arg model.Argument) model.Value {
			defer e.at(openMiningRound(e, arg.Contract("openRound")))()
			checkTap(arg.Numeric("amount"))
			return e.Payments.CoinResult(e.Payments.MintTap(arg.Party("receiver"), arg.Numeric("amount")))
		}))
	all.on(model.AmuletRulesTemplate, "AmuletRules_Mint", nonconsuming(
		func(_ *Execution, _ *model.Contract, arg model.Argument) []model.Party {
			return []model.Party{model.Dso, arg.Party("receiver")}
		},
		func(e *Execution, _ *model.Contract, arg model.Argument) model.Value {
			defer e.at(openMiningRound(e, arg.Contract("openRound")))()
			positive("amount", arg.Numeric("amount"))
			e.Bank.Mint(arg.Numeric("amount"))
			return e.Tx.Arena().Record(sim.MintDoneShape, e.Payments.AmuletSum(e.Bank.NewCoin(arg.Party("receiver"), arg.Numeric("amount"))))
		}))
	addLockChoices(all)
	all.on(model.ValidatorRightTemplate, "ValidatorRight_ArchiveAsValidator", consuming(
		byPayload(func(p model.ValidatorRight) []model.Party { return []model.Party{p.Validator} }), toResult("ValidatorRight_ArchiveAsValidatorResult")))
	all.on(model.ValidatorRightTemplate, "ValidatorRight_ArchiveAsUser", consuming(
		byPayload(func(p model.ValidatorRight) []model.Party { return []model.Party{p.User} }), toResult("ValidatorRight_ArchiveAsUserResult")))
	all.creations[model.ValidatorRightTemplate] = func(e *Execution, a model.Argument) model.Payload {
		e.isDSO(a.Party("dso"))
		return model.ValidatorRight{User: a.Party("user"), Validator: a.Party("validator")}
	}
}

// checkTap checks what is to be minted by a tap.
func checkTap(amount model.Decimal) {
	positive("amount", amount)
	require(amount <= maxTap, "a tap mints at most %s, not %s", maxTap, amount)
}

func addLockChoices(all *choices) {
	holders := byPayload(func(p model.LockedAmulet) []model.Party { return append([]model.Party{p.Owner, p.Holder}, p.Others...) })
	owner := byPayload(func(p model.LockedAmulet) []model.Party { return []model.Party{p.Owner} })
	all.on(model.LockedAmuletTemplate, "LockedAmulet_Unlock", consuming(holders, unlockIn(lockReleased)))
	all.on(model.LockedAmuletTemplate, "LockedAmulet_UnlockV2", consuming(holders, unlock(lockReleased)))
	all.on(model.LockedAmuletTemplate, "LockedAmulet_OwnerExpireLock", consuming(owner, afterLock(unlockIn(lockExpired))))
	all.on(model.LockedAmuletTemplate, "LockedAmulet_OwnerExpireLockV2", consuming(owner, afterLock(unlock(lockExpired))))
}

// afterLock lets a choice be exercised once the lock has expired only.
func afterLock(run runOf) runOf {
	return func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
		expires := c.Payload.(model.LockedAmulet).ExpiresAt
		require(expires <= e.Now(), "the lock does not expire until %s", microsText(expires))
		return run(e, c, arg)
	}
}

// unlockIn frees a coin at the price of a round.
func unlockIn(reason string) runOf {
	return func(e *Execution, c *model.Contract, arg model.Argument) model.Value {
		defer e.at(openMiningRound(e, arg.Contract("openRoundCid")))()
		return e.Payments.CoinResult(unlocked(e, c, reason))
	}
}

func unlock(reason string) runOf {
	return func(e *Execution, c *model.Contract, _ model.Argument) model.Value {
		return e.Bank.UnlockResult(unlocked(e, c, reason))
	}
}

func unlocked(e *Execution, locked *model.Contract, reason string) *model.Contract {
	coin := e.Bank.Unlocked(locked)
	e.logUnlocking(transferContext{state: e.Rules.ConfigStates[1].Number}, locked, coin, reason)
	return coin
}
