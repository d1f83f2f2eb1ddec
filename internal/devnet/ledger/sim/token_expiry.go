package sim

import (
	. "github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// What the governance party does about offers of tokens, allocations and coins whose time
// is over.

const overduePerBatch = 100

// grace is how long, in µs, the governance party takes to end what is overdue, so that those
// whom it concerns can do it first.
func (x *clock) grace() int64 { return x.tick }

var (
	expireTokensShape     = NewShape("expectedDso", "inputs", "observers")
	expireInstructionIn   = NewShape("transferInstructionCid", "expireLock")
	expireTokensDoneShape = NewShape("results")
	instructionUpdate     = NewShape("extraActors", "extraArgs")
	configStatesShape     = NewShape("externalPartyConfigState0Cid", "externalPartyConfigState1Cid")
	expireV2SumShape      = NewShape("owner")
)

// awaitAnswer has an offer of tokens end when its time is over.
func (x *Tokens) awaitAnswer(c *Contract) {
	x.waiting = append(x.waiting, c)
	x.Clock.alarmAt(c.Payload.(TransferInstruction).Transfer.ExecuteBefore+x.Clock.grace(), x.expireInstructions)
}

// overdue takes from a list of contracts those that are active and over, at most so many as
// fit into a batch, and drops those that are not active.
func (x *clock) overdue(list *[]*Contract, until func(*Contract) int64) (due []*Contract) {
	kept := (*list)[:0]
	for _, c := range *list {
		switch {
		case !c.Active():
		case until(c)+x.grace() <= x.EffectiveAt && len(due) < overduePerBatch:
			due = append(due, c)
		default:
			kept = append(kept, c)
		}
	}
	clear((*list)[len(kept):])
	*list = kept
	return due
}

// expireInstructions gives the senders of all offers of tokens that nobody answered in time
// their coins back.
func (x *Tokens) expireInstructions() {
	due := x.Clock.overdue(&x.waiting, func(c *Contract) int64 { return c.Payload.(TransferInstruction).Transfer.ExecuteBefore })
	if len(due) > 0 {
		x.endInstructions(due)
	}
	if len(due) == overduePerBatch {
		x.Clock.Tasks = append(x.Clock.Tasks, x.expireInstructions)
	}
}

// endInstructions ends some offers of tokens in one transaction.
func (x *Tokens) endInstructions(due []*Contract) {
	a := x.Tx.Arena()
	inputs, results := make([]Value, len(due)), make([]Value, len(due))
	for i, c := range due {
		inputs[i] = a.Record(expireInstructionIn, ContractID(c.Number), Boolean(x.coinOfInstruction(c) != nil))
	}
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_Amulet_ExpireTransferInstructions",
		a.Record(expireTokensShape, PartyValue(Dso), a.List(inputs...), a.List()), Dso)
	for i, c := range due {
		results[i] = x.endInstruction(c)
	}
	x.Tx.Finish(at, a.Record(expireTokensDoneShape, a.List(results...)))
}

// coinOfInstruction is the coin that is locked for an offer of tokens, nil if its owner has
// unlocked it: the lock ends when the offer does.
func (x *Tokens) coinOfInstruction(c *Contract) *Contract {
	if locked := x.lockedCoins[c]; locked.IsActive() {
		return locked
	}
	if locked := x.Tx.ByNumber[c.Payload.(TransferInstruction).Locked]; locked.IsActive() {
		return locked
	}
	return nil
}

func (x *Tokens) endInstruction(c *Contract) Value {
	a, locked := x.Tx.Arena(), x.coinOfInstruction(c)
	at := x.Tx.Consume(c, "TransferInstruction_Update", a.Record(instructionUpdate, a.List(PartyValue(Dso)), x.extraArgs()), Dso)
	x.Tx.Through(at, TransferInstructionInterface)
	delete(x.lockedCoins, c)
	back := a.List()
	if locked != nil {
		back = a.List(ContractID(x.bank.expireLock(locked).Number))
	}
	result := a.Record(InstructionDoneShape, a.Variant("TransferInstructionResult_Failed", Unit()), back, Metadata(a, TxKindMetaKey, "unlock"))
	x.Tx.Finish(at, result)
	return result
}

// expireLock unlocks a coin whose lock has expired, in the name of its owner, who has agreed
// to it beforehand, and returns it.
func (x *Bank) expireLock(locked *Contract) *Contract {
	a, p := x.Tx.Arena(), locked.Payload.(LockedAmulet)
	at := x.Tx.Consume(locked, "LockedAmulet_OwnerExpireLockV2", a.Record(EmptyRecordShape), p.Owner)
	x.Supply.Circulating -= p.Amount
	coin := x.newCoin(p.Owner, p.Amount)
	x.Tx.Finish(at, a.Record(UnlockV2DoneShape, ContractID(coin.Number), Metadata(a, TxKindMetaKey, "unlock")))
	return coin
}

// expireCoin burns a coin that is used up, unless it was spent. One that is locked waits for
// the end of its lock: it may yet be what somebody was promised.
func (x *Bank) expireCoin(c *Contract) {
	if !c.Active() {
		return
	}
	lock, locked := c.Payload.(LockedAmulet)
	if locked && lock.ExpiresAt > x.Clock.EffectiveAt {
		x.Clock.alarmAt(lock.ExpiresAt, func() { x.expireCoin(c) })
		return
	}
	choice := "Amulet_Expire"
	if locked {
		choice = "LockedAmulet_ExpireAmulet"
	}
	if x.Tx.Version() > 0 {
		x.expireCoinV2(c, choice+"V2")
		return
	}
	a, coin := x.Tx.Arena(), CoinOf(c)
	at := x.Tx.Consume(c, choice, a.Record(expireAmuletShape, ContractID(x.rounds.OpenRound().Contract.Number)), Dso)
	x.burnExpired(coin)
	asOfZero := coin.Amount + Decimal(coin.Created)*coin.Rate
	sum := a.Record(expireSumShape, PartyValue(coin.Owner), x.rounds.RoundValue(), Numeric(-asOfZero), Numeric(-coin.Rate))
	x.Tx.Finish(at, a.Record(expireDoneShape, sum))
}

// expireCoinV2 is expireCoin by the prices of the configuration states in place of a round's.
func (x *Bank) expireCoinV2(c *Contract, choice string) {
	a, coin, states := x.Tx.Arena(), CoinOf(c), x.Rules.ConfigStates
	at := x.Tx.Consume(c, choice, a.Record(configStatesShape, ContractID(states[0].Number), ContractID(states[1].Number)), Dso)
	x.burnExpired(coin)
	x.Tx.Finish(at, a.Record(expireDoneShape, a.Record(expireV2SumShape, PartyValue(coin.Owner)), Metadata(a, TxKindMetaKey, "expire-dust")))
}

func (x *Bank) burnExpired(coin Amulet) {
	x.Supply.Circulating -= coin.Amount
	x.Burn(coin.Amount)
}
