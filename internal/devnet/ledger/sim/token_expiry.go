package sim

import (
	"github.com/ledgerlake/ledgerlake/internal/devnet/ledger/model"
)

// What the governance party does about offers of tokens, allocations and coins whose time
// is over.

const overduePerBatch = 100

// grace is how long, in µs, the governance party takes to end what is overdue, so that those
// whom it concerns can do it first.
func (x *clock) grace() int64 { return x.tick }

var (
	expireTokensShape     = model.NewShape("expectedDso", "inputs", "observers")
	expireInstructionIn   = model.NewShape("transferInstructionCid", "expireLock")
	expireTokensDoneShape = model.NewShape("results")
	instructionUpdate     = model.NewShape("extraActors", "extraArgs")
	configStatesShape     = model.NewShape("externalPartyConfigState0Cid", "externalPartyConfigState1Cid")
	expireV2SumShape      = model.NewShape("owner")
)

// awaitAnswer has an offer of tokens end when its time is over.
func (x *Tokens) awaitAnswer(c *model.Contract) {
	x.waiting = append(x.waiting, c)
	x.Clock.alarmAt(c.Payload.(model.TransferInstruction).Transfer.ExecuteBefore+x.Clock.grace(), x.expireInstructions)
}

// overdue takes from a list of contracts those that are active and over, at most so many as
// fit into a batch, and drops those that are not active.
func (x *clock) overdue(list *[]*model.Contract, until func(*model.Contract) int64) (due []*model.Contract) {
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
	due := x.Clock.overdue(&x.waiting, func(c *model.Contract) int64 { return c.Payload.(model.TransferInstruction).Transfer.ExecuteBefore })
	if len(due) > 0 {
		x.endInstructions(due)
	}
	if len(due) == overduePerBatch {
		x.Clock.Tasks = append(x.Clock.Tasks, x.expireInstructions)
	}
}

// endInstructions ends some offers of tokens in one transaction.
func (x *Tokens) endInstructions(due []*model.Contract) {
	a := x.Tx.Arena()
	inputs, results := make([]model.Value, len(due)), make([]model.Value, len(due))
	for i, c := range due {
		inputs[i] = a.Record(expireInstructionIn, model.ContractID(c.Number), model.Boolean(x.coinOfInstruction(c) != nil))
	}
	at := x.Tx.Exercise(x.Rules.Amulet, "AmuletRules_Amulet_ExpireTransferInstructions",
		a.Record(expireTokensShape, model.PartyValue(model.Dso), a.List(inputs...), a.List()), model.Dso)
	for i, c := range due {
		results[i] = x.endInstruction(c)
	}
	x.Tx.Finish(at, a.Record(expireTokensDoneShape, a.List(results...)))
}

// coinOfInstruction is the coin that is locked for an offer of tokens, nil if its owner has
// unlocked it: the lock ends when the offer does.
func (x *Tokens) coinOfInstruction(c *model.Contract) *model.Contract {
	if locked := x.lockedCoins[c]; locked.IsActive() {
		return locked
	}
	if locked := x.Tx.ByNumber[c.Payload.(model.TransferInstruction).Locked]; locked.IsActive() {
		return locked
	}
	return nil
}

func (x *Tokens) endInstruction(c *model.Contract) model.Value {
	a, locked := x.Tx.Arena(), x.coinOfInstruction(c)
	at := x.Tx.Consume(c, "TransferInstruction_Update", a.Record(instructionUpdate, a.List(model.PartyValue(model.Dso)), x.extraArgs()), model.Dso)
	x.Tx.Through(at, model.TransferInstructionInterface)
	delete(x.lockedCoins, c)
	back := a.List()
	if locked != nil {
		back = a.List(model.ContractID(x.bank.expireLock(locked).Number))
	}
	result := a.Record(InstructionDoneShape, a.Variant("TransferInstructionResult_Failed", model.Unit()), back, model.Metadata(a, model.TxKindMetaKey, "unlock"))
	x.Tx.Finish(at, result)
	return result
}

// expireLock unlocks a coin whose lock has expired, in the name of its owner, who has agreed
// to it beforehand, and returns it.
func (x *Bank) expireLock(locked *model.Contract) *model.Contract {
	a, p := x.Tx.Arena(), locked.Payload.(model.LockedAmulet)
	at := x.Tx.Consume(locked, "LockedAmulet_OwnerExpireLockV2", a.Record(model.EmptyRecordShape), p.Owner)
	x.Supply.Circulating -= p.Amount
	coin := x.newCoin(p.Owner, p.Amount)
	x.Tx.Finish(at, a.Record(UnlockV2DoneShape, model.ContractID(coin.Number), model.Metadata(a, model.TxKindMetaKey, "unlock")))
	return coin
}

// expireCoin burns a coin that is used up, unless it was spent. One that is locked waits for
// the end of its lock: it may yet be what somebody was promised.
func (x *Bank) expireCoin(c *model.Contract) {
	if !c.Active() {
		return
	}
	lock, locked := c.Payload.(model.LockedAmulet)
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
	a, coin := x.Tx.Arena(), model.CoinOf(c)
	at := x.Tx.Consume(c, choice, a.Record(expireAmuletShape, model.ContractID(x.rounds.OpenRound().Contract.Number)), model.Dso)
	x.burnExpired(coin)
	asOfZero := coin.Amount + model.Decimal(coin.Created)*coin.Rate
	sum := a.Record(expireSumShape, model.PartyValue(coin.Owner), x.rounds.RoundValue(), model.Numeric(-asOfZero), model.Numeric(-coin.Rate))
	x.Tx.Finish(at, a.Record(expireDoneShape, sum))
}

// expireCoinV2 is expireCoin by the prices of the configuration states in place of a round's.
func (x *Bank) expireCoinV2(c *model.Contract, choice string) {
	a, coin, states := x.Tx.Arena(), model.CoinOf(c), x.Rules.ConfigStates
	at := x.Tx.Consume(c, choice, a.Record(configStatesShape, model.ContractID(states[0].Number), model.ContractID(states[1].Number)), model.Dso)
	x.burnExpired(coin)
	x.Tx.Finish(at, a.Record(expireDoneShape, a.Record(expireV2SumShape, model.PartyValue(coin.Owner)), model.Metadata(a, model.TxKindMetaKey, "expire-dust")))
}

func (x *Bank) burnExpired(coin model.Amulet) {
	x.Supply.Circulating -= coin.Amount
	x.Burn(coin.Amount)
}
