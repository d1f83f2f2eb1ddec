package devnet

func addCommandChoices(all *choices) {
	all.on(externalRulesTemplate, "ExternalPartyAmuletRules_CreateTransferCommand", nonconsuming(byArgument("sender"), orderByCommand))
	over := func(e *execution, c *contract, _ argument) (value, error) {
		p := c.payload.(transferCommand)
		return e.tx.arena().record(commandOverShape, partyValue(p.sender), int64Value(p.nonce)), nil
	}
	all.on(transferCommandTemplate, "TransferCommand_Withdraw", consuming(
		byPayload(func(p transferCommand) []party { return []party{p.sender} }), over))
	all.on(transferCommandTemplate, "TransferCommand_Expire", consuming(byArgument("p"),
		func(e *execution, c *contract, arg argument) (value, error) {
			p, by := c.payload.(transferCommand), arg.party("p")
			if by != p.sender && by != p.delegate && by != dso {
				return value{}, broken("%s is no party to the command", e.names.name(by))
			}
			if p.expiresAt > e.now() {
				return value{}, broken("the command expires at %s only", microsText(p.expiresAt))
			}
			return over(e, c, arg)
		}))
	all.on(transferCommandTemplate, "TransferCommand_Send", consuming(
		byPayload(func(p transferCommand) []party { return []party{p.delegate} }), sendByCommand))
}

// orderByCommand has a sender order a transfer. Its nonce is only looked at when the
// transfer is carried out.
func orderByCommand(e *execution, _ *contract, arg argument) (value, error) {
	if err := e.expectsDSO(arg); err != nil {
		return value{}, err
	}
	p := transferCommand{sender: arg.party("sender"), receiver: arg.party("receiver"), delegate: arg.party("delegate"),
		amount: arg.numeric("amount"), expiresAt: arg.time("expiresAt"), nonce: arg.int64("nonce"), description: arg.optionalText("description")}
	if p.nonce < 0 {
		return value{}, broken("nonce %d is negative", p.nonce)
	}
	if len(p.description) > maxTextLength {
		return value{}, broken("a text is longer than %d bytes", maxTextLength)
	}
	if err := e.positive("amount", p.amount); err != nil {
		return value{}, err
	}
	if err := e.later("expiry of the command at", p.expiresAt); err != nil {
		return value{}, err
	}
	c, err := e.add(transferCommandTemplate, p)
	if err != nil {
		return value{}, err
	}
	return e.tx.arena().record(createCommandDoneShape, contractID(c.number)), nil
}

// sendByCommand carries a transfer command out. A nonce that is used already makes it fail, one
// whose turn has not come yet refuses it; else the nonce is used up, whatever comes of the
// transfer.
func sendByCommand(e *execution, c *contract, arg argument) (value, error) {
	p := c.payload.(transferCommand)
	if err := e.later("expiry of the command at", p.expiresAt); err != nil {
		return value{}, err
	}
	counter, err := e.fetchOf(commandCounterTemplate, arg.contract("transferCounterCid"))
	if err != nil {
		return value{}, err
	}
	next := counter.payload.(commandCounter)
	switch {
	case next.sender != p.sender:
		return value{}, broken("the counter is one of %s", e.names.name(next.sender))
	case next.nextNonce < p.nonce:
		return value{}, broken("nonce %d is not the next one yet, %d is", p.nonce, next.nextNonce).with("error_id", "nonce-too-high")
	}
	result := func(reason func(a *arena) value) value {
		a := e.tx.arena()
		return a.variant("TransferCommandResultFailure", a.record(commandFailureShape, reason(a)))
	}
	var outcome value
	if next.nextNonce > p.nonce {
		outcome = result(otherReason("nonce was already used"))
	} else {
		e.tx.archive(counter)
		e.tx.create(commandCounterTemplate, commandCounter{p.sender, p.nonce + 1})
		outcome, err = sendNow(e, p, arg, result)
		if err != nil {
			return value{}, err
		}
	}
	return e.tx.arena().record(commandDoneShape, outcome, partyValue(p.sender), int64Value(p.nonce)), nil
}

// sendNow executes the transfer of a command whose turn has come.
func sendNow(e *execution, p transferCommand, arg argument, failure func(func(a *arena) value) value) (value, error) {
	approval := arg.given("transferPreapprovalCidO")
	if approval == nil {
		return failure(otherReason("No TransferPreapproval for receiver '" + e.names.name(p.receiver) + "'")), nil
	}
	c, err := e.fetchOf(preapprovalTemplate, uint64(approval.num))
	if err != nil {
		return value{}, err
	}
	if to := c.payload.(preapproval); to.receiver != p.receiver {
		return value{}, broken("the preapproval is one of %s, the receiver is %s", e.names.name(to.receiver), e.names.name(p.receiver))
	}
	a, start := e.tx.arena(), e.savepoint()
	sent, err := e.perform(c, "TransferPreapproval_Send", a.record(sendShape, *arg.at("context"), *arg.at("inputs"),
		numeric(p.amount), partyValue(p.sender), optionalText(a, p.description)))
	var invalid *invalidTransfer
	if asInvalid(err, &invalid) {
		e.rollback(start)
		return failure(invalid.reason), nil
	}
	if err != nil {
		return value{}, err
	}
	return a.variant("TransferCommandResultSuccess", a.record(commandSuccessShape, *argument{&sent}.at("result"))), nil
}
