package devnet

const preapprovalFeeUSD = 274 * one / 100_000 // per day

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

// preapprovalLifetime is short enough for expiries to happen within the history.
func (x *executor) preapprovalLifetime() int64 { return int64(x.config.Days) * 86400e6 / 4 }

// preapprovalFee is what the provider pays for a lifetime.
func (x *executor) preapprovalFee() decimal {
	days := decimal(x.config.Days) * one / 4
	return preapprovalFeeUSD.times(days).over(x.openRound().price)
}

// createPreapproval has a user's validator pay for a preapproval of transfers to the user.
func (x *executor) createPreapproval() bool {
	receiver, ok := x.withoutPreapproval()
	if !ok {
		return false
	}
	provider, fee := x.names.validatorOf(receiver), x.preapprovalFee()
	taken, ok := x.gather(provider, fee+2*x.outputFee())
	if !ok {
		return false
	}
	a := x.arena()
	p := payment{sender: provider, coins: taken, provider: noParty, outputs: []output{{receiver: provider, amount: fee}}}
	expires := x.effectiveAt + x.preapprovalLifetime()
	at := x.exercise(x.rules.amulet, "AmuletRules_CreateTransferPreapproval", a.record(createPreapprovalShape,
		x.paymentContext(&p), x.inputsValue(&p), partyValue(receiver), partyValue(provider), timestamp(expires),
		x.expectedDSO()), receiver, provider)
	_, result := x.payAndBurn(p)
	c := x.newPreapproval(preapproval{receiver, provider, x.effectiveAt, x.effectiveAt, expires})
	x.finish(at, a.record(createPreapprovalDoneShape,
		x.withMeta([]value{contractID(c.number), result, numeric(fee)}, none())...))
	return true
}

// withoutPreapproval is a user who has no preapproval yet; it gives up after some tries.
func (x *executor) withoutPreapproval() (party, bool) {
	for range 4 {
		if p := x.names.users.of(&x.random); x.preapprovalOf(p) == nil && !x.isManaged(p) {
			return p, true
		}
	}
	return noParty, false
}

// preapprovalOf is the active preapproval of transfers to p that has not expired, or nil.
func (x *executor) preapprovalOf(p party) *contract {
	c := x.preapproved[p]
	if c == nil || !c.active() || c.payload.(preapproval).expiresAt <= x.effectiveAt {
		return nil
	}
	return c
}

// payAndBurn executes a payment whose single output is burned at once.
func (x *executor) payAndBurn(p payment) (*settlement, value) {
	s, result := x.transfer(p)
	x.burn(x.spend(s.created[0]))
	return s, result
}

func (x *executor) newPreapproval(p preapproval) *contract {
	c := x.create(preapprovalTemplate, p)
	x.preapprovals = append(x.preapprovals, c)
	if x.preapproved == nil {
		x.preapproved = map[party]*contract{}
	}
	x.preapproved[p.receiver] = c
	x.expireAt(p.expiresAt, func() { x.expirePreapproval(c) })
	return c
}

// somePreapproval removes a random active preapproval from the list; the caller
// puts it back if it stays active.
func (x *executor) somePreapproval() *contract {
	for {
		c := takeAny(&x.random, &x.preapprovals)
		if c == nil || c.active() {
			return c
		}
	}
}

// sendToPreapproval sends coins in one step to a receiver with a preapproval.
func (x *executor) sendToPreapproval() bool {
	c := x.somePreapproval()
	if c == nil {
		return false
	}
	x.preapprovals = append(x.preapprovals, c)
	to, sender := c.payload.(preapproval), x.someUser()
	if to.expiresAt <= x.effectiveAt { // and waits to be archived
		return false
	}
	p, spendable, ok := x.takeFunds(sender, 3, 1)
	if !ok {
		return false
	}
	p.provider = to.provider
	amount := max(1, spendable.times(x.random.decimalBetween(one/100, one/2)))
	p.outputs = []output{{receiver: to.receiver, amount: amount}}
	x.sendThrough(c, p, amount, x.reason())
	return true
}

// sendThrough executes a payment by a preapproval and returns the result of the transfer.
func (x *executor) sendThrough(c *contract, p payment, amount decimal, description string) value {
	a := x.arena()
	at := x.exercise(c, "TransferPreapproval_Send", a.record(sendShape,
		x.paymentContext(&p), x.inputsValue(&p),
		numeric(amount), partyValue(p.sender), optionalText(a, description)), p.sender)
	_, result := x.transfer(p)
	meta := a.some(metadata(a, senderMetaKey, x.names.name(p.sender), txKindMetaKey, "transfer"))
	x.finish(at, a.record(sendDoneShape, x.withMeta([]value{result}, meta)...))
	return result
}

// renewPreapproval has the provider pay for another lifetime, or sometimes cancel.
func (x *executor) renewPreapproval() bool {
	c := x.somePreapproval()
	if c == nil || x.isManaged(c.payload.(preapproval).receiver) || x.isManaged(c.payload.(preapproval).provider) {
		return false
	}
	a, p := x.arena(), c.payload.(preapproval)
	if x.random.percent(10) {
		x.finish(x.consume(c, "TransferPreapproval_Cancel", a.record(cancelShape, partyValue(p.receiver)), p.receiver), enum("TransferPreapproval_CancelResult"))
		return true
	}
	fee := x.preapprovalFee()
	taken, ok := x.gather(p.provider, fee+2*x.outputFee())
	if !ok {
		x.preapprovals = append(x.preapprovals, c)
		return false
	}
	pay := payment{sender: p.provider, coins: taken, provider: noParty, outputs: []output{{receiver: p.provider, amount: fee}}}
	p.expiresAt += x.preapprovalLifetime()
	p.lastRenewedAt = x.effectiveAt
	at := x.consume(c, "TransferPreapproval_Renew", a.record(renewShape,
		x.paymentContext(&pay), x.inputsValue(&pay),
		timestamp(p.expiresAt)), p.provider)
	_, result := x.payAndBurn(pay)
	renewed := x.newPreapproval(p)
	x.finish(at, a.record(renewDoneShape, x.withMeta([]value{contractID(renewed.number), result,
		partyValue(p.receiver), partyValue(p.provider), numeric(fee)}, none())...))
	return true
}

var cancelShape = newShape("p")

func (x *executor) expirePreapproval(c *contract) {
	if c.active() {
		x.finish(x.consume(c, "TransferPreapproval_Expire", x.arena().record(emptyRecordShape), dso), x.arena().record(emptyRecordShape))
	}
}
