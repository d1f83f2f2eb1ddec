package devnet

var (
	createPreapprovalShape     = newShape("context", "inputs", "receiver", "provider", "expiresAt", "expectedDso")
	createPreapprovalDoneShape = newShape("transferPreapprovalCid", "transferResult", "amuletPaid", "meta")
	sendShape                  = newShape("context", "inputs", "amount", "sender", "description")
	sendV2Shape                = newShape("context", "inputs", "amount", "sender", "description", "meta")
	externalContextShape       = newShape("externalPartyConfigState", "featuredAppRight")
	sendDoneShape              = newShape("result", "meta")
	renewShape                 = newShape("context", "inputs", "newExpiresAt")
	renewDoneShape             = newShape("transferPreapprovalCid", "transferResult", "receiver", "provider", "amuletPaid", "meta")
)

// preapprovals are those of transfers to users.
type preapprovals struct {
	core
	bank     *bank
	payments *payments
	users    *users
	rounds   *rounds

	list   []*contract
	newest map[party]*contract // by receiver
}

// preapprovalLifetime is short enough for expiries to happen within the history.
func (x *preapprovals) preapprovalLifetime() int64 { return int64(x.config.Days) * 86400e6 / 4 }

// preapprovalFee is what the provider pays for a lifetime.
func (x *preapprovals) preapprovalFee() decimal {
	days := decimal(x.config.Days) * one / 4
	return preapprovalFeeUSD.times(days).over(x.rounds.openRound().price)
}

// createPreapproval has a user's validator pay for a preapproval of transfers to the user.
func (x *preapprovals) createPreapproval() bool {
	receiver, ok := x.withoutPreapproval()
	if !ok {
		return false
	}
	provider, fee := x.names.validatorOf(receiver), x.preapprovalFee()
	taken, ok := x.bank.gather(provider, fee+2*x.payments.outputFee())
	if !ok {
		return false
	}
	a := x.tx.arena()
	p := payment{sender: provider, coins: taken, provider: noParty, outputs: []output{{receiver: provider, amount: fee}}}
	expires := x.clock.effectiveAt + x.preapprovalLifetime()
	at := x.tx.exercise(x.rules.amulet, "AmuletRules_CreateTransferPreapproval", a.record(createPreapprovalShape,
		x.payments.paymentContext(&p), x.payments.inputsValue(&p), partyValue(receiver), partyValue(provider), timestamp(expires),
		x.tx.expectedDSO()), receiver, provider)
	_, result := x.payments.payAndBurn(p)
	c := x.newPreapproval(preapproval{receiver, provider, x.clock.effectiveAt, x.clock.effectiveAt, expires})
	x.tx.finish(at, a.record(createPreapprovalDoneShape,
		x.tx.withMeta([]value{contractID(c.number), result, numeric(fee)}, none())...))
	return true
}

// withoutPreapproval is a user who has no preapproval yet; it gives up after some tries.
func (x *preapprovals) withoutPreapproval() (party, bool) {
	for range 4 {
		if p := x.names.users.of(x.random); x.preapprovalOf(p) == nil && !x.users.isManaged(p) {
			return p, true
		}
	}
	return noParty, false
}

// preapprovalOf is the active preapproval of transfers to p that has not expired, or nil.
func (x *preapprovals) preapprovalOf(p party) *contract {
	c := x.newest[p]
	if c == nil || !c.active() || c.payload.(preapproval).expiresAt <= x.clock.effectiveAt {
		return nil
	}
	return c
}

// payAndBurn executes a payment whose single output is burned at once.
func (x *payments) payAndBurn(p payment) (*settlement, value) {
	s, result := x.transfer(p)
	x.bank.burn(x.bank.spend(s.created[0]))
	return s, result
}

func (x *preapprovals) newPreapproval(p preapproval) *contract {
	c := x.tx.create(preapprovalTemplate, p)
	x.list = append(x.list, c)
	if x.newest == nil {
		x.newest = map[party]*contract{}
	}
	x.newest[p.receiver] = c
	x.clock.expireAt(p.expiresAt, func() { x.expirePreapproval(c) })
	return c
}

