package devnet

// What the governance party does about offers of tokens, allocations and coins whose time
// is over.

const overduePerBatch = 100

// grace is how long, in µs, the governance party takes to end what is overdue, so that those
// whom it concerns can do it first.
func (x *clock) grace() int64 { return x.tick }

var (
	expireTokensShape     = newShape("expectedDso", "inputs", "observers")
	expireInstructionIn   = newShape("transferInstructionCid", "expireLock")
	expireTokensDoneShape = newShape("results")
	instructionUpdate     = newShape("extraActors", "extraArgs")
	configStatesShape     = newShape("externalPartyConfigState0Cid", "externalPartyConfigState1Cid")
	expireV2SumShape      = newShape("owner")
)

// awaitAnswer has an offer of tokens end when its time is over.
func (x *tokens) awaitAnswer(c *contract) {
	x.waiting = append(x.waiting, c)
	x.clock.alarmAt(c.payload.(transferInstruction).transfer.executeBefore+x.clock.grace(), x.expireInstructions)
}

// overdue takes from a list of contracts those that are active and over, at most so many as
// fit into a batch, and drops those that are not active.
func (x *clock) overdue(list *[]*contract, until func(*contract) int64) (due []*contract) {
	kept := (*list)[:0]
	for _, c := range *list {
		switch {
		case !c.active():
		case until(c)+x.grace() <= x.effectiveAt && len(due) < overduePerBatch:
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
func (x *tokens) expireInstructions() {
	due := x.clock.overdue(&x.waiting, func(c *contract) int64 { return c.payload.(transferInstruction).transfer.executeBefore })
	if len(due) > 0 {
		x.endInstructions(due)
	}
	if len(due) == overduePerBatch {
		x.clock.tasks = append(x.clock.tasks, x.expireInstructions)
	}
}

// endInstructions ends some offers of tokens in one transaction.
func (x *tokens) endInstructions(due []*contract) {
	a := x.tx.arena()
	inputs, results := make([]value, len(due)), make([]value, len(due))
	for i, c := range due {
		inputs[i] = a.record(expireInstructionIn, contractID(c.number), boolean(x.coinOfInstruction(c) != nil))
	}
	at := x.tx.exercise(x.rules.amulet, "AmuletRules_Amulet_ExpireTransferInstructions",
		a.record(expireTokensShape, partyValue(dso), a.list(inputs...), a.list()), dso)
	for i, c := range due {
		results[i] = x.endInstruction(c)
	}
	x.tx.finish(at, a.record(expireTokensDoneShape, a.list(results...)))
}

// coinOfInstruction is the coin that is locked for an offer of tokens, nil if its owner has
// unlocked it: the lock ends when the offer does.
func (x *tokens) coinOfInstruction(c *contract) *contract {
	if locked := x.lockedCoins[c]; locked.isActive() {
		return locked
	}
	if locked := x.tx.byNumber[c.payload.(transferInstruction).locked]; locked.isActive() {
		return locked
	}
	return nil
}

func (x *tokens) endInstruction(c *contract) value {
	a, locked := x.tx.arena(), x.coinOfInstruction(c)
	at := x.tx.consume(c, "TransferInstruction_Update", a.record(instructionUpdate, a.list(partyValue(dso)), x.extraArgs()), dso)
	x.tx.through(at, transferInstructionInterface)
	delete(x.lockedCoins, c)
	back := a.list()
	if locked != nil {
		back = a.list(contractID(x.bank.expireLock(locked).number))
	}
	result := a.record(instructionDoneShape, a.variant("TransferInstructionResult_Failed", unit()), back, metadata(a, txKindMetaKey, "unlock"))
	x.tx.finish(at, result)
	return result
}

// expireLock unlocks a coin whose lock has expired, in the name of its owner, who has agreed
// to it beforehand, and returns it.
func (x *bank) expireLock(locked *contract) *contract {
	a, p := x.tx.arena(), locked.payload.(lockedAmulet)
	at := x.tx.consume(locked, "LockedAmulet_OwnerExpireLockV2", a.record(emptyRecordShape), p.owner)
	x.supply.circulating -= p.amount
	coin := x.newCoin(p.owner, p.amount)
	x.tx.finish(at, a.record(unlockV2DoneShape, contractID(coin.number), metadata(a, txKindMetaKey, "unlock")))
	return coin
}

// expireCoin burns a coin that is used up, unless it was spent. One that is locked waits for
// the end of its lock: it may yet be what somebody was promised.
func (x *bank) expireCoin(c *contract) {
	if !c.active() {
		return
	}
	lock, locked := c.payload.(lockedAmulet)
	if locked && lock.expiresAt > x.clock.effectiveAt {
		x.clock.alarmAt(lock.expiresAt, func() { x.expireCoin(c) })
		return
	}
	choice := "Amulet_Expire"
	if locked {
		choice = "LockedAmulet_ExpireAmulet"
	}
	if x.tx.version() > 0 {
		x.expireCoinV2(c, choice+"V2")
		return
	}
	a, coin := x.tx.arena(), coinOf(c)
	at := x.tx.consume(c, choice, a.record(expireAmuletShape, contractID(x.rounds.openRound().contract.number)), dso)
	x.burnExpired(coin)
	asOfZero := coin.amount + decimal(coin.created)*coin.rate
	sum := a.record(expireSumShape, partyValue(coin.owner), x.rounds.roundValue(), numeric(-asOfZero), numeric(-coin.rate))
	x.tx.finish(at, a.record(expireDoneShape, sum))
}

// expireCoinV2 is expireCoin by the prices of the configuration states in place of a round's.
func (x *bank) expireCoinV2(c *contract, choice string) {
	a, coin, states := x.tx.arena(), coinOf(c), x.rules.configStates
	at := x.tx.consume(c, choice, a.record(configStatesShape, contractID(states[0].number), contractID(states[1].number)), dso)
	x.burnExpired(coin)
	x.tx.finish(at, a.record(expireDoneShape, a.record(expireV2SumShape, partyValue(coin.owner)), metadata(a, txKindMetaKey, "expire-dust")))
}

func (x *bank) burnExpired(coin amulet) {
	x.supply.circulating -= coin.amount
	x.burn(coin.amount)
}