// somePreapproval removes a random active preapproval from the list; the caller
// puts it back if it stays active.
func (x *preapprovals) somePreapproval() *contract {
	for {
		c := takeAny(x.random, &x.list)
		if c == nil || c.active() {
			return c
		}
	}
}

// sendToPreapproval sends coins in one step to a receiver with a preapproval.
func (x *preapprovals) sendToPreapproval() bool {
	c := x.somePreapproval()
	if c == nil {
		return false
	}
	x.list = append(x.list, c)
	to, sender := c.payload.(preapproval), x.users.someUser()
	if to.expiresAt <= x.clock.effectiveAt { // and waits to be archived
		return false
	}
	p, spendable, ok := x.payments.takeFunds(sender, 3, 1)
	if !ok {
		return false
	}
	p.provider = to.provider
	amount := max(1, spendable.times(x.random.decimalBetween(one/100, one/2)))
	p.outputs = []output{{receiver: to.receiver, amount: amount}}
	x.sendThrough(c, p, amount, x.users.reason())
	return true
}

// sendThrough executes a payment by a preapproval and returns the result of the transfer.
func (x *preapprovals) sendThrough(c *contract, p payment, amount decimal, description string) value {
	a := x.tx.arena()
	at := x.tx.exercise(c, "TransferPreapproval_Send", a.record(sendShape,
		x.payments.paymentContext(&p), x.payments.inputsValue(&p),
		numeric(amount), partyValue(p.sender), optionalText(a, description)), p.sender)
	_, result := x.payments.transfer(p)
	meta := a.some(metadata(a, senderMetaKey, x.names.name(p.sender), txKindMetaKey, "transfer"))
	x.tx.finish(at, a.record(sendDoneShape, x.tx.withMeta([]value{result}, meta)...))
	return result
}

// renewPreapproval has the provider pay for another lifetime, or sometimes cancel.
func (x *preapprovals) renewPreapproval() bool {
	c := x.somePreapproval()
	if c == nil || x.users.isManaged(c.payload.(preapproval).receiver) || x.users.isManaged(c.payload.(preapproval).provider) {
		return false
	}
	a, p := x.tx.arena(), c.payload.(preapproval)
	if x.random.percent(10) {
		x.tx.finish(x.tx.consume(c, "TransferPreapproval_Cancel", a.record(cancelShape, partyValue(p.receiver)), p.receiver), enum("TransferPreapproval_CancelResult"))
		return true
	}
	fee := x.preapprovalFee()
	taken, ok := x.bank.gather(p.provider, fee+2*x.payments.outputFee())
	if !ok {
		x.list = append(x.list, c)
		return false
	}
	pay := payment{sender: p.provider, coins: taken, provider: noParty, outputs: []output{{receiver: p.provider, amount: fee}}}
	p.expiresAt += x.preapprovalLifetime()
	p.lastRenewedAt = x.clock.effectiveAt
	at := x.tx.consume(c, "TransferPreapproval_Renew", a.record(renewShape,
		x.payments.paymentContext(&pay), x.payments.inputsValue(&pay),
		timestamp(p.expiresAt)), p.provider)
	_, result := x.payments.payAndBurn(pay)
	renewed := x.newPreapproval(p)
	x.tx.finish(at, a.record(renewDoneShape, x.tx.withMeta([]value{contractID(renewed.number), result,
		partyValue(p.receiver), partyValue(p.provider), numeric(fee)}, none())...))
	return true
}

var cancelShape = newShape("p")

func (x *preapprovals) expirePreapproval(c *contract) {
	if c.active() {
		x.tx.finish(x.tx.consume(c, "TransferPreapproval_Expire", x.tx.arena().record(emptyRecordShape), dso), x.tx.arena().record(emptyRecordShape))
	}
}
